"""Store vectors in Chroma by kind, in a folder or on a server; ids are hashes of content, so none is out of date."""

import atexit
import os
import shutil
import sqlite3
import struct
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from operator import methodcaller
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, cast

import httpx
import numpy as np

from ...models.embedding.embedder import Vectors
from ...runtime.libraries import is_panic
from ...schemas.naming import content_id
from ...schemas.services import ChromaServer
from ..layout import Layout
from ..ledger.database import Database
from ..store_errors import StoreError, VectorServerError

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection
    from chromadb.config import Settings

Kind = Literal["entities", "triples", "relations", "chunks"]
KINDS: tuple[Kind, ...] = ("entities", "triples", "relations", "chunks")  # the kinds of vectors; each has a collection
IDENTITY = "vectors_identity"  # the setting with the knowledge base's identity on servers
# The number of ids in one call. Chroma's limit is about 5,461 (SQLite's variables); 1,000 also keeps memory small.
_PAGE = 1000
_CONNECT_SECONDS = 5.0
# Storing a page of vectors is fast, but the server sometimes writes a large index before it answers.
_ANSWER_SECONDS = 60.0
_HEADER = struct.Struct("<iQQQQ")
"""hnswlib's header: version, offset, capacity in vectors, number of vectors, and bytes of each vector."""
_LENGTH_BYTES = 4  # the number of bytes in which hnswlib stores a vector's length


def chroma() -> ModuleType:
    """Import and return chromadb."""
    import chromadb  # noqa: PLC0415  (slow to import; questions do not need it)

    return chromadb


def _client_settings() -> "Settings":
    return cast("Settings", chroma().config.Settings(_env_file=None, anonymized_telemetry=False))


def pages_of(ids: Sequence[str]) -> Iterable[list[str]]:
    """Return the ids in lists that are small enough for one call to Chroma."""
    return (list(ids[start:start + _PAGE]) for start in range(0, len(ids), _PAGE))


class VectorStore:
    """The vectors of one knowledge base by one model, a cache. Threads may share an instance.

    A folder is created at first use. The file `complete` is in it unless a writer is at work or was killed: then
    reading could crash the process. Every method but `close` raises StoreError if Chroma fails.
    """

    def __init__(self, folder: Path, fingerprint: str, server: ChromaServer | None = None, prefix: str = "") -> None:
        """Prepare collections in a folder, or on a server with a prefix; `fingerprint` is the embedding model's."""
        self._folder, self._complete = folder, folder / "complete"
        self._server, self._prefix = server, prefix
        self._model = content_id("model", fingerprint)
        self._client: Client | None = None
        self._is_writing = False
        self._opened: dict[Kind, Collection] = {}
        self._lock = threading.RLock()

    @classmethod
    def of(cls, layout: Layout, database: Database, fingerprint: str) -> "VectorStore":
        """Return the vectors of a knowledge base by an embedding model, in its folder or on its server."""
        if layout.server is None:
            return cls(layout.vectors, fingerprint)
        if not database.notes("settings").get(IDENTITY):
            with database.transaction():
                # Look again inside the transaction, because another process may have stored an identity meanwhile.
                database.note("settings", **{IDENTITY: database.notes("settings").get(IDENTITY) or uuid.uuid4().hex})
        # It tells this knowledge base from all others on a server, even from those of its name and from its copies.
        scope = content_id("vectors", database.notes("settings")[IDENTITY],
                           database.identity or str(layout.root.stat().st_ino))
        return cls(layout.vectors, fingerprint, layout.server, f"banyan-{scope}-")

    def use_model(self, fingerprint: str) -> None:
        """Switch to the vectors by an embedding model."""
        self.close()
        self._model = content_id("model", fingerprint)

    def ids(self, kind: Kind) -> set[str]:
        """Return all ids of a kind that have a vector."""
        with self._collection(kind) as collection:
            return set(collection.get(include=[])["ids"])

    def find(self, kind: Kind, ids: Iterable[str]) -> dict[str, Vectors]:
        """Return the vectors of the ids that have one."""
        vectors: dict[str, Vectors] = {}
        for page in pages_of(list(dict.fromkeys(ids))):
            with self._collection(kind) as collection:
                found = collection.get(ids=page, include=["embeddings"])
            vectors |= zip(found["ids"], np.asarray(found["embeddings"], np.float32), strict=True)
        return vectors

    def get(self, kind: Kind, ids: Sequence[str]) -> Vectors:
        """Return the vectors of ids, shape (len(ids), d), in their order, or (0, 0); StoreError if one has none."""
        vectors = self.find(kind, ids)
        if missing := set(ids).difference(vectors):
            raise StoreError(f"{len(missing)} of the {kind} have no vector; run `banyan reindex`")
        return np.stack([vectors[key] for key in ids]) if ids else np.zeros((0, 0), np.float32)

    def check_readable(self, kind: Kind) -> None:
        """Raise StoreError if the vectors of a kind cannot be read, or its collection cannot be created."""
        with self._collection(kind) as collection:
            collection.get(limit=1, include=["embeddings"])  # this loads the index

    def put(self, kind: Kind, ids: Sequence[str], vectors: Vectors) -> None:
        """Store the vectors of ids, shape (len(ids), d)."""
        for page, start in zip(pages_of(ids), range(0, len(ids), _PAGE), strict=True):
            self.write(kind, methodcaller("upsert", ids=page, embeddings=vectors[start:start + len(page)]))

    def drop(self, kind: Kind, ids: Iterable[str]) -> None:
        """Remove the vectors of ids, each of which has one."""
        for page in pages_of(sorted(ids)):
            self.write(kind, methodcaller("delete", ids=page))

    def write(self, kind: Kind, change: "Callable[[Collection], object]") -> None:
        """Call `change` with the collection of a kind, to change it; until `mark_complete`, others do not read it."""
        if self._server is None:
            self._complete.unlink(missing_ok=True)
            self._is_writing = True
        with self._collection(kind) as collection:
            change(collection)
            collection.count()  # makes Chroma write the index now instead of at the next use

    @contextmanager
    def _collection(self, kind: Kind) -> "Iterator[Collection]":
        """Yield the collection of a kind, which is created if it is missing."""
        with self._open_client() as client:
            if kind not in self._opened:
                name = f"{self._prefix}{kind}-{self._model}"
                self._opened[kind] = client.get_or_create_collection(
                    name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
            yield self._opened[kind]

    @contextmanager
    def _open_client(self) -> "Iterator[ClientAPI]":
        """Yield Chroma's client, opened if need be; turn Chroma's errors within the block into StoreError."""
        with self._lock:
            try:
                yield self._open_folder() if self._server is None else _connect(self._server)
            except StoreError:
                raise
            except BaseException as error:
                # chromadb raises AttributeError after a failed start, and Exception itself if no Chroma server answers.
                is_of_chroma = type(error) is Exception or is_panic(error) or isinstance(error, (
                    chroma().errors.ChromaError, sqlite3.Error, httpx.HTTPError, ValueError, AttributeError))
                if not is_of_chroma:
                    raise
                self.close()
                raise self._failure(error) from error

    def _open_folder(self) -> "Client":
        """Return the client of the folder; StoreError if its vectors cannot be trusted."""
        if self._client is None:
            if self._folder.exists() and self.was_interrupted():
                raise StoreError(f"the vectors in {self._folder} cannot be read: they are being written, or their "
                                 "writer was killed; the next build or `banyan reindex` makes them again")
            self._client = cast("Client", chroma().PersistentClient(str(self._folder), _client_settings()))
        return self._client

    def _failure(self, error: BaseException) -> StoreError:
        """Return the error that says what a user can do about one of Chroma's."""
        if self._server is None:
            return StoreError(f"the vectors in {self._folder} cannot be read or written ({error}): free space if the "
                              "disk is full, else run `banyan reindex`; the ledger has all that it takes")
        if isinstance(error, httpx.TransportError):
            return VectorServerError(
                f"the Chroma server at {self._server.url} does not answer ({error or type(error).__name__}): start it, "
                "or change or unset BANYAN_CHROMA_URL. Progress is saved: run the command again to resume")
        return StoreError(f"the Chroma server at {self._server.url} cannot do what was asked ({error}): see its log, "
                          "and run the command again; `banyan reindex` makes all vectors anew")

    def was_interrupted(self) -> bool:
        """Return True if vectors in a folder may be incomplete: another writer is at work, was killed, or never was."""
        return self._server is None and not self._is_writing and not self._complete.exists()

    def mark_complete(self) -> None:
        """Mark a folder as complete: its last writer has finished, so its vectors can be trusted."""
        if self._server is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            # Zero what follows the last vector in an index's files: words of deleted documents may be there.
            for header in self._folder.glob("*/header.bin"):
                header_bytes = header.read_bytes()
                if len(header_bytes) < _HEADER.size:
                    continue  # a process that opens Chroma is writing an empty index
                _, _, _, count, vector_bytes = _HEADER.unpack_from(header_bytes)
                for name, bytes_each in (("data_level0.bin", vector_bytes), ("length.bin", _LENGTH_BYTES)):
                    with header.with_name(name).open("r+b") as file:
                        end = file.seek(0, os.SEEK_END)
                        file.seek(count * bytes_each)
                        file.write(bytes(max(0, end - count * bytes_each)))
            self._complete.touch()
            self._is_writing = False

    def clear(self) -> None:
        """Remove the vectors by all models; the next use creates the collections again."""
        if self._server is not None:
            with self._open_client() as client:
                for name in [collection.name for collection in client.list_collections()]:
                    if name.startswith(self._prefix):  # the server has those of other bases, too
                        client.delete_collection(name)
        self.close()
        if self._server is None and self._folder.exists():
            shutil.rmtree(self._folder)

    def close(self) -> None:
        """Forget the opened collections, because others may change them from now on; close a folder's client."""
        with self._lock:
            self._opened.clear()
            self._is_writing = False  # a folder that is not marked as complete counts as interrupted from now on
            if self._client is not None:
                self._client.close()
                self._client = None


@lru_cache(maxsize=8)
def _connect(server: ChromaServer) -> "ClientAPI":
    """Return the client of a server, which is created once and shared in this process."""
    answer = httpx.get(f"{server.url}/api/v2/heartbeat", headers=server.headers(), timeout=_CONNECT_SECONDS)
    if answer.status_code != httpx.codes.OK or "heartbeat" not in answer.text:
        raise StoreError(f"what answers at {server.url} refuses us, or is no Chroma server of version 1 or later "
                         f"({answer.status_code}): see BANYAN_CHROMA_URL, BANYAN_CHROMA_TOKEN and "
                         "BANYAN_CHROMA_TOKEN_HEADER, or unset them to keep vectors in the home folder")
    client = cast("ClientAPI", chroma().HttpClient(server.url, headers=server.headers(), settings=_client_settings()))
    session = cast("Any", client)._server._session  # noqa: SLF001
    atexit.register(session.close)
    # chromadb has no setting for a timeout, and without one a hanging server would hang this process.
    session.timeout = httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS)
    return client
