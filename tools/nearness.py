"""The cosines of a query with all rows of a kind (entities, triples, chunks): approximate for all, exact on request.

Every vector also has a code with one byte a dimension (graph_store/index/vector_rows.py). Comparing codes reads a
quarter of the bytes and gives an approximate cosine, whose error has a known bound. So the nearest rows are found
exactly: all rows that could be among them, given the bound, are compared again by their vectors.
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
# From this many rows, which take about three milliseconds, several threads are worthwhile.
_SHARED = 1 << 16
# AMX tiles have sixteen rows. The few queries of a question leave most of them empty, so plain vectors are faster.
numkong.disable_capability("sapphireamx")
# The most that rounding adds to a sum of d products, d < 2,000, in float32.
_ROUNDING = 1e-4


class Nearness:
    """The cosines of one query with all rows of a kind."""

    def __init__(self, nearly: Cosines, bound: float, exact: Callable[[Rows], Cosines]) -> None:
        """Store approximate cosines and a way to compute exact ones.

        Args:
            nearly: approximate cosines, shape (rows,).
            bound: the most by which an approximate cosine differs from the exact one.
            exact: returns the exact cosines of some rows.
        """
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
        approximate = self.nearly if among is None else self.nearly[among]
        if limit <= 0 or not len(approximate):
            return np.zeros(0, np.intp), np.zeros(0, np.float32)
        # At least `limit` rows have an exact cosine of the floor less the bound, or more. A row whose approximate
        # cosine is below the floor by more than twice the bound has a smaller exact one, so it is not among the best.
        least = floor(approximate, limit) - np.float32(2 * self.bound) if len(approximate) > limit else -np.inf
        candidates = np.flatnonzero(approximate >= least)
        rows = candidates if among is None else among[candidates]
        cosines = self.at(rows)
        best = best_rows(cosines, limit)
        return rows[best], cosines[best]


def nearness(stored: StoredVectors, queries: Vectors) -> list[Nearness]:
    """Compare queries with the rows of a kind.

    Args:
        stored: the rows to compare with; one without a vector has a cosine of 0.
        queries: unit vectors, shape (n, d).

    Returns:
        Each query's nearness, bit for bit independent of the other queries.
    """
    codes = quantise(queries)
    approximate = _products(stored, codes)

    def nearness_of(query: int) -> Nearness:
        """Return the nearness of the query of a row; the bound adds the errors of both codes and of rounding."""
        code_error = farthest(queries[query:query + 1],
                              Codes(codes.codes[query:query + 1], codes.steps[query:query + 1]))
        bound = stored.farthest + (1 + stored.farthest) * code_error + _ROUNDING
        return Nearness(approximate[query], bound, lambda rows: np.vecdot(stored.vectors[rows], queries[query]))

    return [nearness_of(query) for query in range(len(queries))]


def _products(stored: StoredVectors, queries: Codes) -> Cosines:
    """Return the dot products of the codes of queries and rows, shape (queries, rows): approximate cosines."""
    packed, query_steps = numkong.dots_pack(queries.codes), queries.steps[:, None]
    all_products = np.zeros((len(queries.codes), len(stored)), np.float32)

    def compare_blocks(starts: range) -> None:
        """Fill the products of the blocks of rows that begin at `starts`."""
        for start in starts:
            block = slice(start, min(start + _BLOCK, len(stored)))
            products = np.asarray(numkong.dots_packed(stored.codes.codes[block], packed)).T.astype(np.float32)
            products *= stored.codes.steps[block]
            np.multiply(products, query_steps, out=all_products[:, block])

    block_starts = range(0, len(stored), _BLOCK)
    if len(stored) < _SHARED:
        compare_blocks(block_starts)
    else:
        threads = os.cpu_count() or 1
        list(_pool().map(compare_blocks, (block_starts[number::threads] for number in range(threads))))
    return all_products


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="banyan-nearness")

