"""Dual-perception community detection (Youtu-GraphRAG section 3.2, eq. 4 to 7).

How the equations are read here:

- Eq. 6, S_r, speaks of the multiset of incident relation types. Taken as plain sets, S_r of a member
  is |Psi(e)| / |Psi(C)|, which goes to 0 as a community grows, for lack of anything to compare. Here
  both multisets are normalised to frequencies p, so that S_r = sum min(p_e, p_C) / sum max(p_e, p_C)
  compares what relations an entity has with what its community has, at any size.
- Eq. 7: the divergence of communities a and b is the mean, over their two centres, of how much better
  a centre fits its own community than the other one: E[phi(c, C_own) - phi(c, C_other)].
  Pairs below epsilon merge, closest first, each community at most once an iteration, until none is
  left or the cap on iterations is reached. A union never exceeds `max_members`, so that a community
  can still be summarised in one prompt.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..models.embedding import Vectors

Labels = NDArray[np.intp]
Scores = NDArray[np.float32]

# Above this many entities the start is computed on a projection: K-means on 3d = 1,152 dimensions
# costs most of the whole detection, and Johnson-Lindenstrauss keeps distances in 128 dimensions.
_PROJECT_ABOVE = 2000
_PROJECTED = 128


@dataclass(frozen=True)
class CommunitySettings:
    """The papers' constants ([Y] section 3.2: beta, eta; epsilon and lambda as in the design)."""

    semantic_weight: float = 0.5
    merge_below: float = 0.2
    entities_per_cluster: int = 10
    max_clusters: int = 200
    max_iterations: int = 10
    max_members: int = 200
    keywords: int = 5


@dataclass(frozen=True)
class EntityFeatures:
    """What detection sees of n entities: representations (n, 3d) and relation frequencies (n, relations)."""

    representations: Vectors
    relations: sparse.csr_array


def features(vectors: Vectors, relation_vectors: Vectors,
             triples: Sequence[tuple[int, int, int]]) -> EntityFeatures:
    """The representation of each entity by its triples (eq. 4), and its relation frequencies.

    Args:
        vectors: one row for each entity, shape (n, d).
        relation_vectors: one row for each relation, shape (m, d).
        triples: (head, relation, tail) as row numbers.

    Returns:
        Rows of unit length; an entity without triples is represented by itself in both places.
    """
    n, dimension = vectors.shape
    heads, kinds, tails = (np.array([t[i] for t in triples], np.intp) for i in range(3))
    order = np.arange(len(triples))
    incident = sparse.coo_array(
        (np.ones(2 * len(triples), np.float32), (np.concatenate([heads, tails]), np.concatenate([order, order]))),
        shape=(n, len(triples))).tocsr()
    incident.data[:] = 1.0  # a triple from an entity to itself counts once
    degree = np.asarray(incident.sum(axis=1)).ravel()
    scale = sparse.diags_array(1.0 / np.maximum(degree, 1.0)).astype(np.float32)
    mean = (scale @ incident).tocsr()
    lone = degree == 0
    representations = np.zeros((n, 3 * dimension), np.float32)
    for part, rows in enumerate((vectors[heads], relation_vectors[kinds], vectors[tails])):
        representations[:, part * dimension : (part + 1) * dimension] = mean @ rows
    representations[lone, :dimension] = vectors[lone]
    representations[lone, 2 * dimension :] = vectors[lone]
    kind_of = sparse.csr_array((np.ones(len(triples), np.float32), (order, kinds)),
                               shape=(len(triples), len(relation_vectors)))
    return EntityFeatures(_unit(representations), (mean @ kind_of).tocsr())


def detect(data: EntityFeatures, settings: CommunitySettings) -> Labels:
    """Partition the entities into communities.

    Args:
        data: n entities in an order that depends on their content alone (sorted ids).
        settings: the constants.

    Returns:
        For each entity the number of its community, shape (n,), numbered from 0 without gaps in
        order of first member.
    """
    n = len(data.representations)
    if n == 0:
        return np.zeros(0, np.intp)
    labels = _initial(data.representations, settings)
    for _ in range(settings.max_iterations):
        merged = _merge(data, labels, settings)
        if merged is None:
            break
        labels = merged
    return _renumber(labels)


def affinity(data: EntityFeatures, labels: Labels, settings: CommunitySettings) -> Scores:
    """phi(e, C) of every entity to its own community (eq. 5), shape (n,)."""
    frequencies, centroids = _profiles(data, labels)
    overlap = _overlap(data.relations, frequencies, labels)
    semantic = np.einsum("ij,ij->i", data.representations, centroids[labels])
    return np.asarray(overlap + settings.semantic_weight * semantic, np.float32)


def _initial(representations: Vectors, settings: CommunitySettings) -> Labels:
    # scikit-learn takes a second to import; commands that build no communities need not wait for it.
    from sklearn.cluster import KMeans  # noqa: PLC0415

    n = len(representations)
    clusters = min(max(2, n // settings.entities_per_cluster), settings.max_clusters)
    distinct = len(np.unique(representations, axis=0)) if n <= _PROJECT_ABOVE else n
    points = representations
    if n > _PROJECT_ABOVE:
        generator = np.random.default_rng(42)
        projection = generator.standard_normal((representations.shape[1], _PROJECTED), np.float32)
        points = representations @ projection
    found = KMeans(n_clusters=min(clusters, distinct), n_init=5, random_state=42).fit_predict(points)
    return _renumber(np.asarray(found, np.intp))


def _profiles(data: EntityFeatures, labels: Labels) -> tuple[Scores, Vectors]:
    """Relation frequencies (k, relations) and unit centroids (k, 3d) of the communities."""
    count = int(labels.max()) + 1
    members = sparse.csr_array((np.ones(len(labels), np.float32), (labels, np.arange(len(labels)))),
                               shape=(count, len(labels)))
    frequencies = (members @ data.relations).toarray()
    total = frequencies.sum(axis=1, keepdims=True)
    return np.asarray(frequencies / np.where(total > 0, total, 1.0), np.float32), _unit(members @ data.representations)


def _overlap(relations: sparse.csr_array, frequencies: Scores, community: Labels) -> Scores:
    """S_r (eq. 6) of each row of `relations` with the community named for it, shape (n,)."""
    rows = np.repeat(np.arange(relations.shape[0]), np.diff(relations.indptr))
    common = np.minimum(relations.data, frequencies[community[rows], relations.indices])
    least = np.bincount(rows, weights=common, minlength=relations.shape[0])
    both = np.asarray(relations.sum(axis=1)).ravel() + frequencies.sum(axis=1)[community]
    return np.asarray(least / np.maximum(both - least, 1e-9), np.float32)


def _merge(data: EntityFeatures, labels: Labels, settings: CommunitySettings) -> Labels | None:
    """One round of pairwise fusion (eq. 7); None when no pair is close enough."""
    scores = affinity(data, labels, settings)
    count = int(labels.max()) + 1
    if count < 2:  # noqa: PLR2004  (a pair needs two)
        return None
    # The centre of each community: argmax phi, the first of equals.
    order = np.lexsort((np.arange(len(labels)), -scores, labels))
    centres = order[np.r_[True, np.diff(labels[order]) > 0]]
    frequencies, centroids = _profiles(data, labels)
    phi = settings.semantic_weight * (data.representations[centres] @ centroids.T)
    for other in range(count):
        phi[:, other] += _overlap(data.relations[centres], frequencies, np.full(count, other, np.intp))
    own = np.diag(phi)
    divergence = ((own[:, None] - phi) + (own[:, None] - phi).T) / 2
    return _fuse(labels, divergence, settings)


def _fuse(labels: Labels, divergence: Scores, settings: CommunitySettings) -> Labels | None:
    sizes = np.bincount(labels)
    left, right = np.nonzero(np.triu(divergence < settings.merge_below, k=1))
    into = np.arange(len(sizes))
    taken = np.zeros(len(sizes), bool)
    for pair in np.lexsort((right, left, divergence[left, right])):
        a, b = left[pair], right[pair]
        if not (taken[a] or taken[b]) and sizes[a] + sizes[b] <= settings.max_members:
            into[b] = a
            taken[a] = taken[b] = True
    return _renumber(into[labels]) if taken.any() else None


def _renumber(labels: Labels) -> Labels:
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def _unit(rows: Vectors) -> Vectors:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1.0), np.float32)
