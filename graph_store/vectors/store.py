"""Vectors in Chroma: one collection for each kind of thing, ids from content.

Derived from the ledger and the graph. What is embedded for an id is a function of the id, so an id
that is there needs no second look, and writing it twice changes nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from ...models.embedding.embedder import Embedder, Vectors
from ...runtime.cancellation import current
from ..errors import StoreError
from .backend import KINDS, Generation, Kind
from .vector_writer import CollectionWriter, VectorWriter
from .vectors_apart import AVAILABLE, VectorsApart

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection
    from chromadb.api.types import GetResult

_T = TypeVar("_T")

__all__ = ["KINDS", "Kind", "Put", "VectorStore"]

Put = tuple[Kind, Sequence[str], Sequence[str]]
"""Ids of a kind, and the text of each."""

# Chroma limits one call to about 5,461 items (SQLite's variables); 1,000 keeps memory small as well.
_PAGE = 1000
# Whoever cancels a run waits for what is being embedded ahead of its time: a fifth of a second.
_PAGE_AHEAD = 16


class VectorStore:
    """The vectors of one knowledge base."""

    def __init__(self, generation: Generation, embedder: Embedder) -> None:
        """Vectors that stand in a generation, or are to."""
        self.generation = generation
        self._embedder = embedder
        self._kept: dict[Kind, dict[str, Vectors]] | None = None
        self._apart: VectorsApart | None = None
        self._ahead: dict[tuple[Kind, str], Vectors] = {}

    def freeze(self) -> None:
        """For reading alone: what `missing` finds is there for `get`, whatever a writer drops in between."""
        self._kept = {}

    def write_apart(self) -> None:
        """From here on a process of its own writes what stands in a folder, until something else is asked of it.

        Where there can be none, this process goes on.
        """
        if AVAILABLE and self._apart is None and self.generation.folder is not None:
            self.generation.close()
            self._apart = VectorsApart(self.generation.folder)

    @property
    def _writer(self) -> VectorWriter:
        return self._apart or CollectionWriter(self.generation)

    def flush(self) -> None:
        """All that was to be written is written.

        Raises:
            StoreError: something of it could not be.
        """
        self._writer.flush()

    def write_here(self) -> None:
        """From here on this process writes, when the other has done what it was told."""
        apart, self._apart = self._apart, None
        if apart is not None:
            apart.close()

    def missing(self, kind: Kind, ids: Sequence[str]) -> list[str]:
        """Which of some ids have no vector yet, in their order."""
        if self._kept is not None:
            kept = self._kept.setdefault(kind, {})
            kept.update(self._found(kind, [one for one in ids if one not in kept]))
            return [one for one in ids if one not in kept]
        known = self._present(kind, ids)
        return [one for one in ids if one not in known]

    def _present(self, kind: Kind, ids: Sequence[str]) -> set[str]:
        return {one for page in _pages(ids) for one in self._writer.present(kind, page)}

    def _read(self, kind: Kind, ask: "Callable[[Collection], _T]") -> _T:
        """What is asked of a collection; it needs a client of this process."""
        self.write_here()
        return self.generation.read(kind, ask)

    def _get(self, kind: Kind, ids: list[str]) -> "GetResult":
        return self._read(kind, lambda collection: collection.get(ids=ids, include=["embeddings"]))

    def _found(self, kind: Kind, ids: Sequence[str]) -> dict[str, Vectors]:
        """The vectors of those of some ids that have one."""
        found: dict[str, Vectors] = {}
        for page in _pages(ids):
            got = self._get(kind, page)
            embeddings = got["embeddings"] if got["embeddings"] is not None else ()
            found.update(zip(got["ids"], np.asarray(embeddings, np.float32), strict=True))
        return found

    def put(self, kind: Kind, ids: Sequence[str], texts: Sequence[str]) -> int:
        """Embed and store the texts of those ids that have no vector yet (see `put_all`); returns how many."""
        return self.put_all([(kind, ids, texts)])

    def put_all(self, wanted: Sequence[Put]) -> int:
        """Embed and store the texts of those ids that have no vector yet.

        Args:
            wanted: kinds, distinct ids of each, and the text of each id.

        Returns:
            How many were added.

        Raises:
            CallCancelled: the run was cancelled; some may be there.
        """
        # All are looked up first: a process that writes apart is not to be waited for between them.
        new = [(kind, dict(zip(ids, texts, strict=True)), self.missing(kind, ids)) for kind, ids, texts in wanted]
        for kind, by_id, absent in new:
            for page in _pages(absent):
                current().check()
                self._writer.upsert(kind, page, self._embedded(kind, page, by_id))
        return sum(len(absent) for _, _, absent in new)

    def embed_ahead(self, wanted: Put) -> None:
        """Embed the texts of ids that are soon to be put, and remember the vectors until then (see `forget_ahead`).

        Raises:
            CallCancelled: the run was cancelled.
        """
        kind, ids, texts = wanted
        by_id = dict(zip(ids, texts, strict=True))
        for page in _pages(ids, _PAGE_AHEAD):
            current().check()
            self._ahead.update(zip([(kind, one) for one in page], self._embedded(kind, page, by_id), strict=True))

    def _embedded(self, kind: Kind, ids: list[str], texts: Mapping[str, str]) -> Vectors:
        found = {one: self._ahead.pop((kind, one)) for one in ids if (kind, one) in self._ahead}
        new = [one for one in ids if one not in found]
        if new:
            found.update(zip(new, self._embedder.encode([texts[one] for one in new]), strict=True))
        return np.stack([found[one] for one in ids])

    def forget_ahead(self) -> None:
        """Nothing that was embedded ahead is put any more."""
        self._ahead.clear()

    def drop(self, kind: Kind, ids: Iterable[str]) -> None:
        """Remove the vectors of some ids, as far as they are there."""
        # Chroma writes a note of what it is to remove, whether it has it or not.
        for page in _pages(sorted(self._present(kind, sorted(ids)))):
            self._writer.remove(kind, page)

    def ids(self, kind: Kind) -> set[str]:
        """All ids that have a vector."""
        return set(self._read(kind, lambda collection: collection.get(include=[])["ids"]))

    def get(self, kind: Kind, ids: Sequence[str]) -> Vectors:
        """The vectors of some ids.

        Returns:
            float32 array of shape (len(ids), d), in the order of the ids.

        Raises:
            StoreError: some have none; `banyan reindex` fixes that.
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

    def close(self) -> None:
        """Let go of what is open."""
        self.write_here()
        self.generation.close()

    def move(self, generation: Generation) -> None:
        """Go on with the vectors of another generation."""
        self.close()
        self.generation = generation


def _pages(ids: Sequence[str], size: int = _PAGE) -> Iterable[list[str]]:
    for start in range(0, len(ids), size):
        yield list(ids[start : start + size])
