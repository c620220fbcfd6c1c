"""Waiting for what comes about in its own time, and no longer than it may take; a clock for what need not."""

import asyncio
import time
from collections.abc import Callable

WITHIN = 60.0  # the machine may be busy


def wait_for(condition: Callable[[], object]) -> None:
    """Return when the condition holds."""
    deadline = time.monotonic() + WITHIN
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


async def wait_in_loop_for(condition: Callable[[], object]) -> None:
    """Return when the condition holds; other tasks go on meanwhile."""
    deadline = time.monotonic() + WITHIN
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        await asyncio.sleep(0.02)


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now
