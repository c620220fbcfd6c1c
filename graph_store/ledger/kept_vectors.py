"""Vectors of texts that each build looks at again, kept in the ledger from one build to the next.

Growth of the schema looks at all labels that were ever asked for and at the words around them, the measure of
reliability at a sample of sentences; few of either are new. The ledger, because a further collection of Chroma's
has to be opened, which takes longer than reading them here. `tree_vectors` keeps entities' in the same table.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import numpy as np

from ...models.embedding.embedder import Embedder, RememberingEmbedder, Vectors
from .database import Database

Purpose = Literal["growth", "reliability"]
# Fewer new ones than one in so many are made again in each build rather than written: wherever they belong among the
# others a page is written. To make one takes 3 ms, so they are to stay few: of 128 sentences two.
_MADE_AGAIN = 64
LENGTH_ERROR = 1e-3


class KeptVectors:
    """The vectors kept for one purpose, and the embedder that is spared them."""

    def __init__(self, database: Database, purpose: Purpose, embedder: RememberingEmbedder) -> None:
        """Keep vectors for an embedder that remembers what it is told."""
        self._db = database
        self._purpose = purpose
        self._embedder = embedder

    @contextmanager
    def kept(self) -> Iterator[Embedder]:
        """An embedder for a block; when that ends the ledger has the vectors of nearly all that it was asked for.

        Others are let go when they are more than these.
        """
        before = self._read()
        self._embedder.remember(before)
        asked = _Asked(self._embedder)
        yield asked
        new, gone = sorted(asked.texts - before.keys()), sorted(before.keys() - asked.texts)
        if len(new) * _MADE_AGAIN > len(asked.texts):
            self._write(new, gone if len(gone) > len(asked.texts) else ())

    def _read(self) -> dict[str, Vectors]:
        rows = self._db.rows(
            "SELECT text, vector FROM kept_vectors WHERE purpose = ? AND model = ? AND typeof(vector) = 'blob' "
            "AND length(vector) = ?", self._purpose, self._embedder.fingerprint,
            self._embedder.dimension * np.dtype(np.float32).itemsize)
        found = {row["text"]: np.frombuffer(row["vector"], np.float32) for row in rows}
        # Compared so that what is no number at all counts as wrong, too.
        return {text: vector for text, vector in found.items() if abs(np.linalg.norm(vector) - 1) < LENGTH_ERROR}

    def _write(self, new: Sequence[str], gone: Sequence[str]) -> None:
        vectors = self._embedder.encode(new)
        with self._db.transaction():
            self._db.execute("DELETE FROM kept_vectors WHERE purpose = ? AND model <> ?", self._purpose,
                             self._embedder.fingerprint)
            self._db.execute_many("DELETE FROM kept_vectors WHERE purpose = ? AND text = ?",
                                  [(self._purpose, text) for text in gone])
            self._db.execute_many("INSERT OR REPLACE INTO kept_vectors VALUES (?, ?, ?, ?)",
                                  [(self._purpose, text, self._embedder.fingerprint, vector.tobytes())
                                   for text, vector in zip(new, vectors, strict=True)])


class _Asked:
    """An `Embedder` that notes what another one is asked for."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.dimension, self.fingerprint = embedder.name, embedder.dimension, embedder.fingerprint
        self._embedder = embedder
        self.texts: set[str] = set()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.encode`."""
        self.texts.update(texts)
        return self._embedder.encode(texts)
