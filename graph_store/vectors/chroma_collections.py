"""Chroma's collections of one knowledge base by one embedding model, in its folder or on a server."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from ...models.embedding.embedder import Vectors
from ..store_errors import StoreError

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.collection_configuration import CreateHNSWConfiguration
    from chromadb.api.models.Collection import Collection
    from chromadb.config import Settings

_T = TypeVar("_T")
Kind = Literal["entities", "triples", "relations", "chunks"]
KINDS: tuple[Kind, ...] = ("entities", "triples", "relations", "chunks")
"""The kinds of vectors."""

INDEX: "CreateHNSWConfiguration" = {"space": "cosine", "ef_construction": 8, "max_neighbors": 8}
"""The settings of Chroma's indexes. Retrieval compares vectors directly and never searches them, so they have few links
to make adding elements cheap."""

_PART_MOST = 50_000
"""Vectors of a collection: Chroma has its whole index in memory, which collections of bounded size bound."""

# Seconds between attempts. A writer's commit takes milliseconds, or tenths of a second on a busy machine.
_WAITS = (0.02, 0.1, 0.3, 1.0)


def chroma() -> ModuleType:
    """Import and return chromadb."""
    import chromadb  # noqa: PLC0415  (slow to import; questions do not need it)

    return chromadb


def client_settings() -> "Settings":
    """Return the settings of a client, which may change them."""
    return cast("Settings", chroma().config.Settings(_env_file=None, anonymized_telemetry=False))


def retry(attempt: Callable[[], _T]) -> _T:
    """Call `attempt` until it succeeds, up to five times.

    Raises:
        StoreError: the last attempt failed.
    """
    for wait in _WAITS:
        try:
            return attempt()
        except StoreError:
            time.sleep(wait)
    return attempt()


class ChromaCollections(ABC):
    """The vectors of one knowledge base by one model, each kind in one or more collections, its parts.

    Threads may share them. Every method but `close` raises StoreError if Chroma cannot do what is asked.
    """

    def __init__(self, prefix: str, model: str) -> None:
        """Open nothing yet; prefix and model are parts of the collections' names."""
        self._prefix = prefix
        self._model = model
        self._opened: dict[str, Collection] = {}
        self._parts: dict[Kind, list[str]] = {}

    @abstractmethod
    def _ask(self, use: "Callable[[ClientAPI], _T]") -> _T:
        """Return what a function returns of the client. It is called again if it fails, so it must be repeatable."""

    def _change(self, use: "Callable[[ClientAPI], object]") -> None:
        """Have a function change what the client stores; see `_ask`."""
        self._ask(use)

    def read(self, part: str, ask: "Callable[[Collection], _T]") -> _T:
        """Return what a function returns of a part, which is created if missing; see `_ask`."""
        return self._ask(lambda client: ask(self._open(client, part)))

    def write(self, part: str, change: "Callable[[Collection], object]") -> None:
        """Have a function change a part; see `_ask`."""
        def change_part(client: "ClientAPI") -> None:
            collection = self._open(client, part)
            change(collection)
            collection.count()  # Chroma writes an index at the next use

        self._change(change_part)

    def _open(self, client: "ClientAPI", part: str) -> "Collection":
        if part not in self._opened:
            name = self._name(part)
            try:
                # "Get or create" locks Chroma's catalogue for writing even if there is nothing to create.
                opened = client.get_collection(name, embedding_function=None)
            except chroma().errors.NotFoundError:
                opened = client.get_or_create_collection(name, embedding_function=None, configuration={"hnsw": INDEX})
            self._opened[part] = opened
        return self._opened[part]

    def _name(self, part: str) -> str:
        return f"{self._prefix}{part}-{self._model}"

    def parts(self, kind: Kind) -> Sequence[str]:
        """Return the names of a kind's parts, in the order in which they were filled."""
        if kind not in self._parts:
            names, parts = self._names(), [str(kind)]
            while self._name(following := f"{kind}-{len(parts) + 1}") in names:
                parts.append(following)
            self._parts[kind] = parts
        return self._parts[kind]

    def _names(self) -> set[str]:
        """Return the names of the collections of all models."""
        names = self._ask(lambda client: [one.name for one in client.list_collections()])
        return {name for name in names if name.startswith(self._prefix)}

    def upsert(self, kind: Kind, ids: Sequence[str], vectors: Vectors) -> str:
        """Store the vectors of new ids, shape (len(ids), d), in the last part or, if that is full, in a new one.

        Returns:
            The part that has them.
        """
        parts, rows = self.parts(kind), cast("list[Sequence[float]]", vectors)
        if self.read(parts[-1], lambda collection: collection.count()) >= _PART_MOST:
            self._parts[kind] = [*parts, f"{kind}-{len(parts) + 1}"]
        part = self._parts[kind][-1]
        self.write(part, lambda collection: collection.upsert(ids=list(ids), embeddings=rows))
        return part

    def drop_others(self) -> None:
        """Remove the collections of other models, and of what is no longer stored."""
        self._drop(self._names() - {self._name(part) for kind in KINDS for part in self.parts(kind)})

    def _drop(self, names: set[str]) -> None:
        def drop(client: "ClientAPI") -> None:
            for name in names & {one.name for one in client.list_collections()}:
                client.delete_collection(name)

        if names:
            self._change(drop)

    def was_interrupted(self) -> bool:
        """Return True if a writer was killed while it wrote, or none has written: what is there may be anything."""
        return False

    def settle(self) -> None:  # noqa: B027  (files of a server are its own)
        """Note that all that was written is whole."""

    @abstractmethod
    def remove(self) -> None:
        """Remove the collections of all models; the next use creates them again."""

    def close(self) -> None:
        """Let go of the collections, which other processes may change from then on."""
        self._opened.clear()
        self._parts.clear()
