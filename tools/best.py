"""The highest of many scores, without sorting them all."""

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]


def best_rows(scores: NDArray[np.float32], limit: int) -> Rows:
    """The rows of the highest scores, best first; among equal ones those that come first.

    Equal to the head of a stable sort, which is far slower on many scores.

    Args:
        scores: shape (n,), none of them NaN.
        limit: how many at most.
    """
    if limit <= 0:
        return np.zeros(0, np.intp)
    rows = np.arange(len(scores))
    if len(scores) > limit:
        # Scores equal to the last are kept, so that the sort decides among them.
        rows = np.flatnonzero(scores >= np.partition(scores, len(scores) - limit)[len(scores) - limit])
    return rows[np.argsort(-scores[rows], kind="stable")[:limit]]
