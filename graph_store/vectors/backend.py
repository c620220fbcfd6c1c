"""What vectors are kept in, whether that is a folder or a server: one interface, two implementations."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from ..errors import StoreError

if TYPE_CHECKING:
    from chromadb.api.collection_configuration import CreateHNSWConfiguration
    from chromadb.api.models.Collection import Collection

_T = TypeVar("_T")
Kind = Literal["entities", "triples", "relations", "chunks"]
KINDS: tuple[Kind, ...] = ("entities", "triples", "relations", "chunks")
"""What is kept up with the graph."""

_SEARCHED: Kind = "entities"
"""The kind that Chroma is asked for the nearest of; the others are read, and compared with one by one."""
_EF_CONSTRUCTION, _EF_SEARCH = 64, 300
"""On the names of 17,541 entities 99.8 % of the exact 20 nearest are found and 99.6 % of the exact 50, as many as with
100 (Chroma's) and 200: an element takes 0.24 ms instead of 0.36, a search 0.65 ms instead of 0.53."""
_LINKS_UNSEARCHED = 8
"""Links of an element, and what is looked at to find them, of which there can be no fewer. On 10,000 triples an element
takes 0.12 ms instead of 0.34 with Chroma's 16 and 100, and with fewer links no less. Whoever asks Chroma for the 20
nearest is given 87 % of them still."""

# Seconds between attempts; a writer's commit takes milliseconds, on a busy machine tenths of a second.
_WAITS = (0.02, 0.1, 0.3, 1.0)


def index_settings(kind: Kind) -> "CreateHNSWConfiguration":
    """How Chroma is to make the index of a kind."""
    if kind == _SEARCHED:
        return {"space": "cosine", "ef_search": _EF_SEARCH, "ef_construction": _EF_CONSTRUCTION}
    return {"space": "cosine", "ef_search": _EF_SEARCH, "ef_construction": _LINKS_UNSEARCHED,
            "max_neighbors": _LINKS_UNSEARCHED}


class Generation(Protocol):
    """One set of vectors: a collection of Chroma's for each kind. Threads may share it."""

    @property
    def folder(self) -> Path | None:
        """The folder that it stands in; None: a server."""
        ...

    @property
    def lost(self) -> bool:
        """Whether something that was opened has gone meanwhile, so that all is to be opened anew."""
        ...

    def read(self, kind: Kind, ask: "Callable[[Collection], _T]") -> _T:
        """What is asked of a collection.

        Raises:
            StoreError: it cannot be read, however often it was tried.
        """
        ...

    def write(self, kind: Kind, change: "Callable[[Collection], object]") -> None:
        """Change a collection, in a way that may be repeated.

        Raises:
            StoreError: it cannot be written, however often it was tried.
        """
        ...

    def grew(self, kind: Kind) -> None:
        """Vectors were added to a collection."""
        ...

    def prepare(self) -> None:
        """Before the first vectors are written or looked for."""
        ...

    def stand(self) -> bool:
        """Whether there are vectors, and all that can be told quickly speaks for their being sound."""
        ...

    def mark(self, state: str) -> None:
        """The vectors reflect a state of the ledger, which is about to note it too."""
        ...

    def marked(self, state: str) -> bool:
        """Whether they are not known to reflect another state than the ledger says."""
        ...

    def damages(self) -> list[str]:
        """What is wrong with them, as far as that can be told without loading them: a line for each damage."""
        ...

    def close(self) -> None:
        """Let go of what is open; it opens again at the next use."""
        ...


class VectorBackend(Protocol):
    """Where the generations of one knowledge base's vectors stand, by number."""

    def generation(self, number: int) -> Generation:
        """A generation, which need not be there."""
        ...

    def numbers(self) -> list[int]:
        """The numbers of the generations of which something is there."""
        ...

    def remove(self, number: int) -> None:
        """Remove a generation, if anything of it is there.

        Raises:
            OSError, StoreError: it cannot be removed.
        """
        ...


def patiently(attempt: Callable[[], _T], between: Callable[[], None]) -> _T:
    """What an attempt gives that may fail for a moment; `between` is done before each further one."""
    for wait in _WAITS:
        try:
            return attempt()
        except StoreError:
            between()
            time.sleep(wait)
    return attempt()
