"""Spreading evidence over the entity-chunk graph by personalised PageRank."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Weights = NDArray[np.float32]

# HippoRAG restarts half of the walk at each step. On our own multi-hop questions 0.5 to 0.7 are alike within chance
# (benchmarks/fusion_sweep.py), and the longest of these walks finds most at 10 and 20 passages.
DAMPING = 0.7
# How far weights, which sum to 1, may be from the stationary ones: less than what sets the first 20 chunks of a
# question apart. On 198 questions of benchmarks/questions their order is that of 1e-8; 1e-4 changes it for one of
# them, 1e-3 for ten.
_ERROR = 3e-5
_IN_CACHE = 10_000
"""Nodes whose walk fits a processor's cache, in whatever order they are stored."""


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
        # Short numbers for the nodes: a step takes as long as the matrix takes to be read.
        ends = np.concatenate([rows, columns]).astype(np.int32), np.concatenate([columns, rows]).astype(np.int32)
        adjacency = sparse.coo_array((np.concatenate([weights, weights]), ends), shape=(nodes, nodes)).tocsr()
        strength = np.asarray(adjacency.sum(axis=1)).ravel()
        inverse = np.divide(1.0, strength, out=np.zeros_like(strength), where=strength > 0)
        step = (adjacency @ sparse.diags_array(inverse)).astype(np.float32).tocsr()
        # `_node` is the node of each row.
        self._node = _near_each_other(adjacency) if nodes > _IN_CACHE else np.arange(nodes, dtype=np.intp)
        self._step = step[self._node][:, self._node].tocsr()

    def spread(self, seeds: Weights) -> Weights:
        """The stationary weights of a walk that restarts at the seeds.

        Args:
            seeds: restart weights, shape (n,); not negative.

        Returns:
            The weights, of the same shape, summing to at most 1; zeros for zero seeds.
        """
        total = float(seeds.sum())
        restart = seeds[self._node] / np.float32(total or 1)
        # Chebyshev's semi-iteration (Golub and Varga 1961): edges have no direction, so the step's eigenvalues
        # are real, and half of the plain walk's steps come as near to where it ends.
        before, walk, factor = np.zeros_like(restart), restart.copy(), 1.0
        seeded = np.flatnonzero(restart)
        again = (1 - DAMPING) * restart[seeded]
        for step in range(_steps(DAMPING)):
            factor = 1 / (1 - (0.5 if step == 1 else 0.25) * DAMPING**2 * factor) if step else 1.0
            stepped = self._step @ walk
            stepped *= factor * DAMPING
            before *= 1 - factor
            before += stepped
            before[seeded] += factor * again
            walk, before = before, walk
        weights = np.empty(seeds.shape, np.float32)
        weights[self._node] = np.maximum(walk, 0)
        return weights


def _near_each_other(adjacency: sparse.csr_array) -> NDArray[np.intp]:
    """An order in which neighbours are stored next to each other (Cuthill and McKee 1969), as a cache likes it."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee  # noqa: PLC0415  (linear algebra comes with it)

    return np.array(reverse_cuthill_mckee(adjacency, symmetric_mode=True), np.intp)


def _steps(damping: float) -> int:
    """How many steps bring the error below `_ERROR`: after n of them it is at most 2 r^n."""
    rate = damping / (1 + math.sqrt(1 - damping**2))
    return math.ceil(math.log(_ERROR / 2) / math.log(rate))
