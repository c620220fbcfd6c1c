"""Store vectors in Chroma, in one collection for each kind, with ids that are hashes of content.

Vectors are derived from the ledger and the graph. The embedded text is a function of the id, so an existing id
is up to date, and writing it again changes nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ...models.embedding.embedder import Embedder, Vectors, WrappedEmbedder
from ...runtime.threads import check_cancelled
from ...schemas.naming import content_id
from ..store_errors import StoreError
from .backend import KINDS, Collections, Kind

if TYPE_CHECKING:
    from chromadb.api.types import GetResult

__all__ = ["KINDS", "Kind", "VectorStore"]

# Chroma limits one call to about 5,461 items (SQLite's variables); 1,000 also keeps memory small.
_PAGE = 1000
_MANY = 10_000
"""More vectors than this take so much memory that opening Chroma again costs less."""


class VectorStore:
    """The vectors of one knowledge base."""

    def __init__(self, collections: Collections, embedder: Embedder) -> None:
        """Use the given collections, which may be empty."""
        self.collections = collections
        self._embedder = embedder
        self._ids: dict[Kind, set[str]] = {}
        """For each kind the ids that have a vector, read at first use and until `close`."""

    def ids(self, kind: Kind) -> set[str]:
        """Return all ids of a kind that have a vector."""
        return set(self._known(kind))

    def _known(self, kind: Kind) -> set[str]:
        if kind not in self._ids:
            self._ids[kind] = set(self.collections.read(kind, lambda collection: collection.get(include=[])["ids"]))
        return self._ids[kind]

    def missing(self, kind: Kind, ids: Sequence[str]) -> list[str]:
        """Return the ids without a vector, in the given order."""
        known = self._known(kind)
        return [key for key in ids if key not in known]

    def pages(self, kind: Kind, ids: Sequence[str]) -> Iterator[tuple[list[str], Vectors]]:
        """Yield the vectors of the ids that have one, page by page in any order: some ids, and theirs, shape (n, d)."""
        if kind in self._ids and self.missing(kind, ids):
            self._ids.pop(kind)  # another process may have written them
            self.collections.close()
        known = self._known(kind)
        for page in pages_of([key for key in ids if key in known]):
            got = self._read(kind, page)
            if got["ids"]:
                yield got["ids"], np.asarray(got["embeddings"], np.float32)
        if len(ids) > _MANY:
            self.collections.close()

    def _read(self, kind: Kind, ids: list[str]) -> "GetResult":
        return self.collections.read(kind, lambda collection: collection.get(ids=ids, include=["embeddings"]))

    def found(self, kind: Kind, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors of the ids that have one."""
        return {key: vector for keys, vectors in self.pages(kind, ids)
                for key, vector in zip(keys, vectors, strict=True)}

    def put(self, kind: Kind, ids: Sequence[str], texts: Sequence[str], embedder: Embedder | None = None) -> None:
        """Embed and store the texts of ids without a vector.

        Args:
            kind: the collection.
            ids: the ids of the texts.
            texts: the text to embed for each id.
            embedder: computes the vectors; by default the knowledge base's.

        Raises:
            asyncio.CancelledError: the run was cancelled; some vectors may be stored.
        """
        text = dict(zip(ids, texts, strict=True))
        for page in pages_of(self.missing(kind, list(text))):
            check_cancelled()
            self._upsert(kind, page, (embedder or self._embedder).encode([text[key] for key in page]))

    def _upsert(self, kind: Kind, ids: list[str], vectors: Vectors) -> None:
        with self._changing(kind) as known:
            self.collections.upsert(kind, ids, vectors)
            known.update(ids)

    @contextmanager
    def _changing(self, kind: Kind) -> Iterator[set[str]]:
        """Yield the ids that have a vector, to be updated; after a failure they have to be read again."""
        try:
            yield self._known(kind)
        except BaseException:
            self._ids.pop(kind, None)
            raise

    def drop(self, kind: Kind, ids: Iterable[str]) -> None:
        """Remove the vectors of ids that have one."""
        with self._changing(kind) as known:
            # Only existing ids, because Chroma logs every removal, even of ids that it does not have.
            for page in pages_of(sorted(known.intersection(ids))):
                self._remove(kind, page)
                known.difference_update(page)

    def _remove(self, kind: Kind, ids: list[str]) -> None:
        self.collections.write(kind, lambda collection: collection.delete(ids=ids))

    def clear(self) -> None:
        """Remove all vectors, including those of other models, and prepare to store others."""
        self._ids.clear()
        self.collections.clear()

    def get(self, kind: Kind, ids: Sequence[str]) -> Vectors:
        """Return the vectors of ids.

        Returns:
            float32 array of shape (len(ids), d), in the order of the ids.

        Raises:
            StoreError: an id has no vector; `banyan reindex` fixes that.
        """
        rows = {key: row for row, key in enumerate(dict.fromkeys(ids))}
        stored, known = np.zeros((0, self._embedder.dimension), np.float32), 0
        for keys, vectors in self.pages(kind, list(rows)):
            if not len(stored):
                stored = np.zeros((len(rows), vectors.shape[1]), np.float32)
            stored[[rows[key] for key in keys]] = vectors
            known += len(keys)
        if known < len(rows):
            raise StoreError(f"{len(rows) - known} of the {kind} have no vector; run `banyan reindex`")
        return stored if len(rows) == len(ids) else stored[[rows[key] for key in ids]]

    def release(self) -> None:
        """Give the memory of large indexes back; which ids have a vector stays known."""
        if sum(map(len, self._ids.values())) > _MANY:
            self.collections.close()

    def close(self) -> None:
        """Close the collections, which other processes may change from then on."""
        self._ids.clear()
        self.collections.close()


def pages_of(ids: Sequence[str]) -> Iterable[list[str]]:
    """Yield ids in lists that are small enough for one call."""
    for start in range(0, len(ids), _PAGE):
        yield list(ids[start:start + _PAGE])


class CachedEmbedder(WrappedEmbedder):
    """An `Embedder` that caches its vectors in Chroma, under ids made from model and text. For writers only.

    It is for texts that each build looks at again: labels that wait for the schema, and the words around them.
    """

    def __init__(self, store: VectorStore, embedder: Embedder) -> None:
        """Cache what an embedder makes in the vectors of a knowledge base."""
        super().__init__(embedder)
        self._store = store

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of some texts; those that Chroma has not are made and stored; see `Embedder.encode`."""
        ids = [content_id("text", self.fingerprint, text) for text in texts]
        self._store.put("texts", ids, texts, self._embedder)
        return self._store.get("texts", ids)
