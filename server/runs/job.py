"""A build while a process runs it."""

import asyncio
import time
from typing import Any

from ..answers import Build
from .build_records import BuildRecord, changed

_WRITER_ENDS = 60.0
"""Seconds that the process which ran a build before may take to let go of the knowledge base."""


class Job:
    """A build of this process: its record, who follows it, and the order to stop. Changed on the event loop alone."""

    def __init__(self, record: BuildRecord) -> None:
        self.record = record
        self.told = record
        """The record as other processes see it."""
        self.cancelled = False
        self.left = False
        """Whether it is left to others, and nothing more is told of it."""
        self.work: asyncio.Task[dict[str, Any]] | None = None
        self.next_change = asyncio.Event()
        self._waits_until = 0.0

    @property
    def build(self) -> Build:
        """The build as it stands."""
        return self.record.build

    def change(self, **values: Any) -> None:
        """Change the build, and tell who follows it."""
        self.record = changed(self.record, **values)
        self.next_change.set()
        self.next_change = asyncio.Event()

    def cancel(self) -> None:
        """Give it up: its calls end at once, and the step under way as soon as it can."""
        self.cancelled = True
        if self.work is not None:
            self.work.cancel()

    def waits(self) -> bool:
        """Whether it may still wait for the process that ran it before, counted from the first time it had to."""
        self._waits_until = self._waits_until or time.monotonic() + _WRITER_ENDS
        return time.monotonic() < self._waits_until

    def leave(self) -> None:
        """End it as if it were cancelled, for another process to go on with."""
        self.left = True
        self.cancel()
