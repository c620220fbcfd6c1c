"""Spreading evidence over the entity-chunk graph by personalised PageRank."""

import math
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..graph_store.index.array_file import Arrays
from ..graph_store.index.columns import Rows

Weights = NDArray[np.float32]

# HippoRAG restarts half of the walk at each step. On our own multi-hop questions 0.5 to 0.7 are alike within chance
# (benchmarks/fusion_sweep.py), and the longest of these walks finds most at 10 and 20 passages.
DAMPING = 0.7
# How far weights, which sum to 1, may be from the stationary ones: less than what sets the first 20 chunks of a
# question apart. On 198 questions of benchmarks/questions their order is that of 1e-8; 1e-4 changes it for one of
# them, 1e-3 for ten.
_ERROR = 3e-5
# In graphs of more ends of edges than this only what the seeds reach is walked: nodes to which one of so many steps
# brings more than this for each of their edges. What would come back from the others is missing, a few thousandths of
# the best chunk's weight (benchmarks/README.md has how orders differ), and the cost hardly depends on the store.
_WHOLE = 300_000
_STEPS, _LEAST = 4, 1e-6


class SpreadingGraph:
    """A random walk over nodes numbered entities first, then chunks."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        """Read the arrays that `step_arrays` made (graph_store/index/walk.py)."""
        self._node, self._edges = arrays[f"{name}.node"], arrays[f"{name}.edges"]
        begins = arrays[f"{name}.diagonals.starts"].tolist()
        self._diagonals = [arrays[f"{name}.diagonals"][start:end] for start, end in pairwise(begins)]
        self._rest, self._rest_starts = arrays[f"{name}.rest"], arrays[f"{name}.rest.starts"]
        self.whole = len(arrays[f"{name}.diagonals"]) + len(self._rest) <= _WHOLE
        """Whether the whole graph is walked."""

    def spread(self, seeds: Weights) -> Weights:
        """The stationary weights of a walk that restarts at the seeds.

        Args:
            seeds: restart weights, shape (n,); not negative.

        Returns:
            The weights, of the same shape, summing to at most 1; zeros for zero seeds.
        """
        total = float(seeds.sum())
        restart = seeds[self._node] / np.float32(total or 1)
        weights = np.zeros_like(seeds)
        if self.whole:
            weights[self._node] = _stationary(restart, self._edges, self._arriving)
            return weights
        reached = self._reached(restart)
        owners, others = self._neighbours(reached)
        inside = np.searchsorted(reached, others)
        kept = np.flatnonzero(reached[np.minimum(inside, len(reached) - 1)] == others)
        owners, inside = owners[kept], inside[kept]
        weights[self._node[reached]] = _stationary(
            restart[reached], self._edges[reached],
            lambda leaving: np.bincount(owners, leaving[inside], len(reached)).astype(np.float32))
        return weights

    def _arriving(self, leaving: Weights) -> Weights:
        """What arrives at each node if every node sends some weight along each of its edges."""
        arriving = np.zeros_like(leaving)
        diagonals, rest = self._as_indices
        for others in diagonals:
            arriving[:len(others)] += leaving[others]
        if len(rest):
            more = np.add.reduceat(leaving[rest], self._rest_starts[:-1])
            arriving[:len(more)] += more
        return arriving

    @cached_property
    def _as_indices(self) -> tuple[list[Rows], Rows]:
        # Rows are picked by numbers of the machine's own width; shorter ones would be widened at every step.
        return [others.astype(np.intp) for others in self._diagonals], self._rest.astype(np.intp)

    def _reached(self, restart: Weights) -> Rows:
        """The rows to which the first steps from the seeds bring enough to count, ascending."""
        here = np.flatnonzero(restart)
        reached, weights = [here], restart[here]
        for _ in range(_STEPS):
            owners, others = self._neighbours(here)
            sent = (np.float32(DAMPING) * weights / np.maximum(self._edges[here], 1))[owners]
            here, places = np.unique(others, return_inverse=True)
            weights = np.bincount(places, sent, len(here)).astype(np.float32)
            enough = weights > _LEAST * self._edges[here]
            here, weights = here[enough], weights[enough]
            reached.append(here)
        return np.unique(np.concatenate(reached))

    def _neighbours(self, rows: Rows) -> tuple[Rows, NDArray[np.int32]]:
        """The neighbours of some rows, ascending: for each the place of its row among those, and itself."""
        owners, others = list[Rows](), list[NDArray[np.int32]]()
        for diagonal in self._diagonals:
            # Whoever has fewer neighbours stands behind.
            having = int(np.searchsorted(rows, len(diagonal)))
            owners.append(np.arange(having))
            others.append(diagonal[rows[:having]])
        having = int(np.searchsorted(rows, len(self._rest_starts) - 1))
        begins, ends = self._rest_starts[rows[:having]], self._rest_starts[rows[:having] + 1]
        counts = ends - begins
        owners.append(np.repeat(np.arange(having), counts))
        others.append(self._rest[np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())])
        return np.concatenate(owners), np.concatenate(others)


def _stationary(restart: Weights, edges: Weights, arriving: Callable[[Weights], Weights]) -> Weights:
    """Where a walk ends that restarts so; what each node has goes along its edges in equal parts."""
    # Chebyshev's semi-iteration (Golub and Varga 1961): edges have no direction, so the step's eigenvalues
    # are real, and half of the plain walk's steps come as near to where it ends.
    before, walk, factor = np.zeros_like(restart), restart.copy(), 1.0
    share = np.divide(np.float32(1), edges, out=np.zeros_like(restart), where=edges > 0)
    seeded = np.flatnonzero(restart)
    again = (1 - DAMPING) * restart[seeded]
    for step in range(_steps(DAMPING)):
        factor = 1 / (1 - (0.5 if step == 1 else 0.25) * DAMPING**2 * factor) if step else 1.0
        stepped = arriving(walk * share)
        stepped *= factor * DAMPING
        before *= 1 - factor
        before += stepped
        before[seeded] += factor * again
        walk, before = before, walk
    return np.maximum(walk, 0)


def _steps(damping: float) -> int:
    """How many steps bring the error below `_ERROR`: after n of them it is at most 2 r^n."""
    rate = damping / (1 + math.sqrt(1 - damping**2))
    return math.ceil(math.log(_ERROR / 2) / math.log(rate))
