"""The two steps of fusion: entities move to the community they fit best, and similar communities merge (eq. 7)."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .clusters import Labels, membership_matrix, numbers_in_groups, renumber
from .features import DECIMALS, EntityFeatures, Perception, Scores, scale_to_unit

Pairs = NDArray[np.int64]

# How many of the nearest communities, and of those with most links, a community is adjacent to.
_MOST_ADJACENT = 3
# Rows of the similarity matrix of communities that are computed at once.
_BLOCK = 256
# Sweeps by links alone before phi is used: with 4, 8 and 14 the modularity of 90,897 entities is .69, .71 and .72, and
# planted communities are found a little less well each time.
_SWEEPS = 8
# A search ends when at most this share of the entities moves. Some entities fit two communities equally well and would
# move for ever. A smaller share takes more rounds and hardly raises phi.
SETTLED = 0.03


def pair_adjacent(data: EntityFeatures, perception: Perception) -> Pairs:
    """Pair each community with those of the nearest centroids, and with those with most links to it.

    Returns pairs (a, b), sorted, shape (pairs, 2): a might merge with b, and members of a may move to it.
    """
    k, labels = len(perception.sizes), perception.labels
    if k < 2:  # noqa: PLR2004  (a pair needs two)
        return np.zeros((0, 2), np.int64)
    # Pair each centroid with the `most` most similar others, of equals the first; shape (pairs, 2).
    centroids = scale_to_unit(perception.representation_sums)
    most = min(_MOST_ADJACENT, k - 1)
    nearest = np.empty((len(centroids), most), np.intp)
    for start in range(0, len(centroids), _BLOCK):
        block = nearest[start:start + _BLOCK]
        rows = np.arange(len(block))
        cosine = np.round(centroids[start:start + _BLOCK] @ centroids.T, DECIMALS)
        cosine[rows, start + rows] = -np.inf  # no centroid is its own neighbour
        for place in range(most):  # for so few, faster than a partition
            block[:, place] = cosine.argmax(axis=1)
            cosine[rows, block[:, place]] = -np.inf
    near = np.stack([np.repeat(np.arange(len(centroids)), most), nearest.ravel()], axis=1)
    members = membership_matrix(labels)
    linked = sparse.coo_array(members.T @ data.links_to(members))
    row, column, strength = linked.row, linked.col, linked.data
    order = np.lexsort((column, -strength, row))  # by community, those with most links to it first
    order = order[row[order] != column[order]]  # without the links inside a community
    order = order[numbers_in_groups(row[order]) < _MOST_ADJACENT]
    return _sort_distinct(np.concatenate([near, np.stack([row[order], column[order]], axis=1)]), k)


def _sort_distinct(pairs: Pairs, k: int) -> Pairs:
    keys = np.unique(pairs[:, 0] * k + pairs[:, 1])  # one number for each pair
    return np.stack([keys // k, keys % k], axis=1)


def follow_links(data: EntityFeatures, labels: Labels, max_members: int) -> Labels:
    """Move entities to the community that most of their links lead to; return labels numbered without gaps.

    This precedes fusion, because K-means joins entities with similar names, not linked ones. A sweep moves only every
    other entity, so that two linked entities do not swap communities for ever.
    """
    for sweep in range(_SWEEPS):
        labels = renumber(labels)
        chosen = np.arange(sweep % 2, len(labels), 2)
        links = sparse.coo_array(data.links_to(membership_matrix(labels))[chosen])
        score = np.round(links.data, DECIMALS)
        labels, moved = _move_to_best(labels, np.bincount(labels), chosen[links.row], links.col, score, max_members)
        if moved <= SETTLED * len(labels):
            break
    return renumber(labels)


def move_entities(perception: Perception, chosen: NDArray[np.bool_], pairs: Pairs, semantic_weight: float,
                  max_members: int) -> tuple[Labels, int]:
    """Move each chosen entity to the community within reach that it fits best and that has room; not all at once.

    Returns the new labels, by which a community may have no members left, and how many entities moved.
    """
    k, rows = len(perception.sizes), np.flatnonzero(chosen)
    each_with_itself = np.repeat(np.arange(k)[:, np.newaxis], 2, axis=1)
    one, other = np.concatenate([pairs, each_with_itself]).T
    adjacency = sparse.csr_array((np.ones(len(one), np.float32), (one, other)), shape=(k, k))
    # An entry for each chosen entity and each community that it may move to, stored community by community.
    reach = sparse.csc_array(perception.link_shares[rows] + perception.membership[rows] @ adjacency)
    entities, communities = rows[reach.indices], np.repeat(np.arange(k), np.diff(reach.indptr))
    score = perception.phi(entities, communities, semantic_weight)
    return _move_to_best(perception.labels, perception.sizes, entities, communities, score, max_members)


def _move_to_best(labels: Labels, sizes: Labels, entities: Labels, communities: Labels, score: Scores,
                 max_members: int) -> tuple[Labels, int]:
    """Move each entity to the community with the highest score for it, while there is room there."""
    is_own = labels[entities] == communities
    highest = np.full(len(labels), -np.inf, np.float32)
    np.maximum.at(highest, entities, score)
    # `best` has indices of pairs: first those with the highest score of their entity.
    best = np.flatnonzero(score == highest[entities])
    # Of equal ones, keep that with the own community, else the first.
    best = best[np.lexsort((communities[best], ~is_own[best], entities[best]))]
    best = best[numbers_in_groups(entities[best]) == 0]
    own_score = np.zeros(len(labels), np.float32)
    own_score[entities[is_own]] = score[is_own]
    best = best[~is_own[best]]
    # Of each community, keep as many as it has room for, those with the highest gain first.
    gain = score[best] - own_score[entities[best]]
    best = best[np.lexsort((entities[best], -gain, communities[best]))]
    room = max_members - sizes[communities[best]]
    best = best[numbers_in_groups(communities[best]) < room]
    new_labels = labels.copy()
    new_labels[entities[best]] = communities[best]
    return new_labels, len(best)


def merge_communities(perception: Perception, pairs: Pairs, semantic_weight: float, below: float,
                      max_members: int) -> tuple[Labels, int]:
    """Merge pairs of adjacent communities whose divergence is below epsilon (eq. 7), the least one first.

    A community merges at most once. Returns the labels, numbered without gaps, and how many pairs merged.
    """
    pairs = _sort_distinct(np.sort(pairs, axis=1), len(perception.sizes))
    pairs = pairs[(perception.sizes[pairs] > 0).all(axis=1) & (perception.sizes[pairs].sum(axis=1) <= max_members)]
    divergence = np.round(_compute_divergence(perception, pairs, semantic_weight), DECIMALS)
    order = np.argsort(divergence, kind="stable")
    merged_into = np.arange(len(perception.sizes))
    has_merged = np.zeros(len(perception.sizes), bool)
    for a, b in pairs[order[divergence[order] < below]].tolist():
        if not has_merged[a] and not has_merged[b]:
            merged_into[b] = a
            has_merged[a] = has_merged[b] = True
    return renumber(merged_into[perception.labels]), int(np.count_nonzero(has_merged)) // 2


def _compute_divergence(perception: Perception, pairs: Pairs, semantic_weight: float) -> NDArray[np.float64]:
    """Return the mean of phi(e, a) - phi(e, b) over e in a, averaged with that of b and a (eq. 7), for pairs (a, b)."""
    a, b = pairs.T
    is_paired = np.zeros(len(perception.sizes), bool)
    is_paired[pairs] = True
    by_community = np.argsort(perception.labels, kind="stable")
    members = by_community[is_paired[perception.labels[by_community]]]
    fit = perception.phi(members, perception.labels[members], semantic_weight)
    total_fit = np.bincount(perception.labels[members], weights=fit, minlength=len(perception.sizes))
    mean_fit = total_fit / np.maximum(perception.sizes, 1)
    # For each pair of communities in both orders, the mean of S_r(e, other) over the members e of the first one.
    communities, others = np.concatenate([a, b]), np.concatenate([b, a])
    # `overlap` takes pairs of an entity and a community in the order of communities, so the pairs are sorted first.
    order = np.argsort(others, kind="stable")
    communities, others = communities[order], others[order]
    # One row for each member of the first community of each pair; `pair` has the number of the row's pair.
    counts = perception.sizes[communities]
    pair = np.repeat(np.arange(len(communities)), counts)
    entities_by_community = np.argsort(perception.labels, kind="stable")
    first_member = np.cumsum(perception.sizes) - perception.sizes
    members = entities_by_community[first_member[communities[pair]] + numbers_in_groups(pair)]
    total = np.bincount(pair, weights=perception.overlap(members, others[pair]), minlength=len(communities))
    means = np.empty(len(communities))
    means[order] = total / np.maximum(counts, 1)  # in the order in which the pairs were given
    a_in_b, b_in_a = means.reshape(2, -1)
    own_fit, overlap = (mean_fit[a] + mean_fit[b]) / 2, (a_in_b + b_in_a) / 2
    return np.asarray(own_fit - semantic_weight * perception.mean_cosines(a, b) - overlap, np.float64)
