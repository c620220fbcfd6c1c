"""Waiting for what comes about in its own time."""

import time
from collections.abc import Callable

WITHIN = 60.0  # the machine may be busy


def wait_for(condition: Callable[[], object]) -> None:
    """Return when the condition holds."""
    deadline = time.monotonic() + WITHIN
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.05)
