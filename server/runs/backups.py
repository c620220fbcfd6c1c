"""Backups that clients download: one at a time, each within a deadline."""

import asyncio
import logging
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
from ...runtime.safe_files import own_folder
from ..error_responses import UnavailableError

_LOG = logging.getLogger("banyan.server")
SECONDS = 3600.0
"""The deadline of a backup, including its download."""
_FOLDER = ".backups"


def sweep_backups(home: Path) -> None:
    """Remove the copy of a backup whose process was killed."""
    if (home / _FOLDER).is_dir():
        with suppress(UnavailableError), _turn(home):
            pass


@contextmanager
def _turn(home: Path) -> Iterator[Path]:
    """Yield a folder for a backup, and prevent other backups in this home folder within the block.

    Raises:
        UnavailableError: another backup is being made.
    """
    root = home / _FOLDER
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        turn = FileLock(root / "lock", blocking=False, thread_local=False).acquire()
    except Timeout:
        raise UnavailableError("another backup is being made: try again when it has finished") from None
    with turn, own_folder(root, "copy") as folder:
        yield folder


class BackupResponse(FileResponse):
    """A knowledge base as a zip file, which is written before the response starts, and deleted when it ends."""

    def __init__(self, resources: Resources, kb: str) -> None:
        """Prepare the response; nothing is written yet."""
        super().__init__("", media_type="application/zip", filename=f"{kb}.zip")
        self._resources = resources
        self._kb = kb
        self._ends = time.monotonic() + SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        with _turn(self._resources.settings.home) as folder:
            self.path = folder / "backup.zip"
            # A limiter of its own, so backups take no thread from routes that answer at once.
            await anyio.to_thread.run_sync(self._write, self.path, limiter=anyio.CapacityLimiter(1))
            try:
                async with asyncio.timeout(self._ends - time.monotonic()):
                    await super().__call__(scope, receive, send)
            except TimeoutError:
                # The response has started, so it ends early: the client sees that it is incomplete.
                _LOG.warning("a backup of %r was not read within %g s", self._kb, SECONDS)

    def _write(self, target: Path) -> None:
        layout = Layout.by(self._resources.settings, self._kb).require()
        back_up(layout, target, self._resources.embedder, self._check_time)

    def _check_time(self, _done: int, _total: int) -> None:
        if time.monotonic() > self._ends:
            raise UnavailableError(f"the knowledge base could not be copied within {SECONDS:g} s: try again when the "
                                   "server is less busy, or use `banyan backup`")
