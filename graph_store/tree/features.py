"""What community detection reads of an entity: a representation (eq. 4), its neighbourhood, its links."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...models.embedding.embedder import Vectors
from ...runtime.libraries import one_thread
from .clusters import EXACT_UP_TO

# The context blocks of eq. 4 weigh half of the entity's own, so both together weigh as much. They are
# means of few rows, of other entities: at full weight wrong triples drown what the entity itself says.
_CONTEXT_WEIGHT = 0.5
# Above this many entities each block is reduced to its principal components: 3d = 1,152 dimensions of
# 200,000 entities are 0.9 GB, and K-means costs as many operations.
_COMPONENTS = 128
# Rows that are computed at once.
_ROWS = 4096


@dataclass(frozen=True)
class EntityFeatures:
    """What detection reads of n entities.

    Attributes:
        representations: rows of unit length, shape (n, 3d) or reduced.
        neighbourhoods: shares of (relation, other end) and of passages in an entity's triples and mentions, shape
            (n, columns); columns that only one entity has are left out.
        mass: what rows of `neighbourhoods` would sum to with all columns, 1 or 0, shape (n,).
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
        """Return what there is of the first entities alone."""
        return EntityFeatures(self.representations[:n], self.neighbourhoods[:n], self.mass[:n],
                              sparse.csr_array(self.links[:n, :n]), self.mentions[:n])

    @cached_property
    def _shared_mentions(self) -> tuple[sparse.csr_array, sparse.dia_array]:
        """Mentions divided among all that their passage mentions, and the entities' own parts on a diagonal."""
        size = np.asarray(self.mentions.sum(axis=0)).ravel()
        shared = sparse.csr_array(self.mentions @ sparse.diags_array(1.0 / np.maximum(size, 1.0)).astype(np.float32))
        own = np.asarray(shared.multiply(self.mentions).sum(axis=1), np.float32).ravel()
        return shared, sparse.diags_array(own)

    def links_to(self, groups: sparse.csr_array) -> sparse.csr_array:
        """Count what links each entity to each group.

        A triple counts 1. A mention counts 1 as well, shared among all that its passage mentions; the part of the
        entity itself counts nothing.

        Args:
            groups: 1 where an entity is a member, shape (n, k).

        Returns:
            Shape (n, k), without stored zeros.
        """
        shared, own = self._shared_mentions
        beside = shared @ (self.mentions.T @ groups) - own @ groups
        found = sparse.csr_array(self.links @ groups + beside)
        found.data[found.data < _NOTHING] = 0.0
        found.eliminate_zeros()
        return found

    def beside(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which entities have enough of their links to chosen ones to fit another community, shape (n,)."""
        sides = sparse.csr_array(np.stack([chosen, ~chosen], axis=1).astype(np.float32))
        linked = self.links_to(sides).toarray()
        return np.asarray(linked[:, 0] > _CONCERNS * linked.sum(axis=1))


# The share of an entity's links whose other ends have to change before the entity is looked at again. Any link at all
# would make a year or a country, which much else is linked to, draw half of the graph in.
_CONCERNS = 0.1
_NOTHING = 1e-6
"""What is left of an entity's own part when it was subtracted, in the last bits of a float32."""


def features(vectors: Vectors, relation_vectors: Vectors,
             triples: NDArray[np.intp] | Sequence[tuple[int, int, int]],
             mentions: NDArray[np.intp] | Sequence[tuple[int, int]] = ()) -> EntityFeatures:
    """Compute the representation of each entity (Youtu-GraphRAG eq. 4), its neighbourhood and its links.

    Eq. 4 is read as it is written: each triple is seen from the entity, which comes first whether it is
    head or tail, so that the mean is [itself || its relations || its neighbours]. With head and tail in
    their places an entity's own vector is spread over two blocks and mixed with its neighbours' in both.

    Args:
        vectors: one row for each entity, shape (n, d).
        relation_vectors: one row for each relation, shape (m, d).
        triples: (head, relation, tail) as row numbers.
        mentions: (entity, passage): the entity's row and the number of a passage that mentions it.
    """
    n = len(vectors)
    heads, kinds, tails = np.array(triples, np.int64).reshape(-1, 3).T
    two = heads != tails  # a triple from an entity to itself counts once, and links nothing
    entities, others = np.concatenate([heads, tails[two]]), np.concatenate([tails, heads[two]])
    relation = np.concatenate([kinds, kinds[two]])
    relations = shares(_counts(entities, relation, (n, len(relation_vectors))))
    neighbours = _counts(entities, others, (n, n))
    rows, passages = np.array(mentions, np.int64).reshape(-1, 2).T
    mentioned = _counts(rows, passages, (n, int(passages.max(initial=-1)) + 1))
    pairs, column = np.unique(relation * n + others, return_inverse=True)
    ends = _counts(entities, column, (n, len(pairs)))
    if n > EXACT_UP_TO:  # this frees the input, which is why no decorator may hold it
        vectors, relation_vectors = _principal(vectors), _principal(relation_vectors)
    own, around = vectors.shape[1], relation_vectors.shape[1]
    representations = np.empty((n, 2 * own + around), np.float32)
    _centre_into(representations[:, :own], vectors)
    _centre_into(representations[:, own:own + around], relations @ relation_vectors, _CONTEXT_WEIGHT)
    _centre_into(representations[:, own + around:], shares(neighbours) @ vectors, _CONTEXT_WEIGHT)
    for block in _blocks(n):
        representations[block] = unit(representations[block])
    different = entities != others
    return EntityFeatures(
        representations, *shared_columns(sparse.csr_array(sparse.hstack([ends, mentioned]))),
        _counts(entities[different], others[different], (n, n)), mentioned)


def _blocks(n: int) -> list[slice]:
    return [slice(start, start + _ROWS) for start in range(0, n, _ROWS)]


def shares(counts: sparse.csr_array) -> sparse.csr_array:
    """Divide rows by their sums; rows of zeros stay."""
    total = np.asarray(counts.sum(axis=1)).ravel()
    divided = sparse.diags_array(1.0 / np.where(total > 0, total, 1.0)).astype(np.float32) @ counts
    return sparse.csr_array(divided)


def shared_columns(counts: sparse.csr_array) -> tuple[sparse.csr_array, NDArray[np.float32]]:
    """Return the shares of the columns that several rows have, and what all shares of each row sum to."""
    return only_shared(shares(counts)), np.asarray(np.diff(counts.indptr) > 0, np.float32)


def only_shared(rows: sparse.csr_array) -> sparse.csr_array:
    """Return the columns that several rows have."""
    several = np.bincount(rows.indices, minlength=rows.shape[1]) > 1
    return sparse.csr_array(rows[:, np.flatnonzero(several)])


def unit(rows: Vectors) -> Vectors:
    """Scale rows to length 1; rows of zeros stay."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1.0), np.float32)


def _counts(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    table = sparse.coo_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape).tocsr()
    table.sort_indices()
    return table


def _centre_into(target: Vectors, rows: Vectors, weight: float = 1.0) -> None:
    """Write rows without their mean: all sentence embeddings share a direction, which tells no community from another.

    It goes by blocks, because a copy of all rows would double the memory.
    """
    if len(rows):
        mean = rows.mean(axis=0)
        for block in _blocks(len(rows)):
            target[block] = weight * (rows[block] - mean)


@one_thread()
def _principal(rows: Vectors) -> Vectors:
    """Project the rows on their first principal components."""
    if rows.shape[1] <= _COMPONENTS:
        return rows
    if len(rows) < rows.shape[1]:  # their own products are the smaller matrix, and say the same
        centred = rows - rows.mean(axis=0)
        variances, axes = np.linalg.eigh(np.asarray(centred @ centred.T, np.float64))
        return np.asarray((axes * np.sqrt(np.maximum(variances, 0.0)))[:, -_COMPONENTS:], np.float32)
    mean, products = rows.mean(axis=0), np.zeros((rows.shape[1],) * 2)
    for block in _blocks(len(rows)):
        centred = rows[block] - mean
        products += centred.T @ centred
    main = np.linalg.eigh(products)[1][:, -_COMPONENTS:].astype(np.float32)
    reduced = np.empty((len(rows), _COMPONENTS), np.float32)
    for block in _blocks(len(rows)):
        reduced[block] = (rows[block] - mean) @ main
    return reduced
