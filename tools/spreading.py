"""Spread evidence over the entity-chunk graph by personalised PageRank."""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graph_store.index.array_file import Arrays
from ..graph_store.index.columns import Rows, distinct

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
    def of(cls, weights: Weights, nodes: Rows | None = None) -> "Seeds":
        """Return seeds at the nodes that have a weight, among some nodes, ascending, or all."""
        having = np.flatnonzero(weights)
        return cls(having if nodes is None else nodes[having], weights[having])

    def dense(self, size: int) -> Weights:
        """Return the weights of all nodes, shape (size,)."""
        # The system allocates only those pages of the many zeros that are accessed.
        weights = np.zeros(size, np.float32)
        weights[self.nodes] = self.weights
        return weights

    def shares(self) -> Weights:
        """Return the weights scaled to sum to 1."""
        return self.weights / np.float32(self.weights.sum() or 1)


class SpreadingGraph:
    """A random walk over nodes numbered entities first, then chunks."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        """Read the arrays that `step_arrays` made (graph_store/index/walk.py)."""
        self._node, self._row, self._edges = arrays[f"{name}.node"], arrays[f"{name}.row"], arrays[f"{name}.edges"]
        begins = arrays[f"{name}.diagonals.starts"].tolist()
        self._diagonals = [arrays[f"{name}.diagonals"][start:end] for start, end in pairwise(begins)]
        self._rest, self._rest_starts = arrays[f"{name}.rest"], arrays[f"{name}.rest.starts"]
        self.whole = len(arrays[f"{name}.diagonals"]) + len(self._rest) <= _WHOLE
        """True if walks cover the whole graph."""

    def spread(self, seeds: Weights) -> Weights:
        """Return the stationary weights of a walk that restarts by all nodes' weights; see `Walkable.spread`."""
        restart = Seeds.of(seeds)
        return self.around(restart).spread(restart)

    def around(self, seeds: Seeds) -> "Walkable":
        """Return the part to walk for some seeds: the whole graph or, in a large one, what they reach."""
        if self.whole:
            return Walkable(self._node, self._row, self._edges, self._every_step)
        rows = self._row[seeds.nodes].astype(np.intp)
        order = np.argsort(rows)
        reached = self._reach(rows[order], seeds.shares()[order])
        ends = self._ends(reached)
        place = np.zeros(len(self._node), np.int32)
        place[reached] = np.arange(1, len(reached) + 1)
        step = _Step(place[ends.others], ends.lengths, ends.rest)
        return Walkable(self._node[reached], self._row, self._edges[reached], step, place)

    @cached_property
    def _every_step(self) -> "_Step":
        ends = self._ends(np.arange(len(self._node)))
        return _Step(ends.others + 1, ends.lengths, ends.rest)

    def _reach(self, here: Rows, weights: Weights) -> Rows:
        """Return the rows, ascending, to which the first steps from ascending rows bring enough weight to count."""
        reached, place = [here], np.empty(len(self._node), np.int32)
        for _ in range(_STEPS):
            ends = self._ends(here)
            sent = ends.of(np.float32(DAMPING) * weights / np.maximum(self._edges[here], 1))
            here = distinct(ends.others)
            place[here] = np.arange(len(here))
            weights = np.bincount(place[ends.others], sent, len(here)).astype(np.float32)
            enough = weights > _LEAST * self._edges[here]
            here, weights = here[enough], weights[enough]
            reached.append(here)
        return distinct(np.concatenate(reached))

    def _ends(self, rows: Rows) -> "_Ends":
        """Return the ends of the edges of some rows, given in ascending order."""
        # Rows are ordered by falling number of neighbours.
        *lengths, having = np.searchsorted(
            rows, [*map(len, self._diagonals), len(self._rest_starts) - 1]).tolist()
        begins, ends = self._rest_starts[rows[:having]], self._rest_starts[rows[:having] + 1]
        counts = ends - begins
        rest = self._rest[np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())]
        parts = [diagonal[rows[:length]] for diagonal, length in zip(self._diagonals, lengths, strict=True)]
        return _Ends(np.concatenate([*parts, rest]), lengths, counts)


class _Ends(NamedTuple):
    """Ends of edges as they are stored: the first neighbours of the first rows, their second ones, and so on."""

    others: Rows
    """The rows that the edges lead to."""
    lengths: Sequence[int]
    """How many rows have a first neighbour, a second one, and so on."""
    rest: NDArray[np.int64]
    """The number of further ends of the first few rows."""

    def of(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return for each end the value of its row."""
        return np.concatenate([*(values[:length] for length in self.lengths),
                               np.repeat(values[:len(self.rest)], self.rest)])


class _Step:
    """A step of a walk: the weight that arrives at each of some nodes if each sends weight along its edges."""

    def __init__(self, others: NDArray[Any], lengths: Sequence[int], rest: NDArray[np.int64]) -> None:
        """Take ends of edges as in `_Ends`, with `others` numbered from 1; 0 means a node outside."""
        # Rows are picked by numbers of the machine's own width; shorter ones would be widened at every step.
        self._others = others.astype(np.intp)
        self._cuts = list(pairwise(accumulate(lengths, initial=0)))
        self._rest_starts = np.cumsum(rest) - rest

    def into(self, arriving: Weights) -> Callable[[Weights], None]:
        """Return a function that writes the arriving weights into `arriving`, shape (n,).

        It takes the weights that nodes send along each edge, shape (n + 1,), with 0 for nodes outside at index 0.
        """
        sent = np.empty(len(self._others), np.float32)
        rest, most = sent[self._cuts[-1][1] if self._cuts else 0:], len(self._rest_starts)
        parts = [(arriving[:end - start], sent[start:end]) for start, end in self._cuts]

        def step(leaving: Weights) -> None:
            # No index is out of bounds: this mode writes to `out` without a buffer.
            np.take(leaving, self._others, out=sent, mode="wrap")
            arriving[:] = 0
            for having, part in parts:
                np.add(having, part, out=having)
            if most:
                arriving[:most] += np.add.reduceat(rest, self._rest_starts)

        return step


class Walkable:
    """A part of the graph that is walked by itself: weight that leaves it does not return."""

    def __init__(self, nodes: NDArray[np.int32], row: NDArray[np.int32], edges: Weights, step: _Step,
                 place: NDArray[np.int32] | None = None) -> None:
        """Take a part.

        Args:
            nodes: its nodes.
            row: the row of each node of the graph.
            edges: how many edges each of its nodes has.
            step: a step along the edges between its nodes.
            place: for each row of the graph its place in the part, from 1, or 0; None means the whole graph.
        """
        self._nodes, self._row, self._edges, self._step, self._place = nodes, row, edges, step, place

    def spread(self, seeds: Seeds) -> Weights:
        """Return the stationary weights of a walk that restarts at the seeds.

        Returns:
            The weights of all nodes of the graph, shape (n,), summing to at most 1; zeros without seeds.
        """
        rows, shares = self._row[seeds.nodes], seeds.shares()
        restart = np.zeros(len(self._nodes), np.float32)
        if self._place is None:
            restart[rows] = shares
        else:
            places = self._place[rows]
            restart[places[places > 0] - 1] = shares[places > 0]
        weights = np.zeros(len(self._row), np.float32)
        weights[self._nodes] = self._stationary(restart)
        return weights

    def _stationary(self, restart: Weights) -> Weights:
        """Return the stationary weights for a restart; each node sends its weight along its edges in equal parts."""
        # Chebyshev's semi-iteration (Golub and Varga 1961): edges have no direction, so the step's eigenvalues
        # are real, and half of the plain walk's steps come as near to where it ends.
        before, walk, factor = np.zeros_like(restart), restart.copy(), 1.0
        share = np.divide(np.float32(1), self._edges, out=np.zeros_like(restart), where=self._edges > 0)
        seeded = np.flatnonzero(restart)
        again = (1 - DAMPING) * restart[seeded]
        leaving, arriving = np.zeros(len(restart) + 1, np.float32), np.empty_like(restart)
        arrive = self._step.into(arriving)
        for step in range(_steps(DAMPING)):
            factor = 1 / (1 - (0.5 if step == 1 else 0.25) * DAMPING**2 * factor) if step else 1.0
            np.multiply(walk, share, out=leaving[1:])
            arrive(leaving)
            arriving *= factor * DAMPING
            before *= 1 - factor
            before += arriving
            before[seeded] += factor * again
            walk, before = before, walk
        return np.maximum(walk, 0)


def _steps(damping: float) -> int:
    """Return how many steps bring the error below `_ERROR`: after n steps it is at most 2 r^n."""
    rate = damping / (1 + math.sqrt(1 - damping**2))
    return math.ceil(math.log(_ERROR / 2) / math.log(rate))
