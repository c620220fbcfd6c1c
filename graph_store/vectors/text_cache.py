"""Vectors of texts that each build looks at again: labels that wait for the schema, and the words around them."""

from collections.abc import Sequence

from ...models.embedding.embedder import Embedder, Vectors
from ...schemas.naming import content_id
from .store import VectorStore


class CachedEmbedder:
    """An `Embedder` that caches its vectors in Chroma, under ids made from model and text. For writers only."""

    def __init__(self, store: VectorStore, embedder: Embedder) -> None:
        """Cache what an embedder makes in the vectors of a knowledge base."""
        self._store = store
        self._embedder = embedder

    # Asked each time: the model of a new knowledge base is chosen when its documents are known.

    @property
    def name(self) -> str:
        """See `Embedder.name`."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """See `Embedder.dimension`."""
        return self._embedder.dimension

    @property
    def fingerprint(self) -> str:
        """See `Embedder.fingerprint`."""
        return self._embedder.fingerprint

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of some texts; those that Chroma has not are made and stored; see `Embedder.encode`."""
        ids = [content_id("text", self.fingerprint, text) for text in texts]
        self._store.put("texts", ids, texts, self._embedder)
        return self._store.get("texts", ids)
