"""The tree of a knowledge base: built, kept up with the graph, described."""

from collections.abc import Callable, Mapping, Sequence

from ...schemas.retrieval import CommunityDigest, CommunitySummary
from ..graph.knowledge_graph import KnowledgeGraph
from ..graph.state import GraphState
from ..ledger.communities import Community, CommunityTable
from ..ledger.database import Database
from ..vectors.store import VectorStore
from .description import Before, digests, find_tree, marks, view_communities
from .detection import CommunitySettings
from .view_spec import ViewSpec
from .views import ViewSettings, build_view

Summarise = Callable[[Sequence[CommunityDigest]], list[CommunitySummary]]

# Communities described between two commits: as many as an endpoint answers for at once, with the default settings.
_DESCRIBED_AT_ONCE = 256


class TreeSynchroniser:
    """Keeps the communities of one knowledge base.

    Little of a large graph changed: only that is clustered anew. What changed is told by the marks that are kept
    with the communities, so the tree is a function of the one before and of the graph, whatever was killed in between.
    """

    def __init__(self, database: Database, vectors: VectorStore, communities: CommunityTable) -> None:
        self._db = database
        self._vectors = vectors
        self._communities = communities

    def state(self) -> GraphState:
        """The state of the ledger that the communities reflect; zeros before the first."""
        return GraphState(int(self._db.get_meta("tree_position") or 0), int(self._db.get_meta("tree_resolution") or 0))

    def build(self, graph: KnowledgeGraph, state: GraphState, settings: CommunitySettings, *, anew: bool) -> None:
        """Make the communities those of the graph as it is.

        Args:
            graph: the graph.
            state: the state of the ledger that it reflects.
            settings: constants of the detection.
            anew: find all communities anew, even if little of a large graph has changed.
        """
        now = marks(graph)
        before = None if anew else self._before(now, settings)
        communities = find_tree(graph, self._vectors, settings, before)
        with self._db.transaction():
            self._communities.replace(communities, marks=now)
            self._communities.forget_views()
            self._db.set_meta("tree_position", str(state.position))
            self._db.set_meta("tree_resolution", str(state.resolution))
            self._db.set_meta("tree_drift", str(self._drift() + len(before.changed) if before else 0))
            self._revise()

    def _drift(self) -> int:
        """How many entities changed since all communities were found anew."""
        return int(self._db.get_meta("tree_drift") or 0)

    def _before(self, now: Mapping[str, str], settings: CommunitySettings) -> Before | None:
        """What the tree can go on from; None where all of it is to be found anew."""
        if len(now) <= settings.update_above:
            return None
        then = self._communities.marks()
        changed = frozenset(one for one in now.keys() | then.keys() if now.get(one) != then.get(one))
        if self._drift() + len(changed) > settings.drift * len(now):
            return None
        return Before(self._communities.all(), changed)

    def describe(self, graph: KnowledgeGraph, summarise: Summarise) -> None:
        """Name and summarise the communities that are not described yet.

        What was described stands, whatever ends the rest.

        Args:
            graph: the graph whose communities they are.
            summarise: describes communities; called for some at a time.
        """
        waiting = self._communities.undescribed()
        for start in range(0, len(waiting), _DESCRIBED_AT_ONCE):
            some = waiting[start:start + _DESCRIBED_AT_ONCE]
            said = summarise(digests(graph, some))
            with self._db.transaction():
                self._communities.describe(zip([community.id for community in some], said, strict=True))
                self._revise()

    def described(self) -> bool:
        """Whether all communities were described since they were found; none of them waits for it then."""
        return self._db.get_meta("tree_described") == "yes"

    def _revise(self) -> None:
        """Tell readers that the tree is another one, and the next run whether it is whole."""
        self._db.set_meta("tree_revision", str(int(self._db.get_meta("tree_revision") or 0) + 1))
        self._db.set_meta("tree_described", "" if self._communities.undescribed() else "yes")

    def view(self, graph: KnowledgeGraph, spec: ViewSpec, settings: CommunitySettings) -> list[Community]:
        """Build a view beside the default one; it stands until the tree is built anew."""
        view = build_view(graph, self._vectors, spec, ViewSettings())
        self._communities.replace(view_communities(graph, self._vectors, view, settings), view.name)
        return self._communities.all(view.name)
