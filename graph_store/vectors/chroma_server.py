"""Store vectors on a Chroma server, which many knowledge bases may share."""

import atexit
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import httpx

from ...schemas.services import ChromaServer
from ..store_errors import StoreError, VectorServerError
from .chroma_collections import ChromaCollections, chroma, client_settings

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

_CONNECT_SECONDS = 5.0
# Storing a page of vectors is fast, but the server sometimes writes a large index before it answers.
_ANSWER_SECONDS = 60.0
_REFUSED = (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)


class ServerCollections(ChromaCollections):
    """The vectors of one knowledge base on a server."""

    def __init__(self, server: ChromaServer, scope: str, model: str) -> None:
        """Prepare to use a server; scope and model identify the knowledge base and the embedding model on it."""
        super().__init__(f"banyan-{scope}-", model)
        self._server = server

    def _connect(self) -> "ClientAPI":
        return _connect(self._server)

    def _failure(self, error: BaseException) -> StoreError:
        if isinstance(error, httpx.TransportError):
            return VectorServerError(
                f"the Chroma server at {self._server.url} does not answer ({error or type(error).__name__}): start it, "
                "or set BANYAN_CHROMA_URL to where it is, or unset it to keep vectors in the home folder. Progress is "
                "saved: run the command again to resume")
        return StoreError(f"the Chroma server at {self._server.url} cannot do what was asked ({error}): see its log, "
                          "and run the command again; `banyan reindex` makes all vectors anew")

    def remove(self) -> None:
        """See `ChromaCollections.remove`."""
        self._drop(self._names())
        self.close()


@lru_cache(maxsize=8)
def _connect(server: ChromaServer) -> "ClientAPI":
    """Return the client of a server, which is created once and shared in this process."""
    answer = httpx.get(f"{server.url}/api/v2/heartbeat", headers=server.headers(), timeout=_CONNECT_SECONDS)
    if answer.status_code in _REFUSED:
        raise StoreError(f"the Chroma server at {server.url} refuses us ({answer.status_code}): set "
                         "BANYAN_CHROMA_TOKEN, and BANYAN_CHROMA_TOKEN_HEADER if it is not sent as Authorization")
    if answer.status_code != httpx.codes.OK or "heartbeat" not in answer.text:
        raise StoreError(f"what answers at {server.url} is no Chroma server of version 1 or later "
                         f"({answer.status_code}): set BANYAN_CHROMA_URL to one, or unset it to keep vectors in "
                         "the home folder")
    client = cast("ClientAPI", chroma().HttpClient(server.url, headers=server.headers(), settings=client_settings()))
    session = cast("Any", client)._server._session  # noqa: SLF001
    atexit.register(session.close)
    # chromadb has no setting for a timeout, and without one a hanging server would hang this process.
    session.timeout = httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS)
    return client
