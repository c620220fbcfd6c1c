"""What vectors in a folder and vectors on a server have in common: kinds, settings, retries."""

import time
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Literal, TypeVar

from ..store_errors import StoreError

if TYPE_CHECKING:
    from chromadb.api.collection_configuration import CreateHNSWConfiguration

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
