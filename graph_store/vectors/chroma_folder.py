"""Store vectors in a folder, through Chroma's embedded client."""

import asyncio
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast
from weakref import WeakSet

from ...runtime.libraries import NoAnswer, call_within, is_panic
from ...runtime.threads import check_cancelled
from ..store_errors import StoreError
from . import index_files
from .chroma_collections import ChromaCollections, chroma, client_settings, retry

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection

_T = TypeVar("_T")

_OPEN_MOST = 6
"""The maximum number of open collections: the four that a batch writes to, and two to read from. Chroma's indexes stay
in memory until its client is closed."""

_ANSWER_SECONDS = 300.0
"""The maximum duration of one call to Chroma. Reading the largest collection takes seconds. After a failed write on a
full disk, however, a call to the same client may never return."""

_ALIVE: WeakSet["FolderCollections"] = WeakSet()

# Chroma shares one instance among the clients of one path, and starts and stops it without a lock. Therefore each
# client in this process has a different path, even if several open the same folder: a path with `/.` appended names the
# same folder. The paths are module state because Chroma's instances are state of the process, too.
_PATHS_LOCK = threading.Lock()
_PATHS_IN_USE: set[str] = set()


def _claim_path(folder: Path) -> str:
    """Return a path to a folder that no other client of this process uses, and reserve it."""
    with _PATHS_LOCK:
        path = str(folder)
        while path in _PATHS_IN_USE:
            path += "/."
        _PATHS_IN_USE.add(path)
        return path


class FolderCollections(ChromaCollections):
    """The vectors in a folder, which is created at first use.

    The files stay open, so a removal by others is noticed only at the next opening.
    """

    _opened_in: ClassVar[int | None] = None
    """The id of the process that first used Chroma. A fork of it cannot use Chroma, whose threads it lacks."""

    def __init__(self, folder: Path, model: str) -> None:
        """Prepare to use a folder, without opening it; `model` is part of the collections' names."""
        super().__init__("", model)
        self.folder = folder
        self._client: Client | None = None
        self._path = ""
        self._checksums: dict[str, list[int]] | None = None
        """The checksums from before the first change since the last `settle`; None if nothing has changed since."""
        self._is_checked = False
        self._lock = threading.RLock()
        _ALIVE.add(self)

    def read(self, part: str, ask: "Callable[[Collection], _T]") -> _T:
        """See `ChromaCollections.read`."""
        if part not in self._opened and len(self._opened) >= _OPEN_MOST:
            self._disconnect()  # Chroma cannot free the memory of a single collection
        return super().read(part, ask)

    def _ask(self, use: "Callable[[ClientAPI], _T]") -> _T:
        """See `ChromaCollections._ask`; each retry uses a new client."""
        try:
            return retry(lambda: self._use(use))
        except NoAnswer as error:
            check_cancelled()
            raise self._unusable(f"Chroma did not answer within {_ANSWER_SECONDS:.0f} seconds") from error

    def _change(self, use: "Callable[[ClientAPI], object]") -> None:
        """See `ChromaCollections._change`; the stored checksums are removed until `settle`."""
        before = index_files.forget(self.folder)
        self._checksums = before if self._checksums is None else self._checksums
        self._ask(use)

    def _use(self, use: "Callable[[ClientAPI], _T]") -> _T:
        """Call `use` with the client, which is opened if necessary, and return its result."""
        lock = self._lock  # `_within` may replace it

        def use_locked() -> _T:
            with lock:  # so that no other thread closes the client meanwhile
                return use(self._client or self._connect())

        try:
            return self._within(use_locked)
        except BaseException as error:
            if not (isinstance(error, chroma().errors.ChromaError) or is_panic(error)):
                raise
            self._disconnect()
            raise self._unusable(error) from error

    def _within(self, call: "Callable[[], _T]") -> _T:
        """Return the result of a call to Chroma; abandon the client if the call takes too long."""
        try:
            return call_within(_ANSWER_SECONDS, call)
        except NoAnswer:
            # The call's thread still has the lock and the client, so both are replaced. The client's path stays
            # claimed, so the next client gets another Chroma instance.
            self._lock, self._client, self._opened = threading.RLock(), None, {}
            raise

    def _unusable(self, error: BaseException | str) -> StoreError:
        return StoreError(f"the vectors in {self.folder} cannot be read or written ({error}): free space if the "
                          "disk is full, else run `banyan reindex`; the ledger has all that it takes")

    def _connect(self) -> "Client":
        """Open a client of the folder, after checking that this is no fork and that no index file is damaged."""
        if FolderCollections._opened_in not in {None, os.getpid()}:
            raise StoreError(f"the vectors in {self.folder} cannot be opened here: this process was forked from one "
                             "that had opened vectors, and Chroma does not work in a fork. Build in the process that "
                             "forks, or start workers by `spawn`")
        # Damaged files would crash the process.
        if not self._is_checked and (damages := index_files.damages(self.folder)):
            raise StoreError(f"the vectors in {self.folder} are damaged ({damages[0]}): run `banyan reindex`; the "
                             "ledger has all that it takes")
        self._is_checked = True
        FolderCollections._opened_in = os.getpid()
        self._path = _claim_path(self.folder)
        try:
            self._client = cast("Client", chroma().PersistentClient(self._path, client_settings()))
        except (AttributeError, ValueError, sqlite3.Error) as error:
            # chromadb raises these while it cleans up after a failed start.
            _PATHS_IN_USE.discard(self._path)
            raise self._unusable(error) from error
        return self._client

    def _disconnect(self) -> None:
        """Close the client, which frees the memory of its indexes; the next use opens a new one."""
        lock = self._lock  # `_within` may replace it

        def close_locked() -> None:
            with lock:
                self._opened.clear()
                if self._client is not None:
                    self._client.close()
                    self._client = None
                    _PATHS_IN_USE.discard(self._path)

        with suppress(NoAnswer):  # if closing takes too long, the client is abandoned
            self._within(close_locked)

    def was_interrupted(self) -> bool:
        """See `ChromaCollections.was_interrupted`."""
        return self._checksums is None and not index_files.are_noted(self.folder)

    def settle(self) -> None:
        """Store the checksums of the files as they are now; see `ChromaCollections.settle`."""
        if self._checksums is not None or self.was_interrupted():
            self.folder.mkdir(parents=True, exist_ok=True)
            index_files.note(self.folder, self._checksums or {})
            self._checksums = None

    def remove(self) -> None:
        """Remove the folder."""
        self.close()
        self._is_checked = False
        if self.folder.exists():
            shutil.rmtree(self.folder)

    def close(self) -> None:
        """See `ChromaCollections.close`."""
        with suppress(OSError, StoreError, asyncio.CancelledError):
            if self._checksums is not None:
                self.settle()
        self._disconnect()
        self._parts.clear()


def _disconnect_all() -> None:
    """Close all clients before this process forks, because the child would wait for threads that it does not have."""
    for collections in list(_ALIVE):
        collections._disconnect()  # noqa: SLF001


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_disconnect_all)
