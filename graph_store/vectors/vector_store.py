"""Store vectors in Chroma by kind, with ids that are hashes of content, so that none is ever out of date."""

import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...models.embedding.embedder import Embedder, Vectors
from ...schemas.naming import content_id
from ..layout import Layout
from ..ledger.database import Database
from ..store_errors import StoreError
from .chroma_collections import KINDS, ChromaCollections, FolderCollections, Kind, ServerCollections

if TYPE_CHECKING:
    from chromadb.api.types import GetResult, Include

__all__ = ["KINDS", "Kind", "VectorStore"]

IDENTITY = "vectors_identity"
"""The setting with the knowledge base's identity on servers."""

# The number of ids in one call. Chroma's limit is about 5,461 (SQLite's variables); 1,000 also keeps memory small.
_PAGE = 1000


def collections_of(layout: Layout, database: Database, fingerprint: str) -> ChromaCollections:
    """Return the collections of a knowledge base for an embedding model, in its folder or on its server."""
    model = content_id("model", fingerprint)
    if layout.server is None:
        return FolderCollections(layout.vectors, model)
    if not database.notes("settings").get(IDENTITY):
        with database.transaction():
            # Look again inside the transaction, because another process may have stored an identity meanwhile.
            database.note("settings", **{IDENTITY: database.notes("settings").get(IDENTITY) or uuid.uuid4().hex})
    # It distinguishes this knowledge base from all others on a server, even those of the same name.
    scope = content_id("vectors", database.notes("settings")[IDENTITY],
                       database.identity or str(layout.root.stat().st_ino))
    return ServerCollections(layout.server, scope, model)


class VectorStore:
    """The vectors of one knowledge base."""

    def __init__(self, collections: ChromaCollections, embedder: Embedder) -> None:
        self.collections = collections
        self._embedder = embedder

    def ids(self, kind: Kind) -> set[str]:
        """Return all ids of a kind that have a vector."""
        return set(self.collections.read(kind, lambda collection: collection.get(include=[])["ids"]))

    def read_one(self, kind: Kind) -> None:
        """Read a vector of a kind, if there is any, which loads its index; raise StoreError if that fails."""
        self.collections.read(kind, lambda collection: collection.get(limit=1, include=["embeddings"]))

    def missing(self, kind: Kind, ids: Iterable[str]) -> list[str]:
        """Return the ids without a vector, in the given order."""
        listed = list(ids)
        stored = {key for page in pages_of(listed) for key in self._read_vectors(kind, page, [])["ids"]}
        return [key for key in listed if key not in stored]

    def found(self, kind: Kind, ids: Iterable[str]) -> dict[str, Vectors]:
        """Return the vectors of the ids that have one."""
        vectors: dict[str, Vectors] = {}
        for page in pages_of(list(dict.fromkeys(ids))):
            found = self._read_vectors(kind, page, ["embeddings"])
            vectors |= zip(found["ids"], np.asarray(found["embeddings"], np.float32), strict=True)
        return vectors

    def get(self, kind: Kind, ids: Sequence[str]) -> Vectors:
        """Return the vectors of ids, shape (len(ids), d), in the order of the ids.

        Raises:
            StoreError: an id has no vector; `banyan reindex` fixes that.
        """
        vectors = self.found(kind, ids)
        if missing := set(ids).difference(vectors):
            raise StoreError(f"{len(missing)} of the {kind} have no vector; run `banyan reindex`")
        return (np.stack([vectors[key] for key in ids]) if ids
                else np.zeros((0, self._embedder.dimension), np.float32))

    def _read_vectors(self, kind: Kind, ids: list[str], include: "Include") -> "GetResult":
        return self.collections.read(kind, lambda collection: collection.get(ids=ids, include=include))

    def put(self, kind: Kind, ids: Sequence[str], vectors: Vectors) -> None:
        """Store the vectors of ids, shape (len(ids), d)."""
        for start in range(0, len(ids), _PAGE):
            self.collections.upsert(kind, ids[start:start + _PAGE], vectors[start:start + _PAGE])

    def drop(self, kind: Kind, ids: Iterable[str]) -> None:
        """Remove the vectors of ids, each of which has one."""
        for page in pages_of(sorted(ids)):
            self._remove_vectors(kind, page)

    def _remove_vectors(self, kind: Kind, ids: list[str]) -> None:
        self.collections.write(kind, lambda collection: collection.delete(ids=ids))

    def clear(self) -> None:
        """Remove all vectors, including those of other models."""
        self.collections.remove()

    def close(self) -> None:
        """Close the collections, because other processes may change them from now on."""
        self.collections.close()


def pages_of(ids: Sequence[str]) -> Iterable[list[str]]:
    """Yield the ids in lists that are small enough for one call to Chroma."""
    for start in range(0, len(ids), _PAGE):
        yield list(ids[start:start + _PAGE])
