"""Calls that are given up: their run was cancelled, Ctrl-C was pressed, or another call of theirs failed."""

import asyncio
import signal
import threading
import time
from contextlib import ExitStack
from typing import Any

import pytest
from banyan.config import Settings
from banyan.models.llm.endpoint import Reply
from banyan.models.llm.limits import LimitedEndpoint
from banyan.models.reasoner import ReasonerError
from banyan.runtime.cancellation import CallCancelled, cancellable, run_interruptible
from banyan.runtime.event_loop import in_parallel, process_loop

MESSAGES = [("system", "Extract."), ("user", "Marie Curie was born in Warsaw.")]
SOON = 10.0
"""Seconds that nothing here may come near: a busy machine is slow, not that slow."""


def endpoint(send: Any, model: str) -> LimitedEndpoint:
    """One that is asked once at a time, with limits of its own."""
    return LimitedEndpoint(lambda: send, Settings(_env_file=None, llm_base_url="http://127.0.0.1:1/v1", llm_model=model,
                                                  llm_concurrency=1))


async def ended(seconds: float) -> None:
    await asyncio.sleep(seconds)


def test_a_call_in_flight_is_given_up_at_once():
    left = []

    async def waiting() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            left.append(1)
            raise

    started = time.monotonic()
    with cancellable() as cancellation, pytest.raises(CallCancelled):
        threading.Timer(0.1, cancellation.cancel).start()
        process_loop().run(waiting())
    process_loop().run(asyncio.sleep(0))
    assert left, "it ended where it ran"
    assert time.monotonic() - started < SOON


def test_a_cancelled_task_cancels_its_call_on_the_process_loop():
    left = threading.Event()

    async def waiting() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            left.set()

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(process_loop().arun(waiting()), 0.1)

    asyncio.run(give_up())
    assert left.wait(SOON)


def test_nothing_is_sent_for_a_cancelled_run():
    sent: list[int] = []

    async def noted(*_: Any) -> Reply:
        sent.append(1)
        return Reply("{}", 1, 1)

    with cancellable() as cancellation:
        cancellation.cancel()
        with pytest.raises(CallCancelled):
            process_loop().run(endpoint(noted, "cancelled").send(MESSAGES, {}, lambda: None))
    process_loop().run(asyncio.sleep(0.05))
    assert not sent


def test_a_call_that_waits_does_not_begin_when_ctrl_c_ends_the_one_before_it():
    """Calls are cancelled one after the other: in between, the next one was sent, and given up at once."""
    sent, begun = [], threading.Event()

    async def noted(*_: Any) -> None:
        sent.append(1)
        begun.set()
        await asyncio.sleep(60)

    async def main() -> None:
        asked = endpoint(noted, "interrupted")
        first, _ = (asyncio.ensure_future(process_loop().arun(asked.send(MESSAGES, {}, lambda: None)))
                    for _ in range(2))
        await asyncio.to_thread(begun.wait, SOON)
        signal.raise_signal(signal.SIGINT)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            first.cancel()
            await asyncio.sleep(0.2)
            raise

    with pytest.raises(KeyboardInterrupt):
        run_interruptible(main())
    assert len(sent) == 1


def test_a_cancelled_run_cancels_those_within_it_but_no_others():
    with cancellable() as outer, ExitStack() as inside:
        inner = inside.enter_context(cancellable())
        outer.cancel()
        assert inner.is_cancelled
        with pytest.raises(CallCancelled):
            process_loop().run(ended(60))
    with cancellable() as other:
        assert not other.is_cancelled
        process_loop().run(ended(0))


def test_in_parallel_begins_nothing_more_after_a_failure_and_ends_what_was_begun():
    started, over = [], []

    async def call(n: int) -> None:
        started.append(n)
        if n == 1:
            await asyncio.sleep(0)
            raise ReasonerError("one fails")
        await asyncio.sleep(0.05)
        over.append(n)

    with pytest.raises(ReasonerError, match="one fails"):
        asyncio.run(in_parallel(call, range(100), 3))
    assert started == [0, 1, 2]
    assert over == [0, 2], "what was paid is kept"
