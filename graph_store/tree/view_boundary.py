"""Find the outside entities that a community's report mentions (boundary completion, UniAI-GraphRAG eq. 4).

The affinity of an outside entity u to a community C is the share of u's neighbours that are in C. A is an
indicator in the paper, so several triples between two entities count once, in either direction. u is included
if its affinity is at least tau (as in the equation; the paper's text says "exceeds").
"""

from collections import Counter
from collections.abc import Sequence

from ..graph.knowledge_graph import KnowledgeGraph

TAU = 0.5
"""With 0.5, an entity is in the reports of at most two communities."""


def boundary(graph: KnowledgeGraph, members: Sequence[str], tau: float = TAU) -> set[str]:
    """Return the neighbours of a community's members that are at its boundary, with an affinity of at least tau."""
    within = Counter(end for member in members for end in graph.neighbours(member))
    return {entity for entity in within.keys() - set(members)
            if within[entity] / graph.count_neighbours(entity) >= tau}
