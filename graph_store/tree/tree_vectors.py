"""The vectors that the tree is made from, those of a large graph's entities kept in the ledger.

A build needs all of them, of which few are new, and Chroma takes 18 microseconds for each: of 2,400 entities 45 ms.
They stand in `kept_vectors` as one block for each build, which is written once: its text is the ids, one a line, its
vector all of theirs, one behind the other. What is wrong with a block is asked of Chroma again.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...models.embedding.embedder import Embedder, Vectors
from ..ledger.database import Database
from ..ledger.kept_vectors import LENGTH_ERROR
from ..vectors.store import Kind, VectorStore

_PURPOSE = "tree"
# Blocks hold what is gone as well; they are written as one again when that is more than what is there.
_MOST_KEPT = 2


class _Asked(NamedTuple):
    """What was asked for: ids, their vectors, the rows of those that were not kept, and how many rows were."""

    ids: Sequence[str]
    vectors: Vectors
    new: list[int]
    kept: int


class TreeVectors:
    """Vectors by kind and id, as `VectorStore` gives them."""

    def __init__(self, database: Database, store: VectorStore, embedder: Embedder) -> None:
        """Read the vectors of a store, made by an embedder."""
        self._db = database
        self._store = store
        self._embedder = embedder
        self._asked: _Asked | None = None

    def get(self, kind: Kind, ids: Sequence[str]) -> Vectors:
        """The vectors of some ids (see `VectorStore.get`)."""
        if kind != "entities":
            return self._store.get(kind, ids)
        place, kept = self._read()
        at = np.array([place.get(one, -1) for one in ids], np.intp)
        new: list[int] = np.flatnonzero(at < 0).tolist()
        vectors = kept[at] if len(kept) else np.zeros((len(ids), self._embedder.dimension), np.float32)
        if new:
            vectors[new] = self._store.get(kind, [ids[row] for row in new])
        self._asked = _Asked(ids, vectors, new, len(kept))
        return vectors

    def keep(self) -> None:
        """Keep the entities' vectors that were asked for last; part of the caller's transaction, if there is one."""
        if self._asked is None:
            return
        (ids, vectors, new, kept), self._asked = self._asked, None
        if kept + len(new) > _MOST_KEPT * len(ids):
            self.forget()
            new = list(range(len(ids)))
        if new:
            self._db.execute("INSERT OR REPLACE INTO kept_vectors VALUES (?, ?, ?, ?)", _PURPOSE,
                             "\n".join(ids[row] for row in new), self._embedder.fingerprint, vectors[new].tobytes())

    def forget(self) -> None:
        """Keep none."""
        self._db.execute("DELETE FROM kept_vectors WHERE purpose = ?", _PURPOSE)

    def _read(self) -> tuple[dict[str, int], Vectors]:
        """What is kept: the row of each id, and the rows."""
        ids, blocks, size = list[str](), list[Vectors](), self._embedder.dimension
        # In no order: to sort them, SQLite copies all blocks.
        for text, block in self._db.rows(
                "SELECT text, vector FROM kept_vectors WHERE purpose = ? AND model = ? AND typeof(vector) = 'blob'",
                _PURPOSE, self._embedder.fingerprint):
            own = text.split("\n")
            if len(block) == len(own) * size * np.dtype(np.float32).itemsize:
                ids += own
                blocks.append(np.frombuffer(block, np.float32).reshape(-1, size))
        kept = np.concatenate(blocks) if blocks else np.zeros((0, size), np.float32)
        # Compared so that what is no number at all counts as wrong, too.
        sound = np.abs(np.einsum("ij,ij->i", kept, kept) - 1) < LENGTH_ERROR
        return {one: row for row, (one, good) in enumerate(zip(ids, sound.tolist(), strict=True)) if good}, kept
