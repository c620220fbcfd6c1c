"""The two steps of fusion: entities move to the community they fit best, alike communities merge (eq. 7)."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...models.embedding.embedder import Vectors
from .clusters import Labels, k_means, membership, places, renumber
from .features import EntityFeatures, unit
from .scores import DECIMALS, Perception, Scores

Pairs = NDArray[np.int64]

# Communities looked at beside those of an entity's neighbours: the nearest in meaning, the most linked.
_NEAR = 3
# Rows of the similarity matrix of communities held at once.
_BLOCK = 256
# The regions, about the square root of the communities in number, whose communities one is compared with: the cost of
# comparing all grows with the square.
_REGIONS = 3
# What sums in another order may differ by.
_ROUNDING = 1e-4
# Sweeps by links alone before phi is looked at: with 4, 8 and 14 the modularity of 90,897 entities is .69, .71 and .72,
# and planted communities are found a little less well each time.
_SWEEPS = 8
# The share of the entities that may still move when a search has ended: some fit two communities alike, and
# what they do changes the community, which they then fit less. A smaller share takes more rounds for hardly any phi.
SETTLED = 0.03


def adjacent(data: EntityFeatures, now: Perception, *, by_region: bool = False) -> Pairs:
    """Pair each community with those it might merge with: nearest centroids and most links.

    Args:
        data: the entities.
        now: the communities.
        by_region: look for the nearest centroids in the regions nearest to each.

    Returns:
        Pairs (a, b): a might merge with b, and members of a may move to it; shape (pairs, 2), sorted.
    """
    k, labels = len(now.sizes), now.labels
    if k < 2:  # noqa: PLR2004  (a pair needs two)
        return np.zeros((0, 2), np.int64)
    near = _nearest(unit(now.sums), min(_NEAR, k - 1), by_region=by_region)
    members = membership(labels)
    linked = sparse.coo_array(members.T @ data.links_to(members))
    row, column, strength = linked.row, linked.col, linked.data
    order = np.lexsort((column, -strength, row))
    order = order[row[order] != column[order]]
    order = order[places(row[order]) < _NEAR]
    return _deduplicate(np.concatenate([near, np.stack([row[order], column[order]], axis=1)]), k)


def _deduplicate(pairs: Pairs, k: int) -> Pairs:
    """Return each pair of k communities once, sorted."""
    keys = np.unique(pairs[:, 0] * k + pairs[:, 1])
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
    return np.asarray(membership(labels).T @ rows, np.float32)


def follow_links(data: EntityFeatures, labels: Labels, max_members: int) -> Labels:
    """Let entities move to the community that most of their links lead to, every other one in each sweep.

    K-means groups similar names. Fusion that starts from linked entities instead needs fewer rounds and ends with a
    higher phi, and a sweep by links costs much less than one by phi.

    Args:
        data: n entities.
        labels: their communities, shape (n,).
        max_members: the size that no community exceeds by a move.

    Returns:
        The new labels, numbered without gaps.
    """
    for sweep in range(_SWEEPS):
        labels = renumber(labels)
        chosen = np.arange(sweep % 2, len(labels), 2)
        links = sparse.coo_array(data.links_to(membership(labels))[chosen])
        score = np.round(links.data, DECIMALS)
        labels, moved = _move_to_best(labels, np.bincount(labels), chosen[links.row], links.col, score, max_members)
        if moved <= SETTLED * len(labels):
            break
    return renumber(labels)


def move(now: Perception, chosen: NDArray[np.bool_], pairs: Pairs, semantic_weight: float,
         max_members: int) -> tuple[Labels, int]:
    """Put each chosen entity into the adjacent community that it fits best, if that has room.

    Not all may be chosen at once, or two would swap places for ever.

    Returns:
        The new labels (a community may have lost all its members), and how many moved.
    """
    entities, communities = _within_reach(now, chosen, pairs)
    score = now.phi(entities, communities, semantic_weight)
    return _move_to_best(now.labels, now.sizes, entities, communities, score, max_members)


def _move_to_best(labels: Labels, sizes: Labels, entities: Labels, communities: Labels, score: Scores,
                 max_members: int) -> tuple[Labels, int]:
    """Put each entity into the community that scores highest for it, those that gain most first, while there is room.

    Args:
        labels: the community of every entity.
        sizes: how many members each community has.
        entities: one of each scored pair.
        communities: the other; a pair with the entity's own community that is missing scores 0.
        score: of each pair.
        max_members: members that a community has room for.

    Returns:
        The new labels, and how many entities moved.
    """
    own = labels[entities] == communities
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
    room = max_members - sizes[communities[best]]
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

    No union exceeds `max_members`.

    Returns:
        The new labels, numbered without gaps, and how many pairs merged.
    """
    pairs = _deduplicate(np.sort(pairs, axis=1), len(now.sizes))
    pairs = pairs[(now.sizes[pairs] > 0).all(axis=1) & (now.sizes[pairs].sum(axis=1) <= max_members)]
    divergence = np.round(_divergence(now, pairs, semantic_weight, below), DECIMALS)
    order = np.argsort(divergence, kind="stable")
    into, free = np.arange(len(now.sizes)), np.ones(len(now.sizes), bool)
    for a, b in pairs[order[divergence[order] < below]].tolist():
        if free[a] and free[b]:
            into[b] = a
            free[a] = free[b] = False
    return renumber(into[now.labels]), int(np.count_nonzero(~free)) // 2


def _divergence(now: Perception, pairs: Pairs, semantic_weight: float, below: float) -> NDArray[np.float64]:
    """Compute E[phi(e, a) - phi(e, b)] over the members e of a, averaged with that of b and a, for each pair (a, b).

    For most pairs a lower bound is not below epsilon. It is returned then, and their members are not compared.
    """
    a, b = pairs.T
    within = _mean_fit(now, pairs, semantic_weight)
    loss = (within[a] + within[b]) / 2 - semantic_weight * now.mean_cosines(a, b)
    least = np.asarray(loss - now.bound_overlaps(a, b), np.float64)
    close = np.flatnonzero(least < below + _ROUNDING)
    a, b = pairs[close].T
    forth, back = _mean_overlap(now, np.concatenate([a, b]), np.concatenate([b, a])).reshape(2, -1)
    least[close] = loss[close] - (forth + back) / 2
    return least


def _mean_fit(now: Perception, pairs: Pairs, semantic_weight: float) -> NDArray[np.float64]:
    """Compute the mean of phi of the members of each community in a pair, shape (k,); 0 for others."""
    concerned = np.zeros(len(now.sizes), bool)
    concerned[pairs] = True
    order = np.argsort(now.labels, kind="stable")
    theirs = order[concerned[now.labels[order]]]
    fit = now.phi(theirs, now.labels[theirs], semantic_weight)
    return np.bincount(now.labels[theirs], weights=fit, minlength=len(now.sizes)) / np.maximum(now.sizes, 1)


def _mean_overlap(now: Perception, a: Labels, b: Labels) -> NDArray[np.float64]:
    """Compute the mean of S_r of the members of a and the community b, for pairs of communities."""
    order, first = np.argsort(now.labels, kind="stable"), np.cumsum(now.sizes) - now.sizes
    by_other = np.argsort(b, kind="stable")  # scoring goes community by community
    a, b = a[by_other], b[by_other]
    counts = now.sizes[a]
    pair = np.repeat(np.arange(len(a)), counts)
    overlap = now.overlap(order[np.repeat(first[a], counts) + places(pair)], b[pair])
    mean = np.empty(len(a))
    mean[by_other] = np.bincount(pair, weights=overlap, minlength=len(a)) / np.maximum(counts, 1)
    return mean
