"""Store vectors in a folder, through Chroma's embedded client."""

import asyncio
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast
from weakref import WeakSet

from ...models.embedding.embedder import Vectors
from ...runtime.libraries import NoAnswer, call_within, is_panic
from ...runtime.safe_files import whole_file
from ...runtime.threads import check_cancelled
from ..store_errors import StoreError, display_path
from . import index_files
from .backend import INDEX, KINDS, Kind, chroma, retry

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection

_T = TypeVar("_T")

_PART_MOST = 50_000
"""Vectors of a collection: Chroma has its whole index in memory, which collections of bounded size bound."""
_OPEN_MOST = 6
"""Collections that are open at a time: the four that a batch writes to, and two that are read. Chroma's indexes stay in
memory until its client is closed."""

_ANSWER_SECONDS = 300.0
"""How long one call to Chroma may take. Reading the largest collection takes seconds; after a failed write on a full
disk, a call to the same client may never return."""


_ALIVE: WeakSet["FolderCollections"] = WeakSet()

# Each client in this process has a path of its own, even if several open the same folder: Chroma shares one instance
# among clients of one path, and starts and stops it without a lock. A path with `/.` appended names the same folder.
# The paths are module state, as they protect state of the process: Chroma's instances, and SQLite's file locks.
_PATHS_LOCK = threading.Lock()
_PATHS_IN_USE: set[str] = set()


def _claim_path(folder: Path) -> str:
    """Reserve a path to a folder that no other client of this process uses, until `_release_path`."""
    with _PATHS_LOCK:
        path = str(folder)
        while path in _PATHS_IN_USE:
            path += "/."
        _PATHS_IN_USE.add(path)
        return path


def _release_path(path: str) -> None:
    """Release a path whose client is closed."""
    with _PATHS_LOCK:
        _PATHS_IN_USE.discard(path)


@contextmanager
def _pause_claims(folder: Path) -> Iterator[bool]:
    """Let no client start inside the block, and yield True if none uses a folder.

    This process must not even read a file that Chroma has open, because closing it would drop the locks of Chroma's
    own SQLite (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    with _PATHS_LOCK:
        yield all(Path(path) != folder for path in _PATHS_IN_USE)


class FolderCollections:
    """The vectors in a folder by one model, each kind in one or more of Chroma's collections, its parts.

    Threads may share them. Their files stay open, so a removal by others is noticed only at the next opening.
    """

    lost = False
    _opened_in: ClassVar[int | None] = None
    """The process in which Chroma was first used; its library has threads that a fork does not."""

    def __init__(self, folder: Path, model: str) -> None:
        """Prepare to use a folder, which is created at first use; `model` is part of the collections' names."""
        self.folder = folder
        self._model = model
        self._state = folder / "state"
        self._client: Client | None = None
        self._path = ""
        self._collections: dict[str, Collection] = {}
        self._parts: dict[Kind, list[str]] = {}
        self._written: set[str] = set()
        self._lock = threading.RLock()
        self._checked = False
        _ALIVE.add(self)

    def parts(self, kind: Kind) -> Sequence[str]:
        """Return the names of a kind's parts, in the order in which they were filled."""
        if kind not in self._parts:
            self._parts[kind] = self.read(kind, lambda _: self._find_parts(kind))
        return self._parts[kind]

    def _find_parts(self, kind: Kind) -> list[str]:
        names, parts = self._list_names(), [str(kind)]
        while self._name(following := f"{kind}-{len(parts) + 1}") in names:
            parts.append(following)
        return parts

    def _list_names(self) -> set[str]:
        return set() if self._client is None else {one.name for one in self._client.list_collections()}

    def _name(self, part: str) -> str:
        return f"{part}-{self._model}"

    def read(self, part: str, ask: "Callable[[Collection], _T]") -> _T:
        """Read from a collection, with another client for each retry.

        While another process writes, Chroma's catalogue and index may differ for a moment, and an open
        client may have missed a change permanently.

        Raises:
            StoreError: the collection cannot be read; the other methods raise it too.
        """
        try:
            return retry(lambda: self._use(part, ask), lambda: None)
        except NoAnswer as error:
            check_cancelled()
            raise self._unusable(f"Chroma did not answer within {_ANSWER_SECONDS:.0f} seconds") from error

    def write(self, part: str, change: "Callable[[Collection], object]") -> None:
        """Change a collection, with retries because a reader may lock the catalogue for a moment.

        `change` must be repeatable. A retry has another client, because Chroma may never return from a write that
        follows a failed one.
        """
        index_files.forget(self.folder)
        if part.partition("-")[0] in KINDS and part not in self._written:
            self._state.unlink(missing_ok=True)
        self._written.add(part)
        self.read(part, change)

    def _use(self, part: str, use: "Callable[[Collection], _T]") -> _T:
        lock = self._lock

        def use_locked() -> _T:
            with lock:  # nobody closes the client meanwhile
                return use(self._collection(part))

        try:
            return self._within(use_locked)
        except BaseException as error:
            if not (isinstance(error, chroma().ChromaError) or is_panic(error)):
                raise
            self._disconnect()
            raise self._unusable(error) from error

    def _within(self, call: "Callable[[], _T]") -> _T:
        """Return what a call to Chroma returns, and abandon the client if it does not.

        Raises:
            NoAnswer: it did not in time.
        """
        try:
            return call_within(_ANSWER_SECONDS, call)
        except NoAnswer:
            # Its thread still has the lock and the client; its path stays claimed, so the next client is another one.
            self._lock, self._client, self._collections = threading.RLock(), None, {}
            raise

    def _unusable(self, error: BaseException | str) -> StoreError:
        return StoreError(f"the vectors in {self.folder} cannot be read or written ({error}): free space if the "
                          "disk is full, else run `banyan reindex`; the ledger has all that it takes")

    def _disconnect(self) -> None:
        """Close the client, which gives the memory of its indexes back; the next use opens another."""
        lock = self._lock

        def close_locked() -> None:
            with lock:
                self._close_client()

        with suppress(NoAnswer):  # the client is abandoned
            self._within(close_locked)

    def _close_client(self) -> None:
        self._collections.clear()
        if self._client is not None:
            self._client.close()
            self._client = None
            _release_path(self._path)

    def _collection(self, part: str) -> "Collection":
        """Return a collection, which is created if missing; the caller has the lock."""
        if part not in self._collections:
            if len(self._collections) >= _OPEN_MOST:
                self._close_client()  # and with it all collections: Chroma frees the memory of none alone
            self._collections[part] = self._open(part, self._client or self._connect())
        return self._collections[part]

    def _connect(self) -> "Client":
        if FolderCollections._opened_in not in {None, os.getpid()}:
            raise StoreError(f"the vectors in {self.folder} cannot be opened here: this process was forked from one "
                             "that had opened vectors, and Chroma does not work in a fork. Build in the process that "
                             "forks, or start workers by `spawn`")
        self._check()
        FolderCollections._opened_in = os.getpid()
        self._path = _claim_path(self.folder)
        try:
            self._client = cast("Client", chroma().folder_client(self._path))
        except (AttributeError, ValueError, sqlite3.Error) as error:
            # chromadb raises these when it cleans up after a failed start.
            _release_path(self._path)
            raise self._unusable(error) from error
        return self._client

    def _open(self, part: str, client: "Client") -> "Collection":
        name = self._name(part)
        try:
            # "Get or create" locks Chroma's catalogue for writing even if there is nothing to create.
            return client.get_collection(name, embedding_function=None)
        except chroma().NotFoundError:
            return client.get_or_create_collection(name, embedding_function=None, configuration={"hnsw": INDEX})

    def _check(self) -> None:
        """Check the index files before they are first loaded, because damaged files would crash the process."""
        if not self._checked and (found := index_files.damages(self.folder)):
            raise StoreError(f"the vectors in {self.folder} are damaged ({found[0]}): run `banyan reindex`; the "
                             "ledger has all that it takes")
        self._checked = True

    def upsert(self, kind: Kind, ids: Sequence[str], vectors: Vectors) -> str:
        """Store the vectors of new ids, shape (len(ids), d), in the last part or, if that is full, in a new one.

        Returns:
            The part that has them.
        """
        parts, rows = self.parts(kind), cast("list[Sequence[float]]", vectors)
        if self._count(parts[-1]) >= _PART_MOST:
            self._parts[kind] = [*parts, f"{kind}-{len(parts) + 1}"]
        part = self._parts[kind][-1]
        self.write(part, lambda collection: collection.upsert(ids=list(ids), embeddings=rows))
        return part

    def prepare(self) -> None:
        """Do nothing: collections are created at first use."""

    def _count(self, part: str) -> int:
        return self.read(part, lambda collection: collection.count())

    def is_sound(self) -> bool:
        """Return True if Chroma's catalogue exists and it and the index files are readable."""
        path = self.folder / "chroma.sqlite3"
        if not path.is_file():
            return False
        try:
            with _pause_claims(self.folder) as free:
                if free:
                    with closing(sqlite3.connect(path)) as catalogue:
                        catalogue.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            return True  # another process holds it: busy is not damaged
        except sqlite3.DatabaseError:
            return False
        self._checked = not index_files.damages(self.folder)
        return self._checked

    def settle(self) -> None:
        """Record that the index files are sound."""
        if self._written:
            for part in sorted(self._written):
                self._count(part)  # Chroma may write an index only at the next use
            index_files.blank_unused(self.folder)
            index_files.note(self.folder)
            self._written.clear()

    def mark(self, state: str) -> None:
        """Record that the index files are sound, and which state they match."""
        self.settle()
        if not self.marked(state):
            self.folder.mkdir(parents=True, exist_ok=True)
            with whole_file(self._state) as file:
                file.write(f"{state} {self._model}".encode())

    def marked(self, state: str) -> bool:
        """Return True if the folder has a mark of the same state and model."""
        return self._state.is_file() and self._state.read_bytes() == f"{state} {self._model}".encode()

    def remove(self) -> None:
        """Remove the folder; the next use creates it again."""
        self._written.clear()
        self.close()
        self._checked = False
        if self.folder.exists():
            shutil.rmtree(self.folder)

    def drop_other_models(self) -> None:
        """Remove the collections of other models."""
        self.read("entities", lambda _: self._drop_other_models())

    def _drop_other_models(self) -> None:
        for name in self._list_names():
            if self._client is not None and not name.endswith(f"-{self._model}"):
                self._client.delete_collection(name)

    def damages(self) -> list[str]:
        """Return a line for each damage that names the file; nobody in this process may have opened it.

        Raises:
            StoreError: another process is writing.
        """
        path = self.folder / "chroma.sqlite3"
        if not self.folder.is_dir():
            return []
        if not path.is_file() or not path.stat().st_size:
            return [f"{path} is {'empty' if path.is_file() else 'missing'}"]
        indexes = [f"{self.folder / line}" for line in index_files.damages(self.folder)]
        try:
            with closing(sqlite3.connect(path, timeout=30)) as catalogue:
                lines = [str(row[0]) for row in catalogue.execute("PRAGMA integrity_check")]
        except sqlite3.OperationalError as error:
            raise StoreError(f"{display_path(path)} cannot be read ({error}): wait until the process that writes it "
                             "has ended") from error
        except sqlite3.DatabaseError as error:
            lines = [str(error)]
        return [*(f"{path} is damaged: {line}" for line in lines if line != "ok"), *indexes]

    def close(self) -> None:
        """Close the files."""
        if self._client is not None:  # after a failure: noting the checksums spares the next opening the slow check
            with suppress(OSError, StoreError, asyncio.CancelledError):
                self.settle()
        self._disconnect()
        self._parts.clear()


def _disconnect_all() -> None:
    """Close all clients before this process forks: a child has none of their threads, and would wait for them."""
    for collections in list(_ALIVE):
        collections._disconnect()  # noqa: SLF001


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_disconnect_all)
