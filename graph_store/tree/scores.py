"""The dual-perception score of an entity and a community (Youtu-GraphRAG eq. 5 and 6)."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...models.embedding.embedder import Vectors
from .clusters import Labels, membership
from .features import EntityFeatures, shares

Scores = NDArray[np.float32]

# Communities whose pairs are scored at once: their rows of Psi are a table that stays in the cache.
_BLOCK = 32
# Pairs whose cosines are computed at once: temporary arrays stay in the cache.
_PAIRS = 256
# Scores that differ by less are equal, so the last bits of a sum decide nothing.
DECIMALS = 5


class Perception:
    """The entities and communities of one iteration, as the two terms of phi compare them."""

    def __init__(self, data: EntityFeatures, labels: Labels, communities: int = 0) -> None:
        """Describe every community by its members; there are at least so many, and some may have lost all of theirs.

        Psi has two halves: the relation-specific neighbourhood, each relation with the entity at its other end and
        each passage that mentions the entity, and the communities that those ends belong to at this iteration. A
        relation type that is shared without an end counts nothing.
        """
        self.labels = labels
        self.sizes = np.bincount(labels, minlength=communities)
        self.representations = data.representations
        self.belong = membership(labels, communities)
        members = self.belong.T.tocsr()
        self.towards = shares(data.links_to(self.belong))
        self._psi = sparse.csr_array(sparse.hstack([data.neighbourhoods * 0.5, self.towards * 0.5], format="csr"))
        self._mass = 0.5 * data.mass + 0.5 * (np.diff(self.towards.indptr) > 0)
        # Sums over the members: leaving one out is then a subtraction.
        self._total = sparse.csr_array(members @ self._psi)
        self._masses = np.bincount(labels, weights=self._mass, minlength=communities)
        self.sums = np.asarray(members @ data.representations, np.float32)
        self._norms = data.squares
        self._squares = np.einsum("ij,ij->i", self.sums, self.sums)

    def phi(self, entities: Labels, communities: Labels, semantic_weight: float) -> Scores:
        """Compute S_r + lambda S_s (eq. 5) of pairs, by community; see `overlap` and `cosine`.

        Returns:
            Shape (pairs,), rounded so only real differences count.
        """
        return np.asarray(np.round(self.overlap(entities, communities)
                                   + semantic_weight * self.cosine(entities, communities), DECIMALS), np.float32)

    def overlap(self, entities: Labels, communities: Labels) -> Scores:
        """Compute S_r of pairs of entity and community, by community; an entity is left out of its own.

        Returns:
            The Jaccard overlap in [0, 1], shape (pairs,).
        """
        overlap = np.zeros(len(entities), np.float32)
        own = self.labels[entities] == communities
        table = np.zeros((_BLOCK, self._total.shape[1]), np.float32)
        starts = range(0, len(self.sizes), _BLOCK)
        bounds = np.searchsorted(communities, [*starts, len(self.sizes)]).tolist()
        for first, start, end in zip(starts, bounds[:-1], bounds[1:], strict=True):
            if start < end:
                part = slice(start, end)
                rows = self._total[first:first + _BLOCK]
                filled = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.indices
                table[filled] = rows.data
                overlap[part] = self._overlap(entities[part], communities[part], own[part], first, table)
                table[filled] = 0.0
        return overlap

    def _overlap(self, entities: Labels, communities: Labels, own: NDArray[np.bool_], first: int,
                 table: Scores) -> Scores:
        """Compute S_r of pairs with a block of communities, whose sums are the rows of `table`."""
        psi = self._psi[entities]
        counts = np.diff(psi.indptr)
        others = np.maximum(self.sizes[communities] - own, 1)
        there = table.ravel()[psi.indices + np.repeat((communities - first) * table.shape[1], counts)]
        if own.any():
            there = np.maximum(there - np.where(np.repeat(own, counts), psi.data, 0.0), 0.0)
        there /= np.repeat(others.astype(np.float32), counts)
        psi.data = np.minimum(psi.data, there)
        common = psi.sum(axis=1)
        mass = np.maximum(self._masses[communities] - np.where(own, self._mass[entities], 0.0), 0.0) / others
        either = self._mass[entities] + mass - common
        return np.asarray(common / np.maximum(either, 1e-9), np.float32)

    def mean_cosines(self, a: Labels, b: Labels) -> Scores:
        """Compute the mean of S_s(e, b) over the members e of a, averaged with that of b and a, for pairs (a, b).

        Returns:
            Shape (pairs,); exact, because the mean of cosines to one vector is a product of sums.
        """
        lengths = np.sqrt(np.maximum(self._squares, 1e-6))
        dots = self._dots(self.sums, a, b)
        return np.asarray((dots / self.sizes[a] / lengths[b] + dots / self.sizes[b] / lengths[a]) / 2, np.float32)

    def bound_overlaps(self, a: Labels, b: Labels) -> Scores:
        """Bound the mean of S_r(e, b) over the members e of a, averaged with that of b and a, for pairs (a, b).

        The minimum is concave, so by Jensen's inequality the numerator is on average at most that of the mean member.
        The denominator is at least the mass of b.

        Returns:
            Upper bounds, shape (pairs,).
        """
        each = np.maximum(self.sizes, 1)
        means = sparse.csr_array(sparse.diags_array(1.0 / each).astype(np.float32) @ self._total)
        means.sort_indices()
        common = np.empty(len(a), np.float32)
        for at in range(0, len(a), _PAIRS):
            part = slice(at, at + _PAIRS)
            common[part] = means[a[part]].minimum(means[b[part]]).sum(axis=1)
        mass = np.maximum(self._masses / each, 1e-9)
        return np.asarray(common * (1 / mass[a] + 1 / mass[b]) / 2, np.float32)

    def cosine(self, entities: Labels, communities: Labels) -> Scores:
        """Compute S_s of pairs of entity and community, in [-1, 1]; an entity is left out of its own."""
        own = self.labels[entities] == communities
        dots = self._dots(self.representations, entities, communities)
        itself = np.where(own, self._norms[entities], 0.0)
        squares = self._squares[communities] - np.where(own, 2 * dots, 0.0) + itself
        return np.asarray((dots - itself) / np.sqrt(np.maximum(squares, 1e-6)), np.float32)

    def _dots(self, rows: Vectors, chosen: Labels, communities: Labels) -> Scores:
        """Compute the products of rows and the sums of communities, shape (pairs,)."""
        dots = np.empty(len(chosen), np.float32)
        for at in range(0, len(chosen), _PAIRS):
            part = slice(at, at + _PAIRS)
            np.vecdot(rows[chosen[part]], self.sums[communities[part]], out=dots[part])
        return dots
