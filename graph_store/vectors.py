"""Vectors in Chroma: one collection for each kind of thing, ids from content.

Derived from the ledger and the graph. What is embedded for an id is a function of the id, so an id
that is there needs no second look, and writing it twice changes nothing.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, cast

import numpy as np

from ..models.embedding import Embedder, Vectors
from ..schemas.naming import content_id
from .chroma_paths import give_back, take_path, unused
from .errors import StoreError
from .hnsw_files import damages
from .quiet import ignoring

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection
    from chromadb.api.types import GetResult

_T = TypeVar("_T")
Kind = Literal["entities", "triples", "relations", "communities", "chunks", "sentences"]
KINDS: tuple[Kind, ...] = ("entities", "triples", "relations", "communities", "chunks")
"""What is kept up with the graph; sentences are a sample that was measured on, and remembered (see `kept`)."""

# Chroma limits one call to about 5,461 items (SQLite's variables); 1,000 keeps memory small as well.
_PAGE = 1000
# hnswlib's own advice: ef of at least the number of neighbours asked for. On 16,684 triples 200 found
# 99.6 % of the exact 20 and of the exact 50 nearest.
_EF_SEARCH = 200
# Chroma writes a collection's whole index again after so many changes, and indexes at each opening what changed since
# (0.35 ms each). First soon: as long as no index was written, each opening writes an empty one for 100 items. Then
# as Chroma does by itself, and from 4,000 on after a quarter: each byte is written a bounded number of times.
_SYNC_FIRST = 10
_SYNC_LEAST = 1000
_SYNC_SHARE = 4
_SYNC_TOLERANCE = 1.5
# Of sentences, fewer than one in so many are made again at each build rather than stored: they take milliseconds, and
# storing the least thing makes Chroma write some 60 KB.
_MADE_AGAIN = 8
# Chroma touches its catalogue's indexes in random places, and SQLite writes whole pages: small ones are less.
_PAGE_BYTES = 1024


# Seconds between attempts to read; a writer's commit takes milliseconds, on a busy machine tenths of a second.
_WAITS = (0.02, 0.1, 0.3, 1.0)


class VectorStore:
    """The vectors of one knowledge base."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        """Open the vectors in a folder, creating it where it is missing."""
        self._folder = folder
        self._embedder = embedder
        self._client: Client | None = None
        self._path = ""
        self._retired: list[tuple[Client, str]] = []
        self._collections: dict[Kind, Collection] = {}
        self._lock = threading.RLock()
        self._kept: dict[Kind, dict[str, Vectors]] | None = None

    def freeze(self) -> None:
        """For reading alone: what `missing` finds is there for `get`, whatever a writer drops in between."""
        self._kept = {}

    def _collection(self, kind: Kind) -> "Collection":
        with self._lock:
            return self._opened(kind)

    def _read(self, kind: Kind, ask: "Callable[[Collection], _T]") -> _T:
        """What is asked of a collection.

        While another process writes, Chroma's catalogue and index may differ for a moment, and an
        instance that is open may have missed something for good: then another one is opened.
        """
        return self._patiently(kind, ask, self._retire)

    def _write(self, kind: Kind, change: "Callable[[Collection], object]") -> None:
        """Change a collection, in a way that may be repeated: a reader may have its catalogue locked for a moment."""
        self._patiently(kind, change, lambda: None)

    def _patiently(self, kind: Kind, ask: "Callable[[Collection], _T]", between: Callable[[], None]) -> _T:
        for wait in _WAITS:
            try:
                with self._explained():
                    return ask(self._collection(kind))
            except StoreError:
                between()
                time.sleep(wait)
        with self._explained():
            return ask(self._collection(kind))

    def _retire(self) -> None:
        """Open another client at the next use; threads may still be using this one."""
        with self._lock:
            self._collections.clear()
            if self._client is not None:
                self._retired.append((self._client, self._path))
                self._client = None

    def _opened(self, kind: Kind) -> "Collection":
        if kind not in self._collections:
            # chromadb takes most of a second to import, and not every command needs vectors.
            import chromadb  # noqa: PLC0415
            from chromadb.config import Settings  # noqa: PLC0415
            from chromadb.errors import NotFoundError  # noqa: PLC0415

            if self._client is None:
                try:
                    self._make_catalogue()
                    self._path = take_path(self._folder)
                    self._client = cast("Client", chromadb.PersistentClient(
                        self._path, settings=Settings(anonymized_telemetry=False)))
                except (AttributeError, ValueError, sqlite3.Error) as error:
                    # How chromadb ends when it cleans up after a start that failed.
                    give_back(self._path)
                    raise self._unusable(error) from error
            try:
                # "Get or create" locks Chroma's catalogue for writing even where there is nothing to create.
                self._collections[kind] = self._client.get_collection(kind, embedding_function=None)
            except NotFoundError:
                self._collections[kind] = self._client.get_or_create_collection(
                    kind, embedding_function=None, configuration={"hnsw": {"space": "cosine", "ef_search": _EF_SEARCH,
                                                                           "sync_threshold": _SYNC_FIRST}})
        return self._collections[kind]

    def _make_catalogue(self) -> None:
        """Make the empty file that Chroma's catalogue is to stand in: its page size is set before its tables."""
        path = self._folder / "chroma.sqlite3"
        with unused(self._folder) as free:
            if not free or path.is_file():
                return
            self._folder.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(path, timeout=30)) as catalogue:
                catalogue.execute(f"PRAGMA page_size={_PAGE_BYTES}")
                catalogue.execute("VACUUM")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        from chromadb.errors import ChromaError  # noqa: PLC0415

        try:
            yield
        except ChromaError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> StoreError:
        return StoreError(f"the vectors in {self._folder} cannot be read or written ({error}): free space if the "
                          "disk is full, else run `banyan reindex`; the ledger has all that it takes")

    def stand(self) -> bool:
        """Whether there are vectors, as far as Chroma's catalogue and the form of its index files tell."""
        path = self._folder / "chroma.sqlite3"
        if not path.is_file():
            return False
        try:
            with unused(self._folder) as free:
                if free:
                    with closing(sqlite3.connect(path)) as catalogue:
                        catalogue.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            return True  # another process holds it: busy is not damaged
        except sqlite3.DatabaseError:
            return False
        return not damages(self._folder)

    def missing(self, kind: Kind, ids: Sequence[str]) -> list[str]:
        """Which of some ids have no vector yet, in their order."""
        if self._kept is not None:
            kept = self._kept.setdefault(kind, {})
            kept.update(self._found(kind, [one for one in ids if one not in kept]))
            return [one for one in ids if one not in kept]
        known: set[str] = set()
        for page in _pages(ids):
            known.update(self._get(kind, page)["ids"])
        return [one for one in ids if one not in known]

    def _get(self, kind: Kind, ids: list[str], *include: Literal["embeddings"]) -> "GetResult":
        return self._read(kind, lambda collection: collection.get(ids=ids, include=list(include)))

    def _found(self, kind: Kind, ids: Sequence[str]) -> dict[str, Vectors]:
        """The vectors of those of some ids that have one."""
        found: dict[str, Vectors] = {}
        for page in _pages(ids):
            got = self._get(kind, page, "embeddings")
            embeddings = got["embeddings"] if got["embeddings"] is not None else ()
            found.update(zip(got["ids"], np.asarray(embeddings, np.float32), strict=True))
        return found

    def put(self, kind: Kind, ids: Sequence[str], texts: Sequence[str]) -> int:
        """Embed and store the texts of those ids that have no vector yet.

        Args:
            kind: the collection.
            ids: distinct ids.
            texts: the text of each.

        Returns:
            How many were added.
        """
        by_id = dict(zip(ids, texts, strict=True))
        new = self.missing(kind, list(by_id))
        for page in _pages(new):
            vectors = self._embedder.encode([by_id[one] for one in page])
            self._upsert(kind, page, cast("list[Sequence[float]]", vectors))
            self._set_pace(kind)
        return len(new)

    def _upsert(self, kind: Kind, ids: list[str], vectors: "list[Sequence[float]]") -> None:
        self._write(kind, lambda collection: collection.upsert(ids=ids, embeddings=vectors))

    def _remove(self, kind: Kind, ids: list[str]) -> None:
        self._write(kind, lambda collection: collection.delete(ids=ids))

    def _set_pace(self, kind: Kind) -> None:
        """Let Chroma write a collection's index as often as its size is worth."""
        size = self._read(kind, lambda collection: collection.count())
        pace = self._collection(kind).configuration_json["hnsw"]["sync_threshold"]
        wanted = max(_SYNC_LEAST, size // _SYNC_SHARE)
        if size >= _SYNC_FIRST and wanted > pace * _SYNC_TOLERANCE:
            # An index that is loaded keeps its pace.
            self.close()
            # Chroma warns of what it notes itself of a collection without an embedding function.
            with ignoring(DeprecationWarning):
                self._write(kind, lambda collection: collection.modify(
                    configuration={"hnsw": {"sync_threshold": wanted}}))

    def drop(self, kind: Kind, ids: Iterable[str]) -> None:
        """Remove the vectors of some ids, as far as they are there."""
        for page in _pages(sorted(ids)):
            self._remove(kind, page)

    def ids(self, kind: Kind) -> set[str]:
        """All ids that have a vector."""
        return set(self._read(kind, lambda collection: collection.get(include=[])["ids"]))

    def get(self, kind: Kind, ids: Sequence[str]) -> Vectors:
        """The vectors of some ids.

        Returns:
            float32 array of shape (len(ids), d), in the order of the ids.

        Raises:
            StoreError: some have none; `banyan reindex` mends that.
        """
        # Kept for once: the caller has them now.
        kept = {} if self._kept is None else self._kept.pop(kind, {})
        found = {one: kept[one] for one in ids if one in kept}
        found |= self._found(kind, [one for one in dict.fromkeys(ids) if one not in found])
        absent = [one for one in ids if one not in found]
        if absent:
            raise StoreError(f"{len(absent)} of the {kind} have no vector; run `banyan reindex`")
        if not ids:
            return np.zeros((0, self._embedder.dimension), np.float32)
        return np.stack([found[one] for one in ids])

    def kept(self, texts: Sequence[str]) -> Vectors:
        """The vectors of some sentences: most of those asked for the last times are not made again.

        Others are let go when they are more than these.

        Returns:
            float32 array of shape (len(texts), d).
        """
        ids = [content_id("sentence", text) for text in texts]
        wanted = dict(zip(ids, texts, strict=True))
        new = self.missing("sentences", list(wanted))
        if len(new) * _MADE_AGAIN > len(wanted):
            self.put("sentences", new, [wanted[one] for one in new])
            others = self.ids("sentences") - wanted.keys()
            if len(others) > len(wanted):
                self.drop("sentences", others)
            return self.get("sentences", ids)
        vectors = self._found("sentences", list(wanted))
        if new:
            vectors |= zip(new, self._embedder.encode([wanted[one] for one in new]), strict=True)
        return np.stack([vectors[one] for one in ids]) if ids else np.zeros((0, self._embedder.dimension), np.float32)

    def nearest(self, kind: Kind, queries: Vectors, limit: int) -> list[list[tuple[str, float]]]:
        """The nearest ids to each query.

        Args:
            kind: the collection.
            queries: unit vectors, shape (n, d).
            limit: how many for each.

        Returns:
            For each query (id, cosine similarity), best first, equal ones by id.
        """
        if not len(queries):
            return []
        found = self._read(kind, lambda collection: collection.query(
            query_embeddings=cast("list[Sequence[float]]", queries), n_results=limit, include=["distances"]))
        distances = found["distances"] or []
        return [sorted(((one, 1.0 - float(d)) for one, d in zip(ids, row, strict=True)),
                       key=lambda item: (-item[1], item[0]))
                for ids, row in zip(found["ids"], distances, strict=True)]

    def clear(self) -> None:
        """Remove all vectors: the first half of a reindex."""
        for kind in (*KINDS, "sentences"):
            self._collection(kind)
            cast("Client", self._client).delete_collection(kind)
        self._collections.clear()

    def close(self) -> None:
        """Let go of the files."""
        with self._lock:
            self._retire()
            while self._retired:
                client, path = self._retired.pop()
                client.close()
                give_back(path)

    def move(self, folder: Path) -> None:
        """Go on with the vectors in another folder."""
        self.close()
        self._folder = folder


def damaged_files(folder: Path) -> list[str]:
    """What is wrong with a folder of vectors, as far as its files tell without being loaded.

    Args:
        folder: Chroma's folder; one that is missing was not written yet, or is made again.

    Returns:
        A line for each damage, which names the file.
    """
    path = folder / "chroma.sqlite3"
    if not folder.is_dir():
        return []
    if not path.is_file() or not path.stat().st_size:
        return [f"{path} is {'empty' if path.is_file() else 'missing'}"]
    try:
        with unused(folder) as free:
            if not free:
                return [f"{folder / line}" for line in damages(folder)]
            with closing(sqlite3.connect(path, timeout=30)) as catalogue:
                lines = [str(row[0]) for row in catalogue.execute("PRAGMA integrity_check")]
    except sqlite3.OperationalError as error:
        raise StoreError(f"{path} cannot be read ({error}): wait until the process that writes it has ended") from error
    except sqlite3.DatabaseError as error:
        lines = [str(error)]
    return [*(f"{path} is damaged: {line}" for line in lines if line != "ok"),
            *(f"{folder / line}" for line in damages(folder))]


def _pages(ids: Sequence[str]) -> Iterable[list[str]]:
    for start in range(0, len(ids), _PAGE):
        yield list(ids[start : start + _PAGE])
