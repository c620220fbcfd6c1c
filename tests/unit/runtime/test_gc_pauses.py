"""The collector of cycles rests, and goes on as it was."""

import gc

import pytest
from banyan.runtime.gc_pauses import gc_paused


def test_the_collector_rests_within_and_goes_on_behind_an_error():
    assert gc.isenabled()
    with pytest.raises(ValueError, match="any"), gc_paused():
        assert not gc.isenabled()
        with gc_paused():
            assert not gc.isenabled()
        assert not gc.isenabled(), "the outer one still holds"
        raise ValueError("any")
    assert gc.isenabled()
