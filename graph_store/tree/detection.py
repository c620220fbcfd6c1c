"""Dual-perception community detection (Youtu-GraphRAG section 3.2, eq. 4 to 7), and the hierarchy above it.

K-means makes the first communities. Entities then move to the community that most of their links lead to. After that,
two steps alternate until little changes: entities move to the community they fit best, and communities merge if their
members fit both about equally well. The equations are read as follows; `benchmarks/community_readings.py` compares the
alternatives:

- Eq. 4: each triple is seen from its entity, [itself || relation || other end] (`compute_features`).
- Eq. 6, S_r: the paper calls Psi the multiset of incident relation types, and S_r the overlap of "relation-specific
  neighborhoods"; its code computes the overlap of neighbours. Here Psi has each relation together with the entity at
  its other end; being mentioned by a passage is a relation, too. A relation type alone is no part of Psi, because all
  who work for any company would be one community. Half of Psi names the other ends. The other half names the
  communities of these ends at this iteration. Both halves are frequencies p: S_r = sum min(p_e, p_C) /
  sum max(p_e, p_C). The overlap of plain sets would go to 0 as a community grows.
- Eq. 5: the circled plus is a sum. Weighting the two terms by how well each distinguishes entities was better on
  planted communities with much noise. On real documents it dropped the relational term, because K-means has just
  clustered similar names, and the other term confirms that.
- Eq. 7: the divergence of a and b is the mean of phi(e, a) - phi(e, b) over the members e of a, averaged with the same
  for b and a. An entity is not counted as a member of the community that it is compared with. Otherwise a small
  community always seems to fit its own members, and nothing merges. Read literally, as the difference of two
  expectations, the divergence is near 0 for any two coherent communities, and all merge.
- The paper goes directly from clusters to fusion. Clusters have entities of similar names, and half of all entities
  left theirs in the first rounds. Moving them by links first costs little, and fusion then ends with a higher phi and a
  higher modularity (benchmarks/README.md).
- If a level has too many communities, they become the entities of the next level, by the same method.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...runtime.libraries import one_thread
from .clusters import Labels, initial_clusters, membership_matrix, renumber
from .community_fusion import SETTLED, follow_links, merge_communities, move_entities, pair_adjacent
from .features import EntityFeatures, Perception, Scores, drop_unshared_columns, scale_to_unit


@dataclass(frozen=True)
class CommunitySettings:
    """The paper's constants ([Y] section 3.2: beta, eta; lambda and epsilon as its authors suggest), and ours.

    Attributes:
        semantic_weight: lambda of eq. 5.
        merge_below: epsilon of eq. 7.
        entities_per_cluster: beta, the number of entities in an initial cluster.
        max_clusters: eta, the maximum number of clusters of one run of K-means, and of communities on the top level.
        max_iterations: the maximum number of rounds of moving and merging.
        moves: the number of sweeps of moving in a round; in each, every other entity may move.
        max_members: the maximum number of entities in a community, so that one prompt can summarise it.
        max_children: the maximum number of communities in one of the next level, which is summarised from their
            summaries of about 100 tokens each.
        keywords: the number of entities that represent a community.
        update_above: the number of entities above which a changed graph is clustered anew only around the changes.
        drift: the share of the entities that may be added or removed in this way before all are clustered anew.
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


def detect_communities(data: EntityFeatures, settings: CommunitySettings) -> Labels:
    """Return the number of each entity's community, shape (n,), without gaps and in order of first member."""
    if not len(data.representations):
        return np.zeros(0, np.intp)
    with one_thread():
        labels = initial_clusters(data.representations, settings.entities_per_cluster, settings.max_clusters,
                                  settings.max_members)
        labels = follow_links(data, labels, settings.max_members)
        return _move_and_merge(data, labels, np.ones(len(labels), bool), settings)


def adapt_partition(data: EntityFeatures, labels: Labels, active: NDArray[np.bool_], settings: CommunitySettings,
                    ) -> Labels:
    """Adapt a partition, shape (n,), to a graph that has changed in places; entities far from them stay where they are.

    A new entity is alone in its community; `active` marks the entities that may move in the first round, shape (n,).
    """
    with one_thread():
        return _move_and_merge(data, renumber(labels), active, settings)


def _move_and_merge(data: EntityFeatures, labels: Labels, active: NDArray[np.bool_], settings: CommunitySettings,
                    ) -> Labels:
    """Move entities and merge communities until little changes; return the labels, numbered without gaps."""
    for _ in range(settings.max_iterations):
        labels, active, moved, merged = _run_round(data, labels, active, settings)
        if moved + merged <= SETTLED * len(labels):
            break
    return renumber(labels)


def _run_round(data: EntityFeatures, labels: Labels, active: NDArray[np.bool_], settings: CommunitySettings,
               ) -> tuple[Labels, NDArray[np.bool_], int, int]:
    """Return new labels, the entities that may move in the next round, and how many moved and how many pairs merged."""
    perception = Perception(data, labels)
    pairs = pair_adjacent(data, perception)
    count = len(perception.sizes)
    moves = 0
    for sweep in range(settings.moves):
        # Only every other entity at once, because two that move towards each other would swap places.
        every_other = np.arange(len(labels)) % 2 == sweep % 2
        new_labels, moved = move_entities(perception, active & every_other, pairs, settings.semantic_weight,
                                          settings.max_members)
        if moved:
            perception, moves = Perception(data, new_labels, count), moves + moved
    has_moved = perception.labels != labels
    # Only communities whose members may have changed are compared again.
    may_merge = np.zeros(count, bool)
    may_merge[perception.labels[active]] = True
    may_merge[labels[has_moved]] = True
    labels, merged = merge_communities(perception, pairs[may_merge[pairs].any(axis=1)], settings.semantic_weight,
                                       settings.merge_below, settings.max_members)
    is_in_merged = np.bincount(labels)[labels] != perception.sizes[perception.labels]
    changed = has_moved | is_in_merged
    return labels, changed | data.mark_linked(changed), moves, merged


def detect_hierarchy(data: EntityFeatures, settings: CommunitySettings) -> list[Labels]:
    """Detect communities, and communities of communities until no more than `max_clusters` are left.

    Returns the levels, the finest first: for each entity the number of its community, shape (n,).
    """
    labels = detect_communities(data, settings)
    levels, settings_above = [labels], replace(settings, max_members=settings.max_children)
    while (count := int(labels.max(initial=-1)) + 1) > settings.max_clusters:
        data = _join_features(data, labels)
        labels = detect_communities(data, settings_above)  # the next level's communities, of the last level's
        if int(labels.max()) + 1 == count:
            break  # nothing was grouped
        levels.append(renumber(labels[levels[-1]]))
    return levels


def score_members(data: EntityFeatures, labels: Labels, settings: CommunitySettings) -> Scores:
    """Compute phi(e, C) of every entity and its own community (Youtu-GraphRAG eq. 5), shape (n,)."""
    # `phi` takes the communities in ascending order.
    by_community = np.argsort(labels, kind="stable")
    scores = np.zeros(len(labels), np.float32)
    if len(labels):
        phi = Perception(data, labels).phi(by_community, labels[by_community], settings.semantic_weight)
        scores[by_community] = phi
    return scores


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
        neighbourhoods=drop_unshared_columns(mean_neighbourhoods),
        mass=np.asarray(with_neighbours > 0, np.float32),  # a mean of frequencies sums to 1 again
        links=sparse.csr_array((links.data[between], (links.row[between], links.col[between])), shape=links.shape),
        mentions=sparse.csr_array(members @ data.mentions))
