"""The knowledge tree: built from the graph, described."""

import logging
from collections.abc import Callable, Sequence

from ...schemas.retrieval import CommunityDigest, CommunitySummary
from ..graph.ledger_graph import GraphState, LedgerGraph
from ..ledger.communities import CommunityTable, TreeCommunity, text_id
from ..ledger.database import Database
from ..ledger.version import TreeState, ledger_state, note_state
from ..vectors.vector_store import VectorStore
from .community_digests import all_texts, digests
from .detection import CommunitySettings
from .tree_levels import find_tree, update_tree

_LOG = logging.getLogger("banyan")
Summarise = Callable[[Sequence[CommunityDigest]], list[CommunitySummary]]

# Communities described between two commits: as many as an endpoint answers for at once, with the default settings.
_DESCRIBED_AT_ONCE = 256


class TreeSynchroniser:
    """Keeps the communities of one knowledge base: a function of the graph, and the descriptions of those that stay."""

    def __init__(self, database: Database, graph: LedgerGraph, vectors: VectorStore,
                 communities: CommunityTable) -> None:
        self._db = database
        self._graph = graph
        self._vectors = vectors
        self._communities = communities

    def state(self) -> GraphState:
        """Return the state of the ledger that the communities reflect; zeros before the first."""
        return GraphState(*ledger_state(self._db).tree[:2])

    def is_behind(self) -> bool:
        """Return True if the communities do not reflect the graph."""
        return self.state() != self._graph.state

    def update(self, summarise: Summarise) -> None:
        """Bring the tree up to the graph, or describe what an earlier run left undescribed."""
        if self.is_behind():
            self.build(summarise)
        elif self._communities.has_undescribed():
            self.describe(summarise)

    def build(self, summarise: Summarise, settings: CommunitySettings | None = None, *, whole: bool = False) -> None:
        """Find the communities of the graph, all of them anew if `whole`, then describe the new ones."""
        self._find(settings or CommunitySettings(), whole=whole)
        self.describe(summarise)

    def _find(self, settings: CommunitySettings, *, whole: bool) -> None:
        graph, state = self._graph.graph, self._graph.state
        before, drift = ([], 0) if whole else self._before(settings)
        communities = update_tree(graph, self._vectors, settings, before) if before else []
        if not communities or _needs_a_level(communities, settings):
            communities, drift = find_tree(graph, self._vectors, settings), 0
        with self._db.transaction():
            self._communities.replace(communities)
            self._revise(ledger_state(self._db).tree._replace(
                position=state.position, resolution=state.resolution, drift=drift))

    def _before(self, settings: CommunitySettings) -> tuple[list[TreeCommunity], int]:
        """Return the tree to go on from and how many entities came or went since it was whole; empty for none."""
        entities = self._graph.graph.entity_ids()
        if len(entities) <= settings.update_above:
            return [], 0
        before = self._communities.all(level=None)
        known = {entity for community in before if community.level == 0 for entity in community.members}
        drift = ledger_state(self._db).tree.drift + len(known ^ set(entities))
        return (before, drift) if drift <= settings.drift * len(entities) else ([], 0)

    def forget_outdated_reports(self) -> None:
        """Delete the reports that were written in one call with what no document states any more.

        A report may repeat it. The model is asked again.
        """
        if shared := self._communities.find_shared():
            stated = {text_id(text) for text in all_texts(self._graph.graph)}
            self._communities.forget_summaries([one for one, shown in shared.items() if not stated.issuperset(shown)])

    def describe(self, summarise: Summarise) -> None:
        """Name and summarise the communities that are not described yet.

        What was described is stored, even if the rest fails.
        """
        waiting = self._communities.find_undescribed()
        for start in range(0, len(waiting), _DESCRIBED_AT_ONCE):
            some = waiting[start:start + _DESCRIBED_AT_ONCE]
            summaries = summarise(digests(self._graph.graph, some))
            with self._db.transaction():
                self._communities.describe(zip([community.id for community in some], summaries, strict=True))
                self._revise(ledger_state(self._db).tree)

    def _revise(self, state: TreeState) -> None:
        """Tell readers that the tree is another one."""
        note_state(self._db, tree=state._replace(revision=state.revision + 1))


def _needs_a_level(communities: Sequence[TreeCommunity], settings: CommunitySettings) -> bool:
    """Return True if there are so many on the finest level, which is the only one, that others belong above it."""
    return not any(community.level for community in communities) and len(communities) > settings.max_clusters
