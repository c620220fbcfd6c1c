"""The two steps of fusion: entities move to the community they fit best, alike communities merge (eq. 7)."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...models.embedding.embedder import Vectors
from .clusters import Labels, k_means, places, renumber
from .features import EntityFeatures, unit
from .scores import DECIMALS, Perception, Scores, phi

Pairs = NDArray[np.int64]

# Communities looked at beside those of an entity's neighbours: the nearest in meaning, the most linked.
_NEAR = 3
# Rows of the similarity matrix of communities held at once.
_BLOCK = 256
# The regions, about the square root of the communities in number, whose communities one is compared with: the cost of
# comparing all grows with the square.
_REGIONS = 3


def adjacent(data: EntityFeatures, now: Perception, *, by_region: bool = False) -> Pairs:
    """Pair each community with those it might merge with: nearest centroids and most links.

    Args:
        data: the entities.
        now: the communities.
        by_region: look for the nearest centroids in the regions nearest to each.

    Returns:
        Ordered pairs (a, b) of communities, both directions, shape (pairs, 2), sorted.
    """
    k, labels = len(now.sizes), now.labels
    if k < 2:  # noqa: PLR2004  (a pair needs two)
        return np.zeros((0, 2), np.int64)
    near = _nearest(unit(now.sums), min(_NEAR, k - 1), by_region=by_region)
    members = sparse.csr_array((np.ones(len(labels), np.float32), (np.arange(len(labels)), labels)))
    linked = sparse.coo_array(members.T @ data.links_to(members))
    row, column, strength = linked.row, linked.col, linked.data
    order = np.lexsort((column, -strength, row))
    order = order[row[order] != column[order]]
    order = order[places(row[order]) < _NEAR]
    a, b = np.concatenate([near, np.stack([row[order], column[order]], axis=1)]).T
    keys = np.unique(np.concatenate([a * k + b, b * k + a]))
    return np.stack([keys // k, keys % k], axis=1)


def _nearest(centroids: Vectors, most: int, *, by_region: bool) -> Pairs:
    """Pair each centroid with the most similar others."""
    k = len(centroids)
    regions = np.zeros((k, 1), np.intp)
    if by_region:
        middles = unit(_sums(centroids, k_means(centroids, round(k ** 0.5), sampled=True)))
        regions = np.concatenate([_best(centroids[start:start + _BLOCK] @ middles.T, min(_REGIONS, len(middles)))
                                  for start in range(0, k, _BLOCK)])
    ones, others, cosines = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)], [np.zeros(0, np.float32)]
    for region in np.unique(regions[:, 0]):
        inside = np.flatnonzero(regions[:, 0] == region)
        looking = np.flatnonzero((regions == region).any(axis=1))
        for start in range(0, len(looking), _BLOCK):
            rows = looking[start:start + _BLOCK]
            cosine = np.round(centroids[rows] @ centroids[inside].T, DECIMALS)
            cosine[rows[:, np.newaxis] == inside] = -np.inf
            nearest = _best(cosine.copy(), min(most, len(inside)))
            ones.append(np.repeat(rows, nearest.shape[1]))
            others.append(inside[nearest].ravel())
            cosines.append(np.take_along_axis(cosine, nearest, axis=1).ravel())
    one, other, cosine = np.concatenate(ones), np.concatenate(others), np.concatenate(cosines)
    order = np.lexsort((other, -cosine, one))
    order = order[places(one[order]) < most]
    order = order[one[order] != other[order]]
    return np.stack([one[order], other[order]], axis=1)


def _best(values: Scores, most: int) -> Labels:
    """Return the columns of the largest values of each row, the first of equals; `values` is overwritten."""
    rows, columns = np.arange(len(values)), np.empty((len(values), most), np.intp)
    for place in range(most):  # for so few, faster than a partition
        columns[:, place] = values.argmax(axis=1)
        values[rows, columns[:, place]] = -np.inf
    return columns


def _sums(rows: Vectors, labels: Labels) -> Vectors:
    members = sparse.csr_array((np.ones(len(labels), np.float32), (labels, np.arange(len(labels)))))
    return np.asarray(members @ rows, np.float32)


def move(now: Perception, chosen: NDArray[np.bool_], pairs: Pairs, semantic_weight: float,
         max_members: int) -> tuple[Labels, int]:
    """Put each chosen entity into the adjacent community that it fits best, if that has room.

    Not all may be chosen at once, or two would swap places for ever.

    Returns:
        The new labels (a community may have lost all its members), and how many moved.
    """
    labels = now.labels
    entities, communities = _within_reach(now, chosen, pairs)
    own = labels[entities] == communities
    score = phi(*now.terms(entities, communities), semantic_weight)
    highest = np.full(len(labels), -np.inf, np.float32)
    np.maximum.at(highest, entities, score)
    best = np.flatnonzero(score == highest[entities])
    best = best[np.lexsort((communities[best], ~own[best], entities[best]))]  # of equals its own, else the first
    best = best[places(entities[best]) == 0]
    mine = np.zeros(len(labels), np.float32)
    mine[entities[own]] = score[own]
    best = best[~own[best]]
    gain = score[best] - mine[entities[best]]
    best = best[np.lexsort((entities[best], -gain, communities[best]))]
    room = max_members - now.sizes[communities[best]]
    best = best[places(communities[best]) < room]
    moved = labels.copy()
    moved[entities[best]] = communities[best]
    return moved, len(best)


def _within_reach(now: Perception, chosen: NDArray[np.bool_], pairs: Pairs) -> tuple[Labels, Labels]:
    """Pair chosen entities with their own community, those adjacent to it, those of their neighbours; by community."""
    k, rows = len(now.sizes), np.flatnonzero(chosen)
    one, other = np.concatenate([pairs, np.repeat(np.arange(k)[:, np.newaxis], 2, axis=1)]).T
    near = sparse.csr_array((np.ones(len(one), np.float32), (one, other)), shape=(k, k))
    reach = sparse.csc_array(now.towards[rows] + now.belong[rows] @ near)
    return rows[reach.indices], np.repeat(np.arange(k), np.diff(reach.indptr))


def merge(now: Perception, pairs: Pairs, semantic_weight: float, below: float,
          max_members: int) -> tuple[Labels, int]:
    """Merge pairs of communities whose divergence is below epsilon (eq. 7): closest first, each at most once.

    Pairs are ordered, in both directions. No union exceeds `max_members`.

    Returns:
        The new labels, numbered without gaps, and how many pairs merged.
    """
    k = len(now.sizes)
    pairs = pairs[(now.sizes[pairs] > 0).all(axis=1) & (now.sizes[pairs].sum(axis=1) <= max_members)]
    loss = _divergence(now, pairs, semantic_weight)
    reverse = np.searchsorted(pairs[:, 0] * k + pairs[:, 1], pairs[:, 1] * k + pairs[:, 0])
    mean = np.round((loss + loss[reverse]) / 2, DECIMALS)
    wanted = np.flatnonzero((pairs[:, 0] < pairs[:, 1]) & (mean < below))
    into, free = np.arange(k), np.ones(k, bool)
    for a, b in pairs[wanted[np.argsort(mean[wanted], kind="stable")]].tolist():
        if free[a] and free[b]:
            into[b] = a
            free[a] = free[b] = False
    return renumber(into[now.labels]), int(np.count_nonzero(~free)) // 2


def _divergence(now: Perception, pairs: Pairs, semantic_weight: float) -> NDArray[np.float64]:
    """Return how much worse the members of a fit b, on average: E[phi(e, a) - phi(e, b)] over e in a, for each pair."""
    order = np.argsort(now.labels, kind="stable")
    first = np.cumsum(now.sizes) - now.sizes
    by_other = np.argsort(pairs[:, 1], kind="stable")  # scoring is fastest community by community
    a, b = pairs[by_other].T
    counts = now.sizes[a]
    pair = np.repeat(np.arange(len(a)), counts)
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    fit = phi(*now.terms(order[np.repeat(first[a], counts) + place], b[pair]), semantic_weight)
    concerned = np.zeros(len(now.sizes), bool)
    concerned[a] = True
    theirs = order[concerned[now.labels[order]]]
    own = phi(*now.terms(theirs, now.labels[theirs]), semantic_weight)
    within = np.bincount(now.labels[theirs], weights=own, minlength=len(now.sizes)) / np.maximum(now.sizes, 1)
    loss = np.empty(len(pairs))
    loss[by_other] = within[a] - np.bincount(pair, weights=fit, minlength=len(a)) / np.maximum(counts, 1)
    return loss
