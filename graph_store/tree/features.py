"""Compute the features of entities for community detection: representations (eq. 4), neighbourhoods and links."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...models.embedding.embedder import Vectors
from ...runtime.libraries import one_thread
from .clusters import EXACT_UP_TO

# The weight of each of the two context blocks of eq. 4, so that both together weigh as much as the entity's own block.
# They are means over few other entities: at full weight, wrong triples would hide what the entity itself is.
_CONTEXT_WEIGHT = 0.5
# The number of principal components to which each block is reduced in a large graph: 3d = 1,152 dimensions of 200,000
# entities are 0.9 GB, and slow for K-means.
_COMPONENTS = 128


@dataclass(frozen=True)
class EntityFeatures:
    """The features of n entities.

    Attributes:
        representations: rows of unit length, shape (n, 3d), with fewer columns in a large graph.
        neighbourhoods: the frequency of each pair (relation, other end) and of each passage among an entity's triples
            and mentions, shape (n, columns). Columns of only one entity are left out.
        mass: the sum of each row of `neighbourhoods` if no columns were left out, 1 or 0, shape (n,).
        links: the number of triples between two different entities, shape (n, n), symmetric.
        mentions: how often each passage mentions an entity, shape (n, passages).
    """

    representations: Vectors
    neighbourhoods: sparse.csr_array
    mass: NDArray[np.float32]
    links: sparse.csr_array
    mentions: sparse.csr_array

    @cached_property
    def squares(self) -> NDArray[np.float32]:
        """The squared length of each representation, shape (n,)."""
        return np.asarray(np.einsum("ij,ij->i", self.representations, self.representations), np.float32)

    def first(self, n: int) -> "EntityFeatures":
        """Return the features of the first n entities alone."""
        return EntityFeatures(self.representations[:n], self.neighbourhoods[:n], self.mass[:n],
                              sparse.csr_array(self.links[:n, :n]), self.mentions[:n])

    @cached_property
    def _shared_mentions(self) -> tuple[sparse.csr_array, sparse.dia_array]:
        """Mentions divided by the number of mentions in their passage, and each entity's links to itself by them."""
        mentions_in_passage = np.asarray(self.mentions.sum(axis=0)).ravel()
        share = sparse.diags_array(1.0 / np.maximum(mentions_in_passage, 1.0)).astype(np.float32)
        shared = sparse.csr_array(self.mentions @ share)
        to_itself = np.asarray(shared.multiply(self.mentions).sum(axis=1), np.float32).ravel()
        return shared, sparse.diags_array(to_itself)

    def links_to(self, groups: sparse.csr_array) -> sparse.csr_array:
        """Add up the links of each entity to each group, shape (n, k), without stored zeros.

        `groups` has 1 for each member of a group, shape (n, k). A triple counts 1. A mention counts 1, too, divided
        equally among all entities that its passage mentions; the part of the entity itself is left out.
        """
        shared, to_itself = self._shared_mentions
        by_passages = shared @ (self.mentions.T @ groups) - to_itself @ groups
        total = sparse.csr_array(self.links @ groups + by_passages)
        total.data[total.data < _NOTHING] = 0.0
        total.eliminate_zeros()
        return total

    def beside(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which entities have more than a tenth of their links with chosen entities, shape (n,)."""
        sides = sparse.csr_array(np.stack([chosen, ~chosen], axis=1).astype(np.float32))
        links = self.links_to(sides).toarray()
        return np.asarray(links[:, 0] > _LEAST_CHANGED_SHARE * links.sum(axis=1))


# The share of an entity's links whose other ends must have changed before the entity may move again. If any link
# sufficed, a year or a country, which is linked to much else, would draw in half of the graph.
_LEAST_CHANGED_SHARE = 0.1
_NOTHING = 1e-6
"""Less than this is a rounding error of a float32 that is left after subtraction, and counts as 0."""


def features(vectors: Vectors, relation_vectors: Vectors,
             triples: NDArray[np.intp] | Sequence[tuple[int, int, int]],
             mentions: NDArray[np.intp] | Sequence[tuple[int, int]] = ()) -> EntityFeatures:
    """Compute the features of entities: representations (Youtu-GraphRAG eq. 4), neighbourhoods and links.

    A representation is [the entity || the mean of its relations || the mean of its neighbours]. In eq. 4 each triple is
    therefore seen from the entity, which comes first whether it is head or tail. With head and tail in their places, an
    entity's own vector would be spread over two blocks, mixed with its neighbours' vectors.

    Args:
        vectors: one row for each entity, shape (n, d).
        relation_vectors: one row for each relation, shape (m, d).
        triples: (head, relation, tail) as row numbers.
        mentions: the row of an entity and the number of a passage that mentions it.
    """
    n = len(vectors)
    heads, kinds, tails = np.array(triples, np.int64).reshape(-1, 3).T
    # Each triple once from either end. A triple from an entity to itself counts once, and links nothing.
    is_between_two = heads != tails
    entities, others = np.concatenate([heads, tails[is_between_two]]), np.concatenate([tails, heads[is_between_two]])
    relation = np.concatenate([kinds, kinds[is_between_two]])
    relations = shares(_counts(entities, relation, (n, len(relation_vectors))))
    neighbours = _counts(entities, others, (n, n))
    rows, passages = np.array(mentions, np.int64).reshape(-1, 2).T
    mentioned = _counts(rows, passages, (n, int(passages.max(initial=-1)) + 1))
    # A column for each pair of a relation and an other end.
    pairs, column = np.unique(relation * n + others, return_inverse=True)
    relations_with_ends = _counts(entities, column, (n, len(pairs)))
    if n > EXACT_UP_TO:
        # Rebinding the names frees the full vectors, provided that the caller keeps no reference to them.
        vectors, relation_vectors = _principal(vectors), _principal(relation_vectors)
    representations = unit(np.hstack([
        _centred(vectors), _CONTEXT_WEIGHT * _centred(relations @ relation_vectors),
        _CONTEXT_WEIGHT * _centred(shares(neighbours) @ vectors)]))
    different = entities != others
    return EntityFeatures(
        representations, *shared_columns(sparse.csr_array(sparse.hstack([relations_with_ends, mentioned]))),
        _counts(entities[different], others[different], (n, n)), mentioned)


def shares(counts: sparse.csr_array) -> sparse.csr_array:
    """Divide each row by its sum; rows of zeros stay unchanged."""
    total = np.asarray(counts.sum(axis=1)).ravel()
    divided = sparse.diags_array(1.0 / np.where(total > 0, total, 1.0)).astype(np.float32) @ counts
    return sparse.csr_array(divided)


def shared_columns(counts: sparse.csr_array) -> tuple[sparse.csr_array, NDArray[np.float32]]:
    """Return the rows divided by their sums, without columns of only one row; and 1 for each row with entries, else 0.

    The second result, shape (n,), is the sum that each divided row has with all columns.
    """
    return only_shared(shares(counts)), np.asarray(np.diff(counts.indptr) > 0, np.float32)


def only_shared(rows: sparse.csr_array) -> sparse.csr_array:
    """Return the rows with only the columns in which several of them have an entry."""
    several = np.bincount(rows.indices, minlength=rows.shape[1]) > 1
    return sparse.csr_array(rows[:, np.flatnonzero(several)])


def unit(rows: Vectors) -> Vectors:
    """Scale rows to length 1; rows of zeros stay."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1.0), np.float32)


def _counts(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """Return a matrix with the number of times that each pair (row, column) occurs."""
    table = sparse.coo_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape).tocsr()
    table.sort_indices()
    return table


def _centred(rows: Vectors) -> Vectors:
    """Return the rows minus their mean."""
    return rows - rows.mean(axis=0) if len(rows) else rows


@one_thread()
def _principal(rows: Vectors) -> Vectors:
    """Project rows on their first `_COMPONENTS` principal components; rows with no more columns stay unchanged."""
    from sklearn.decomposition import PCA  # noqa: PLC0415  (slow to import, and only needed in large graphs)

    count, dimension = rows.shape
    if dimension <= _COMPONENTS:
        return rows
    solver = "covariance_eigh" if count > dimension else "full"
    return np.asarray(PCA(min(_COMPONENTS, count), svd_solver=solver).fit_transform(rows), np.float32)
