"""Groups of entities by attribute-aware modularity (UniAI-GraphRAG eq. 3).

Q = (1 - alpha) Q_struct + alpha S, where alpha goes from 0, the graph alone, to 1, the attribute alone; the paper's
goes from 0 to infinity. S is 1 where two entities have a value in common. Like Q_struct it is compared with what chance
would give, or one group of all would be best.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from .clusters import Labels, renumber

_SEED = 42


def attribute_groups(size: int, links: NDArray[np.integer], values: NDArray[np.integer], alpha: float) -> Labels:
    """Find groups of much linked entities with common values, by Louvain's method.

    Both kinds of links have the same total weight before alpha. Entities with a value in common are not linked to each
    other, which would take n * n links, but to a node that stands for the value.

    Args:
        size: the number of entities, n.
        links: two entities for each triple, by their rows, shape (m, 2).
        values: an entity and the number of its value, shape (v, 2); an entity may have several.
        alpha: the weight of the attribute, 0 to 1.

    Returns:
        The group of each entity, shape (n,); groups are in the order of their first members.
    """
    import networkx as nx  # noqa: PLC0415  (slow to import, and hardly a question needs it)

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(size))
    joined = np.sort(links[links[:, 0] != links[:, 1]], axis=1)
    for ends, weight in ((joined, 1 - alpha), (np.add(values, [0, size]), alpha)):
        for (one, other), count in sorted(Counter(map(tuple, ends.tolist())).items()) if weight else ():
            before = graph.get_edge_data(one, other, {"weight": 0.0})["weight"]
            graph.add_edge(one, other, weight=before + weight * count / len(ends))
    labels = np.zeros(size + int(values[:, 1].max(initial=-1)) + 1, np.intp)
    for number, group in enumerate(nx.community.louvain_communities(graph, seed=_SEED)):
        labels[list(group)] = number
    return renumber(labels[:size])
