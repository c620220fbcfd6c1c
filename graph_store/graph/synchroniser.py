"""The graph of a knowledge base, kept up with the ledger: the snapshot, and what the ledger has beyond it."""

import logging
from pathlib import Path

from ..ledger.aliases import AliasTable
from ..ledger.documents import Documents
from ..ledger.extractions import Extractions
from . import snapshot
from .knowledge_graph import KnowledgeGraph, Touched
from .resolved_graph import ResolvedGraph
from .state import GraphState

_LOG = logging.getLogger("banyan")

# The snapshot is written again when a quarter of the chunks changed since: each byte of it is then
# written a bounded number of times however small the additions, and replay at opening stays short.
_SNAPSHOT_SHARE = 4
_SNAPSHOT_LEAST = 64


class GraphSynchroniser:
    """Holds the graph in memory, resolved as the ledger has it.

    Args:
        file: the snapshot.
        documents: the ledger's documents and chunks.
        extractions: the ledger's facts.
        entities: the ledger's aliases.
    """

    def __init__(self, file: Path, documents: Documents, extractions: Extractions, entities: AliasTable) -> None:
        self._file = file
        self._documents = documents
        self._extractions = extractions
        self._entities = entities
        self._position = self._saved = self._resolution = 0
        self.graph = ResolvedGraph()
        self.touched = Touched()
        """What changed since the vectors were last synchronised, which resets it."""
        self.damaged = False
        """Whether the snapshot was, so that it has to be written again."""

    @property
    def state(self) -> GraphState:
        """The state of the ledger that the graph reflects."""
        return GraphState(self._position, self._resolution)

    def load(self) -> None:
        """Read the snapshot's graph."""
        try:
            mentions, self._position = snapshot.load(self._file)
        except FileNotFoundError:
            mentions = KnowledgeGraph()
        except snapshot.SnapshotDamagedError as error:
            self.damaged, mentions = True, KnowledgeGraph()
            _LOG.warning("%s; it is made again from the ledger", error)
        if self._position > self._extractions.position():
            _LOG.warning("the graph's file is ahead of the ledger; it is made again")
            mentions, self._position = KnowledgeGraph(), 0
        self._hold(mentions)
        self._saved = self._position

    def clear(self) -> None:
        """Empty the graph, as before the ledger's first fact."""
        self._hold(KnowledgeGraph())
        self._position = self._saved = 0

    def _hold(self, mentions: KnowledgeGraph) -> None:
        self._resolution = self._entities.number()
        self.graph = ResolvedGraph(mentions, self._entities.aliases())

    def refresh(self) -> None:
        """Bring the graph up to the ledger."""
        position = self._extractions.position()
        for chunk_id, contribution in self._extractions.changed_since(self._position):
            self.touched.add(self.graph.replace(chunk_id, contribution))
        self._position = position
        number = self._entities.number()
        if number != self._resolution:
            self.touched.add(self.graph.resolve(self._entities.aliases()))
            self._resolution = number

    def save(self, *, force: bool = False) -> None:
        """Write the snapshot if enough has changed since the last one, or in any case.

        Raises:
            OSError: it cannot be written; the old one is unchanged.
        """
        due = max(_SNAPSHOT_LEAST, self._documents.count() // _SNAPSHOT_SHARE)
        if force or self._position - self._saved >= due:
            snapshot.save(self._file, self.graph.mentions, self._position)
            self._saved = self._position
