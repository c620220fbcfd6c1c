"""Bootstrap confidence intervals: how far a mean over questions would move with other questions."""

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

RESAMPLES = 2000
# Any fixed seed: the same report twice must read the same, and rows that are compared share their resamples.
_SEED = 20240917
# 1 - 0.975 and 0.975, of 95 %.
_ENDS = (0.025, 0.975)
# Resampled counts held at once: 8 MB.
_CELLS = 1_000_000


def intervals(values: Values) -> Values:
    """Percentile intervals of column means, by drawing rows anew with replacement (Efron 1979).

    For a paired comparison give the differences of the pairs.

    Args:
        values: shape (n, k), n at least 1: a row for each question, drawn as a whole.

    Returns:
        Shape (k, 2): lower and upper end for each column; 95 % of the resampled means lie between.
    """
    rows = len(values)
    random = np.random.default_rng(_SEED)
    means = []
    for start in range(0, RESAMPLES, step := max(1, _CELLS // rows)):
        draws = min(step, RESAMPLES - start)
        # How often each question was drawn says as much as which ones were, in any order.
        means.append(random.multinomial(rows, np.full(rows, 1 / rows), size=draws) @ values / rows)
    return np.asarray(np.quantile(np.concatenate(means), _ENDS, axis=0).T)
