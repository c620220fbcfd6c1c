"""Spreading evidence over the entity-chunk graph by personalised PageRank."""

import math
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..graph_store.index.array_file import Arrays
from ..graph_store.index.columns import Rows, distinct

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
        self._node, self._row, self._edges = arrays[f"{name}.node"], arrays[f"{name}.row"], arrays[f"{name}.edges"]
        begins = arrays[f"{name}.diagonals.starts"].tolist()
        self._diagonals = [arrays[f"{name}.diagonals"][start:end] for start, end in pairwise(begins)]
        self._rest, self._rest_starts = arrays[f"{name}.rest"], arrays[f"{name}.rest.starts"]
        self.whole = len(arrays[f"{name}.diagonals"]) + len(self._rest) <= _WHOLE
        """Whether the whole graph is walked."""

    def spread(self, seeds: Weights) -> Weights:
        """The stationary weights of a walk that restarts at the seeds; see `Walkable.spread`."""
        return self.around(seeds).spread(seeds)

    def around(self, seeds: Weights) -> "Walkable":
        """What is walked for some seeds: the whole graph or, in a large one, what they reach."""
        if self.whole:
            return Walkable(self._node, self._row, self._edges, self._arriving)
        seeded = np.flatnonzero(seeds != 0)
        rows = self._row[seeded].astype(np.intp)
        order = np.argsort(rows)
        reached = self._reached(rows[order], seeds[seeded][order] / np.float32(seeds[seeded].sum() or 1))
        owners, others = self._neighbours(reached)
        # From 1 on; 0 is elsewhere. Of the many zeros only the pages that are looked at are made.
        place = np.zeros(len(seeds), np.int32)
        place[reached] = np.arange(1, len(reached) + 1)
        inside = place[others]
        kept = np.flatnonzero(inside)
        owners, inside = owners[kept], inside[kept] - 1
        return Walkable(
            self._node[reached], self._row, self._edges[reached],
            lambda leaving: np.bincount(owners, leaving[inside], len(reached)).astype(np.float32), place)

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

    def _reached(self, here: Rows, weights: Weights) -> Rows:
        """The rows to which the first steps from some, ascending, bring enough of their weights to count, ascending."""
        reached = [here]
        for _ in range(_STEPS):
            owners, others = self._neighbours(here)
            sent = (np.float32(DAMPING) * weights / np.maximum(self._edges[here], 1))[owners]
            here, places = np.unique(others, return_inverse=True)
            weights = np.bincount(places, sent, len(here)).astype(np.float32)
            enough = weights > _LEAST * self._edges[here]
            here, weights = here[enough], weights[enough]
            reached.append(here)
        return distinct(np.concatenate(reached))

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


class Walkable:
    """A part of the graph that is walked by itself: what leaves it does not come back."""

    def __init__(self, nodes: NDArray[np.int32], row: NDArray[np.int32], edges: Weights,
                 arriving: Callable[[Weights], Weights], place: NDArray[np.int32] | None = None) -> None:
        """Take a part.

        Args:
            nodes: its nodes.
            row: the row of each node of the graph.
            edges: how many edges each of its nodes has.
            arriving: gives what arrives at each of them if every one sends some weight along each of its edges.
            place: of each row of the graph the place among those, from 1 on, or 0; None: it is the whole graph.
        """
        self._nodes, self._row, self._edges, self._arriving, self._place = nodes, row, edges, arriving, place

    def spread(self, seeds: Weights) -> Weights:
        """The stationary weights of a walk that restarts at the seeds.

        Args:
            seeds: restart weights of all nodes of the graph, shape (n,); not negative.

        Returns:
            The weights, of the same shape, summing to at most 1; zeros for zero seeds.
        """
        seeded = np.flatnonzero(seeds != 0)
        rows, shares = self._row[seeded], seeds[seeded] / np.float32(seeds[seeded].sum() or 1)
        restart = np.zeros(len(self._nodes), np.float32)
        if self._place is None:
            restart[rows] = shares
        else:
            places = self._place[rows]
            restart[places[places > 0] - 1] = shares[places > 0]
        # Not zeros_like: pages of zeros that nobody writes are not made.
        weights = np.zeros(len(seeds), np.float32)
        weights[self._nodes] = self._stationary(restart)
        return weights

    def _stationary(self, restart: Weights) -> Weights:
        """Where a walk ends that restarts so; what each node has goes along its edges in equal parts."""
        edges = self._edges
        # Chebyshev's semi-iteration (Golub and Varga 1961): edges have no direction, so the step's eigenvalues
        # are real, and half of the plain walk's steps come as near to where it ends.
        before, walk, factor = np.zeros_like(restart), restart.copy(), 1.0
        share = np.divide(np.float32(1), edges, out=np.zeros_like(restart), where=edges > 0)
        seeded = np.flatnonzero(restart)
        again = (1 - DAMPING) * restart[seeded]
        for step in range(_steps(DAMPING)):
            factor = 1 / (1 - (0.5 if step == 1 else 0.25) * DAMPING**2 * factor) if step else 1.0
            stepped = self._arriving(walk * share)
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
