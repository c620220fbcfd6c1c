"""A build while a process runs it."""

import asyncio
import time
from typing import Any

from ..answers import Build
from .build_records import BuildRecord, changed

_WRITER_ENDS = 60.0
"""Seconds that the previous process of a build may take to release the knowledge base."""


class Job:
    """A build of this process, with its record, its followers, and its stop order. Only the event loop changes it."""

    def __init__(self, record: BuildRecord) -> None:
        self.record = record
        self.told = record
        """The record that other processes see."""
        self.cancelled = False
        self.left = False
        """Whether it is left to other processes, so this one no longer reports it."""
        self.work: asyncio.Task[dict[str, Any]] | None = None
        self.next_change = asyncio.Event()
        self._waits_until = 0.0

    @property
    def build(self) -> Build:
        """The build in its current state."""
        return self.record.build

    def change(self, **values: Any) -> None:
        """Change the build, and notify its followers."""
        self.record = changed(self.record, **values)
        self.next_change.set()
        self.next_change = asyncio.Event()

    def cancel(self) -> None:
        """Cancel it: its calls end at once, its current step as soon as possible."""
        self.cancelled = True
        if self.work is not None:
            self.work.cancel()

    def waits(self) -> bool:
        """Return True while it may wait for its previous process, counted from the first wait."""
        self._waits_until = self._waits_until or time.monotonic() + _WRITER_ENDS
        return time.monotonic() < self._waits_until

    def leave(self) -> None:
        """End it like a cancelled build, but leave it to another process to resume."""
        self.left = True
        self.cancel()
