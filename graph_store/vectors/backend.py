"""Define the interface to stored vectors, in a folder or on a server."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from ...models.embedding.embedder import Vectors
from ..store_errors import StoreError

if TYPE_CHECKING:
    from chromadb.api.collection_configuration import CreateHNSWConfiguration
    from chromadb.api.models.Collection import Collection

_T = TypeVar("_T")
Kind = Literal["entities", "triples", "relations", "chunks", "texts"]
KINDS: tuple[Kind, ...] = ("entities", "triples", "relations", "chunks")
"""The kinds of vectors that are synchronised with the graph."""
COLLECTIONS: tuple[Kind, ...] = (*KINDS, "texts")
"""All kinds, including the cached vectors of other texts (see `CachedEmbedder`)."""

INDEX: "CreateHNSWConfiguration" = {"space": "cosine", "ef_construction": 8, "max_neighbors": 8}
"""The settings of Chroma's indexes. Retrieval compares vectors directly and never searches them, so they have few links
to make adding elements cheap."""

# Seconds between attempts. A writer's commit takes milliseconds, or tenths of a second on a busy machine.
_WAITS = (0.02, 0.1, 0.3, 1.0)


def chroma() -> ModuleType:
    """Import and return the parts of chromadb in use."""
    from . import chroma as library  # noqa: PLC0415  (chromadb is slow to import; questions do not need it)

    return library


class Collections(ABC):
    """The vectors of a knowledge base by one model, each kind in one or more of Chroma's collections, its parts.

    Threads may share them.
    """

    lost = False
    """True if an open collection was removed, so the knowledge base has to be opened again."""

    def parts(self, kind: Kind) -> Sequence[str]:
        """Return the names of a kind's parts; the first is named like the kind."""
        return (kind,)

    @abstractmethod
    def read(self, part: str, ask: "Callable[[Collection], _T]") -> _T:
        """Read from a collection, with retries.

        Raises:
            StoreError: the collection cannot be read.
        """

    @abstractmethod
    def write(self, part: str, change: "Callable[[Collection], object]") -> None:
        """Change a collection, with retries, so `change` must be repeatable.

        Raises:
            StoreError: the collection cannot be written.
        """

    def upsert(self, kind: Kind, ids: Sequence[str], vectors: Vectors) -> str:
        """Store the vectors of new ids, shape (len(ids), d), and return the part that has them.

        Raises:
            StoreError: they cannot be written.
        """
        part, rows = self.parts(kind)[-1], cast("list[Sequence[float]]", vectors)
        self.write(part, lambda collection: collection.upsert(ids=list(ids), embeddings=rows))
        return part

    def prepare(self) -> None:  # noqa: B027  (only a server has to do something)
        """Create the collections before the first use; a folder's are created at first use."""

    @abstractmethod
    def remove(self) -> None:
        """Remove all vectors, including those of other models.

        Raises:
            OSError, StoreError: the vectors cannot be removed.
        """

    @abstractmethod
    def drop_other_models(self) -> None:
        """Remove the vectors of other models."""

    @abstractmethod
    def is_sound(self) -> bool:
        """Return True if the vectors exist and pass a quick check."""

    def settle(self) -> None:  # noqa: B027  (only a folder has to do something)
        """Record that the written files are complete, for the next opening."""

    @abstractmethod
    def mark(self, state: str) -> None:
        """Record that the vectors match a state of the ledger."""

    @abstractmethod
    def marked(self, state: str) -> bool:
        """Return True if `mark` recorded last that the vectors match a state of the ledger."""

    @abstractmethod
    def damages(self) -> list[str]:
        """Return a line for each damage that can be found without loading the vectors into this process.

        The list is empty if everything is missing, because it was not written yet or will be rebuilt.

        Raises:
            StoreError: another process is writing.
        """

    @abstractmethod
    def close(self) -> None:
        """Close what is open; the next use opens it again."""


def retry(attempt: Callable[[], _T], between: Callable[[], None]) -> _T:
    """Call `attempt` until it succeeds, up to five times, calling `between` before each retry.

    Raises:
        StoreError: the last attempt failed.
    """
    for wait in _WAITS:
        try:
            return attempt()
        except StoreError:
            between()
            time.sleep(wait)
    return attempt()
