"""Limits around the endpoint: rates, slots, circuit breaker and cancellation, with a clock of the tests' own."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from banyan.config import Settings
from banyan.models.llm import limits as limits_module
from banyan.models.llm.breaker import (
    FAILURES_IN_A_ROW,
    SECONDS_CLOSED_TO_CALLS,
    Breaker,
    EndpointDown,
    EndpointFailed,
)
from banyan.models.llm.endpoint import Reply
from banyan.models.llm.limits import FIRST_RATIO, LimitedEndpoint, Rate, limits_of
from banyan.models.reasoner import ReasonerError
from banyan.runtime.cancellation import CallCancelled, answered, cancellable, in_parallel, pause
from hypothesis import given
from hypothesis import strategies as st

MESSAGES = [("system", "Extract."), ("user", "Marie Curie was born in Warsaw. " * 20)]
SOON = 10.0
"""Seconds that nothing here may come near: a busy machine is slow, not that slow."""


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def settings(**changes: Any) -> Settings:
    return Settings(_env_file=None, llm_base_url="http://user:secret@127.0.0.1:1/v1", **changes)


@pytest.fixture(autouse=True)
def fresh_limits() -> Iterator[None]:
    """The process's limits are begun anew."""
    limits_module._limits.cache_clear()
    limits_module._slots.cache_clear()
    yield
    limits_module._limits.cache_clear()
    limits_module._slots.cache_clear()


# Rates

@given(st.lists(st.tuples(st.floats(0, 3), st.floats(0.1, 5)), min_size=1, max_size=60), st.floats(0.5, 20),
       st.floats(0, 2))
def test_never_more_passes_than_the_rate_and_one_burst_and_share_allow(asked, rate, burst):
    """In whatever window: what begins in it is at most rate x its length, what was saved up, and the last share."""
    clock = Clock()
    bucket, starts = Rate(rate, burst, clock), []
    for later, amount in asked:
        clock.now += later
        starts.append((clock.now + bucket.take(amount), amount))
    assert starts == sorted(starts, key=lambda start: start[0]), "first asked, first served"
    for first in range(len(starts)):
        for last in range(first, len(starts)):
            passed = sum(amount for _, amount in starts[first:last])
            assert passed <= rate * (starts[last][0] - starts[first][0] + burst) + 1e-6


def test_an_idle_rate_lets_pass_at_once_and_a_busy_one_spaces():
    rate = Rate(2, 0.5, Clock())
    assert [rate.take(1) for _ in range(4)] == pytest.approx([0, 0, 0.5, 1.0])


def test_a_rate_is_corrected_by_what_was_used():
    rate = Rate(10, 0, Clock())
    rate.take(10)
    rate.correct(-5)
    assert rate.take(1) == pytest.approx(0.5)
    rate.correct(20)
    assert rate.take(1) == pytest.approx(2.6)


# Limits shared in the process

def test_knowledge_bases_share_the_limits_of_an_endpoint_and_model():
    assert limits_of(settings()) is limits_of(settings())
    others = [settings(llm_model="other"), settings(llm_api_key="other"), settings(llm_tokens_per_minute=5)]
    assert len({id(limits_of(one)) for one in (settings(), *others)}) == 4
    assert limits_of(settings())._slots is limits_of(settings(llm_model="other"))._slots
    assert limits_of(settings(llm_api_key="other"))._slots is not limits_of(settings())._slots


def test_no_more_calls_at_once_than_allowed_whoever_asks():
    inside, most, lock = 0, 0, threading.Lock()

    def send(*_: Any) -> Reply:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        time.sleep(0.01)
        with lock:
            inside -= 1
        return Reply("{}", 1, 1)

    endpoints = [LimitedEndpoint(send, settings(llm_concurrency=3, llm_model=model)) for model in "abc"]
    in_parallel(lambda n: endpoints[n % 3].send(MESSAGES, {}), range(30), 12)
    assert most == 3


def test_tokens_are_reserved_by_estimate_and_corrected_by_the_reply():
    clock = Clock()
    limits = limits_module.Limits(limits_module._Place("http://x/v1", settings().llm_api_key, "m", 9, None, 6000),
                                  threading.BoundedSemaphore(9), clock)
    assert limits._tokens is not None
    with limits.turn(1000) as used:
        # 1,500 expected at 100 a second, a second's worth of which was saved up.
        assert limits._tokens.take(0) == pytest.approx(1000 * FIRST_RATIO / 100 - 1)
        used(3000)
    assert limits._tokens.take(0) == pytest.approx(3000 / 100 - 1)
    clock.now += 60
    with limits.turn(1000):  # replies are three times their prompt, as is known now
        assert limits._tokens.take(0) == pytest.approx(3000 / 100 - 1)


def test_a_call_that_waits_for_tokens_can_be_cancelled_and_gives_its_share_back():
    limits = limits_of(settings(llm_tokens_per_minute=60))
    endpoint = LimitedEndpoint(lambda *_: Reply("{}", 600, 0), settings(llm_tokens_per_minute=60))
    endpoint.send(MESSAGES, {})
    assert limits._tokens is not None
    before, started = limits._tokens.take(0), time.monotonic()
    with cancellable() as cancellation, pytest.raises(CallCancelled):
        threading.Timer(0.2, cancellation.cancel).start()
        endpoint.send(MESSAGES, {})
    assert time.monotonic() - started < SOON < before
    assert limits._tokens.take(0) == pytest.approx(before, abs=SOON)


def test_a_call_has_an_end_whatever_the_server_does(monkeypatch):
    monkeypatch.setattr(limits_module, "SLACK", 0.0)
    endpoint = LimitedEndpoint(lambda *_: threading.Event().wait(60), settings(llm_timeout=0.2, llm_retries=0))
    started = time.monotonic()
    with pytest.raises(EndpointFailed, match=r"within 0\.2 s, all retries together"):
        endpoint.send(MESSAGES, {})
    assert time.monotonic() - started < SOON


def test_the_longest_call_is_its_tries_and_the_longest_backoffs():
    endpoint = LimitedEndpoint(lambda *_: Reply("", 0, 0), settings(llm_timeout=60, llm_retries=4))
    assert endpoint._longest == 5 * 60 + 4 * 120 + 30


def test_the_openai_client_honours_a_retry_after_up_to_the_bound_counted_on():
    from openai._constants import MAX_RETRY_AFTER_DELAY  # noqa: PLC0415  # slow to import

    assert limits_module.LONGEST_BACKOFF == MAX_RETRY_AFTER_DELAY


# The breaker

def endpoint_of(outcomes: list[Any], sent: list[int], **changes: Any) -> LimitedEndpoint:
    def send(*_: Any) -> Reply:
        sent.append(1)
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return Reply(outcome, 1, 1)

    return LimitedEndpoint(send, settings(**changes))


def outcomes_of(endpoint: LimitedEndpoint, calls: int) -> list[str]:
    found = []
    for _ in range(calls):
        try:
            found.append(endpoint.send(MESSAGES, {}).text)
        except ReasonerError as error:
            found.append(type(error).__name__)
    return found


def test_failures_in_a_row_open_the_breaker_and_no_further_call_is_sent():
    sent: list[int] = []
    endpoint = endpoint_of([EndpointFailed("500")] * 20, sent)
    assert outcomes_of(endpoint, 9) == ["EndpointFailed"] * (FAILURES_IN_A_ROW - 1) + ["EndpointDown"] * (
        9 - FAILURES_IN_A_ROW + 1)
    assert len(sent) == FAILURES_IN_A_ROW
    with pytest.raises(EndpointDown, match=r"the endpoint is down: 500\..*run the command again"):
        endpoint.send(MESSAGES, {})


@pytest.mark.parametrize("between", ["an answer", ReasonerError("400: too long")])
def test_failures_with_an_answer_or_a_refusal_between_them_do_not(between):
    sent: list[int] = []
    some = [EndpointFailed("500")] * (FAILURES_IN_A_ROW - 1)
    endpoint = endpoint_of([*some, between, *some, between], sent)
    assert "EndpointDown" not in outcomes_of(endpoint, 2 * FAILURES_IN_A_ROW)
    assert len(sent) == 2 * FAILURES_IN_A_ROW


def test_bad_requests_alone_never_open_it():
    assert outcomes_of(endpoint_of([ReasonerError("400")] * 30, []), 30) == ["ReasonerError"] * 30


def test_what_no_other_call_can_escape_opens_it_at_once():
    sent: list[int] = []
    assert outcomes_of(endpoint_of([EndpointFailed("401", certain=True)], sent), 3) == ["EndpointDown"] * 3
    assert len(sent) == 1


def test_after_some_seconds_one_call_is_let_through():
    clock = Clock()
    breaker = Breaker("m", clock)
    assert isinstance(breaker.failed(EndpointFailed("down", certain=True)), EndpointDown)
    clock.now += SECONDS_CLOSED_TO_CALLS - 0.1
    with pytest.raises(EndpointDown):
        breaker.admit()
    clock.now += 0.1
    breaker.check()
    breaker.admit()
    with pytest.raises(EndpointDown):
        breaker.admit()  # while the first one tries
    assert isinstance(breaker.failed(EndpointFailed("still down")), EndpointDown)
    clock.now += SECONDS_CLOSED_TO_CALLS - 0.1
    with pytest.raises(EndpointDown, match="still down"):
        breaker.admit()
    clock.now += 0.1
    breaker.admit()
    breaker.given_up()
    breaker.admit()  # the one that tried was cancelled: another may
    breaker.answered()
    breaker.admit()
    breaker.admit()
    assert not isinstance(breaker.failed(EndpointFailed("once")), EndpointDown), "it counts from the beginning again"


def test_a_call_that_waits_its_turn_hears_that_the_endpoint_is_down():
    endpoint = LimitedEndpoint(lambda *_: Reply("{}", 6000, 0), settings(llm_tokens_per_minute=60))
    endpoint.send(MESSAGES, {})
    limits, started = limits_of(settings(llm_tokens_per_minute=60)), time.monotonic()
    threading.Timer(0.2, lambda: limits.breaker.failed(EndpointFailed("401", certain=True))).start()
    with pytest.raises(EndpointDown):
        endpoint.send(MESSAGES, {})
    assert time.monotonic() - started < SOON


# Cancellation

def test_a_call_in_flight_is_given_up_at_once():
    started = time.monotonic()
    with cancellable() as cancellation, pytest.raises(CallCancelled):
        threading.Timer(0.1, cancellation.cancel).start()
        answered(lambda: threading.Event().wait(60), 60)
    assert time.monotonic() - started < SOON


def test_nothing_is_sent_for_a_cancelled_run():
    sent: list[int] = []
    with cancellable() as cancellation:
        cancellation.cancel()
        with pytest.raises(CallCancelled):
            answered(lambda: sent.append(1), 60)
    assert not sent


def test_a_cancelled_run_cancels_those_within_it_but_not_those_beside_it():
    with cancellable() as outer, ExitStack() as inside:
        inner = inside.enter_context(cancellable())
        outer.cancel()
        assert inner.cancelled
        with pytest.raises(CallCancelled):
            pause(60)
    with cancellable() as beside:
        assert not beside.cancelled
        pause(0)


def test_cancelling_the_inner_run_leaves_the_outer_one():
    with cancellable() as outer:
        with cancellable() as inner:
            inner.cancel()
        assert not outer.cancelled
        pause(0)


def test_an_error_is_raised_where_it_is_waited_for():
    with pytest.raises(ReasonerError, match="no"):
        answered(lambda: (_ for _ in ()).throw(ReasonerError("no")), 60)


def test_in_parallel_keeps_the_order():
    assert in_parallel(lambda n: n * n, range(50), 8) == [n * n for n in range(50)]
    assert in_parallel(len, [], 8) == []


def test_in_parallel_begins_nothing_more_after_a_failure():
    begun, failed = [], threading.Event()

    def call(n: int) -> None:
        begun.append(n)
        if n == 1:
            failed.set()
            raise ReasonerError("one fails")
        failed.wait(60)
        time.sleep(0.2)

    with pytest.raises(ReasonerError, match="one fails"):
        in_parallel(call, range(100), 2)
    assert len(begun) <= 4


def test_in_parallel_hands_on_the_callers_cancellation():
    with cancellable() as cancellation, pytest.raises(CallCancelled):
        threading.Timer(0.1, cancellation.cancel).start()
        in_parallel(lambda _: pause(60), range(100), 4)
