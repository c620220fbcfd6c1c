"""The dual-perception score of an entity and a community (Youtu-GraphRAG eq. 5 and 6)."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...models.embedding.embedder import Vectors
from .clusters import Labels, membership
from .features import EntityFeatures, shares

Scores = NDArray[np.float32]

# Communities whose pairs are scored at once; their rows of Psi fit into the processor's cache.
_BLOCK = 32
# Pairs whose cosines are computed at once; temporary arrays fit into the processor's cache.
_PAIRS = 256
# Scores are rounded to this many digits, so rounding errors decide nothing.
DECIMALS = 5


class Perception:
    """The entities and communities of one iteration, prepared for computing phi, the fit of an entity and a community.

    Psi, the neighbourhood of an entity, has two halves. One has each pair of a relation and the entity at its other
    end, and each passage that mentions the entity. The other has the communities of those ends at this iteration. A
    relation type that two entities share with different ends counts nothing.
    """

    def __init__(self, data: EntityFeatures, labels: Labels, communities: int = 0) -> None:
        """Sum the features of each community's members; some of at least `communities` may have none."""
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
        """Compute phi = S_r + lambda S_s (eq. 5) of pairs of entity and community, rounded to `DECIMALS` digits.

        Pairs must be sorted by community. See `overlap` and `cosine`.
        """
        return np.asarray(np.round(self.overlap(entities, communities)
                                   + semantic_weight * self.cosine(entities, communities), DECIMALS), np.float32)

    def overlap(self, entities: Labels, communities: Labels) -> Scores:
        """Compute S_r (eq. 6) of pairs of entity and community: the Jaccard overlap of their neighbourhoods Psi.

        An entity is not counted as a member of its own community.

        Pairs must be sorted by community. Returns shape (pairs,), from 0 to 1.
        """
        overlap = np.zeros(len(entities), np.float32)
        own = self.labels[entities] == communities
        # Psi of a block of communities as a dense table; its filled cells are set back to 0 after each block.
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
        """Compute S_r of pairs with a block of communities (see `overlap`)."""
        psi = self._psi[entities]
        counts = np.diff(psi.indptr)
        other_members = np.maximum(self.sizes[communities] - own, 1)
        # For each entry of the entities' Psi: the community's mean of it, without the entity itself.
        community_psi = table.ravel()[psi.indices + np.repeat((communities - first) * table.shape[1], counts)]
        if own.any():
            community_psi = np.maximum(community_psi - np.where(np.repeat(own, counts), psi.data, 0.0), 0.0)
        community_psi /= np.repeat(other_members.astype(np.float32), counts)
        psi.data = np.minimum(psi.data, community_psi)
        intersection = psi.sum(axis=1)
        entity_mass = self._mass[entities]
        mass = np.maximum(self._masses[communities] - np.where(own, entity_mass, 0.0), 0.0) / other_members
        union = entity_mass + mass - intersection
        return np.asarray(intersection / np.maximum(union, 1e-9), np.float32)

    def mean_cosines(self, a: Labels, b: Labels) -> Scores:
        """Compute the mean of S_s(e, b) over the members e of a, averaged with the same for b and a, for pairs (a, b).

        Returns:
            Shape (pairs,); exact, because the mean of cosines to one vector is a product of sums.
        """
        lengths = np.sqrt(np.maximum(self._squares, 1e-6))
        dots = self._dots(self.sums, a, b)
        return np.asarray((dots / self.sizes[a] / lengths[b] + dots / self.sizes[b] / lengths[a]) / 2, np.float32)

    def cosine(self, entities: Labels, communities: Labels) -> Scores:
        """Compute S_s of pairs of entity and community: the cosine of the entity and the community's centroid.

        An entity is not counted as a member of its own community.
        """
        own = self.labels[entities] == communities
        dots = self._dots(self.representations, entities, communities)
        itself = np.where(own, self._norms[entities], 0.0)
        squares = self._squares[communities] - np.where(own, 2 * dots, 0.0) + itself  # |s - e|^2, without the entity
        return np.asarray((dots - itself) / np.sqrt(np.maximum(squares, 1e-6)), np.float32)

    def _dots(self, rows: Vectors, chosen: Labels, communities: Labels) -> Scores:
        """Compute the product of a row and the sum of a community's representations for each pair, shape (pairs,)."""
        dots = np.empty(len(chosen), np.float32)
        for start in range(0, len(chosen), _PAIRS):
            part = slice(start, start + _PAIRS)
            np.vecdot(rows[chosen[part]], self.sums[communities[part]], out=dots[part])
        return dots
