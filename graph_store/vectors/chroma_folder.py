"""Store vectors in a folder, through Chroma's embedded client."""

import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from ...runtime.panics import is_panic
from ...runtime.quiet import ignoring
from ...runtime.whole_file import whole_file
from ..store_errors import StoreError, display_path
from . import index_files
from .backend import INDEX, KINDS, Collections, Kind, chroma, retry
from .chroma_paths import claim_path, pause_claims, release_path

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection

_T = TypeVar("_T")

# Chroma rewrites a collection's whole index after this many changes, and indexes later changes at each opening. The
# first write comes early, because each opening writes an empty index until then. After that Chroma's default of 1,000
# changes applies, and from 4,000 elements on a quarter of them, which bounds how often each byte is rewritten.
_SYNC_FIRST = 10
_SYNC_LEAST = 1000
_SYNC_SHARE = 4
_SYNC_TOLERANCE = 1.5


class FolderCollections(Collections):
    """The vectors in a folder. Its files stay open, so a removal by others is noticed only at the next opening."""

    def __init__(self, folder: Path, model: str) -> None:
        """Prepare to use a folder, which is created at first use; `model` is part of the collections' names."""
        self.folder = folder
        self._model = model
        self._state = folder / "state"
        self._client: Client | None = None
        self._path = ""
        self._retired: list[tuple[Client, str]] = []
        self._collections: dict[Kind, Collection] = {}
        self._written: set[Kind] = set()
        self._lock = threading.RLock()
        self._checked = False

    def read(self, kind: Kind, ask: "Callable[[Collection], _T]") -> _T:
        """Read from a collection, with another client for each retry.

        While another process writes, Chroma's catalogue and index may differ for a moment, and an open
        client may have missed a change permanently.
        """
        return retry(lambda: self._use(kind, ask), self._retire)

    def write(self, kind: Kind, change: "Callable[[Collection], object]") -> None:
        """Change a collection, with retries because a reader may lock the catalogue for a moment."""
        index_files.forget(self.folder)
        if kind in KINDS and kind not in self._written:
            self._state.unlink(missing_ok=True)
        self._written.add(kind)
        retry(lambda: self._use(kind, change), lambda: None)

    def _use(self, kind: Kind, use: "Callable[[Collection], _T]") -> _T:
        try:
            return use(self.collection(kind))
        except chroma().ChromaError as error:
            raise self._unusable(error) from error
        except BaseException as error:
            if is_panic(error):
                raise self._unusable(error) from error
            raise

    def _unusable(self, error: BaseException) -> StoreError:
        return StoreError(f"the vectors in {self.folder} cannot be read or written ({error}): free space if the "
                          "disk is full, else run `banyan reindex`; the ledger has all that it takes")

    def _retire(self) -> None:
        """Replace the client at the next use without closing it, because other threads may still use it."""
        with self._lock:
            self._collections.clear()
            if self._client is not None:
                self._retired.append((self._client, self._path))
                self._client = None

    def collection(self, kind: Kind) -> "Collection":
        """Return a collection, which is created if missing."""
        with self._lock:
            if kind not in self._collections:
                self._collections[kind] = self._open(kind, self._client or self._connect())
            return self._collections[kind]

    def _connect(self) -> "Client":
        self._check()
        self._path = claim_path(self.folder)
        try:
            self._client = cast("Client", chroma().folder_client(self._path))
        except (AttributeError, ValueError, sqlite3.Error) as error:
            # chromadb raises these when it cleans up after a failed start.
            release_path(self._path)
            raise self._unusable(error) from error
        return self._client

    def _open(self, kind: Kind, client: "Client") -> "Collection":
        name = f"{kind}-{self._model}"
        try:
            # "Get or create" locks Chroma's catalogue for writing even if there is nothing to create.
            return client.get_collection(name, embedding_function=None)
        except chroma().NotFoundError:
            return client.get_or_create_collection(
                name, embedding_function=None, configuration={"hnsw": {**INDEX, "sync_threshold": _SYNC_FIRST}})

    def _check(self) -> None:
        """Check the index files before they are first loaded, because damaged files would crash the process."""
        if not self._checked and (found := index_files.damages(self.folder)):
            raise StoreError(f"the vectors in {self.folder} are damaged ({found[0]}): run `banyan reindex`; the "
                             "ledger has all that it takes")
        self._checked = True

    def adjust_sync(self, kind: Kind) -> None:
        """Adjust how often Chroma rewrites a collection's index to the collection's size."""
        size = self.read(kind, lambda collection: collection.count())
        pace = self.collection(kind).configuration_json["hnsw"]["sync_threshold"]
        wanted = max(_SYNC_LEAST, size // _SYNC_SHARE)
        if size >= _SYNC_FIRST and wanted > pace * _SYNC_TOLERANCE:
            # A loaded index ignores the change.
            self.close()
            # Chroma warns about its own configuration of a collection without an embedding function.
            with ignoring(DeprecationWarning):
                self.write(kind, lambda collection: collection.modify(
                    configuration={"hnsw": {"sync_threshold": wanted}}))

    def is_sound(self) -> bool:
        """Return True if Chroma's catalogue exists and it and the index files are readable."""
        path = self.folder / "chroma.sqlite3"
        if not path.is_file():
            return False
        try:
            with pause_claims(self.folder) as free:
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
            for kind in self._written:
                self.read(kind, lambda collection: collection.count())  # Chroma may write an index only at the next use
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
        self.collection("entities")
        client = self._client
        for name in [] if client is None else [one.name for one in client.list_collections()]:
            if client is not None and not name.endswith(f"-{self._model}"):
                client.delete_collection(name)

    def damages(self) -> list[str]:
        """Return a line for each damage that names the file (see `Collections.damages`)."""
        path = self.folder / "chroma.sqlite3"
        if not self.folder.is_dir():
            return []
        if not path.is_file() or not path.stat().st_size:
            return [f"{path} is {'empty' if path.is_file() else 'missing'}"]
        indexes = [f"{self.folder / line}" for line in index_files.damages(self.folder)]
        try:
            with pause_claims(self.folder) as free:
                if not free:
                    return indexes
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
        with self._lock:
            self._retire()
            while self._retired:
                client, path = self._retired.pop()
                client.close()
                release_path(path)
            if self._written:  # after a failure: noting the checksums spares the next opening the slow check
                with suppress(OSError):
                    index_files.note(self.folder)
