"""Waiting for what comes about in its own time, and no longer than it may take."""

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
