"""Boundary completion (UniAI-GraphRAG eq. 4): who is told of in a community's report without being a member.

The affinity of an outside entity u to a community C is the share of u's neighbours that are in C. A is an
indicator in the paper: several triples between two entities count once, whatever their direction. u takes
part if its affinity is at least tau (the equation; the words beside it say "exceeds").
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from ..graph.adjacency import adjacency
from ..graph.knowledge_graph import KnowledgeGraph

TAU = 0.5
"""At one half an entity takes part in the reports of two communities at most."""
Boundary = list[tuple[str, float]]
"""(entity id, affinity), the strongest first, equal ones by id."""


def boundaries(graph: KnowledgeGraph, communities: Sequence[Sequence[str]], tau: float = TAU) -> list[Boundary]:
    """The entities at the boundary of each community, in O(triples + members).

    Args:
        graph: the graph.
        communities: the members of each; they may overlap and need not cover the graph.
        tau: least affinity, from 0 to 1.

    Returns:
        The boundary of each community. Only neighbours of members are there, even with tau = 0.
    """
    ids = graph.entity_ids()
    row = {entity: number for number, entity in enumerate(ids)}
    places = np.array([(row[entity], number) for number, members in enumerate(communities) for entity in set(members)],
                      np.intp).reshape(-1, 2)
    inside = sparse.coo_array((np.ones(len(places), np.int64), places.T), shape=(len(ids), len(communities))).tocsr()
    triples = adjacency(graph, ids)
    neighbours = ((triples + triples.T) > 0).astype(np.int64)
    degree = neighbours.sum(axis=1)
    links = neighbours @ inside
    outside = sparse.coo_array(links - links.multiply(inside))
    near_communities: list[Boundary] = [[] for _ in communities]
    for entity, community, into in zip(outside.row.tolist(), outside.col.tolist(), outside.data.tolist(), strict=True):
        affinity = into / int(degree[entity])
        if into and affinity >= tau:
            near_communities[community].append((ids[entity], affinity))
    return [sorted(near, key=lambda item: (-item[1], item[0])) for near in near_communities]
