"""The graph of a knowledge base, kept up with the ledger: the snapshot, and what the ledger has beyond it."""

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from ...runtime.collection import at_rest
from ..ledger.aliases import AliasTable
from ..ledger.documents import Documents
from ..ledger.edits import EditTable
from ..ledger.extractions import Extractions
from ..ledger.schema_history import SchemaHistory
from . import snapshot
from .edits import GraphEdits
from .knowledge_graph import KnowledgeGraph, Touched
from .resolved_graph import ResolvedGraph
from .state import GraphState
from .tree_graph import TreeGraph

_LOG = logging.getLogger("banyan")

# Up to this size writing the whole file takes a second or two. Above, it is written when a tenth of the chunks has
# changed: the bytes written stay proportional to what is added, and replay at opening stays short.
_ALWAYS_WRITTEN = 50_000
_SHARE = 10


class GraphSynchroniser:
    """Holds the graph in memory, resolved as the ledger has it, once somebody asks for it.

    Whoever only searches never does: see `graph_store/index`.
    """

    def __init__(self, file: Path, documents: Documents, extractions: Extractions, entities: AliasTable,
                 edits: EditTable, schemas: SchemaHistory, is_past: Callable[[Sequence[int]], bool]) -> None:
        """Load nothing yet; `is_past` tells whether a snapshot's state may be an earlier one of this ledger's."""
        self._file = file
        self._is_past = is_past
        self._documents = documents
        self._extractions = extractions
        self._entities = entities
        self._edits = edits
        self._schemas = schemas
        self._schema = 0
        self._position = self._saved = self._resolution = 0
        self._graph: ResolvedGraph | None = None
        self._loading = threading.RLock()
        self.loaded_from = 0
        """The snapshot's position when the graph was loaded."""
        self.touched = Touched()
        """What changed since the vectors were last synchronised, which resets it."""
        self.lost = False
        """Whether the snapshot is missing or damaged, so that it has to be written again."""
        self._state: list[int] = []
        """The state of the knowledge base that the snapshot has."""

    @property
    def state(self) -> GraphState:
        """The state of the ledger that the graph reflects; before it is loaded, the one that it would."""
        if self._graph is None:
            return GraphState(self._extractions.position(), self._entities.number())
        return GraphState(self._position, self._resolution)

    @property
    def is_loaded(self) -> bool:
        """Whether the graph is in memory."""
        return self._graph is not None

    @property
    def graph(self) -> ResolvedGraph:
        """The graph, loaded when it is first asked for."""
        with self._loading:
            if self._graph is None:
                self._load()
            assert self._graph is not None  # noqa: S101  (loading sets it)
            return self._graph

    def unload(self) -> None:
        """Let go of the graph, of which nothing waits to be written."""
        self._graph, self.touched, self._position, self._saved = None, Touched(), 0, 0

    @at_rest()
    def _load(self) -> None:
        """Read the snapshot's graph, and what the ledger has beyond it."""
        try:
            mentions, self._position, self._state = snapshot.load(self._file)
        except FileNotFoundError:
            self.lost, mentions = self._extractions.position() > 0, KnowledgeGraph()
        except snapshot.SnapshotDamagedError as error:
            self.lost, mentions = True, KnowledgeGraph()
            _LOG.warning("%s; it is made again from the ledger", error)
        if self._position > self._extractions.position() or not self._is_past(self._state):
            _LOG.warning("the graph's file is ahead of the ledger; it is made again")
            mentions, self._position, self._state = KnowledgeGraph(), 0, []
        self._hold(mentions)
        self._saved = self.loaded_from = self._position
        self.refresh()

    def clear(self) -> None:
        """Empty the graph, as before the ledger's first fact."""
        self._hold(KnowledgeGraph())
        self._position = self._saved = 0
        self._state = []

    def _hold(self, mentions: KnowledgeGraph) -> None:
        self._resolution, self._schema = self._entities.number(), self._schemas.version()
        self._graph = self.resolved(mentions)

    def resolved(self, mentions: KnowledgeGraph) -> ResolvedGraph:
        """A graph of mentions with the ledger's aliases and edits laid over it."""
        return ResolvedGraph(mentions, self._entities.aliases(), self._graph_edits())

    def _graph_edits(self) -> GraphEdits:
        edits = self._edits.in_force()
        return GraphEdits(edits, self._schemas.current() if edits and self._schemas.version() else None)

    def refresh(self) -> None:
        """Bring the graph up to the ledger, if it is loaded."""
        if self._graph is None:
            return
        position = self._extractions.position()
        for chunk_id, contribution in self._extractions.changed_since(self._position):
            self.touched.add(self.graph.replace(chunk_id, contribution))
        self._position = position
        number, schema = self._entities.number(), self._schemas.version()
        if number != self._resolution or (schema != self._schema and self._edits.in_force()):
            self.touched.add(self.graph.resolve(self._entities.aliases(), self._graph_edits()))
        self._resolution, self._schema = number, schema

    def due(self, state: Sequence[int]) -> bool:
        """Whether the snapshot is to be written: it has another state, and the graph is small, or much has changed.

        Args:
            state: of the knowledge base: numbers of which at least one differs where the file would.
        """
        if self._state == state:
            return False
        small = self.graph.network.number_of_edges() <= _ALWAYS_WRITTEN
        return small or self._position - self._saved >= self._documents.count() // _SHARE

    @at_rest()
    def save(self, network: TreeGraph, state: Sequence[int]) -> None:
        """Write the snapshot.

        Args:
            network: the graph as it is now, for others.
            state: see `due`.

        Raises:
            OSError: it cannot be written; the old one is unchanged.
        """
        snapshot.save(self._file, snapshot.Snapshot(self.graph.mentions, self._position, list(state)), network)
        self._saved, self._state, self.lost = self._position, list(state), False
