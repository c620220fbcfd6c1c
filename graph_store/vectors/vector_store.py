"""Store vectors in Chroma by kind, with ids that are hashes of content.

Vectors are derived from the ledger and the graph. The same id always stands for the same text, so a stored vector is
never out of date.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ...models.embedding.embedder import Embedder, Vectors
from ...runtime.threads import check_cancelled
from ...schemas.naming import content_id
from ..layout import Layout
from ..ledger.database import Database
from ..store_errors import StoreError
from .chroma_collections import KINDS, ChromaCollections, Kind
from .chroma_folder import FolderCollections
from .chroma_server import ServerCollections

if TYPE_CHECKING:
    from chromadb.api.types import GetResult

__all__ = ["KINDS", "Kind", "VectorStore"]

IDENTITY = "vectors_identity"
"""The setting with the knowledge base's identity on servers."""

# The number of ids in one call. Chroma's limit is about 5,461 (SQLite's variables); 1,000 also keeps memory small.
_PAGE = 1000
_MANY = 10_000
"""With more vectors than this, Chroma is closed to free their memory, although opening it again takes time."""


def collections_of(layout: Layout, database: Database, fingerprint: str) -> ChromaCollections:
    """Return the collections of a knowledge base for an embedding model, in its folder or on its server."""
    model = content_id("model", fingerprint)
    if layout.server is None:
        return FolderCollections(layout.vectors, model)
    return ServerCollections(layout.server, _scope(layout, database), model)


def _scope(layout: Layout, database: Database) -> str:
    """Return an id that distinguishes this knowledge base from all others on a server, even those of the same name."""
    if not database.notes("settings").get(IDENTITY):
        with database.transaction():
            # Look again inside the transaction, because another process may have stored an identity meanwhile.
            database.note("settings", **{IDENTITY: database.notes("settings").get(IDENTITY) or uuid.uuid4().hex})
    return content_id("vectors", database.notes("settings")[IDENTITY],
                      database.identity or str(layout.root.stat().st_ino))


class VectorStore:
    """The vectors of one knowledge base."""

    def __init__(self, collections: ChromaCollections, embedder: Embedder) -> None:
        """Use the given collections, which may be empty."""
        self.collections = collections
        self._embedder = embedder
        self._places: dict[Kind, dict[str, str]] = {}
        """For each kind: the part that has an id's vector, by id. Read at first use, and forgotten by `close`."""

    def ids(self, kind: Kind) -> set[str]:
        """Return all ids of a kind that have a vector."""
        return set(self._parts_by_id(kind))

    def _parts_by_id(self, kind: Kind) -> dict[str, str]:
        """Return the part that has each id's vector, by id; ids without a vector are not in it."""
        if kind not in self._places:
            self._places[kind] = {
                key: part for part in self.collections.parts(kind)
                for key in self.collections.read(part, lambda collection: collection.get(include=[])["ids"])}
        return self._places[kind]

    def missing(self, kind: Kind, ids: Sequence[str]) -> list[str]:
        """Return the ids without a vector, in the given order."""
        part_of = self._parts_by_id(kind)
        return [key for key in ids if key not in part_of]

    def pages(self, kind: Kind, ids: Sequence[str]) -> Iterator[tuple[list[str], Vectors]]:
        """Yield the vectors of the ids that have one, in pages and in any order.

        Each page is n ids and their vectors, shape (n, d).
        """
        if kind in self._places and self.missing(kind, ids):
            self._places.pop(kind)  # read again, because another process may have written the missing ones
            self.collections.close()
        for part, page in self._split(kind, ids):
            result = self._read(part, page)
            if result["ids"]:
                yield result["ids"], np.asarray(result["embeddings"], np.float32)
        if len(ids) > _MANY:
            self.collections.close()

    def _read(self, part: str, ids: list[str]) -> "GetResult":
        return self.collections.read(part, lambda collection: collection.get(ids=ids, include=["embeddings"]))

    def _split(self, kind: Kind, ids: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
        """Yield the ids that have a vector in pages, each with the part that has the page's vectors."""
        part_of, ids_by_part = self._parts_by_id(kind), dict[str, list[str]]()
        for key in ids:
            if key in part_of:
                ids_by_part.setdefault(part_of[key], []).append(key)
        for part, part_ids in ids_by_part.items():
            yield from ((part, page) for page in pages_of(part_ids))

    def found(self, kind: Kind, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors of the ids that have one."""
        return {key: vector for keys, vectors in self.pages(kind, ids)
                for key, vector in zip(keys, vectors, strict=True)}

    def put(self, kind: Kind, ids: Sequence[str], embed: Callable[[list[str]], Vectors]) -> None:
        """Store vectors for those ids that have none.

        Args:
            kind: the kind of the ids.
            ids: the ids.
            embed: returns the vectors of n ids, shape (n, d).

        Raises:
            asyncio.CancelledError: the run was cancelled; some vectors may be stored.
        """
        for page in pages_of(self.missing(kind, ids)):
            check_cancelled()
            vectors = embed(page)
            with self._changing(kind) as part_of:
                part_of.update(dict.fromkeys(page, self.collections.upsert(kind, page, vectors)))

    @contextmanager
    def _changing(self, kind: Kind) -> Iterator[dict[str, str]]:
        """Yield the part of each id's vector, for the caller to update; if the caller fails, it is read again later."""
        try:
            yield self._parts_by_id(kind)
        except BaseException:
            self._places.pop(kind, None)
            raise

    def drop(self, kind: Kind, ids: Iterable[str]) -> None:
        """Remove the vectors of ids that have one."""
        # `_split` leaves out ids without a vector: Chroma logs every removal, even of ids that it does not have.
        with self._changing(kind) as part_of:
            for part, page in self._split(kind, sorted(ids)):
                self._remove(part, page)
                for key in page:
                    del part_of[key]

    def _remove(self, part: str, ids: list[str]) -> None:
        self.collections.write(part, lambda collection: collection.delete(ids=ids))

    def clear(self) -> None:
        """Remove all vectors, including those of other models."""
        self._places.clear()
        self.collections.remove()

    def get(self, kind: Kind, ids: Sequence[str]) -> Vectors:
        """Return the vectors of ids.

        Returns:
            float32 array of shape (len(ids), d), in the order of the ids.

        Raises:
            StoreError: an id has no vector; `banyan reindex` fixes that.
        """
        rows = {key: row for row, key in enumerate(dict.fromkeys(ids))}  # each id once
        result, count = np.zeros((0, self._embedder.dimension), np.float32), 0
        for keys, vectors in self.pages(kind, list(rows)):
            if not len(result):
                result = np.zeros((len(rows), vectors.shape[1]), np.float32)
            result[[rows[key] for key in keys]] = vectors
            count += len(keys)
        if count < len(rows):
            raise StoreError(f"{len(rows) - count} of the {kind} have no vector; run `banyan reindex`")
        return result if len(rows) == len(ids) else result[[rows[key] for key in ids]]

    def release(self) -> None:
        """Free the memory of large indexes; the store still knows in which part each vector is."""
        if sum(map(len, self._places.values())) > _MANY:
            self.collections.close()

    def close(self) -> None:
        """Close the collections and forget what they contain, because other processes may change them from now on."""
        self._places.clear()
        self.collections.close()


def pages_of(ids: Sequence[str]) -> Iterable[list[str]]:
    """Yield the ids in lists that are small enough for one call to Chroma."""
    for start in range(0, len(ids), _PAGE):
        yield list(ids[start:start + _PAGE])
