"""Boundary completion (UniAI-GraphRAG eq. 4): who is told of in a community's report without being a member.

The affinity of an outside entity u to a community C is the share of u's neighbours that are in C. A is an
indicator in the paper: several triples between two entities count once, whatever their direction. u takes
part if its affinity is at least tau (the equation; the words beside it say "exceeds").
"""

from collections.abc import Sequence

from ..graph.knowledge_graph import KnowledgeGraph

TAU = 0.5
"""At one half an entity takes part in the reports of two communities at most."""
Boundary = list[tuple[str, float]]
"""(entity id, affinity), the strongest first, equal ones by id."""


def boundaries(graph: KnowledgeGraph, communities: Sequence[Sequence[str]], tau: float = TAU) -> list[Boundary]:
    """The entities at the boundary of each community.

    Args:
        graph: the graph.
        communities: the members of each; they may overlap and need not cover the graph.
        tau: least affinity, from 0 to 1.

    Returns:
        The boundary of each community. Only neighbours of members are there, even with tau = 0.
    """
    return [boundary(graph, members, tau) for members in communities]


def boundary(graph: KnowledgeGraph, members: Sequence[str], tau: float = TAU) -> Boundary:
    """The entities at the boundary of one community, from what is around its members alone; see `boundaries`."""
    into: dict[str, set[str]] = {}
    for member in members:
        for end in graph.neighbours(member):
            into.setdefault(end, set()).add(member)
    for member in members:
        into.pop(member, None)
    # Of an entity with too many neighbours these are not looked at.
    network = graph.network
    near = [(entity, len(within) / len(graph.neighbours(entity))) for entity, within in into.items()
            if len(within) >= tau * (max(len(network.succ[entity]), len(network.pred[entity])) - 1)]
    return sorted(((entity, affinity) for entity, affinity in near if affinity >= tau),
                  key=lambda item: (-item[1], item[0]))
