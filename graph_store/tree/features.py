"""Compute the features of entities for community detection: representations (eq. 4), neighbourhoods and links."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...models.embedding.embedder import Vectors
from ...runtime.libraries import one_thread

_CONTEXT_WEIGHT = 0.5
"""The weight of each of the two context blocks of eq. 4, so that both weigh as much as the entity's own block. They are
means over few other entities: at full weight, wrong triples would hide what the entity itself is."""
EXACT_UP_TO = 1000  # entities above which vectors are reduced, and K-means runs once
_COMPONENTS = 128
"""The number of principal components to which each block is reduced in a large graph: 3d = 1,152 dimensions of 200,000
entities are 0.9 GB, and slow for K-means."""
Labels = NDArray[np.intp]
Scores = NDArray[np.float32]

_BLOCK = 32  # communities whose pairs are scored at once; their rows of Psi fit into the processor's cache
_PAIRS = 256  # pairs whose cosines are computed at once; temporary arrays fit into the processor's cache
DECIMALS = 5  # digits to which scores are rounded, so rounding errors decide nothing
_ROUNDING_ERROR = 1e-6  # less is a rounding error of a float32 that is left after subtraction, and counts as 0


@dataclass(frozen=True)
class EntityFeatures:
    """The features of n entities."""

    representations: Vectors  # rows of unit length, shape (n, 3d), with fewer columns in a large graph
    neighbourhoods: sparse.csr_array
    """The frequency of each pair (relation, other end) and of each passage among an entity's triples and mentions,
    shape (n, columns). Columns of only one entity are left out."""
    mass: NDArray[np.float32]  # the sum of each row of `neighbourhoods` with all columns, 1 or 0, shape (n,)
    links: sparse.csr_array  # the number of triples between two entities, shape (n, n), symmetric
    mentions: sparse.csr_array  # how often each passage mentions an entity, shape (n, passages)

    @cached_property
    def _shared_mentions(self) -> sparse.csr_array:
        """Mentions divided by the number of mentions in their passage, shape (n, passages)."""
        mentions_in_passage = np.asarray(self.mentions.sum(axis=0)).ravel()
        share = sparse.diags_array(1.0 / np.maximum(mentions_in_passage, 1.0)).astype(np.float32)
        return sparse.csr_array(self.mentions @ share)

    @cached_property
    def _links_to_itself(self) -> sparse.dia_array:
        """The links of each entity to itself by passages, on the diagonal, shape (n, n)."""
        to_itself = self._shared_mentions.multiply(self.mentions).sum(axis=1)
        return sparse.diags_array(np.asarray(to_itself, np.float32).ravel())

    def links_to(self, groups: sparse.csr_array) -> sparse.csr_array:
        """Return the links of each entity to each group, shape (n, k), without stored zeros.

        `groups` has 1 for each member of a group, shape (n, k). A triple counts 1. A mention counts 1, too, shared
        among all entities that its passage mentions; the part of the entity itself is left out.
        """
        by_passages = self._shared_mentions @ (self.mentions.T @ groups) - self._links_to_itself @ groups
        total = sparse.csr_array(self.links @ groups + by_passages)
        total.data[total.data < _ROUNDING_ERROR] = 0.0
        total.eliminate_zeros()
        return total


def compute_features(vectors: Vectors, relation_vectors: Vectors,
                     triples: NDArray[np.intp] | Sequence[tuple[int, int, int]],
                     mentions: NDArray[np.intp] | Sequence[tuple[int, int]] = ()) -> EntityFeatures:
    """Compute the features of entities: representations (Youtu-GraphRAG eq. 4), neighbourhoods and links.

    A representation is [the entity, the mean of its relations, the mean of its neighbours]: each triple is seen from
    the entity, whether it is head or tail. Otherwise its own vector would be spread over two blocks.

    Args:
        vectors: one row for each entity, shape (n, d).
        relation_vectors: one row for each relation, shape (m, d).
        triples: (head, relation, tail) as row numbers; no triple leads from an entity to itself.
        mentions: the row of an entity and the number of a passage that mentions it.
    """
    n = len(vectors)
    heads, kinds, tails = np.array(triples, np.int64).reshape(-1, 3).T
    # Each triple once from either end.
    entities, others = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    relation = np.concatenate([kinds, kinds])
    relations = divide_by_row_sums(_count_pairs(entities, relation, (n, len(relation_vectors))))
    neighbours = _count_pairs(entities, others, (n, n))
    rows, passages = np.array(mentions, np.int64).reshape(-1, 2).T
    mentioned = _count_pairs(rows, passages, (n, int(passages.max(initial=-1)) + 1))
    # A column for each pair of a relation and an other end.
    pairs, column = np.unique(relation * n + others, return_inverse=True)
    relations_with_ends = _count_pairs(entities, column, (n, len(pairs)))
    if n > EXACT_UP_TO:
        # Rebinding the names frees the full vectors, provided that the caller keeps no reference to them.
        vectors, relation_vectors = _reduce_dimensions(vectors), _reduce_dimensions(relation_vectors)
    representations = scale_to_unit(np.hstack([
        _subtract_mean(vectors), _CONTEXT_WEIGHT * _subtract_mean(relations @ relation_vectors),
        _CONTEXT_WEIGHT * _subtract_mean(divide_by_row_sums(neighbours) @ vectors)]))
    beside = sparse.csr_array(sparse.hstack([relations_with_ends, mentioned]))
    return EntityFeatures(
        representations, drop_unshared_columns(divide_by_row_sums(beside)),
        np.asarray(np.diff(beside.indptr) > 0, np.float32), neighbours, mentioned)


def membership_matrix(labels: Labels, communities: int = 0) -> sparse.csr_array:
    """Return the membership matrix, shape (n, k): 1 for each entity in its community; k is at least `communities`."""
    n, k = len(labels), max(int(labels.max(initial=-1)) + 1, communities)
    return sparse.csr_array((np.ones(n, np.float32), labels, np.arange(n + 1)), shape=(n, k))


def divide_by_row_sums(counts: sparse.csr_array) -> sparse.csr_array:
    """Divide each row by its sum; rows of zeros stay unchanged."""
    total = np.asarray(counts.sum(axis=1)).ravel()
    divided = sparse.diags_array(1.0 / np.where(total > 0, total, 1.0)).astype(np.float32) @ counts
    return sparse.csr_array(divided)


def drop_unshared_columns(rows: sparse.csr_array) -> sparse.csr_array:
    """Return the rows with only the columns in which several of them have an entry."""
    several = np.bincount(rows.indices, minlength=rows.shape[1]) > 1
    return sparse.csr_array(rows[:, np.flatnonzero(several)])


def scale_to_unit(rows: Vectors) -> Vectors:
    """Scale rows to length 1; rows of zeros stay."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1.0), np.float32)


def _count_pairs(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """Return how often each pair of a row and a column occurs, as a matrix of this shape."""
    table = sparse.coo_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape).tocsr()
    table.sort_indices()
    return table


def _subtract_mean(rows: Vectors) -> Vectors:
    """Return the rows without what all have in common, so that their cosines show how they differ."""
    return rows - rows.mean(axis=0) if len(rows) else rows


@one_thread()
def _reduce_dimensions(rows: Vectors) -> Vectors:
    """Project rows on their first `_COMPONENTS` principal components; no rows, and rows of fewer columns, stay."""
    from sklearn.decomposition import PCA  # noqa: PLC0415  (slow to import, and only needed in large graphs)

    count, dimension = rows.shape
    if not count or dimension <= _COMPONENTS:
        return rows
    solver = "covariance_eigh" if count > dimension else "full"  # either is exact, and faster in its case
    return np.asarray(PCA(min(_COMPONENTS, count), svd_solver=solver).fit_transform(rows), np.float32)


class Perception:
    """The entities and communities of one iteration, prepared for computing phi, the fit of an entity and a community.

    Half of an entity's neighbourhood, Psi, are pairs of a relation and the entity at its other end, and passages that
    mention the entity; the other half are the communities of those ends at this iteration.
    """

    def __init__(self, data: EntityFeatures, labels: Labels, communities: int = 0) -> None:
        """Sum the features of each community's members; some of at least `communities` may have none."""
        self.labels = labels
        self.sizes = np.bincount(labels, minlength=communities)
        self.representations = data.representations
        self.membership = membership_matrix(labels, communities)
        members = self.membership.T.tocsr()
        self.link_shares = divide_by_row_sums(data.links_to(self.membership))
        # Half of Psi names the other ends, and half their communities (see `detection`, eq. 6).
        self._psi = sparse.csr_array(sparse.hstack([data.neighbourhoods * 0.5, self.link_shares * 0.5], format="csr"))
        self._psi_mass = 0.5 * data.mass + 0.5 * (np.diff(self.link_shares.indptr) > 0)
        # Sums over the members: leaving one out is then a subtraction.
        self._psi_sums = sparse.csr_array(members @ self._psi)
        self._psi_mass_sums = np.bincount(labels, weights=self._psi_mass, minlength=communities)
        self.representation_sums = np.asarray(members @ data.representations, np.float32)
        self._squared_lengths = np.vecdot(data.representations, data.representations)
        self._squared_sum_lengths = np.vecdot(self.representation_sums, self.representation_sums)

    def phi(self, entities: Labels, communities: Labels, semantic_weight: float) -> Scores:
        """Return phi = S_r + lambda S_s (eq. 5) of pairs of an entity and a community, rounded, shape (pairs,)."""
        return np.asarray(np.round(self.overlap(entities, communities)
                                   + semantic_weight * self.cosine(entities, communities), DECIMALS), np.float32)

    def overlap(self, entities: Labels, communities: Labels) -> Scores:
        """Return S_r (eq. 6) of pairs of an entity and a community without it: the Jaccard overlap of Psi, 0 to 1."""
        overlap = np.zeros(len(entities), np.float32)
        by_community = np.argsort(communities, kind="stable")
        # Psi of a block of communities as a dense table; its filled cells are set back to 0 after each block.
        table = np.zeros((_BLOCK, self._psi_sums.shape[1]), np.float32)
        starts = np.arange(0, max(1, len(self.sizes)), _BLOCK)
        blocks = np.split(by_community, np.searchsorted(communities[by_community], starts[1:]))
        for first, pairs in zip(starts.tolist(), blocks, strict=True):
            if len(pairs):
                rows = self._psi_sums[first:first + _BLOCK]
                filled = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.indices
                table[filled] = rows.data
                overlap[pairs] = self._overlap_with_block(entities[pairs], communities[pairs], first, table)
                table[filled] = 0.0
        return overlap

    def _overlap_with_block(self, entities: Labels, communities: Labels, first: int, table: Scores) -> Scores:
        """Compute S_r of pairs with communities from `first` on, whose sums of Psi are the rows of a table."""
        psi = self._psi[entities]
        counts = np.diff(psi.indptr)
        own = self.labels[entities] == communities
        other_members = np.maximum(self.sizes[communities] - own, 1)  # 1 for no others, as it is divided by
        # For each entry of the entities' Psi: the community's mean of it, without the entity itself.
        row_starts = (communities - first) * table.shape[1]  # in the table read row after row
        community_psi = table.ravel()[psi.indices + np.repeat(row_starts, counts)]
        if own.any():
            community_psi = np.maximum(community_psi - np.where(np.repeat(own, counts), psi.data, 0.0), 0.0)
        community_psi /= np.repeat(other_members.astype(np.float32), counts)
        psi.data = np.minimum(psi.data, community_psi)
        intersection = psi.sum(axis=1)
        # The sum of the larger values is the sum of both minus that of the smaller ones.
        entity_mass = self._psi_mass[entities]
        mass = np.maximum(self._psi_mass_sums[communities] - np.where(own, entity_mass, 0.0), 0.0) / other_members
        union = entity_mass + mass - intersection
        return np.asarray(intersection / np.maximum(union, 1e-9), np.float32)

    def mean_cosines(self, a: Labels, b: Labels) -> Scores:
        """Return the mean of S_s(e, b) over e in a, averaged with that of b and a, for pairs (a, b)."""
        lengths = np.sqrt(np.maximum(self._squared_sum_lengths, 1e-6))  # a sum may be 0, and is divided by
        dots = self._pair_products(self.representation_sums, a, b)
        return np.asarray((dots / self.sizes[a] / lengths[b] + dots / self.sizes[b] / lengths[a]) / 2, np.float32)

    def cosine(self, entities: Labels, communities: Labels) -> Scores:
        """Return S_s of pairs: the cosine of the entity and the centroid of the community without it."""
        own = self.labels[entities] == communities
        dots = self._pair_products(self.representations, entities, communities)
        itself = np.where(own, self._squared_lengths[entities], 0.0)
        # |s - e|^2, the squared length of the sum without the entity.
        squares = self._squared_sum_lengths[communities] - np.where(own, 2 * dots, 0.0) + itself
        return np.asarray((dots - itself) / np.sqrt(np.maximum(squares, 1e-6)), np.float32)  # never divided by 0

    def _pair_products(self, rows: Vectors, chosen: Labels, communities: Labels) -> Scores:
        """Compute the product of a row and the sum of a community's representations for each pair, shape (pairs,)."""
        dots = np.empty(len(chosen), np.float32)
        for start in range(0, len(chosen), _PAIRS):
            part = slice(start, start + _PAIRS)
            np.vecdot(rows[chosen[part]], self.representation_sums[communities[part]], out=dots[part])
        return dots
