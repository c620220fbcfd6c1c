"""Spread evidence over the entity-chunk graph by personalised PageRank."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graph.graph_columns import Rows, sort_distinct
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
# In a graph whose edges have more ends than _WHOLE, a walk covers only the nodes that the seeds reach: those to which
# one of the first _STEPS steps brings more than _LEAST for each of their edges. What would return from other nodes is
# omitted: a few thousandths of the best chunk's weight (benchmarks/README.md). So the cost hardly depends on the size.
_WHOLE = 300_000
_STEPS, _LEAST = 4, 1e-6


class Seeds(NamedTuple):
    """The restart nodes of a walk, ascending, with their positive weights."""

    nodes: Rows
    weights: Weights

    @classmethod
    def of(cls, weights: Weights, nodes: Rows) -> "Seeds":
        """Return seeds at those of some nodes (ascending, shape (n,)) whose weight (shape (n,)) is not 0."""
        positions = np.flatnonzero(weights)
        return cls(nodes[positions], weights[positions])

    def dense(self, size: int) -> Weights:
        """Return the weights of all nodes of a graph, shape (size,); those of nodes that are no seeds are 0."""
        # The many zeros cost little: the system allocates a page of them only when it is accessed.
        weights = np.zeros(size, np.float32)
        weights[self.nodes] = self.weights
        return weights


class SpreadingGraph:
    """A random walk over nodes numbered entities first, then chunks."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        # Slow to import, and not needed by the page's views.
        from scipy.sparse import csr_array  # noqa: PLC0415

        starts = arrays[f"{name}.starts"]
        self.size = len(starts) - 1
        self._steps = csr_array((arrays[f"{name}.shares"], arrays[f"{name}.values"], starts), (self.size, self.size))
        self.whole = self._steps.nnz <= _WHOLE
        """True if walks cover the whole graph."""

    def spread(self, seeds: Seeds) -> Weights:
        """Return the stationary weights of all nodes, summing to at most 1, of a walk that restarts at the seeds.

        In a large graph the walk covers only the nodes that the seeds reach; weight that leaves these is lost.
        """
        nodes = np.arange(self.size) if self.whole else self._find_reached(seeds)
        steps = self._steps if self.whole else self._steps[nodes][:, nodes]
        arriving = steps.T  # what arrives at a node is a sum over the nodes with an edge to it
        restart = seeds.dense(self.size)[nodes] / np.float32(seeds.weights.sum() or 1)
        # Chebyshev's semi-iteration: each step is a weighted mean of the plain step and the weights before the last
        # one, which needs about half as many steps as repeating the plain one.
        damping, restarted = np.float32(DAMPING), np.float32(1 - DAMPING) * restart
        previous, weights, factor = np.zeros_like(restart), restart, 1.0
        for step in range(_ITERATIONS):
            factor = 1 / (1 - (0.5 if step == 1 else 0.25) * DAMPING**2 * factor) if step else 1.0
            plain_step = damping * (arriving @ weights) + restarted
            previous, weights = weights, np.float32(factor) * plain_step + np.float32(1 - factor) * previous
        of_all_nodes = np.zeros(self.size, np.float32)
        of_all_nodes[nodes] = np.maximum(weights, 0)
        return of_all_nodes

    def _find_reached(self, seeds: Seeds) -> Rows:
        """Return the nodes to which one of the first steps brings enough weight to count, ascending (see `_WHOLE`)."""
        nodes, weights = seeds.nodes, seeds.weights / np.float32(seeds.weights.sum() or 1)
        edge_starts, reached = self._steps.indptr, [nodes]
        for _ in range(_STEPS):
            steps = self._steps[nodes]
            neighbours = sort_distinct(steps.indices)
            arriving = np.float32(DAMPING) * (weights @ steps)[neighbours]
            edge_counts = edge_starts[neighbours + 1] - edge_starts[neighbours]
            is_enough = arriving > _LEAST * edge_counts
            nodes, weights = neighbours[is_enough], arriving[is_enough]
            reached.append(nodes)
        return sort_distinct(np.concatenate(reached))
