"""Bootstrap confidence intervals: how much a mean over questions would vary with other questions."""

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

RESAMPLES = 2000
# A fixed seed makes reports reproducible, and lets compared rows share their resamples.
_SEED = 20240917
# The 2.5 and 97.5 percentiles give the 95 % interval.
_ENDS = (0.025, 0.975)
# The most resampled counts in memory at once: 8 MB.
_CELLS = 1_000_000


def intervals(values: Values) -> Values:
    """Return percentile intervals of column means, by resampling rows with replacement (Efron 1979).

    For a paired comparison pass the differences of the pairs.

    Args:
        values: shape (n, k), n at least 1; each row is one question and is drawn as a whole.

    Returns:
        Shape (k, 2): the lower and upper end for each column; 95 % of the resampled means are between them.
    """
    rows = len(values)
    random = np.random.default_rng(_SEED)
    means = []
    for start in range(0, RESAMPLES, step := max(1, _CELLS // rows)):
        draws = min(step, RESAMPLES - start)
        # The number of times each question was drawn is enough, because the order does not matter.
        means.append(random.multinomial(rows, np.full(rows, 1 / rows), size=draws) @ values / rows)
    return np.asarray(np.quantile(np.concatenate(means), _ENDS, axis=0).T)
