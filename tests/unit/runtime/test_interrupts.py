"""Ctrl-C amid the work of an event loop."""

import asyncio
import signal

import pytest
from banyan.runtime.cancellation import (
    CallCancelled,
    cancelled_by_ctrl_c,
    ctrl_c_deferred,
    current,
    run_interruptible,
)


def test_ctrl_c_breaks_off_no_callback_of_the_event_loop():
    """A build waited for ever for a callback that Ctrl-C had broken off."""
    ended = []

    async def main() -> None:
        called = asyncio.Event()

        def callback() -> None:
            signal.raise_signal(signal.SIGINT)
            ended.append("the callback")
            called.set()

        asyncio.get_running_loop().call_soon(callback)
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.wait_for(called.wait(), 5)
            ended.append("the run")

    with cancelled_by_ctrl_c():
        before = signal.getsignal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            run_interruptible(main())
        assert signal.getsignal(signal.SIGINT) is before
    assert ended == ["the callback", "the run"]


def test_ctrl_c_is_ctrl_c_also_where_a_thread_of_the_run_has_heard_of_it_first():
    async def main() -> None:
        signal.raise_signal(signal.SIGINT)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            current().check()

    with pytest.raises(KeyboardInterrupt):
        run_interruptible(main())


def test_a_call_that_was_given_up_without_ctrl_c_is_told_as_that():
    async def main() -> None:
        raise CallCancelled

    with pytest.raises(CallCancelled):
        run_interruptible(main())


def test_a_run_that_is_not_interrupted_returns_what_it_made():
    async def main() -> str:
        return "made"

    assert run_interruptible(main()) == "made"


def test_ctrl_c_waits_for_the_end_of_a_block_that_it_must_not_interrupt():
    ended = []
    with pytest.raises(KeyboardInterrupt), ctrl_c_deferred():
        signal.raise_signal(signal.SIGINT)
        ended.append("the block")
    assert ended
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
