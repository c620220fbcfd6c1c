"""Dual-perception community detection (Youtu-GraphRAG section 3.2, eq. 4 to 7), and the hierarchy above it.

From K-means clusters, two steps take turns until nothing changes: entities move to the community they
fit best, and communities merge whose members fit both alike. How the equations are read, each with its
alternatives measured by `benchmarks/community_readings.py`:

- Eq. 4: each triple is seen from its entity, [itself || relation || other end] (`community_features`).
- Eq. 6, S_r: the paper wants the multiset of incident relation types, and the overlap of "relation-specific
  neighborhoods". Psi holds both: for each triple its relation, and the community at its other end at
  this iteration; so links count, not only the kinds of links. Both multisets are taken as frequencies p,
  S_r = sum min(p_e, p_C) / sum max(p_e, p_C): plain sets would go to 0 as a community grows.
- Eq. 5, the circled plus, is a sum. Weights by what each term tells apart in the graph at hand did better
  on planted communities with much noise, and gave up the relational term altogether on real documents,
  where K-means has just made clusters of alike names: they confirm what they start from.
- Eq. 7: the divergence of a and b is E[phi(e, a) - phi(e, b)] over the members e of a, and the same for
  those of b, averaged. Every entity is left out of the community that it is compared with: else a small
  cluster seems to fit its own members whatever they are, and nothing merges. Read word by word, as the
  difference of two expectations, it is near 0 for any two coherent communities and all merge.
- Above a size the communities of one level are the entities of the next, by the same method.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...runtime.one_thread import one_thread
from .clusters import Labels, groups, initial_clusters, renumbered
from .features import EntityFeatures, features, shares, unit
from .fusion import adjacent, merge, move
from .scores import Perception, Scores, phi

__all__ = ["CommunitySettings", "Earlier", "EntityFeatures", "Labels", "Scores", "affinity", "detect", "features",
           "groups", "hierarchy", "update"]

# The share of the entities that may still move when fusion has ended: some fit two communities alike, and
# what they do changes the community, which they then fit less.
_SETTLED = 0.01


@dataclass(frozen=True)
class CommunitySettings:
    """The paper's constants ([Y] section 3.2: beta, eta; lambda and epsilon as its authors suggest), and ours.

    Attributes:
        semantic_weight: lambda of eq. 5.
        merge_below: epsilon of eq. 7.
        entities_per_cluster: beta, entities in an initial cluster.
        max_clusters: eta, clusters of one run of K-means, and communities of the top level.
        max_iterations: cap on the rounds of moving and merging.
        moves: sweeps of moving in a round; in each, every other entity may move.
        max_members: entities of a community, so that one prompt can summarise it.
        max_children: communities within one of the next level: their summaries, of about 100 tokens each,
            are what that one is summarised from.
        keywords: entities that stand for a community.
        update_above: entities from which a changed graph is clustered anew only where it changed. Clustered anew,
            nearly every community changes and is described again, with each build: for some ten of them a price
            worth paying for a tree that is a function of the graph alone, and not for hundreds.
        drift: share of the entities that may so have changed before all are clustered anew: with more an update
            saves nothing, and agrees less with communities detected anew (`benchmarks/communities_update.py`).
    """

    semantic_weight: float = 0.5
    merge_below: float = 0.2
    entities_per_cluster: int = 10
    max_clusters: int = 200
    max_iterations: int = 10
    moves: int = 2
    max_members: int = 200
    max_children: int = 20
    keywords: int = 5
    update_above: int = 1000
    drift: float = 0.1


@dataclass(frozen=True)
class Earlier:
    """A partition of the graph as it was, for `update`.

    Attributes:
        labels: the community of each entity as it is numbered now, -1 for a new one; shape (n,).
        changed: which entities are new or have other triples than then; shape (n,).
    """

    labels: Labels
    changed: NDArray[np.bool_]


def detect(data: EntityFeatures, settings: CommunitySettings) -> Labels:
    """Partition the entities into communities.

    Args:
        data: n entities in an order that depends on their content alone (sorted ids).
        settings: the constants.

    Returns:
        For each entity the number of its community, shape (n,), numbered from 0 without gaps in
        order of first member.
    """
    if not len(data.representations):
        return np.zeros(0, np.intp)
    with one_thread():
        labels = initial_clusters(data.representations, settings.entities_per_cluster, settings.max_clusters,
                                  settings.max_members)
        return _fused(data, labels, np.ones(len(labels), bool), settings)


def update(data: EntityFeatures, earlier: Earlier, settings: CommunitySettings) -> Labels:
    """Fit an earlier partition to a graph that has changed in places; what is far from them stays.

    Entities that changed may move, those linked to one that moved may follow, and communities with such
    entities may merge. A new entity starts as a community of its own.
    """
    new = np.flatnonzero(earlier.labels < 0)
    labels = earlier.labels.copy()
    labels[new] = labels.max(initial=-1) + 1 + np.arange(len(new))
    with one_thread():
        return _fused(data, renumbered(labels), earlier.changed, settings)


def _fused(data: EntityFeatures, labels: Labels, active: NDArray[np.bool_], settings: CommunitySettings) -> Labels:
    """Rounds of moving and merging until those that may move have settled."""
    for _ in range(settings.max_iterations):
        labels, active, moved, merged = _round(data, labels, active, settings)
        if not merged and moved <= _SETTLED * np.count_nonzero(active):
            break
    return renumbered(labels)


def _round(data: EntityFeatures, labels: Labels, active: NDArray[np.bool_], settings: CommunitySettings,
           ) -> tuple[Labels, NDArray[np.bool_], int, int]:
    """Sweeps of moving, then one of merging: the labels, who may move now, how many moved and pairs merged."""
    now = Perception(data, labels)
    pairs, count, moves = adjacent(data, now), len(now.sizes), 0
    for sweep in range(settings.moves):
        every_other = np.arange(len(labels)) % 2 == sweep % 2
        found, moved = move(now, active & every_other, pairs, settings.semantic_weight, settings.max_members)
        if moved and not active.all():
            gone = np.asarray(found != now.labels, np.float32)
            active = active | (data.links @ gone > 0)
        if moved:
            now, moves = Perception(data, found, count), moves + moved
    concerned = np.zeros(count, bool)
    concerned[now.labels[active]] = True
    labels, merged = merge(now, pairs[concerned[pairs].any(axis=1)], settings.semantic_weight, settings.merge_below,
                           settings.max_members)
    return labels, active, moves, merged


def hierarchy(data: EntityFeatures, settings: CommunitySettings) -> list[Labels]:
    """The communities, and communities of communities until no more than `max_clusters` are left.

    Returns:
        Levels, the finest first: for each entity the number of its community, shape (n,). Each level
        is a partition of the entities, and each community lies within one of the next level.
    """
    found = detect(data, settings)
    levels, above = [found], replace(settings, max_members=settings.max_children)
    while (count := int(found.max(initial=-1)) + 1) > settings.max_clusters:
        data = _grouped(data, found)
        found = detect(data, above)
        if int(found.max()) + 1 == count:
            break  # none of them belong together
        levels.append(renumbered(found[levels[-1]]))
    return levels


def affinity(data: EntityFeatures, labels: Labels, settings: CommunitySettings) -> Scores:
    """phi(e, C) of every entity to its own community (eq. 5), shape (n,)."""
    everyone = np.argsort(labels, kind="stable")
    scores = np.zeros(len(labels), np.float32)
    if len(labels):
        scores[everyone] = phi(*Perception(data, labels).terms(everyone, labels[everyone]), settings.semantic_weight)
    return scores


def _grouped(data: EntityFeatures, labels: Labels) -> EntityFeatures:
    """The communities as entities: centroids, the members' relations, the links between them."""
    n = len(labels)
    members = sparse.csr_array((np.ones(n, np.float32), (labels, np.arange(n))))
    links = sparse.coo_array(members @ data.links @ members.T)
    between = links.row != links.col
    return EntityFeatures(
        unit(np.asarray(members @ data.representations, np.float32)),
        shares(sparse.csr_array(members @ data.relations)),
        sparse.csr_array((links.data[between], (links.row[between], links.col[between])), shape=links.shape))
