"""How long each stage of a question takes, for whoever listens; a look-up and no more when nobody does."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

Stage = Literal["embed", "entity", "triple", "community", "dfs", "fuse", "reflect", "decompose"]


class StageTimes:
    """Seconds by stage, added up over the threads that work on one question."""

    def __init__(self) -> None:
        """Begin with no stage."""
        self._seconds: dict[str, float] = {}
        self._lock = threading.Lock()

    def add(self, name: str, seconds: float) -> None:
        """Add to a stage's time."""
        with self._lock:
            self._seconds[name] = self._seconds.get(name, 0.0) + seconds

    def milliseconds(self) -> dict[str, float]:
        """The time of each stage that ran, in ms, by name.

        Stages that ran in parallel count each with their own time: the sum may exceed the time passed.
        """
        with self._lock:
            return {name: round(1000 * seconds, 3) for name, seconds in sorted(self._seconds.items())}


class _Open:
    """A stage that runs, and the seconds of those within it."""

    def __init__(self) -> None:
        self.within = 0.0


# LangGraph runs its nodes in threads that get a copy of the caller's context: the listener is found there too.
_listener: ContextVar[StageTimes | None] = ContextVar("banyan_stage_times", default=None)
_open: ContextVar[_Open | None] = ContextVar("banyan_open_stage", default=None)


@contextmanager
def listening() -> Iterator[StageTimes]:
    """Gather the times of the stages that run within, in this thread and those that work for it."""
    times = StageTimes()
    before, outer = _listener.set(times), _open.set(None)
    try:
        yield times
    finally:
        _open.reset(outer)
        _listener.reset(before)


@contextmanager
def stage(name: Stage) -> Iterator[None]:
    """Time what runs within as a stage; a stage within a stage counts as itself alone."""
    times = _listener.get()
    if times is None:
        yield
        return
    outer, here = _open.get(), _Open()
    token = _open.set(here)
    started = time.perf_counter()
    try:
        yield
    finally:
        elapsed = time.perf_counter() - started
        _open.reset(token)
        times.add(name, elapsed - here.within)
        if outer is not None:
            outer.within += elapsed
