"""Limits around the endpoint: rates, slots and the circuit breaker."""

import asyncio
import os
import signal
import threading
import time
from typing import Any

import pytest
from banyan.config import Settings
from banyan.models.llm.endpoint import EndpointDown, EndpointFailed, Reply
from banyan.models.llm.limits import FAILURES_IN_A_ROW, SECONDS_OPEN, Breaker, LimitedEndpoint
from banyan.models.reasoner import ReasonerError
from banyan.runtime.threads import in_parallel, run

from ...waiting import Clock

MESSAGES = [("system", "Extract."), ("user", "Marie Curie was born in Warsaw. " * 20)]
SOON = 60.0
"""Seconds that nothing here may come near: a busy machine is slow, not that slow."""


def settings(**changes: Any) -> Settings:
    return Settings(_env_file=None, llm_base_url="http://127.0.0.1:1/v1", **changes)


def limited(send: Any, **changes: Any) -> LimitedEndpoint:
    return LimitedEndpoint(lambda: send, settings(**changes))


def replying(tokens: int) -> Any:
    async def send(*_: Any) -> Reply:
        return Reply("{}", tokens, 0)

    return send


def send(endpoint: LimitedEndpoint, permit: Any = lambda: None) -> Reply:
    return run(endpoint.send, MESSAGES, {}, permit)


def seconds_of(calls: int, endpoint: LimitedEndpoint) -> float:
    async def all_of_them() -> None:
        await asyncio.gather(*(endpoint.send(MESSAGES, {}, lambda: None) for _ in range(calls)))

    started = time.monotonic()
    run(all_of_them)
    return time.monotonic() - started


def test_requests_are_spaced_at_their_rate():
    assert 0.9 <= seconds_of(10, limited(replying(1), llm_requests_per_second=10)) < SOON


def test_tokens_that_replies_report_are_waited_for_by_the_calls_that_follow():
    """Each takes 3,000 tokens, at 10,000 a second: the first passes at once, and a second's worth is saved up."""
    endpoint = limited(replying(3000), llm_tokens_per_minute=600_000)
    send(endpoint)
    assert 0.7 <= seconds_of(6, endpoint) < SOON


def test_no_more_calls_at_once_than_allowed_whoever_asks():
    inside, most = 0, 0

    async def counted(*_: Any) -> Reply:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.01)
        inside -= 1
        return Reply("{}", 1, 1)

    endpoints = [limited(counted, llm_concurrency=3, llm_model=model) for model in "abc"]
    run(in_parallel, lambda n: endpoints[n % 3].send(MESSAGES, {}, lambda: None), range(30), 12)
    assert most == 3


def test_a_call_that_waits_does_not_begin_when_ctrl_c_ends_the_one_before_it():
    """Calls are cancelled one after the other: in between, the next one was sent, and given up at once."""
    sent = []

    async def noted(*_: Any) -> Reply:
        sent.append(1)
        threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT]).start()
        await asyncio.sleep(60)
        return Reply("{}", 1, 1)

    async def both() -> None:
        endpoint = limited(noted, llm_concurrency=1)
        await asyncio.gather(*(endpoint.send(MESSAGES, {}, lambda: None) for _ in range(2)))

    with pytest.raises(KeyboardInterrupt):
        run(both)
    assert len(sent) == 1


def test_failures_in_a_row_open_the_breaker_and_no_further_call_is_sent():
    sent, raised = [], []

    async def fail(*_: Any) -> Reply:
        sent.append(1)
        raise EndpointFailed("500")

    endpoint = limited(fail)
    for _ in range(9):
        with pytest.raises(ReasonerError) as caught:
            send(endpoint)
        raised.append(caught.type)
    assert raised == [EndpointFailed] * (FAILURES_IN_A_ROW - 1) + [EndpointDown] * (9 - FAILURES_IN_A_ROW + 1)
    assert len(sent) == FAILURES_IN_A_ROW
    with pytest.raises(EndpointDown, match=r"the endpoint is down: 500\..*Run the command again"):
        send(endpoint)


def test_after_some_seconds_calls_pass_and_the_next_failure_closes_again():
    clock = Clock()
    breaker = Breaker("m", clock)

    def fail(error: Exception) -> None:
        with breaker.watch():
            raise error

    with pytest.raises(EndpointDown, match="refused"):
        fail(EndpointFailed("refused", certain=True))
    with pytest.raises(EndpointDown, match="refused"):
        breaker.check()
    clock.now += SECONDS_OPEN
    with breaker.watch():  # an answer: it counts from the beginning again
        pass
    with pytest.raises(EndpointFailed, match="once"):
        fail(EndpointFailed("once"))
