"""Spread evidence over the entity-chunk graph by personalised PageRank."""

import math

import numpy as np
from numpy.typing import NDArray

from .index_file import Arrays

Weights = NDArray[np.float32]

# The share of weight that goes on at each step; the rest restarts at the seeds. HippoRAG's is 0.5. On our own multi-hop
# questions 0.5 to 0.7 are alike within chance (benchmarks/fusion_sweep.py), and 0.7 finds most in 10 and 20 passages.
DAMPING = 0.7
# The most that the weights, which sum to 1, may differ from the stationary ones: less than the gaps between the first
# 20 chunks of a question. On 198 questions of benchmarks/questions the order of these chunks is that of 1e-8; 1e-4
# changes it for one question, 1e-3 for ten.
_ERROR = 3e-5
# After n steps of the semi-iteration the error is at most 2 r^n, with this rate r.
_RATE = DAMPING / (1 + math.sqrt(1 - DAMPING**2))
_ITERATIONS = math.ceil(math.log(_ERROR / 2) / math.log(_RATE))


class SpreadingGraph:
    """A random walk over nodes numbered entities first, then chunks."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        # Slow to import, and not needed by the page's views.
        from scipy.sparse import csr_array  # noqa: PLC0415

        starts = arrays[f"{name}.starts"]
        size = len(starts) - 1
        # What arrives at a node is a sum over the nodes with an edge to it.
        self._arriving = csr_array((arrays[f"{name}.shares"], arrays[f"{name}.values"], starts), (size, size)).T

    def spread(self, seeds: Weights) -> Weights:
        """Return the stationary weights of all nodes, summing to 1, of a walk that restarts by the weights of seeds."""
        # Chebyshev's semi-iteration: each step is a weighted mean of the plain step and the weights before the last
        # one, which needs about half as many steps as repeating the plain one. Its shares are 0, 1/2, then always 1/4.
        restart = seeds / np.float32(seeds.sum() or 1)
        damping, restarted = np.float32(DAMPING), np.float32(1 - DAMPING) * restart
        previous, weights, factor = np.zeros_like(restart), restart, 1.0
        for share in (0.0, 0.5, *(0.25,) * (_ITERATIONS - 2)):
            factor = 1 / (1 - share * DAMPING**2 * factor)
            plain_step = damping * (self._arriving @ weights) + restarted
            previous, weights = weights, np.float32(factor) * plain_step + np.float32(1 - factor) * previous
        stationary: Weights = np.maximum(weights, 0)  # a weighted mean may fall below 0 by the error
        return stationary
