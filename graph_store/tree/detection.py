"""Dual-perception community detection (Youtu-GraphRAG section 3.2, eq. 4 to 7), and the hierarchy above it.

K-means makes the first communities. Entities then move to the community that most of their links lead to. After that,
two steps alternate until little changes: entities move to the community they fit best, and communities merge if their
members fit both about equally well. The equations are read so (alternatives: `benchmarks/community_readings.py`):

- Eq. 4: each triple is seen from its entity, [itself || relation || other end] (`compute_features`).
- Eq. 6, S_r: the paper calls Psi the multiset of incident relation types; its code computes the overlap of neighbours.
  Here Psi has each relation together with the entity at its other end, and being mentioned by a passage; a relation
  type alone would make one community of all who work for any company. The other half of Psi names the communities of
  these ends. Both halves are frequencies p: S_r = sum min(p_e, p_C) / sum max(p_e, p_C).
- Eq. 5: the circled plus is a sum.
- Eq. 7: the divergence of a and b is the mean of phi(e, a) - phi(e, b) over the members e of a, averaged with the same
  for b and a. An entity is not counted as a member of the community that it is compared with; otherwise nothing merges.
  Read literally, as the difference of two expectations, the divergence is near 0 for any two coherent communities.
- The paper goes directly from clusters to fusion. Moving entities by their links first costs little, and ends with a
  higher phi and a higher modularity (benchmarks/README.md), because clusters have entities of similar names.
- If a level has too many communities, they become the entities of the next level, by the same method.
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...models.embedding.embedder import Vectors
from ...runtime.libraries import ignoring, one_thread
from . import features
from .features import DECIMALS, EntityFeatures, Labels, Perception, Scores, membership_matrix, scale_to_unit

Pairs = NDArray[np.int64]

_REPEATS = 5
"""The paper runs K-means five times from well-spread centres and takes the best. In a large graph one run from random
centres is enough, because it is only the start of fusion, and several take several times as long."""
_SEED = 42  # the paper's random_state
_ITERATIONS = 5  # with 30, communities are no better, because entities move by their links right afterwards
_MOST_ADJACENT = 3  # how many of the nearest communities, and of those with most links, a community is adjacent to
_BLOCK = 256  # rows of the similarity matrix of communities that are computed at once, to bound memory
_SWEEPS = 8
"""Sweeps by links alone before phi is used: with 4, 8 and 14 the modularity of 90,897 entities is .69, .71 and .72, and
planted communities are found a little less well each time."""
SETTLED = 0.03
"""A search ends when at most this share of the entities moves. Some fit two communities equally well and would move for
ever. A smaller share takes more rounds and hardly raises phi."""


def initial_clusters(representations: Vectors, per_cluster: int, most: int, largest: int) -> Labels:
    """Return the k = min(max(2, n // beta), eta) initial clusters (Youtu-GraphRAG section 3.2).

    If n // beta exceeds eta, K-means is applied again within each cluster, because fusion, the next step, splits none.

    Args:
        representations: one row for each entity, shape (n, p), in an order that depends on content alone.
        per_cluster: beta, the number of entities in a cluster.
        most: eta, the maximum number of clusters of one run of K-means.
        largest: the maximum number of entities in a cluster; larger clusters are cut.
    """
    labels = _apply_k_means(representations, per_cluster, most, repeated=len(representations) <= features.EXACT_UP_TO)
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


def renumber(labels: Labels) -> Labels:
    """Return a partition's labels numbered from 0 without gaps, in order of first member."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse], np.intp)


def numbers_in_groups(groups_sorted: Labels) -> Labels:
    """Return each item's index within its group: sorted groups [0, 0, 2, 2, 2] give [0, 1, 0, 1, 2]."""
    return np.asarray(np.arange(len(groups_sorted)) - np.searchsorted(groups_sorted, groups_sorted), np.intp)


def _pair_adjacent(data: EntityFeatures, perception: Perception) -> Pairs:
    """Return the sorted pairs (a, b) of a community and those nearest, or with most links to it, shape (pairs, 2)."""
    k = len(perception.sizes)
    centroids = scale_to_unit(perception.representation_sums)
    nearest = np.empty((k, min(_MOST_ADJACENT, k - 1)), np.intp)
    for start in range(0, k, _BLOCK):
        block = nearest[start:start + _BLOCK]
        rows = np.arange(len(block))
        cosine = np.round(centroids[start:start + _BLOCK] @ centroids.T, DECIMALS)
        cosine[rows, start + rows] = -np.inf  # no community is its own neighbour
        for place in range(nearest.shape[1]):  # of equals, the first one is nearer
            block[:, place] = cosine.argmax(axis=1)
            cosine[rows, block[:, place]] = -np.inf
    near = np.stack([np.repeat(np.arange(k), nearest.shape[1]), nearest.ravel()], axis=1)
    members = membership_matrix(perception.labels)
    linked = sparse.coo_array(members.T @ data.links_to(members))
    row, column, strength = linked.row, linked.col, linked.data
    order = np.lexsort((column, -strength, row))  # by community, those with most links to it first
    order = order[row[order] != column[order]]  # without the links inside a community
    order = order[numbers_in_groups(row[order]) < _MOST_ADJACENT]
    return np.unique(np.concatenate([near, np.stack([row[order], column[order]], axis=1)]), axis=0)


def _follow_links(data: EntityFeatures, labels: Labels, max_members: int) -> Labels:
    """Move entities to the community that most of their links lead to; return labels numbered without gaps."""
    for sweep in range(_SWEEPS):
        labels = renumber(labels)
        # Only every other entity at once, so that two linked entities do not swap communities for ever.
        chosen = np.arange(sweep % 2, len(labels), 2)
        links = sparse.coo_array(data.links_to(membership_matrix(labels))[chosen])
        score = np.round(links.data, DECIMALS)
        labels, moved = _move_to_best(labels, np.bincount(labels), chosen[links.row], links.col, score, max_members)
        if moved <= SETTLED * len(labels):
            break
    return renumber(labels)


def _move_entities(perception: Perception, rows: Labels, pairs: Pairs, semantic_weight: float,
                   max_members: int) -> tuple[Labels, int]:
    """Move the entities in `rows` to the linked or adjacent community each fits best; return labels, how many moved."""
    k = len(perception.sizes)
    each_with_itself = np.repeat(np.arange(k)[:, np.newaxis], 2, axis=1)  # an entity may stay where it is
    one, other = np.concatenate([pairs, each_with_itself]).T
    adjacency = sparse.csr_array((np.ones(len(one), np.float32), (one, other)), shape=(k, k))
    # An entry for each of the entities and each community that it may move to, stored community by community.
    reach = sparse.csc_array(perception.link_shares[rows] + perception.membership[rows] @ adjacency)
    entities, communities = rows[reach.indices], np.repeat(np.arange(k), np.diff(reach.indptr))
    score = perception.phi(entities, communities, semantic_weight)
    return _move_to_best(perception.labels, perception.sizes, entities, communities, score, max_members)


def _move_to_best(labels: Labels, sizes: Labels, entities: Labels, communities: Labels, score: Scores,
                 max_members: int) -> tuple[Labels, int]:
    """Move each entity to the community with the highest score for it, while there is room there.

    `entities`, `communities` and `score` have a row for each pair of an entity and a community that it may move to, its
    own among them. Returns the new labels, and how many entities moved.
    """
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
    new_labels = labels.copy()  # the caller compares them with the old ones
    new_labels[entities[best]] = communities[best]
    return new_labels, len(best)


def _merge_communities(perception: Perception, pairs: Pairs, semantic_weight: float, below: float,
                       max_members: int) -> tuple[Labels, int]:
    """Merge pairs of communities whose divergence is below epsilon (eq. 7); return the labels and how many merged."""
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    pairs = pairs[(perception.sizes[pairs] > 0).all(axis=1) & (perception.sizes[pairs].sum(axis=1) <= max_members)]
    divergence = np.round(_compute_divergence(perception, pairs, semantic_weight), DECIMALS)
    order = np.argsort(divergence, kind="stable")
    merged_into = np.arange(len(perception.sizes))
    has_merged = np.zeros(len(perception.sizes), bool)
    for a, b in pairs[order[divergence[order] < below]].tolist():  # the least divergence first, each at most once
        if not has_merged[a] and not has_merged[b]:
            merged_into[b] = a
            has_merged[a] = has_merged[b] = True
    return renumber(merged_into[perception.labels]), int(np.count_nonzero(has_merged)) // 2


def _compute_divergence(perception: Perception, pairs: Pairs, semantic_weight: float) -> NDArray[np.float64]:
    """Return the mean of phi(e, a) - phi(e, b) over e in a, averaged with that of b and a (eq. 7), for pairs (a, b)."""
    a, b = pairs.T
    sizes, labels = perception.sizes, perception.labels
    by_community = np.argsort(labels, kind="stable")
    # The mean of phi(e, C) over the members e of each community C of a pair.
    members = by_community[np.isin(labels[by_community], pairs)]
    fit = perception.phi(members, labels[members], semantic_weight)
    mean_fit = np.bincount(labels[members], weights=fit, minlength=len(sizes)) / np.maximum(sizes, 1)
    # For each pair in both orders, the mean of S_r(e, other) over the members e of the first community: `pair` has the
    # number of the pair once for each of these members.
    communities, others = np.concatenate([a, b]), np.concatenate([b, a])
    pair = np.repeat(np.arange(len(communities)), sizes[communities])
    first_member = np.cumsum(sizes) - sizes
    members = by_community[first_member[communities[pair]] + numbers_in_groups(pair)]
    overlaps = np.bincount(pair, weights=perception.overlap(members, others[pair]), minlength=len(communities))
    a_in_b, b_in_a = (overlaps / np.maximum(sizes[communities], 1)).reshape(2, -1)
    own_fit, overlap = (mean_fit[a] + mean_fit[b]) / 2, (a_in_b + b_in_a) / 2
    return np.asarray(own_fit - semantic_weight * perception.mean_cosines(a, b) - overlap, np.float64)


@dataclass(frozen=True)
class CommunitySettings:
    """The paper's constants ([Y] section 3.2; lambda and epsilon as its authors suggest), and ours."""

    semantic_weight: float = 0.5  # lambda of eq. 5
    merge_below: float = 0.2  # epsilon of eq. 7
    entities_per_cluster: int = 10  # beta
    max_clusters: int = 200  # eta: clusters of one run of K-means, and communities on the top level
    max_iterations: int = 10  # rounds of moving and merging, if it does not settle before
    moves: int = 2  # sweeps of moving in a round; in each, every other entity may move
    max_members: int = 200  # entities in a community, so that one prompt can summarise it
    max_children: int = 20  # communities in one of the next level, which is summarised from summaries of 100 tokens
    keywords: int = 5  # entities that represent a community
    fit_above: int = 5000  # entities above which new ones join the communities that there are
    drift: float = 0.1  # the share of entities that may come or go in this way before all are detected anew


def detect_communities(data: EntityFeatures, settings: CommunitySettings) -> Labels:
    """Return the number of each entity's community, shape (n,), without gaps and in order of first member."""
    if not len(data.representations):
        return np.zeros(0, np.intp)
    with one_thread():
        labels = initial_clusters(data.representations, settings.entities_per_cluster, settings.max_clusters,
                                  settings.max_members)
        # K-means joins entities with similar names, not linked ones.
        labels = _follow_links(data, labels, settings.max_members)
        for _ in range(settings.max_iterations):
            perception = Perception(data, labels)
            pairs = _pair_adjacent(data, perception)
            count, moves = len(perception.sizes), 0
            for sweep in range(settings.moves):
                # Only every other entity at once, because two that move towards each other would swap places.
                new_labels, moved = _move_entities(perception, np.arange(sweep % 2, len(labels), 2), pairs,
                                                   settings.semantic_weight, settings.max_members)
                if moved:
                    perception, moves = Perception(data, new_labels, count), moves + moved
            labels, merged = _merge_communities(perception, pairs, settings.semantic_weight, settings.merge_below,
                                                settings.max_members)
            if moves + merged <= SETTLED * len(labels):
                break
        return renumber(labels)


def detect_hierarchy(data: EntityFeatures, settings: CommunitySettings) -> list[Labels]:
    """Return each entity's community, shape (n,), on all levels, finest first, up to one with few communities."""
    labels = detect_communities(data, settings)
    levels, settings_above = [labels], replace(settings, max_members=settings.max_children)
    while (count := int(labels.max(initial=-1)) + 1) > settings.max_clusters:
        data = _join_features(data, labels)
        labels = detect_communities(data, settings_above)  # the next level's communities, of the last level's
        if int(labels.max()) + 1 == count:
            break  # nothing was grouped
        levels.append(renumber(labels[levels[-1]]))  # each entity is where its community of the last level is
    return levels


def _join_features(data: EntityFeatures, labels: Labels) -> EntityFeatures:
    """Return the features of communities, which are the entities of the next level."""
    members = membership_matrix(labels).T.tocsr()
    # An entity's mass is 1 if it has neighbours, so a community's sum is the number of members that a mean is over.
    with_neighbours = members @ data.mass
    divisors = sparse.diags_array(1.0 / np.maximum(with_neighbours, 1.0)).astype(np.float32)
    mean_neighbourhoods = sparse.csr_array(divisors @ (members @ data.neighbourhoods))
    links = sparse.coo_array(members @ data.links @ members.T)
    between = links.row != links.col
    return EntityFeatures(
        representations=scale_to_unit(np.asarray(members @ data.representations, np.float32)),
        # What only one community has adds nothing to the overlap of two; `mass` still counts it.
        neighbourhoods=features.drop_unshared_columns(mean_neighbourhoods),
        mass=np.asarray(with_neighbours > 0, np.float32),  # a mean of frequencies sums to 1 again
        links=sparse.csr_array((links.data[between], (links.row[between], links.col[between])), shape=links.shape),
        mentions=sparse.csr_array(members @ data.mentions))


def find_attribute_groups(size: int, links: NDArray[np.integer], values: NDArray[np.integer], alpha: float) -> Labels:
    """Find groups of `size` entities with many links and common attribute values, by Louvain's method.

    Q = (1 - alpha) Q_struct + alpha S (UniAI-GraphRAG eq. 3; the paper's alpha goes from 0 to infinity). S is 1 for two
    entities with a common value. Like Q_struct, it is compared with its expected value for random groups, because
    otherwise a single group of all entities would be best.

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
