"""Vectors of texts that each build looks at again: labels that wait for the schema, and the words around them."""

from collections.abc import Sequence

from ...models.embedding.embedder import Embedder, Vectors, WrappedEmbedder
from ...schemas.naming import content_id
from .vector_store import VectorStore


class CachedEmbedder(WrappedEmbedder):
    """An `Embedder` that caches its vectors in Chroma, under ids made from model and text. For writers only."""

    def __init__(self, store: VectorStore, embedder: Embedder) -> None:
        """Cache what an embedder makes in the vectors of a knowledge base."""
        super().__init__(embedder)
        self._store = store

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of some texts; those that Chroma has not are made and stored; see `Embedder.encode`."""
        ids = [content_id("text", self.fingerprint, text) for text in texts]
        self._store.put("texts", ids, texts, self._embedder)
        return self._store.get("texts", ids)
