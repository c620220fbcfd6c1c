"""Find the highest of many scores without sorting them all."""

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
_GROUP_SIZE = 64
"""How many scores form a group, of which `floor` reads only the maximum."""


def best_rows(scores: NDArray[np.float32], limit: int) -> Rows:
    """Return the rows of the `limit` highest scores, best first; of equal scores the first ones.

    The result equals the head of a stable sort, which is far slower on many scores. `scores` have shape (n,), none is
    NaN.
    """
    if limit <= 0:
        return np.zeros(0, np.intp)
    # All scores that reach the floor are sorted, so that of equal scores the first ones are chosen.
    rows = np.flatnonzero(scores >= floor(scores, limit)) if len(scores) > limit else np.arange(len(scores))
    return rows[np.argsort(-scores[rows], kind="stable")[:limit]]


def floor(scores: NDArray[np.float32], limit: int) -> np.float32:
    """Return a score that at least `limit` (1 to n) scores reach, as a fast bound for finding the best ones.

    Of few scores, it is the `limit`-th highest itself; of many, it may be a little lower. `scores` have shape (n,),
    none is NaN.
    """
    group_count = len(scores) // _GROUP_SIZE
    if group_count >= 4 * limit:
        # The maxima of disjoint groups are scores too, so what `limit` of them reach, `limit` scores reach.
        scores = scores[:group_count * _GROUP_SIZE].reshape(_GROUP_SIZE, group_count).max(axis=0)
    return np.float32(np.partition(scores, len(scores) - limit)[len(scores) - limit])
