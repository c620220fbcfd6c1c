"""Which of the processes that serve a home folder still run: each holds a lock, which ends with it however it ends."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

UPLOADS = ".uploads"
"""Within the home folder, where the locks are, too; no knowledge base can be called so."""
_POLL = 0.1
"""Seconds between two looks whether a lock is free."""


class ProcessLock:
    """The lock of this process. What it writes for others carries its id."""

    def __init__(self, home: Path) -> None:
        """Nothing is locked yet."""
        self.id = uuid.uuid4().hex
        self.folder = home / UPLOADS
        self._lock = FileLock(self._of(self.id), thread_local=False)

    def acquire(self) -> None:
        """Be seen to run."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock.acquire()

    def release(self) -> None:
        """Be seen to have ended."""
        self._of(self.id).unlink(missing_ok=True)
        self._lock.release()

    def runs(self, process: str) -> bool:
        """Whether the process with an id, this one or another, runs."""
        if process == self.id:
            return True
        if not process or not self._of(process).exists():
            return False
        try:
            with FileLock(self._of(process), blocking=False):
                return False
        except Timeout:
            return True

    def _of(self, process: str) -> Path:
        return self.folder / f"{process}.lock"


@asynccontextmanager
async def holding_one(paths: Iterable[Path]) -> AsyncIterator[None]:
    """Hold the lock of one of some files within the block, of all processes; as soon as one is free."""
    locks = [FileLock(path, thread_local=False) for path in paths]
    while (held := _acquired(locks)) is None:
        await asyncio.sleep(_POLL)
    try:
        yield
    finally:
        held.release()


def _acquired(locks: Iterable[FileLock]) -> FileLock | None:
    for lock in locks:
        with suppress(Timeout):
            lock.acquire(blocking=False)
            return lock
    return None
