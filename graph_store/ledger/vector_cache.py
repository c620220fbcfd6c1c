"""Vectors of texts that each build looks at again, cached in the ledger from one build to the next.

Growth of the schema looks at all labels that were ever asked for and at the words around them, the measure of
reliability at a sample of sentences; few of either are new. Without this a build that adds ten documents to two hundred
takes 30 % longer, and each further one more.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import numpy as np

from ...models.embedding.embedder import Embedder, RememberingEmbedder, Vectors
from .database import Database
from .tables import CACHED_VECTORS

Purpose = Literal["growth", "reliability"]
# Fewer new ones than one in so many are embedded again in each build rather than written: each would cost a page of
# its own, wherever it belongs among the others.
_EMBEDDED_AGAIN = 64
_LENGTH_ERROR = 1e-3


class VectorCache:
    """The vectors cached for one purpose, and the embedder that is spared them."""

    def __init__(self, database: Database, purpose: Purpose, embedder: RememberingEmbedder) -> None:
        """Cache vectors for an embedder that remembers what it is told."""
        self._db = database
        self._purpose = purpose
        self._embedder = embedder

    @contextmanager
    def embedder(self) -> Iterator[Embedder]:
        """An embedder for a block; when that ends the ledger has the vectors of nearly all texts that it was given.

        Others are dropped when they are more than these.
        """
        cached = self._read()
        self._embedder.remember(cached)
        noting = _NotingEmbedder(self._embedder)
        yield noting
        new, unused = sorted(noting.texts - cached.keys()), sorted(cached.keys() - noting.texts)
        if len(new) * _EMBEDDED_AGAIN > len(noting.texts):
            self._write(new, unused if len(unused) > len(noting.texts) else ())

    def _read(self) -> dict[str, Vectors]:
        size = self._embedder.dimension * np.dtype(np.float32).itemsize
        vectors = {text: np.frombuffer(vector, np.float32) for text, vector in self._db.rows(
            "SELECT text, vector FROM cached_vectors WHERE purpose = :purpose AND model = :model",
            purpose=self._purpose, model=self._embedder.fingerprint)
            if isinstance(vector, bytes) and len(vector) == size}
        # Compared so that what is no number at all counts as wrong, too.
        return {text: vector for text, vector in vectors.items() if abs(np.linalg.norm(vector) - 1) < _LENGTH_ERROR}

    def _write(self, new: Sequence[str], unused: Sequence[str]) -> None:
        vectors = self._embedder.encode(new)
        with self._db.transaction():
            self._db.execute("DELETE FROM cached_vectors WHERE purpose = :purpose AND model <> :model",
                             purpose=self._purpose, model=self._embedder.fingerprint)
            self._db.execute_many("DELETE FROM cached_vectors WHERE purpose = :purpose AND text = :text",
                                  [{"purpose": self._purpose, "text": text} for text in unused])
            self._db.replace(CACHED_VECTORS, [(self._purpose, text, self._embedder.fingerprint, vector.tobytes())
                                              for text, vector in zip(new, vectors, strict=True)])


class _NotingEmbedder:
    """An `Embedder` that notes the texts that another one is given."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.dimension, self.fingerprint = embedder.name, embedder.dimension, embedder.fingerprint
        self._embedder = embedder
        self.texts: set[str] = set()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.encode`."""
        self.texts.update(texts)
        return self._embedder.encode(texts)
