"""Spreading evidence over the entity-chunk graph by personalised PageRank."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..graph_store.index.array_file import Arrays

Weights = NDArray[np.float32]

# HippoRAG restarts half of the walk at each step. On our own multi-hop questions 0.5 to 0.7 are alike within chance
# (benchmarks/fusion_sweep.py), and the longest of these walks finds most at 10 and 20 passages.
DAMPING = 0.7
# How far weights, which sum to 1, may be from the stationary ones: less than what sets the first 20 chunks of a
# question apart. On 198 questions of benchmarks/questions their order is that of 1e-8; 1e-4 changes it for one of
# them, 1e-3 for ten.
_ERROR = 3e-5


class SpreadingGraph:
    """A random walk over nodes numbered entities first, then chunks."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        """Read the arrays that `step_arrays` made (graph_store/index/walk.py)."""
        self._node = arrays[f"{name}.node"]
        nodes = len(self._node)
        self._step = sparse.csr_array((arrays[f"{name}.data"], arrays[f"{name}.indices"], arrays[f"{name}.indptr"]),
                                      shape=(nodes, nodes))

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


def _steps(damping: float) -> int:
    """How many steps bring the error below `_ERROR`: after n of them it is at most 2 r^n."""
    rate = damping / (1 + math.sqrt(1 - damping**2))
    return math.ceil(math.log(_ERROR / 2) / math.log(rate))
