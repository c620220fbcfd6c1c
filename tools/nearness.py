"""The cosines of a wording to everything of a kind: approximate for all rows, exact on request.

All vectors are compared by their codes of a byte for each dimension (graph_store/index/vector_rows.py), which reads a
quarter of them. How far such a cosine can be from the exact one is known, so the best are found exactly: those that
could be among them are compared again.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numkong
import numpy as np
from numpy.typing import NDArray

from ..graph_store.index.vector_rows import Codes, StoredVectors, farthest, quantise
from ..models.embedding.embedder import Vectors
from .best import Rows, best_rows, floor

Cosines = NDArray[np.float32]

# Codes compared at once: their products fit into a processor's cache.
_BLOCK = 8192
# From this many rows on, about three milliseconds, several threads are worthwhile.
_SHARED = 1 << 16
# Its tiles have sixteen rows: with a question's few wordings they are mostly empty, and plain vectors are faster.
numkong.disable_capability("sapphireamx")
# The most that rounding adds to a sum of d products, d < 2,000, in float32.
_ROUNDING = 1e-4


class Nearness:
    """The cosines of a wording to all rows of a kind."""

    def __init__(self, nearly: Cosines, bound: float, exact: Callable[[Rows], Cosines]) -> None:
        """Take cosines that are at most `bound` from the exact ones, shape (rows,), and a function for exact ones."""
        self.nearly, self.bound, self._exact = nearly, bound, exact

    def __len__(self) -> int:
        return len(self.nearly)

    def at(self, rows: Rows) -> Cosines:
        """Return the exact cosines of some rows."""
        return self._exact(rows)

    def best(self, limit: int, among: Rows | None = None) -> tuple[Rows, Cosines]:
        """Return the nearest rows with their exact cosines, best first; of equally near rows the first ones.

        Args:
            limit: how many at most.
            among: rows to choose from, ascending; None means all.
        """
        nearly = self.nearly if among is None else self.nearly[among]
        if limit <= 0 or not len(nearly):
            return np.zeros(0, np.intp), np.zeros(0, np.float32)
        # At least `limit` exact cosines reach the floor less the bound. A row whose approximate cosine is more
        # than twice the bound below the floor cannot.
        least = floor(nearly, limit) - np.float32(2 * self.bound) if len(nearly) > limit else -np.inf
        places = np.flatnonzero(nearly >= least)
        rows = places if among is None else among[places]
        cosines = self.at(rows)
        best = best_rows(cosines, limit)
        return rows[best], cosines[best]


def nearness(stored: StoredVectors, queries: Vectors) -> list[Nearness]:
    """Compare wordings with the rows of a kind.

    Args:
        stored: the rows to compare with; one without a vector has a cosine of 0.
        queries: unit vectors, shape (n, d).

    Returns:
        Each query's nearness, bit for bit independent of the other queries.
    """
    codes = quantise(queries)
    nearly = _products(stored, codes)

    def of(row: int) -> Nearness:
        away = farthest(queries[row:row + 1], Codes(codes.codes[row:row + 1], codes.steps[row:row + 1]))
        bound = stored.farthest + (1 + stored.farthest) * away + _ROUNDING
        return Nearness(nearly[row], bound, lambda rows: np.vecdot(stored.vectors[rows], queries[row]))

    return [of(row) for row in range(len(queries))]


def _products(stored: StoredVectors, queries: Codes) -> Cosines:
    """Return the products of codes, shape (queries, rows)."""
    packed, steps = numkong.dots_pack(queries.codes), queries.steps[:, None]
    found = np.zeros((len(queries.codes), len(stored)), np.float32)

    def compare(part: range) -> None:
        for start in part:
            block = slice(start, min(start + _BLOCK, len(stored)))
            products = np.asarray(numkong.dots_packed(stored.codes.codes[block], packed)).T.astype(np.float32)
            products *= stored.codes.steps[block]
            np.multiply(products, steps, out=found[:, block])

    starts = range(0, len(stored), _BLOCK)
    if len(stored) < _SHARED:
        compare(starts)
    else:
        threads = os.cpu_count() or 1
        list(_pool().map(compare, (starts[number::threads] for number in range(threads))))
    return found


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="banyan-nearness")

