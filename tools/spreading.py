"""Spreading evidence over the entity-chunk graph by personalised PageRank."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Weights = NDArray[np.float32]

# HippoRAG's damping: half of the walk restarts at each step, so evidence stays within a few hops,
# which is how far questions reach (MuSiQue: 2 to 4).
DAMPING = 0.5
# The error after n steps is at most damping^n: 2^-20 is below the float32 resolution of the scores.
_STEPS = 20


class SpreadingGraph:
    """A random walk over nodes numbered entities first, then chunks."""

    def __init__(self, nodes: int, rows: NDArray[np.intp], columns: NDArray[np.intp], weights: Weights) -> None:
        """Build it from undirected weighted edges.

        Args:
            nodes: the number of nodes, n.
            rows: one end of each edge, shape (m,).
            columns: its other end, shape (m,).
            weights: its weight, shape (m,); repeated edges add up.
        """
        adjacency = sparse.coo_array(
            (np.concatenate([weights, weights]), (np.concatenate([rows, columns]), np.concatenate([columns, rows]))),
            shape=(nodes, nodes)).tocsr()
        strength = np.asarray(adjacency.sum(axis=1)).ravel()
        inverse = np.divide(1.0, strength, out=np.zeros_like(strength), where=strength > 0)
        self._step = (adjacency @ sparse.diags_array(inverse)).astype(np.float32).tocsr()

    def spread(self, seeds: Weights) -> Weights:
        """The stationary weights of a walk that restarts at the seeds.

        Args:
            seeds: restart weights, shape (n,) or (n, q) for q walks at once; not negative.

        Returns:
            The weights, of the same shape, each walk's summing to at most 1; zeros for zero seeds.
        """
        total = seeds.sum(axis=0)
        restart = np.divide(seeds, total, out=np.zeros_like(seeds), where=total > 0)
        walk = restart
        for _ in range(_STEPS):
            walk = DAMPING * (self._step @ walk) + (1 - DAMPING) * restart
        return np.asarray(walk, np.float32)
