"""Waiting for what comes about in its own time, and no longer than it may take; a clock for what need not."""

import asyncio
import inspect
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from banyan.runtime.threads import run

WITHIN = 60.0  # the machine may be busy


def wait_for(condition: Callable[[], object]) -> None:
    for pause in _pauses(condition):
        time.sleep(pause)


async def wait_in_loop_for(condition: Callable[[], object]) -> None:
    for pause in _pauses(condition):
        await asyncio.sleep(pause)


def wait_for_answer(url: str, process: "subprocess.Popen[Any]", log: Path, seconds: float) -> None:
    """Return when a server answers at an address; fail with its log if it ends before, or takes too long."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            said = log.read_text("utf-8", errors="replace")[-4000:]
            assert process.poll() is None, f"the server ended:\n{said}"
            assert time.monotonic() < deadline, f"no answer within {seconds} s:\n{said}"
            time.sleep(0.05)


def _pauses(condition: Callable[[], object]) -> Iterator[float]:
    """Seconds between two looks, which grow: a look may ask a server, whose work would take longer for it."""
    deadline, pause = time.monotonic() + WITHIN, 0.01
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        yield pause
        pause = min(1.3 * pause, 0.25)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Waited:
    """An object whose coroutine methods are waited for; `extract` is that of a single chunk."""

    def __init__(self, awaited: Any) -> None:
        self.awaited = awaited

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.awaited, name)
        if name == "extract":
            return lambda request, schema: run(value, [request], schema)[0]
        if name == "with_instructions":
            return lambda text: Waited(value(text))
        return partial(run, value) if inspect.iscoroutinefunction(value) else value
