"""The collector of cycles rests, and goes on as it was."""

import gc

from banyan.runtime.gc_pauses import gc_paused


def test_the_collector_rests_within_and_goes_on_behind():
    assert gc.isenabled()
    with gc_paused():
        assert not gc.isenabled()
        with gc_paused():
            assert not gc.isenabled()
        assert not gc.isenabled(), "the outer one still holds"
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        with gc_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_it_goes_on_after_an_error():
    @gc_paused()
    def fails():
        raise ValueError

    for _ in range(2):
        try:
            fails()
        except ValueError:
            assert gc.isenabled()


def test_objects_of_a_permanent_pause_are_left_out_of_later_collections():
    with gc_paused():
        pass
    before = gc.get_freeze_count()
    try:
        with gc_paused(permanent=True):
            made = [[] for _ in range(1000)]
        assert gc.get_freeze_count() >= before + len(made)
    finally:
        gc.unfreeze()
