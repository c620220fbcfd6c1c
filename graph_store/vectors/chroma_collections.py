"""Read and write Chroma's collections of one knowledge base for one embedding model, in its folder or on a server."""

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
"""The settings of Chroma's indexes. Retrieval compares vectors directly and never searches the indexes. They have few
links, so adding vectors is cheap."""

_PART_MOST = 50_000
"""The maximum number of vectors in a collection. Chroma keeps a collection's whole index in memory, so the limit bounds
the memory in use."""

# Seconds between attempts. Another process's commit takes milliseconds, or tenths of a second on a busy machine.
_WAITS = (0.02, 0.1, 0.3, 1.0)


def chroma() -> ModuleType:
    """Import and return chromadb."""
    import chromadb  # noqa: PLC0415  (slow to import; questions do not need it)

    return chromadb


def client_settings() -> "Settings":
    """Return new settings for one client; clients change their settings, so they must not share them."""
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
    """The vectors of one knowledge base by one model.

    Each kind of vectors is in one or more collections, which are called its parts. Threads may share an instance. Every
    method but `close` raises StoreError if Chroma fails.
    """

    def __init__(self, prefix: str, model: str) -> None:
        """Prepare to use the collections, without opening them; prefix and model are parts of their names."""
        self._prefix = prefix
        self._model = model
        self._opened: dict[str, Collection] = {}
        self._parts: dict[Kind, list[str]] = {}

    @abstractmethod
    def _ask(self, use: "Callable[[ClientAPI], _T]") -> _T:
        """Call `use` with Chroma's client, and return its result."""

    def _change(self, use: "Callable[[ClientAPI], object]") -> None:
        """Call `use`, which changes what is stored, with Chroma's client (see `_ask`)."""
        self._ask(use)

    def read(self, part: str, ask: "Callable[[Collection], _T]") -> _T:
        """Call `ask` with the collection of a part, and return its result (see `_ask`).

        The collection is created if it is missing.
        """
        return self._ask(lambda client: ask(self._open(client, part)))

    def write(self, part: str, change: "Callable[[Collection], object]") -> None:
        """Call `change` with the collection of a part, to change it (see `_ask`)."""
        def change_part(client: "ClientAPI") -> None:
            collection = self._open(client, part)
            change(collection)
            collection.count()  # any use makes Chroma write the index now

        self._change(change_part)

    def _open(self, client: "ClientAPI", part: str) -> "Collection":
        """Return the collection of a part, opened or created at first use."""
        if part not in self._opened:
            name = self._name(part)
            try:
                # Not `get_or_create_collection`, which locks Chroma's catalogue even if there is nothing to create.
                collection = client.get_collection(name, embedding_function=None)
            except chroma().errors.NotFoundError:
                collection = client.get_or_create_collection(name, embedding_function=None,
                                                             configuration={"hnsw": INDEX})
            self._opened[part] = collection
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
        """Return the names of this knowledge base's collections, of all models."""
        names = self._ask(lambda client: [collection.name for collection in client.list_collections()])
        return {name for name in names if name.startswith(self._prefix)}

    def upsert(self, kind: Kind, ids: Sequence[str], vectors: Vectors) -> str:
        """Store the vectors of ids, shape (len(ids), d), in the last part, or in a new part if that is full.

        Returns:
            The name of the part in which they are stored.
        """
        parts, rows = self.parts(kind), cast("list[Sequence[float]]", vectors)
        if self.read(parts[-1], lambda collection: collection.count()) >= _PART_MOST:
            self._parts[kind] = [*parts, f"{kind}-{len(parts) + 1}"]
        part = self._parts[kind][-1]
        self.write(part, lambda collection: collection.upsert(ids=list(ids), embeddings=rows))
        return part

    def drop_others(self) -> None:
        """Remove the collections of other models, and any other collections that are not among the parts."""
        self._drop(self._names() - {self._name(part) for kind in KINDS for part in self.parts(kind)})

    def _drop(self, names: set[str]) -> None:
        """Remove the collections with the given names, as far as they exist."""
        def drop(client: "ClientAPI") -> None:
            for name in names & {collection.name for collection in client.list_collections()}:
                client.delete_collection(name)

        if names:
            self._change(drop)

    def was_interrupted(self) -> bool:
        """Return True if the stored vectors may be incomplete, because a writer was killed or none has written yet."""
        return False

    def settle(self) -> None:  # noqa: B027  (a server looks after its own files)
        """Record that everything was written completely."""

    @abstractmethod
    def remove(self) -> None:
        """Remove the collections of all models; the next use creates them again."""

    def close(self) -> None:
        """Forget the opened collections and their names, because other processes may change them from now on."""
        self._opened.clear()
        self._parts.clear()
