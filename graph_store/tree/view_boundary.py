"""Find the outside entities that a community's report mentions (boundary completion, UniAI-GraphRAG eq. 4).

The affinity of an outside entity u to a community C is the share of u's neighbours that are in C. A is an
indicator in the paper, so several triples between two entities count once, in either direction. u is included
if its affinity is at least tau (as in the equation; the paper's text says "exceeds").
"""

from collections.abc import Sequence

from ..graph.knowledge_graph import KnowledgeGraph

TAU = 0.5
"""With 0.5, an entity is in the reports of at most two communities."""
Boundary = list[tuple[str, float]]
"""(entity id, affinity), strongest first, then by id."""


def boundary(graph: KnowledgeGraph, members: Sequence[str], tau: float = TAU) -> Boundary:
    """Return the neighbours of a community's members that are at its boundary, with an affinity of at least tau."""
    into: dict[str, set[str]] = {}
    for member in members:
        for end in graph.neighbours(member):
            into.setdefault(end, set()).add(member)
    for member in members:
        into.pop(member, None)
    # Skip entities whose degree rules out enough affinity, without collecting their neighbours.
    network = graph.network
    near = [(entity, len(within) / len(graph.neighbours(entity))) for entity, within in into.items()
            if len(within) >= tau * (max(len(network.succ[entity]), len(network.pred[entity])) - 1)]
    return sorted(((entity, affinity) for entity, affinity in near if affinity >= tau),
                  key=lambda item: (-item[1], item[0]))
