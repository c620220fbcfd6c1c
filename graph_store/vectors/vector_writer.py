"""What changes vectors: in this process, through Chroma's collections."""

from collections.abc import Sequence
from typing import Protocol, cast

from ...models.embedding.embedder import Vectors
from .backend import Generation, Kind


class VectorWriter(Protocol):
    """Adds and removes vectors of one generation. Whatever it does may be done again."""

    def present(self, kind: Kind, ids: Sequence[str]) -> list[str]:
        """Which of some ids have a vector."""
        ...

    def upsert(self, kind: Kind, ids: Sequence[str], vectors: Vectors) -> None:
        """Store vectors.

        Args:
            kind: the collection.
            ids: n distinct ids.
            vectors: shape (n, d).

        Raises:
            StoreError: they cannot be stored, or earlier ones could not.
        """
        ...

    def remove(self, kind: Kind, ids: Sequence[str]) -> None:
        """Remove the vectors of some ids that are there."""
        ...

    def flush(self) -> None:
        """All that was to be done is done.

        Raises:
            StoreError: something of it could not be.
        """
        ...


class CollectionWriter:
    """Implements `VectorWriter` by this process's own client."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation

    def present(self, kind: Kind, ids: Sequence[str]) -> list[str]:
        """See `VectorWriter`."""
        return self._generation.read(kind, lambda collection: collection.get(ids=list(ids), include=[])["ids"])

    def upsert(self, kind: Kind, ids: Sequence[str], vectors: Vectors) -> None:
        """See `VectorWriter`."""
        rows = cast("list[Sequence[float]]", vectors)
        self._generation.write(kind, lambda collection: collection.upsert(ids=list(ids), embeddings=rows))
        self._generation.grew(kind)

    def remove(self, kind: Kind, ids: Sequence[str]) -> None:
        """See `VectorWriter`."""
        self._generation.write(kind, lambda collection: collection.delete(ids=list(ids)))

    def flush(self) -> None:
        """Nothing: nothing waits."""
