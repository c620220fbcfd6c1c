"""Backups that clients download: one at a time, each within a deadline."""

import asyncio
import logging
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio
import anyio.to_thread
from filelock import FileLock, Timeout
from starlette.responses import FileResponse
from starlette.types import Receive, Scope, Send

from ...agents.resources import Resources
from ...graph_store.integrity.backup import back_up
from ...graph_store.layout import Layout
from ..error_responses import UnavailableError

_LOG = logging.getLogger("banyan.server")
SECONDS = 3600.0
"""The deadline of a backup, including its download."""
_FOLDER = ".backups"


class Backups:
    """The backups for clients; the servers of a home folder make one at a time."""

    def __init__(self, resources: Resources) -> None:
        """Set up backups, without making one yet."""
        self.resources = resources
        self.threads = anyio.CapacityLimiter(1)
        """For the thread that writes one; routes that answer at once use other threads."""
        self._root = resources.settings.home / _FOLDER

    def sweep(self) -> None:
        """Remove the copy of a backup whose process was killed."""
        if self._root.is_dir():
            with suppress(UnavailableError), self.turn():
                pass

    @contextmanager
    def turn(self) -> Iterator[Path]:
        """Prevent other backups in this home folder within the block.

        Yields:
            An empty folder for the backup, which is removed when the block ends.

        Raises:
            UnavailableError: another backup is being made.
        """
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        work = self._root / "copy"
        lock = FileLock(self._root / "lock", timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            raise UnavailableError("another backup is being made: try again when it has finished") from None
        try:
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(mode=0o700)
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)
            lock.release()


class BackupResponse(FileResponse):
    """A knowledge base as a zip file, which is written before the response starts, and deleted when it ends."""

    def __init__(self, backups: Backups, kb: str) -> None:
        """Prepare the response; nothing is written yet."""
        super().__init__("", media_type="application/zip", filename=f"{kb}.zip")
        self._backups = backups
        self._kb = kb
        self._ends = time.monotonic() + SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        with self._backups.turn() as folder:
            self.path = folder / "backup.zip"
            await anyio.to_thread.run_sync(self._write, self.path, limiter=self._backups.threads)
            try:
                async with asyncio.timeout(self._ends - time.monotonic()):
                    await super().__call__(scope, receive, send)
            except TimeoutError:
                # The response has started, so it ends early: the client sees that it is incomplete.
                _LOG.warning("a backup of %r was not read within %g s", self._kb, SECONDS)

    def _write(self, target: Path) -> None:
        layout = Layout.by(self._backups.resources.settings, self._kb).require()
        back_up(layout, target, self._backups.resources.embedder, self._check_time)

    def _check_time(self, _done: int, _total: int) -> None:
        if time.monotonic() > self._ends:
            raise UnavailableError(f"the knowledge base could not be copied within {SECONDS:g} s: try again when the "
                                   "server is less busy, or use `banyan backup`")
