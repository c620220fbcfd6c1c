"""What community detection sees of an entity: a representation (eq. 4), its relations, its links."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...models.embedding.embedder import Vectors
from ...runtime.one_thread import one_thread

# The context blocks of eq. 4 weigh half of the entity's own, so that both together weigh as much. They are
# means of few rows, of other entities: at full weight wrong triples drown what the entity itself says.
_CONTEXT_WEIGHT = 0.5
# Above this many entities each block is reduced to its principal components: 3d = 1,152 dimensions of
# 200,000 entities are 0.9 GB, and K-means costs as many operations.
_EXACT_UP_TO = 1000
_COMPONENTS = 128


@dataclass(frozen=True)
class EntityFeatures:
    """What detection sees of n entities.

    Attributes:
        representations: rows of unit length, shape (n, 3d) or reduced.
        relations: frequencies of the relations of an entity's triples, shape (n, relations); rows sum to 1 or 0.
        links: the number of triples between two different entities, shape (n, n), symmetric.
    """

    representations: Vectors
    relations: sparse.csr_array
    links: sparse.csr_array

    @cached_property
    def squares(self) -> NDArray[np.float32]:
        """The squared length of each representation, shape (n,)."""
        return np.asarray(np.einsum("ij,ij->i", self.representations, self.representations), np.float32)


def features(vectors: Vectors, relation_vectors: Vectors,
             triples: Sequence[tuple[int, int, int]]) -> EntityFeatures:
    """The representation of each entity by its triples (Youtu-GraphRAG eq. 4), its relations and its links.

    Eq. 4 is read as it is written: each triple is seen from the entity, which stands first whether it is
    head or tail, so that the mean is [itself || its relations || its neighbours]. With head and tail in
    their places an entity's own vector is spread over two blocks and mixed with its neighbours' in both.

    Args:
        vectors: one row for each entity, shape (n, d).
        relation_vectors: one row for each relation, shape (m, d).
        triples: (head, relation, tail) as row numbers.
    """
    with one_thread():
        return _features(vectors, relation_vectors, triples)


def _features(vectors: Vectors, relation_vectors: Vectors,
              triples: Sequence[tuple[int, int, int]]) -> EntityFeatures:
    n = len(vectors)
    heads, kinds, tails = np.array(triples, np.intp).reshape(-1, 3).T
    two = heads != tails  # a triple from an entity to itself counts once, and links nothing
    entities, others = np.concatenate([heads, tails[two]]), np.concatenate([tails, heads[two]])
    relations = shares(_counts(entities, np.concatenate([kinds, kinds[two]]), (n, len(relation_vectors))))
    neighbours = _counts(entities, others, (n, n))
    if n > _EXACT_UP_TO:
        vectors, relation_vectors = _principal(vectors), _principal(relation_vectors)
    blocks = (_centred(vectors), _CONTEXT_WEIGHT * _centred(relations @ relation_vectors),
              _CONTEXT_WEIGHT * _centred(shares(neighbours) @ vectors))
    return EntityFeatures(unit(np.concatenate(blocks, axis=1)), relations,
                          _counts(entities[entities != others], others[entities != others], (n, n)))


def shares(counts: sparse.csr_array) -> sparse.csr_array:
    """Rows divided by their sums; rows of zeros stay."""
    total = np.asarray(counts.sum(axis=1)).ravel()
    divided = sparse.diags_array(1.0 / np.where(total > 0, total, 1.0)).astype(np.float32) @ counts
    return sparse.csr_array(divided)


def unit(rows: Vectors) -> Vectors:
    """Rows of length 1; rows of zeros stay."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1.0), np.float32)


def _counts(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    table = sparse.coo_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape).tocsr()
    table.sort_indices()
    return table


def _centred(rows: Vectors) -> Vectors:
    """What all have in common says nothing of any community: all sentence embeddings share a direction."""
    return np.asarray(rows - rows.mean(axis=0), np.float32) if len(rows) else rows


def _principal(rows: Vectors) -> Vectors:
    """The rows in their principal components, as many as are kept."""
    if rows.shape[1] <= _COMPONENTS:
        return rows
    centred = _centred(rows)
    if len(rows) < rows.shape[1]:  # their own products are the smaller matrix, and say the same
        variances, axes = np.linalg.eigh(np.asarray(centred @ centred.T, np.float64))
        return np.asarray((axes * np.sqrt(np.maximum(variances, 0.0)))[:, -_COMPONENTS:], np.float32)
    _, axes = np.linalg.eigh(np.asarray(centred.T @ centred, np.float64))
    return np.asarray(centred @ axes[:, -_COMPONENTS:].astype(np.float32), np.float32)
