"""The best of many scores."""

import numpy as np
from banyan.tools.best import best_rows
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

# Few values, so that many are equal.
_scores = hnp.arrays(np.float32, st.integers(0, 40), elements=st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 1.0, np.inf]))


@given(_scores, st.integers(-1, 45))
def test_they_are_the_head_of_a_stable_sort(scores, limit):
    assert best_rows(scores, limit).tolist() == np.argsort(-scores, kind="stable")[:max(0, limit)].tolist()
