"""The vectors of a knowledge base whose disk has no room for them: embedded when they are read."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from ...models.embedding.embedder import Embedder, Vectors
from .embedded_texts import Embedded
from .vector_store import Kind, VectorStore, pages_of


class UnwrittenVectors(VectorStore):
    """Embeds whatever is read, and stores nothing. Only for reading."""

    def __init__(self, store: VectorStore, embedder: Embedder, embedded: Iterable[Embedded]) -> None:
        """Replace the vectors of a knowledge base by those of the given texts; nothing is embedded yet."""
        super().__init__(store.collections, embedder)
        self._texts: dict[Kind, Callable[[Collection[str]], dict[str, str]]] = {
            part.kind: part.texts for part in embedded}

    def pages(self, kind: Kind, ids: Sequence[str]) -> Iterator[tuple[list[str], Vectors]]:
        """See `VectorStore.pages`."""
        for page in pages_of(ids):
            texts = self._texts[kind](page)
            yield list(texts), self._embedder.encode(list(texts.values()))
