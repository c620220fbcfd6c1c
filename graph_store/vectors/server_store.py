"""Store vectors on a Chroma server, which many knowledge bases may share.

Collections are created before the first vectors and never on access, so one that is missing later was lost. The state
that the vectors match is stored on the server, because the server may be restored from an older backup.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

import httpx

from ...models.embedding.embedder import Vectors
from ...schemas.service_addresses import ChromaServer
from ..store_errors import StoreError, VectorServerError
from .backend import COLLECTIONS, INDEX, Kind, chroma, retry

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

_T = TypeVar("_T")
_CONNECT_SECONDS = 5.0
# Storing a page of vectors is fast, but sometimes the server writes a large index before it answers.
_ANSWER_SECONDS = 60.0
_REFUSED = (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)
_STATE = "state"


class ServerCollections:
    """The vectors of one knowledge base on a server, each kind in one collection. Threads may share them."""

    lost = False
    """True if an open collection was removed, so the knowledge base has to be opened again."""

    def __init__(self, server: ChromaServer, scope: str, name: str, model: str) -> None:
        """Prepare to use a server, without connecting yet.

        Args:
            server: the server.
            scope: identifies the knowledge base among all on the server; letters and digits.
            name: the knowledge base's name, stored on the server for people.
            model: identifies the embedding model; letters and digits.
        """
        self._connection = _connection(server)
        self._all = f"banyan-{scope}-"
        self._prefix = f"{self._all}{model}"
        self._name = name
        self._collections: dict[str, Collection] = {}

    def parts(self, kind: Kind) -> Sequence[str]:
        """Return the only part of a kind."""
        return (kind,)

    def read(self, part: str, ask: "Callable[[Collection], _T]") -> _T:
        """Read from a collection, with retries."""
        return self._connection.ask(lambda client: self._use(client, part, ask), self.close)

    def write(self, part: str, change: "Callable[[Collection], object]") -> None:
        """Change a collection, with retries, so `change` must be repeatable."""
        self.read(part, change)

    def upsert(self, kind: Kind, ids: Sequence[str], vectors: Vectors) -> str:
        """Store the vectors of new ids, shape (len(ids), d); see `FolderCollections.upsert`."""
        rows = cast("list[Sequence[float]]", vectors)
        self.write(kind, lambda collection: collection.upsert(ids=list(ids), embeddings=rows))
        return kind

    def settle(self) -> None:
        """Do nothing: files are the server's."""

    def _use(self, client: "ClientAPI", part: str, use: "Callable[[Collection], _T]") -> _T:
        try:
            return use(self._open(client, part))
        except chroma().NotFoundError as error:
            self.lost = True
            raise StoreError(f"the Chroma server at {self._connection.url} has lost the vectors of the {part} of "
                             f"{self._name!r}: run the command again, or `banyan reindex`; they are made again from "
                             "the ledger") from error

    def _open(self, client: "ClientAPI", part: str) -> "Collection":
        # A lock is not needed: at worst two threads open the same collection.
        opened = self._collections.get(part)
        if opened is None:
            opened = client.get_collection(f"{self._prefix}-{part}", embedding_function=None)
            self._collections[part] = opened
        return opened

    def prepare(self) -> None:
        """Create the collections that do not exist yet."""
        for kind in COLLECTIONS:
            self._make(kind)

    def drop_other_models(self) -> None:
        """Remove the collections of other models."""
        self._remove(lambda name: not name.startswith(f"{self._prefix}-"))

    def remove(self) -> None:
        """Remove the collections of all models."""
        self._remove(lambda _: True)

    def _remove(self, wanted: Callable[[str], bool]) -> None:
        there = self._connection.ask(lambda client: [one.name for one in client.list_collections()])
        for name in there:
            if name.startswith(self._all) and wanted(name):
                self._connection.delete(name)
        self.close()

    def _make(self, kind: Kind) -> None:
        self._connection.ask(lambda client: client.get_or_create_collection(
            f"{self._prefix}-{kind}", embedding_function=None, metadata={"knowledge_base": self._name},
            configuration={"hnsw": INDEX}))

    def is_sound(self) -> bool:
        """Return True if the server has all collections."""
        self.lost = bool(self._missing())
        return not self.lost

    def _missing(self) -> list[str]:
        return [f"{self._prefix}-{kind}" for kind in COLLECTIONS if not self._has(kind)]

    def _has(self, kind: Kind) -> bool:
        try:
            self._connection.ask(lambda client: self._open(client, kind))
        except chroma().NotFoundError:
            return False
        return True

    def mark(self, state: str) -> None:
        """Store on the server which state of the ledger the vectors match."""
        if not self.marked(state):
            self.write("entities", lambda collection: collection.modify(
                metadata={"knowledge_base": self._name, _STATE: state}))

    def marked(self, state: str) -> bool:
        """Return True if the server has a mark of the same state."""
        return self.read("entities", lambda collection: (collection.metadata or {}).get(_STATE)) == state

    def damages(self) -> list[str]:
        """Return a line for each missing collection; none if all are missing, because they were not written yet."""
        missing = self._missing()
        if len(missing) == len(COLLECTIONS):
            return []
        return [f"the Chroma server at {self._connection.url} has no collection {name}" for name in missing]

    def close(self) -> None:
        """Open the collections again at the next use; the process shares the connection, which stays open."""
        self._collections.clear()


class _Connection:
    """The client of one server, created at first use and shared within the process."""

    def __init__(self, server: ChromaServer) -> None:
        self._server = server
        self.url = server.url
        self._client: ClientAPI | None = None
        self._lock = threading.Lock()

    def ask(self, what: "Callable[[ClientAPI], _T]", between: Callable[[], None] = lambda: None) -> _T:
        """Call a function with the client, with retries, and return its result.

        Args:
            what: the function; may be called more than once.
            between: called before each retry.

        Raises:
            StoreError: the server does not answer, or is not a Chroma server; names the URL and the fix.
            NotFoundError: chromadb's error for a missing collection.
        """
        return retry(lambda: self._call(what), between)

    def delete(self, name: str) -> None:
        """Delete a collection if it exists."""
        with suppress(chroma().NotFoundError):
            self.ask(lambda client: client.delete_collection(name))

    def _call(self, what: "Callable[[ClientAPI], _T]") -> _T:
        try:
            return what(self._open())
        except (chroma().NotFoundError, StoreError):
            raise
        except httpx.TransportError as error:
            raise self._silent(error) from error
        except (chroma().ChromaError, httpx.HTTPError, ValueError) as error:
            raise self._unable(error) from error
        except Exception as error:
            # chromadb raises a plain Exception if the answer is not a Chroma server's, but a proxy's for instance.
            if type(error) is not Exception:
                raise
            raise self._unable(error) from error

    def _open(self) -> "ClientAPI":
        with self._lock:
            if self._client is None:
                self._check()
                self._client = self._connect()
            return self._client

    def _check(self) -> None:
        """Check that a Chroma server answers within seconds, because chromadb's client would wait forever."""
        answer = httpx.get(f"{self.url}/api/v2/heartbeat", headers=self._server.headers(), timeout=_CONNECT_SECONDS)
        if answer.status_code in _REFUSED:
            raise StoreError(f"the Chroma server at {self.url} refuses us ({answer.status_code}): set "
                             "BANYAN_CHROMA_TOKEN, and BANYAN_CHROMA_TOKEN_HEADER if it is not sent as Authorization")
        if answer.status_code != httpx.codes.OK or "heartbeat" not in answer.text:
            raise StoreError(f"what answers at {self.url} is no Chroma server of version 1 or later "
                             f"({answer.status_code}): set BANYAN_CHROMA_URL to one, or unset it to keep vectors in "
                             "the home folder")

    def _connect(self) -> "ClientAPI":
        client = cast("ClientAPI", chroma().server_client(self.url, self._server.headers()))
        # chromadb has no setting for a timeout, and without one a hanging server would hang this process.
        cast("Any", client)._server._session.timeout = httpx.Timeout(  # noqa: SLF001
            _ANSWER_SECONDS, connect=_CONNECT_SECONDS)
        return client

    def _silent(self, error: Exception) -> VectorServerError:
        return VectorServerError(
            f"the Chroma server at {self.url} does not answer ({error or type(error).__name__}): start it, or set "
            "BANYAN_CHROMA_URL to where it is, or unset it to keep vectors in the home folder. Progress is "
            "saved: run the command again to resume")

    def _unable(self, error: Exception) -> StoreError:
        return StoreError(f"the Chroma server at {self.url} cannot do what was asked ({error}): see its log, and run "
                          "the command again; `banyan reindex` makes all vectors anew")


@lru_cache(maxsize=8)
def _connection(server: ChromaServer) -> _Connection:
    return _Connection(server)
