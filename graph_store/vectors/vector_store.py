"""Store vectors in Chroma, in one collection for each kind, with ids that are hashes of content.

Vectors are derived from the ledger and the graph. The embedded text is a function of the id, so an existing id
is up to date, and writing it again changes nothing.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from ...models.embedding.embedder import Embedder, Vectors
from ...runtime.cancellation import current
from ..store_errors import StoreError
from .backend import KINDS, Collections, Kind

if TYPE_CHECKING:
    from chromadb.api.types import GetResult

__all__ = ["KINDS", "Kind", "VectorStore"]

# Chroma limits one call to about 5,461 items (SQLite's variables); 1,000 also keeps memory small.
_PAGE = 1000


class VectorStore:
    """The vectors of one knowledge base."""

    def __init__(self, collections: Collections, embedder: Embedder) -> None:
        """Use the given collections, which may be empty."""
        self.collections = collections
        self._embedder = embedder

    def missing(self, kind: Kind, ids: Sequence[str]) -> list[str]:
        """Return the ids without a vector, in the given order."""
        present = {key for page in _pages(ids) for key in self._read(kind, page)["ids"]}
        return [key for key in ids if key not in present]

    def found(self, kind: Kind, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors of the ids that have one."""
        vectors: dict[str, Vectors] = {}
        for page in _pages(ids):
            got = self._read(kind, page, "embeddings")
            embeddings = got["embeddings"] if got["embeddings"] is not None else ()
            vectors.update(zip(got["ids"], np.asarray(embeddings, np.float32), strict=True))
        return vectors

    def _read(self, kind: Kind, ids: list[str], *include: Literal["embeddings"]) -> "GetResult":
        return self.collections.read(kind, lambda collection: collection.get(ids=ids, include=[*include]))

    def put(self, kind: Kind, ids: Sequence[str], texts: Sequence[str], embedder: Embedder | None = None) -> None:
        """Embed and store the texts of ids without a vector.

        Args:
            kind: the collection.
            ids: the ids of the texts.
            texts: the text to embed for each id.
            embedder: computes the vectors; by default the knowledge base's.

        Raises:
            CallCancelled: the run was cancelled; some vectors may be stored.
        """
        text = dict(zip(ids, texts, strict=True))
        for page in _pages(self.missing(kind, list(text))):
            current().check()
            self._upsert(kind, page, (embedder or self._embedder).encode([text[key] for key in page]))

    def _upsert(self, kind: Kind, ids: list[str], vectors: Vectors) -> None:
        rows = cast("list[Sequence[float]]", vectors)
        self.collections.write(kind, lambda collection: collection.upsert(ids=ids, embeddings=rows))
        self.collections.adjust_sync(kind)

    def drop(self, kind: Kind, ids: Iterable[str]) -> None:
        """Remove the vectors of ids that have one."""
        # Only existing ids, because Chroma logs every removal, even of ids that it does not have.
        wanted = sorted(ids)
        absent = set(self.missing(kind, wanted))
        for page in _pages([key for key in wanted if key not in absent]):
            self._remove(kind, page)

    def _remove(self, kind: Kind, ids: list[str]) -> None:
        self.collections.write(kind, lambda collection: collection.delete(ids=ids))

    def ids(self, kind: Kind) -> set[str]:
        """Return all ids of a kind that have a vector."""
        return set(self.collections.read(kind, lambda collection: collection.get(include=[])["ids"]))

    def get(self, kind: Kind, ids: Sequence[str]) -> Vectors:
        """Return the vectors of ids.

        Returns:
            float32 array of shape (len(ids), d), in the order of the ids.

        Raises:
            StoreError: an id has no vector; `banyan reindex` fixes that.
        """
        vectors = self.found(kind, list(dict.fromkeys(ids)))
        absent = [key for key in ids if key not in vectors]
        if absent:
            raise StoreError(f"{len(absent)} of the {kind} have no vector; run `banyan reindex`")
        if not ids:
            return np.zeros((0, self._embedder.dimension), np.float32)
        return np.stack([vectors[key] for key in ids])

    def close(self) -> None:
        """Close the collections."""
        self.collections.close()


def _pages(ids: Sequence[str]) -> Iterable[list[str]]:
    for start in range(0, len(ids), _PAGE):
        yield list(ids[start:start + _PAGE])
