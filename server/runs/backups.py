"""Backups that clients download: one at a time, packed while they are read, each within a deadline."""

import asyncio
import logging
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import anyio
import anyio.to_thread
from filelock import FileLock, Timeout
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ...agents.resources import Resources
from ...graph_store.integrity.backup import Manifest, copy_ledger, packed
from ...graph_store.layout import Layout
from ..errors import UnavailableError

_T = TypeVar("_T")

_LOG = logging.getLogger("banyan.server")
SECONDS = 3600.0
"""What a backup may take, downloading included."""
_FOLDER = ".backups"


class Backups:
    """The backups that the servers of a home folder make for clients."""

    def __init__(self, resources: Resources) -> None:
        """Make none yet."""
        self.resources = resources
        self.threads = anyio.CapacityLimiter(1)
        """For the thread that copies and packs: routes that answer at once have others."""
        self._root = resources.settings.home / _FOLDER

    def sweep(self) -> None:
        """Remove the copy of a backup whose process was killed."""
        if self._root.is_dir():
            with suppress(UnavailableError), self.turn():
                pass

    @contextmanager
    def turn(self) -> Iterator[Path]:
        """Within the block no other backup is made for a client of this home folder.

        Yields:
            An empty folder for the copy, which is removed when the block ends.

        Raises:
            UnavailableError: another one is being made.
        """
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        work = self._root / "copy"
        lock = FileLock(self._root / "lock", timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            raise UnavailableError("another backup is being made: try again when it is done") from None
        try:
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(mode=0o700)
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)
            lock.release()


class BackupResponse(StreamingResponse):
    """A knowledge base as a zip file: copied before the response begins, and packed as fast as it is read."""

    def __init__(self, backups: Backups, kb: str) -> None:
        """Copy nothing yet."""
        name = f"attachment; filename=\"knowledge-base.zip\"; filename*=UTF-8''{quote(kb)}.zip"
        super().__init__(self._blocks(), media_type="application/zip", headers={"Content-Disposition": name})
        self._backups = backups
        self._kb = kb
        self._ends = time.monotonic() + SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        with self._backups.turn() as folder:
            self._copied = await self._run(partial(self._copy, folder))
            try:
                async with asyncio.timeout(self._ends - time.monotonic()):
                    await super().__call__(scope, receive, send)
            except TimeoutError:
                # The body has begun: it ends before its end, so that the client sees that it is not whole.
                _LOG.warning("a backup of %r was not read within %g s", self._kb, SECONDS)

    def _copy(self, folder: Path) -> tuple[Path, Manifest]:
        layout = Layout.by(self._backups.resources.settings, self._kb).require()
        return copy_ledger(layout, folder, self._backups.resources.embedder, self._check_time)

    def _check_time(self, _done: int, _total: int) -> None:
        if time.monotonic() > self._ends:
            raise UnavailableError(f"the knowledge base could not be copied within {SECONDS:g} s: try again when there "
                                   "is less to do, or use `banyan backup`")

    async def _blocks(self) -> AsyncIterator[bytes]:
        blocks = packed(*self._copied)
        while (block := await self._run(partial(next, blocks, None))) is not None:
            yield block

    async def _run(self, work: Callable[[], _T]) -> _T:
        return await anyio.to_thread.run_sync(work, limiter=self._backups.threads)
