"""The collector of cycles rests, and goes on as it was."""

import gc

from banyan.runtime.collection import at_rest


def test_the_collector_rests_within_and_goes_on_behind():
    assert gc.isenabled()
    with at_rest():
        assert not gc.isenabled()
        with at_rest():
            assert not gc.isenabled()
        assert not gc.isenabled(), "the outer one still holds"
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        with at_rest():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_it_goes_on_after_an_error():
    @at_rest()
    def fails():
        raise ValueError

    for _ in range(2):
        try:
            fails()
        except ValueError:
            assert gc.isenabled()
