"""Bootstrap intervals: around the mean, narrower with more questions, nothing where nothing differs."""

import numpy as np
import pytest
from banyan.evaluation.recall_report import intervals
from hypothesis import given, settings
from hypothesis import strategies as st

shares = st.lists(st.sampled_from([0.0, 25.0, 100 / 3, 50.0, 100.0]), min_size=1, max_size=60)
few = settings(max_examples=40)


@few
@given(shares)
def test_the_mean_lies_within(values):
    ((low, high),) = intervals(np.array(values)[:, None])
    assert min(values) - 1e-9 <= low <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= high <= max(values) + 1e-9


def test_columns_are_resampled_together_and_the_same_every_time():
    values = np.random.default_rng(1).uniform(0, 100, (40, 3))
    found = intervals(values)
    np.testing.assert_array_equal(found, intervals(values))
    np.testing.assert_allclose(found[1], intervals(values[:, 1:2])[0])


def test_the_width_is_that_of_the_normal_approximation():
    """Of 400 coins half of which are 100: 1.96 standard errors, 50 / 20, to each side."""
    ((low, high),) = intervals(np.repeat([0.0, 100.0], 200)[:, None])
    assert (low, high) == (pytest.approx(50 - 1.96 * 2.5, abs=0.5), pytest.approx(50 + 1.96 * 2.5, abs=0.5))
