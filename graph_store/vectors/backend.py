"""Where vectors are stored, a folder or a server: one interface, two implementations."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Literal, TypeVar

from ..errors import StoreError

if TYPE_CHECKING:
    from chromadb.api.collection_configuration import CreateHNSWConfiguration
    from chromadb.api.models.Collection import Collection

_T = TypeVar("_T")
Kind = Literal["entities", "triples", "relations", "chunks", "texts"]
KINDS: tuple[Kind, ...] = ("entities", "triples", "relations", "chunks")
"""The kinds of vectors that are synchronised with the graph."""
COLLECTIONS: tuple[Kind, ...] = (*KINDS, "texts")
"""All kinds; of other texts a vector is cached, see `text_cache`."""

INDEX: "CreateHNSWConfiguration" = {"space": "cosine", "ef_search": 300, "ef_construction": 8, "max_neighbors": 8}
"""The settings of Chroma's indexes. Nobody but `verify` searches them, as vectors are read and compared directly; so
they have as few links as make adding an element as cheap as it can be."""

# Seconds between attempts; a writer's commit takes milliseconds, on a busy machine tenths of a second.
_WAITS = (0.02, 0.1, 0.3, 1.0)


def chroma() -> ModuleType:
    """What is used of chromadb; loaded at its first use."""
    from . import chroma as library  # noqa: PLC0415  (chromadb takes most of a second; questions do not need it)

    return library


class Collections(ABC):
    """The vectors of a knowledge base by one model: a collection of Chroma's for each kind. Threads may share them."""

    lost = False
    """Whether something that was open was removed meanwhile, so that everything has to be opened again."""

    @abstractmethod
    def read(self, kind: Kind, ask: "Callable[[Collection], _T]") -> _T:
        """Ask a collection something.

        Raises:
            StoreError: it cannot be read, however often it was tried.
        """

    @abstractmethod
    def write(self, kind: Kind, change: "Callable[[Collection], object]") -> None:
        """Change a collection, in a way that may be repeated.

        Raises:
            StoreError: it cannot be written, however often it was tried.
        """

    def grew(self, kind: Kind) -> None:  # noqa: B027  (only a folder has to do something)
        """Vectors were added to a collection; a server decides itself when to write its indexes."""

    def prepare(self) -> None:  # noqa: B027  (only a server has to do something)
        """Make the collections before the first vectors are written or looked for; a folder's are made at first use."""

    def clear(self) -> None:
        """Begin anew without any vectors (see `remove`)."""
        self.remove()
        self.prepare()

    @abstractmethod
    def remove(self) -> None:
        """Remove all vectors, those of other models too.

        Raises:
            OSError, StoreError: they cannot be removed.
        """

    @abstractmethod
    def drop_other_models(self) -> None:
        """Remove the vectors of other models."""

    @abstractmethod
    def is_sound(self) -> bool:
        """Whether there are vectors, and a quick check finds nothing wrong with them."""

    def settle(self) -> None:  # noqa: B027  (only a folder has to do something)
        """Note that what was written is whole, for whoever opens it next."""

    @abstractmethod
    def mark(self, state: str) -> None:
        """Note that the vectors reflect a state of the ledger, which is about to note it too."""

    @abstractmethod
    def marked(self, state: str) -> bool:
        """Whether the vectors reflect a state of the ledger, as far as is known."""

    @abstractmethod
    def damages(self) -> list[str]:
        """A line for each damage that can be found without loading the vectors into this process.

        Empty where all is missing: it was not written yet, or will be made again.

        Raises:
            StoreError: another process is writing.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of what is open; it opens again at the next use."""


def patiently(attempt: Callable[[], _T], between: Callable[[], None]) -> _T:
    """Retry an attempt that may fail for a moment, calling `between` before each further one."""
    for wait in _WAITS:
        try:
            return attempt()
        except StoreError:
            between()
            time.sleep(wait)
    return attempt()
