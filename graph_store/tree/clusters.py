"""Cluster entities: by K-means, where community detection begins, and in groups with common attribute values.

Groups are found by attribute-aware modularity (UniAI-GraphRAG eq. 3): Q = (1 - alpha) Q_struct + alpha S. With alpha 0
the graph alone counts, with alpha 1 the attribute alone; the paper's alpha goes from 0 to infinity. S is 1 for two
entities with a common value. Like Q_struct, S is compared with its expected value for random groups, because otherwise
a single group of all entities would be best.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...models.embedding.embedder import Vectors
from ...runtime.libraries import ignoring, one_thread

Labels = NDArray[np.intp]

EXACT_UP_TO = 1000
"""The paper runs K-means five times from well-spread centres and takes the best. Above this many entities one run from
random centres is enough, because it is only the start of fusion, and several take several times as long."""
_REPEATS = 5
_SEED = 42  # the paper's random_state
_ITERATIONS = 5  # with 30, communities are no better, because entities move by their links right afterwards


def initial_clusters(representations: Vectors, per_cluster: int, most: int, largest: int) -> Labels:
    """Return the k = min(max(2, n // beta), eta) initial clusters (Youtu-GraphRAG section 3.2).

    If n // beta exceeds eta, K-means is applied again within each cluster, because fusion, the next step, splits none.

    Args:
        representations: one row for each entity, shape (n, p), in an order that depends on content alone.
        per_cluster: beta, the number of entities in a cluster.
        most: eta, the maximum number of clusters of one run of K-means.
        largest: the maximum number of entities in a cluster; larger clusters are cut.
    """
    labels = _apply_k_means(representations, per_cluster, most, repeated=len(representations) <= EXACT_UP_TO)
    by_cluster = np.argsort(labels, kind="stable")
    parts = np.empty(len(labels), np.intp)  # each entity's part of its cluster; all but the largest have one part
    parts[by_cluster] = numbers_in_groups(labels[by_cluster]) // largest
    return renumber(labels * (parts.max(initial=0) + 1) + parts)  # one number for each cluster and part


def _apply_k_means(points: Vectors, per_cluster: int, most: int, *, repeated: bool) -> Labels:
    """Apply K-means once or, if more than `most` clusters are wanted, again within its clusters."""
    wanted = max(2, len(points) // per_cluster)
    if wanted <= most:
        return _k_means(points, wanted, repeated=repeated)
    # With the root of their number, either run makes about equally many clusters.
    labels = _k_means(points, min(most, round(wanted ** 0.5)), repeated=False)
    if not labels.any():
        return labels  # all points are in one cluster, because they are equal
    for members in members_by_community(labels):
        first_new_label = labels.max() + 1
        labels[members] = first_new_label + _apply_k_means(points[members], per_cluster, most, repeated=False)
    return renumber(labels)


def _k_means(points: Vectors, clusters: int, *, repeated: bool) -> Labels:
    """Apply K-means: `repeated` takes the best of several runs from well-spread centres, else one from random ones."""
    from sklearn import cluster, exceptions  # noqa: PLC0415  (slow to import, and only needed to build communities)

    if len(points) < 2:  # noqa: PLR2004  (one point is one cluster)
        return np.zeros(len(points), np.intp)
    search = cluster.KMeans(min(clusters, len(points)), init="k-means++" if repeated else "random",
                            n_init=_REPEATS if repeated else 1, random_state=_SEED, max_iter=_ITERATIONS)
    # Limit threads after the import, which may have loaded a library with its own threads.
    # Identical points give fewer clusters than requested, which is correct.
    with one_thread(), ignoring(exceptions.ConvergenceWarning):
        return renumber(np.asarray(search.fit_predict(points), np.intp))


def members_by_community(labels: Labels) -> list[Labels]:
    """Return the sorted members of each community; labels must be numbered without gaps."""
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])


def membership_matrix(labels: Labels, communities: int = 0) -> sparse.csr_array:
    """Return the membership matrix, shape (n, k): 1 for each entity in its community; k is at least `communities`."""
    n, k = len(labels), max(int(labels.max(initial=-1)) + 1, communities)
    return sparse.csr_array((np.ones(n, np.float32), labels, np.arange(n + 1)), shape=(n, k))


def renumber(labels: Labels) -> Labels:
    """Return a partition's labels numbered from 0 without gaps, in order of first member."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse], np.intp)


def numbers_in_groups(groups_sorted: Labels) -> Labels:
    """Return each item's index within its group: sorted groups [0, 0, 2, 2, 2] give [0, 1, 0, 1, 2]."""
    return np.asarray(np.arange(len(groups_sorted)) - np.searchsorted(groups_sorted, groups_sorted), np.intp)


def find_attribute_groups(size: int, links: NDArray[np.integer], values: NDArray[np.integer], alpha: float) -> Labels:
    """Find groups of `size` entities with many links and common attribute values, by Louvain's method.

    `links` has the two entities of each triple, as rows, shape (m, 2); `values` the pairs of an entity and the number
    of a value that it has, shape (v, 2). `alpha` is the weight of the attribute, 0 to 1; links and values have the same
    total weight before it applies.
    """
    import networkx as nx  # noqa: PLC0415  (slow to import, and hardly a question needs it)

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(size))
    entity_links = np.sort(links[links[:, 0] != links[:, 1]], axis=1)
    # Each value is a node, behind those of entities, to which its entities are linked: n * n links would join these.
    value_links = np.add(values, [0, size])
    for ends, weight in ((entity_links, 1 - alpha), (value_links, alpha)):
        if not weight:
            continue  # such links count nothing
        for (one, other), count in sorted(Counter(map(tuple, ends.tolist())).items()):
            graph.add_edge(one, other, weight=weight * count / len(ends))
    labels = np.zeros(size + int(values[:, 1].max(initial=-1)) + 1, np.intp)
    for number, group in enumerate(nx.community.louvain_communities(graph, seed=_SEED)):
        labels[list(group)] = number
    return renumber(labels[:size])
