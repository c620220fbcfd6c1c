"""Asks that are begun before their turn: each once, in order, waited for when it is due."""

import threading

import pytest
from banyan.agents.construction.asking_ahead import AskedAhead
from banyan.runtime.cancellation import CallCancelled, cancellable, pause


@pytest.fixture()
def asked():
    made = AskedAhead(2)
    yield made
    made.break_off()


def test_each_is_asked_once_in_order_and_answered_when_it_is_due(asked):
    begun = []

    def ask(key):
        return lambda: begun.append(key) or key.upper()

    for key in "abcd":
        asked.begin(key, ask(key))
    assert asked.answers(["a", "b"]) == [("a", "A"), ("b", "B")]
    for key in "cde":
        asked.begin(key, ask(key))
    assert asked.answers(["c", "d", "e", "stranger"]) == [("c", "C"), ("d", "D"), ("e", "E")]
    assert sorted(begun) == ["a", "b", "c", "d", "e"]


def test_what_was_begun_ahead_goes_on_while_nobody_waits(asked):
    done = threading.Event()
    asked.begin("now", lambda: 1)
    asked.begin("later", lambda: done.set() or 2)
    assert asked.answers(["now"]) == [("now", 1)]
    assert done.wait(10)
    assert asked.answers(["later"]) == [("later", 2)]


def test_a_failure_is_raised_at_its_turn_and_not_before(asked):
    asked.begin("sound", lambda: 1)
    asked.begin("broken", lambda: 1 // 0)
    assert asked.answers(["sound"]) == [("sound", 1)]
    with pytest.raises(ZeroDivisionError):
        asked.answers(["broken"])


def test_at_the_end_those_under_way_are_waited_for_and_the_others_not_begun(asked):
    go_on, begun = threading.Event(), threading.Semaphore(0)

    def ask():
        begun.release()
        go_on.wait(10)
        return "paid"

    for key in "abcd":
        asked.begin(key, ask)
    assert begun.acquire(timeout=10)
    assert begun.acquire(timeout=10)
    threading.Timer(0.05, go_on.set).start()
    assert asked.end() == [("a", "paid"), ("b", "paid")]


def test_broken_off_they_are_given_up_at_once(asked):
    waits = threading.Event()
    asked.begin("endless", lambda: waits.set() or pause(1000))
    assert waits.wait(10)
    asked.break_off()
    with pytest.raises(CallCancelled):
        asked.answers(["endless"])


def test_who_waits_hears_of_a_cancellation(asked):
    asked.begin("endless", lambda: pause(1000))
    with cancellable() as cancellation:
        threading.Timer(0.05, cancellation.cancel).start()
        with pytest.raises(CallCancelled):
            asked.answers(["endless"])
