"""Further dimensions of the knowledge tree (UniAI-GraphRAG section 3.2): named views of one graph.

Every view is a partition of the graph's entities and a function of the graph and the spec alone.
"""

from dataclasses import dataclass

from ..graph.knowledge_graph import KnowledgeGraph
from ..vectors.store import VectorStore
from .view_attributes import by_attribute, by_relation
from .view_boundary import boundaries
from .view_groups import Group, View
from .view_modularity import by_modularity
from .view_patterns import by_pattern
from .view_spec import AttributeSpec, ModularitySpec, PatternSpec, RelationSpec, ViewError, ViewSpec, parse_view

__all__ = ["AttributeSpec", "Group", "ModularitySpec", "PatternSpec", "RelationSpec", "View", "ViewError",
           "ViewSettings", "ViewSpec", "boundaries", "build_view", "parse_view"]


@dataclass(frozen=True)
class ViewSettings:
    """The constants of views; the paper states none, nor does its published code.

    Those of eq. 3 were chosen on planted partitions whose links, vectors and attributes are more or less noisy.

    Attributes:
        alpha: of eq. 3, the weight of all likeness together, that of all links being 1.
        neighbours: an entity's nearest whose likeness counts.
        least_similarity: of those, the ones at least so near.
        tau: of eq. 4: at one half an entity takes part in the reports of two communities at most.
        max_members: a larger community of eq. 3 is divided again, so that one prompt can summarise it.
    """

    alpha: float = 1.0
    neighbours: int = 20
    least_similarity: float = 0.2
    tau: float = 0.5
    max_members: int = 200


def build_view(graph: KnowledgeGraph, vectors: VectorStore, spec: ViewSpec, settings: ViewSettings) -> View:
    """The view of a graph.

    Args:
        graph: the graph.
        vectors: with the vectors of all its entities; only the modularity view reads them.
        spec: which view.
        settings: the constants.
    """
    match spec:
        case ModularitySpec():
            return by_modularity(graph, vectors.get("entities", graph.entity_ids()), spec, alpha=settings.alpha,
                                 neighbours=settings.neighbours, least_similarity=settings.least_similarity,
                                 max_members=settings.max_members)
        case AttributeSpec():
            return by_attribute(graph, spec)
        case RelationSpec():
            return by_relation(graph, spec)
        case PatternSpec():
            return by_pattern(graph, spec)
