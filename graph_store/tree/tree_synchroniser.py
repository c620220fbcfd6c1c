"""Keep the knowledge tree in step with the graph: find its communities, and have them described."""

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
    """Updates and describes the communities of one knowledge base; one that stays the same keeps its description."""

    def __init__(self, database: Database, graph: LedgerGraph, vectors: VectorStore,
                 communities: CommunityTable) -> None:
        self._db = database
        self._graph = graph
        self._vectors = vectors
        self._communities = communities

    def state(self) -> GraphState:
        """Return the state of the ledger that the communities reflect; zeros if there are none yet."""
        tree = ledger_state(self._db).tree
        return GraphState(tree.position, tree.resolution)

    def is_behind(self) -> bool:
        """Return True if the communities do not reflect the graph."""
        return self.state() != self._graph.state

    def update(self, summarise: Summarise) -> None:
        """Build the tree if it does not reflect the graph; else describe what an earlier run left undescribed."""
        if self.is_behind():
            self.build(summarise)
        elif self._communities.has_undescribed():
            self.describe(summarise)

    def build(self, summarise: Summarise, settings: CommunitySettings | None = None, *, whole: bool = False) -> None:
        """Find the communities of the graph, then describe the new ones; `whole` finds all of them anew."""
        self._find(settings or CommunitySettings(), whole=whole)
        self.describe(summarise)

    def _find(self, settings: CommunitySettings, *, whole: bool) -> None:
        """Update the stored communities, or replace them by new ones if that is not possible."""
        graph, state = self._graph.graph, self._graph.state
        before, drift = ([], 0) if whole else self._updatable_tree(settings)
        communities = update_tree(graph, self._vectors, settings, before) if before else []
        # One level may have so many communities that it needs a level above.
        has_levels = any(community.level for community in communities)
        if not communities or (not has_levels and len(communities) > settings.max_clusters):
            communities, drift = find_tree(graph, self._vectors, settings), 0
        with self._db.transaction():
            self._communities.replace(communities)
            self._revise(ledger_state(self._db).tree._replace(
                position=state.position, resolution=state.resolution, drift=drift))

    def _updatable_tree(self, settings: CommunitySettings) -> tuple[list[TreeCommunity], int]:
        """Return the stored communities if they can be updated, and the drift of an updated tree."""
        entities = self._graph.graph.entity_ids()
        if len(entities) <= settings.update_above:
            return [], 0
        stored = self._communities.all(level=None)
        grouped = {entity for community in stored if community.level == 0 for entity in community.members}
        drift = ledger_state(self._db).tree.drift + len(grouped ^ set(entities))
        return (stored, drift) if drift <= settings.drift * len(entities) else ([], 0)

    def forget_outdated_reports(self) -> None:
        """Delete the reports whose prompt had a text that no document states any more.

        Such a report may repeat the text, so the model is asked again.
        """
        if texts_in_prompt := self._communities.find_shared():
            stated = {text_id(text) for text in all_texts(self._graph.graph)}
            self._communities.forget_summaries([report for report, texts in texts_in_prompt.items()
                                                if not stated.issuperset(texts)])

    def describe(self, summarise: Summarise) -> None:
        """Name and summarise the communities that are not described yet.

        Each batch is stored, even if a later one fails.
        """
        undescribed = self._communities.find_undescribed()
        for start in range(0, len(undescribed), _DESCRIBED_AT_ONCE):
            batch = undescribed[start:start + _DESCRIBED_AT_ONCE]
            summaries = summarise(digests(self._graph.graph, batch))
            with self._db.transaction():
                self._communities.describe(zip([community.id for community in batch], summaries, strict=True))
                self._revise(ledger_state(self._db).tree)

    def _revise(self, state: TreeState) -> None:
        """Store the tree's state under a new revision, by which readers notice the change."""
        note_state(self._db, tree=state._replace(revision=state.revision + 1))
