"""Find the highest of many scores without sorting them all."""

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
# Of so many scores together the best is looked at first.
_PARTS = 64


def best_rows(scores: NDArray[np.float32], limit: int) -> Rows:
    """Return the rows of the highest scores, best first; of equal scores the first ones.

    The result equals the head of a stable sort, which is far slower on many scores.

    Args:
        scores: shape (n,), none of them NaN.
        limit: how many at most.
    """
    if limit <= 0:
        return np.zeros(0, np.intp)
    # Scores equal to the last remain, so the sort decides among them.
    rows = np.flatnonzero(scores >= floor(scores, limit)) if len(scores) > limit else np.arange(len(scores))
    return rows[np.argsort(-scores[rows], kind="stable")[:limit]]


def floor(scores: NDArray[np.float32], limit: int) -> np.float32:
    """Return a score that at least `limit` scores reach, near to the highest such score.

    Args:
        scores: shape (n,), none of them NaN.
        limit: 1 to n.
    """
    width = len(scores) // _PARTS
    if width >= 4 * limit:
        # Each of these is a different score.
        scores = scores[:width * _PARTS].reshape(_PARTS, width).max(axis=0)
    return np.float32(np.partition(scores, len(scores) - limit)[len(scores) - limit])
