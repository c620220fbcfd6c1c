"""Dual-perception community detection (Youtu-GraphRAG section 3.2, eq. 4 to 7), and the hierarchy above it.

From K-means clusters entities first move to where most of their links lead. Then two steps take turns until little
changes: entities move to the community they fit best, and communities merge whose members fit both alike. How the
equations are read, each with its alternatives measured by `benchmarks/community_readings.py`:

- Eq. 4: each triple is seen from its entity, [itself || relation || other end] (`features`).
- Eq. 6, S_r: the paper calls Psi the multiset of incident relation types, and S_r the overlap of
  "relation-specific neighborhoods"; its code takes the overlap of neighbours. Psi is here the relation-specific
  neighbourhood: each relation together with what is at its other end, where being mentioned by a passage is a
  relation too. A relation type alone is no part of it, or all who work for something would be one community. Half
  of Psi names the ends, half the communities that they belong to at this iteration, which fewer share by chance.
  Both are taken as frequencies p, S_r = sum min(p_e, p_C) / sum max(p_e, p_C): plain sets would go to 0 as a
  community grows.
- Eq. 5, the circled plus, is a sum. Weights by what each term tells apart in the graph at hand did better
  on planted communities with much noise, and gave up the relational term altogether on real documents,
  where K-means has just made clusters of alike names: they confirm what they start from.
- Eq. 7: the divergence of a and b is E[phi(e, a) - phi(e, b)] over the members e of a, and the same for
  those of b, averaged. Every entity is left out of the community that it is compared with: else a small
  cluster seems to fit its own members in any case, and nothing merges. Read word by word, as the
  difference of two expectations, it is near 0 for any two coherent communities and all merge.
- The paper goes from clusters to fusion at once. Clusters are of alike names, and half of all entities left theirs in
  the first rounds; moving by links alone does most of that for a small part of the cost, and fusion that starts from
  there ends with a higher phi and a higher modularity (benchmarks/README.md).
- Above a size the communities of one level are the entities of the next, by the same method.
- Above another size, `exact_up_to`, cost would grow with the square: K-means finds its centres by a sample, and a
  community is compared with those of the regions nearest to it.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...runtime.libraries import one_thread
from .clusters import Labels, initial_clusters, membership, renumber
from .community_fusion import SETTLED, adjacent, follow_links, merge, move
from .features import EntityFeatures, only_shared, unit
from .scores import Perception, Scores


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
        max_members: entities of a community, so one prompt can summarise it.
        max_children: communities within one of the next level: their summaries, of about 100 tokens each,
            are what that one is summarised from.
        keywords: entities that represent a community.
        update_above: entities from which a changed graph is clustered anew only around the changes.
        drift: share of the entities that may so come and go before all are clustered anew.
        exact_up_to: entities up to which K-means finds centres by all of them, and each community is compared with all.
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
    update_above: int = 5000
    drift: float = 0.1
    exact_up_to: int = 50_000


def detect(data: EntityFeatures, settings: CommunitySettings) -> Labels:
    """Partition the entities into communities.

    The entities have to come in the order of their ids, so that the result depends on nothing else.

    Returns:
        The number of each entity's community, shape (n,), without gaps and in order of first member.
    """
    if not len(data.representations):
        return np.zeros(0, np.intp)
    with one_thread():
        labels = initial_clusters(data.representations, settings.entities_per_cluster, settings.max_clusters,
                                  settings.max_members, sampled=_is_large(data, settings))
        labels = follow_links(data, labels, settings.max_members)
        return _fuse(data, labels, np.ones(len(labels), bool), settings)


def refine(data: EntityFeatures, labels: Labels, active: NDArray[np.bool_], settings: CommunitySettings) -> Labels:
    """Fit a partition of a graph that has changed in places; what is far from the changes stays; see `detect`.

    Args:
        data: n entities.
        labels: their communities; a new entity is alone in one.
        active: who may move at first, shape (n,).
        settings: the constants.
    """
    with one_thread():
        return _fuse(data, renumber(labels), active, settings)


def _is_large(data: EntityFeatures, settings: CommunitySettings) -> bool:
    return len(data.representations) > settings.exact_up_to


def _fuse(data: EntityFeatures, labels: Labels, active: NDArray[np.bool_], settings: CommunitySettings) -> Labels:
    """Move and merge until little changes."""
    for _ in range(settings.max_iterations):
        labels, active, moved, merged = _round(data, labels, active, settings)
        if moved + merged <= SETTLED * len(labels):
            break
    return renumber(labels)


def _round(data: EntityFeatures, labels: Labels, active: NDArray[np.bool_], settings: CommunitySettings,
           ) -> tuple[Labels, NDArray[np.bool_], int, int]:
    """Sweep over the active entities to move them, then merge communities.

    Returns:
        The labels; who is active in the next round: those around a change, as in Leiden's fast local moving; how many
        entities moved, and how many pairs merged.
    """
    now = Perception(data, labels)
    pairs, count, moves = adjacent(data, now, by_region=_is_large(data, settings)), len(now.sizes), 0
    for sweep in range(settings.moves):
        # Half of them at once: two that move towards each other would change places.
        every_other = np.arange(len(labels)) % 2 == sweep % 2
        found, moved = move(now, active & every_other, pairs, settings.semantic_weight, settings.max_members)
        if moved:
            now, moves = Perception(data, found, count), moves + moved
    has_moved = now.labels != labels
    concerned = np.zeros(count, bool)
    concerned[now.labels[active]] = True
    concerned[labels[has_moved]] = True
    labels, merged = merge(now, pairs[concerned[pairs].any(axis=1)], settings.semantic_weight, settings.merge_below,
                           settings.max_members)
    has_grown = np.bincount(labels)[labels] != now.sizes[now.labels]
    changed = has_moved | has_grown
    return labels, changed | data.beside(changed), moves, merged


def hierarchy(data: EntityFeatures, settings: CommunitySettings) -> list[Labels]:
    """Detect communities, and communities of communities until no more than `max_clusters` are left.

    Returns:
        Levels, the finest first: for each entity the number of its community, shape (n,). Each level
        is a partition of the entities, and each community lies within one of the next level.
    """
    found = detect(data, settings)
    levels, above = [found], replace(settings, max_members=settings.max_children)
    while (count := int(found.max(initial=-1)) + 1) > settings.max_clusters:
        data = _group(data, found)
        found = detect(data, above)
        if int(found.max()) + 1 == count:
            break  # none of them belong together
        levels.append(renumber(found[levels[-1]]))
    return levels


def affinity(data: EntityFeatures, labels: Labels, settings: CommunitySettings) -> Scores:
    """Compute phi(e, C) of every entity and its own community (eq. 5), shape (n,)."""
    everyone = np.argsort(labels, kind="stable")
    scores = np.zeros(len(labels), np.float32)
    if len(labels):
        scores[everyone] = Perception(data, labels).phi(everyone, labels[everyone], settings.semantic_weight)
    return scores


def _group(data: EntityFeatures, labels: Labels) -> EntityFeatures:
    """Make the communities the entities of the next level: centroids, joint neighbourhoods, the links between them."""
    members = membership(labels).T.tocsr()
    links = sparse.coo_array(members @ data.links @ members.T)
    between = links.row != links.col
    return EntityFeatures(
        unit(np.asarray(members @ data.representations, np.float32)),
        *_joint_neighbourhoods(data, members),
        sparse.csr_array((links.data[between], (links.row[between], links.col[between])), shape=links.shape),
        sparse.csr_array(members @ data.mentions))


def _joint_neighbourhoods(data: EntityFeatures, members: sparse.csr_array,
                          ) -> tuple[sparse.csr_array, NDArray[np.float32]]:
    mass = members @ data.mass
    joint = sparse.csr_array(sparse.diags_array(1.0 / np.maximum(mass, 1.0)).astype(np.float32)
                             @ (members @ data.neighbourhoods))
    return only_shared(joint), np.asarray(mass > 0, np.float32)
