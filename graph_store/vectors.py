"""Vectors in Chroma: one collection for each kind of thing, ids from content.

Derived from the ledger and the graph. What is embedded for an id is a function of the id, so an id
that is there needs no second look, and writing it twice changes nothing.
"""

import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from ..models.embedding import Embedder, Vectors
from .errors import StoreError

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection

Kind = Literal["entities", "triples", "relations", "communities", "chunks"]
KINDS: tuple[Kind, ...] = ("entities", "triples", "relations", "communities", "chunks")

# Chroma limits one call to about 5,461 items (SQLite's variables); 1,000 keeps memory small as well.
_PAGE = 1000
# hnswlib's own advice: ef of at least the number of neighbours asked for. On 16,684 triples 200 found
# 99.6 % of the exact 20 and of the exact 50 nearest.
_EF_SEARCH = 200


class VectorStore:
    """The vectors of one knowledge base."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        """Open the vectors in a folder, creating it where it is missing."""
        self._folder = folder
        self._embedder = embedder
        self._client: Client | None = None
        self._collections: dict[Kind, Collection] = {}

    def _collection(self, kind: Kind) -> "Collection":
        if kind not in self._collections:
            # chromadb takes most of a second to import, and not every command needs vectors.
            import chromadb  # noqa: PLC0415
            from chromadb.config import Settings  # noqa: PLC0415

            if self._client is None:
                try:
                    self._client = cast("Client", chromadb.PersistentClient(
                        str(self._folder), settings=Settings(anonymized_telemetry=False)))
                except (AttributeError, ValueError) as error:
                    # How chromadb ends when it cleans up after a start that failed.
                    raise self._unusable(error) from error
            self._collections[kind] = self._client.get_or_create_collection(
                kind, embedding_function=None, configuration={"hnsw": {"space": "cosine", "ef_search": _EF_SEARCH}})
        return self._collections[kind]

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
        """Whether there are vectors, as far as the catalogue of Chroma's own file tells."""
        path = self._folder / "chroma.sqlite3"
        if not path.is_file():
            return False
        try:
            with closing(sqlite3.connect(path)) as catalogue:
                catalogue.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            return True  # another process holds it: busy is not damaged
        except sqlite3.DatabaseError:
            return False
        return True

    def missing(self, kind: Kind, ids: Sequence[str]) -> list[str]:
        """Which of some ids have no vector yet, in their order."""
        known: set[str] = set()
        with self._explained():
            for page in _pages(ids):
                known.update(self._collection(kind).get(ids=page, include=[])["ids"])
        return [one for one in ids if one not in known]

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
            with self._explained():
                self._collection(kind).upsert(ids=page, embeddings=cast("list[Sequence[float]]", vectors))
        return len(new)

    def drop(self, kind: Kind, ids: Iterable[str]) -> None:
        """Remove the vectors of some ids, as far as they are there."""
        with self._explained():
            for page in _pages(sorted(ids)):
                self._collection(kind).delete(ids=page)

    def ids(self, kind: Kind) -> set[str]:
        """All ids that have a vector."""
        with self._explained():
            return set(self._collection(kind).get(include=[])["ids"])

    def get(self, kind: Kind, ids: Sequence[str]) -> Vectors:
        """The vectors of some ids.

        Returns:
            float32 array of shape (len(ids), d), in the order of the ids.

        Raises:
            StoreError: some have none; `banyan reindex` mends that.
        """
        found: dict[str, Vectors] = {}
        with self._explained():
            for page in _pages(list(dict.fromkeys(ids))):
                got = self._collection(kind).get(ids=page, include=["embeddings"])
                embeddings = got["embeddings"] if got["embeddings"] is not None else ()
                found.update(zip(got["ids"], np.asarray(embeddings, np.float32), strict=True))
        absent = [one for one in ids if one not in found]
        if absent:
            raise StoreError(f"{len(absent)} of the {kind} have no vector; run `banyan reindex`")
        if not ids:
            return np.zeros((0, self._embedder.dimension), np.float32)
        return np.stack([found[one] for one in ids])

    def nearest(self, kind: Kind, queries: Vectors, limit: int) -> list[list[tuple[str, float]]]:
        """The nearest ids to each query.

        Args:
            kind: the collection.
            queries: unit vectors, shape (n, d).
            limit: how many for each.

        Returns:
            For each query (id, cosine similarity), best first, equal ones by id.
        """
        with self._explained():
            size = self._collection(kind).count()
            if not size or not len(queries):
                return [[] for _ in queries]
            found = self._collection(kind).query(query_embeddings=cast("list[Sequence[float]]", queries),
                                                 n_results=min(limit, size), include=["distances"])
        distances = found["distances"] or []
        return [sorted(((one, 1.0 - float(d)) for one, d in zip(ids, row, strict=True)),
                       key=lambda item: (-item[1], item[0]))
                for ids, row in zip(found["ids"], distances, strict=True)]

    def clear(self) -> None:
        """Remove all vectors: the first half of a reindex."""
        for kind in KINDS:
            self._collection(kind)
            cast("Client", self._client).delete_collection(kind)
        self._collections.clear()

    def close(self) -> None:
        """Let go of the files."""
        self._collections.clear()
        if self._client is not None:
            self._client.close()
            self._client = None

    def discard(self) -> None:
        """Remove the folder with all in it: for one that cannot be read any more."""
        self.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _pages(ids: Sequence[str]) -> Iterable[list[str]]:
    for start in range(0, len(ids), _PAGE):
        yield list(ids[start : start + _PAGE])
