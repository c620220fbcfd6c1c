"""The initial clusters of community detection: K-means over the entities' representations."""


import numpy as np
from numpy.typing import NDArray

from ...models.embedding.embedder import Vectors
from ...runtime.one_thread import one_thread
from ...runtime.quiet import ignoring

Labels = NDArray[np.intp]

# The paper runs K-means five times from well-spread centres and keeps the best. Above this many entities one
# run from random ones is enough: fusion only starts there, and the planted benchmark shows no loss.
_REPEAT_UP_TO = 1000
_REPEATS = 5
# The paper's random_state; iterations after which scikit-learn's clusters hardly change.
_SEED = 42
_ITERATIONS = 30


def initial_clusters(representations: Vectors, per_cluster: int, most: int, largest: int) -> Labels:
    """The initial clusters (Youtu-GraphRAG section 3.2): k = min(max(2, n // beta), eta) of them.

    Where n // beta exceeds eta, clusters of eta would grow with n and fusion could only make them larger.
    There K-means is applied twice: to all entities, then within each cluster, for n // beta clusters in
    all. About the square root of that in the first step costs least.

    Args:
        representations: one row for each entity, shape (n, p), in an order that depends on content alone.
        per_cluster: beta, entities in a cluster.
        most: eta, clusters of one run of K-means.
        largest: no cluster has more entities than this: what K-means cannot tell apart is cut.

    Returns:
        The cluster of each entity, shape (n,), numbered without gaps in order of first member.
    """
    n = len(representations)
    wanted = max(2, n // per_cluster)
    if wanted <= most:
        labels = _k_means(representations, wanted, careful=n <= _REPEAT_UP_TO)
    else:
        labels = _k_means(representations, min(most, round(wanted ** 0.5)))
        for members in groups(labels):
            inner = _k_means(representations[members], max(1, len(members) // per_cluster))
            labels[members] = inner + labels.max() + 1
    return renumbered(_cut(labels, largest))


def groups(labels: Labels) -> list[Labels]:
    """The members of each community, ascending, for labels without gaps."""
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])


def renumbered(labels: Labels) -> Labels:
    """The same partition, numbered from 0 without gaps in order of first member."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[inverse], np.intp)


def places(groups_sorted: Labels) -> Labels:
    """The place of each item within its group, for group numbers that are sorted."""
    if not len(groups_sorted):
        return np.zeros(0, np.intp)
    starts = np.flatnonzero(np.r_[True, np.diff(groups_sorted) > 0])
    return np.asarray(np.arange(len(groups_sorted)) - np.repeat(starts, np.diff(np.r_[starts, len(groups_sorted)])),
                      np.intp)


def _k_means(points: Vectors, clusters: int, *, careful: bool = False) -> Labels:
    from sklearn import cluster, exceptions  # noqa: PLC0415  (a second, and only what builds communities needs it)

    n = len(points)
    clusters = min(clusters, n)
    if clusters < 2:  # noqa: PLR2004  (one cluster needs no search)
        return np.zeros(n, np.intp)
    search = cluster.KMeans(clusters, init="k-means++" if careful else "random", n_init=_REPEATS if careful else 1,
                    random_state=_SEED, max_iter=_ITERATIONS)
    # Limited again: the import may have brought a library with threads of its own.
    # Where points are alike there are fewer clusters than asked for, as there should be.
    with one_thread(), ignoring(exceptions.ConvergenceWarning):
        labels = search.fit_predict(points)
    return renumbered(np.asarray(labels, np.intp))


def _cut(labels: Labels, largest: int) -> Labels:
    order = np.argsort(labels, kind="stable")
    parts = np.empty(len(labels), np.intp)
    parts[order] = places(labels[order]) // largest
    return np.asarray(labels * (parts.max(initial=0) + 1) + parts, np.intp)
