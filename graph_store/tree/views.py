"""Further dimensions of the knowledge tree (UniAI-GraphRAG section 3.2): named views of one graph.

Every view is a partition of the graph's entities and a function of the graph and the spec alone.
"""

from ..graph.knowledge_graph import KnowledgeGraph
from ..vectors.store import VectorStore
from .view_attributes import by_attribute, by_relation
from .view_boundary import boundaries
from .view_groups import Group, View
from .view_modularity import by_modularity
from .view_patterns import by_pattern
from .view_spec import AttributeSpec, ModularitySpec, PatternSpec, RelationSpec, ViewError, ViewSpec, parse_view

__all__ = ["AttributeSpec", "Group", "ModularitySpec", "PatternSpec", "RelationSpec", "View", "ViewError",
           "ViewSpec", "boundaries", "build_view", "parse_view"]


def build_view(graph: KnowledgeGraph, vectors: VectorStore, spec: ViewSpec) -> View:
    """The view of a graph; of the vectors only the modularity view reads any, those of the entities."""
    match spec:
        case ModularitySpec():
            return by_modularity(graph, vectors.get("entities", graph.entity_ids()), spec)
        case AttributeSpec():
            return by_attribute(graph, spec)
        case RelationSpec():
            return by_relation(graph, spec)
        case PatternSpec():
            return by_pattern(graph, spec)
