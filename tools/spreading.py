"""Spread evidence over the entity-chunk graph by personalised PageRank."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graph_store.index.array_file import Arrays
from ..graph_store.index.columns import Rows, distinct

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Weights = NDArray[np.float32]

# HippoRAG restarts half of the walk at each step. On our own multi-hop questions 0.5 to 0.7 are alike within chance
# (benchmarks/fusion_sweep.py), and the longest of these walks finds most at 10 and 20 passages.
DAMPING = 0.7
# The most that weights, which sum to 1, may differ from the stationary ones: less than the gaps between the first 20
# chunks of a question. On 198 questions of benchmarks/questions their order is that of 1e-8; 1e-4 changes it for one of
# them, 1e-3 for ten.
_ERROR = 3e-5
# In graphs with more ends of edges than _WHOLE, a walk covers only what the seeds reach: nodes to which one of the
# first _STEPS steps brings more than _LEAST for each of their edges. This omits what would return from other nodes, a
# few thousandths of the best chunk's weight (benchmarks/README.md), and the cost hardly depends on the graph's size.
_WHOLE = 300_000
_STEPS, _LEAST = 4, 1e-6


class Seeds(NamedTuple):
    """The restart nodes of a walk, ascending, with their positive weights."""

    nodes: Rows
    weights: Weights

    @classmethod
    def of(cls, weights: Weights, nodes: Rows) -> "Seeds":
        """Return seeds at those of some nodes, ascending, that have a weight."""
        having = np.flatnonzero(weights)
        return cls(nodes[having], weights[having])

    def dense(self, size: int) -> Weights:
        """Return the weights of all nodes, shape (size,)."""
        # The system allocates only those pages of the many zeros that are accessed.
        weights = np.zeros(size, np.float32)
        weights[self.nodes] = self.weights
        return weights


class SpreadingGraph:
    """A random walk over nodes numbered entities first, then chunks."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        """Read the arrays that `step_arrays` made (graph_store/index/contents.py)."""
        # Slow to import, and not needed by the page's views.
        from scipy.sparse import csr_array  # noqa: PLC0415

        starts = arrays[f"{name}.starts"]
        self.size = len(starts) - 1
        self._steps = csr_array((arrays[f"{name}.shares"], arrays[f"{name}.values"], starts), (self.size, self.size))
        self.whole = self._steps.nnz <= _WHOLE
        """True if walks cover the whole graph."""

    def around(self, seeds: Seeds) -> "Walkable":
        """Return the part to walk for some seeds: the whole graph or, in a large one, what they reach."""
        if self.whole:
            return Walkable(self._steps, np.arange(self.size), self.size)
        nodes = self._reach(seeds)
        return Walkable(self._steps[nodes][:, nodes], nodes, self.size)

    def _reach(self, seeds: Seeds) -> Rows:
        """Return the nodes, ascending, to which the first steps bring enough weight to count."""
        here, weights = seeds.nodes, seeds.weights / np.float32(seeds.weights.sum() or 1)
        starts, reached = self._steps.indptr, [here]
        for _ in range(_STEPS):
            rows = self._steps[here]
            near = distinct(rows.indices)
            arriving = np.float32(DAMPING) * (weights @ rows)[near]
            enough = arriving > _LEAST * (starts[near + 1] - starts[near])
            here, weights = near[enough], arriving[enough]
            reached.append(here)
        return distinct(np.concatenate(reached))


class Walkable:
    """A part of the graph that is walked by itself: weight that leaves it does not return."""

    def __init__(self, steps: "csr_array", nodes: Rows, size: int) -> None:
        """Take a part: the steps between its nodes, these nodes, ascending, and how many nodes the graph has."""
        # The weight that arrives at a node comes from all that have an edge to it: the rows of the transpose.
        self._arriving, self._nodes, self._size = steps.T, nodes, size

    def spread(self, seeds: Seeds) -> Weights:
        """Return the stationary weights of a walk that restarts at the seeds.

        Returns:
            The weights of all nodes of the graph, shape (n,), summing to at most 1; zeros without seeds.
        """
        restart = seeds.dense(self._size)[self._nodes] / np.float32(seeds.weights.sum() or 1)
        weights = np.zeros(self._size, np.float32)
        weights[self._nodes] = np.maximum(self._stationary(restart), 0)
        return weights

    def _stationary(self, restart: Weights) -> Weights:
        """Return the stationary weights for a restart; each node sends its weight along its edges in equal parts."""
        # Chebyshev's semi-iteration (Golub and Varga 1961): edges have no direction, so the step's eigenvalues
        # are real, and half of the plain walk's steps come as near to where it ends.
        damping, again = np.float32(DAMPING), np.float32(1 - DAMPING) * restart
        before, walk, factor = np.zeros_like(restart), restart, 1.0
        for step in range(_steps(DAMPING)):
            factor = 1 / (1 - (0.5 if step == 1 else 0.25) * DAMPING**2 * factor) if step else 1.0
            following = damping * (self._arriving @ walk) + again
            before, walk = walk, np.float32(factor) * following + np.float32(1 - factor) * before
        return walk


def _steps(damping: float) -> int:
    """Return how many steps bring the error below `_ERROR`: after n steps it is at most 2 r^n."""
    rate = damping / (1 + math.sqrt(1 - damping**2))
    return math.ceil(math.log(_ERROR / 2) / math.log(rate))
