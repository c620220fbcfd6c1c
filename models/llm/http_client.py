"""The HTTP clients of endpoints: what they read of a response is bounded, from any server."""

import ssl
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import httpx2
import openai

from ...config import Settings
from ...runtime.event_loop import close_with_loop
from ...runtime.once import once
from .failures import NO_KEY, ResponseRefused
from .hidden_errors import reveal_error

MAX_BODY = 32 * 1024 * 1024
"""Bytes of a response: far more than the longest answer, or a batch of embeddings."""
MAX_FILE = 64 * MAX_BODY
"""Bytes of a file with the answers of a batch, which is read line by line."""


@once
def _certificates() -> ssl.SSLContext:
    """Load the certificates of all clients, which takes a tenth of a second."""
    return httpx2.create_ssl_context()


class _Refused(ResponseRefused, httpx2.DecodingError):
    """Of the kind that the openai package takes for a failure of the connection."""


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, most: int) -> None:
        self._stream = stream
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > self._most:
                raise _Refused(f"its response is larger than {self._most:,} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx2.Response, most: int = MAX_BODY) -> None:
    # Compressed, a small response could become one that fills the memory.
    if response.headers.get("content-encoding", "identity").lower() not in {"", "identity"}:
        await response.aclose()
        raise _Refused("its response is compressed, which was not asked for")
    response.stream = _Bounded(response.stream, most)


def open_http_client(timeout: float, *, files: bool = False) -> openai.DefaultAsyncHttpxClient:
    """Return a client for the openai package that asks for uncompressed responses, and reads at most `MAX_BODY`.

    It belongs to the event loop of its first request, and is closed with it.

    Errors in responses with the status of a success get the status of the error.

    Args:
        timeout: seconds without a byte after which a call fails.
        files: True if the client reads files, which may be larger, and whose lines may report errors of their own.
    """
    client = openai.DefaultAsyncHttpxClient(timeout=timeout, verify=_certificates(),
                                            headers={"Accept-Encoding": "identity"})
    read: dict[str, list[Callable[..., Any]]] = {
        "response": [partial(_bound, most=MAX_FILE)] if files else [_bound, reveal_error]}

    async def begin(_: httpx2.Request) -> None:
        client.event_hooks = read
        await close_with_loop(client.aclose)

    client.event_hooks = {"request": [begin], **read}
    return client


def open_openai(settings: Settings, *, files: bool = False) -> openai.AsyncOpenAI:
    """Return a client of the openai package for the settings' endpoint; without an address, OpenAI's.

    Args:
        settings: the endpoint's address, key and timeouts.
        files: True if the client reads files (see `open_http_client`).

    Raises:
        openai.OpenAIError: a key is missing.
    """
    key = settings.llm_api_key.get_secret_value()
    return openai.AsyncOpenAI(
        base_url=settings.llm_base_url,
        # OpenAI's own client knows the variable with the key.
        api_key=None if settings.llm_base_url is None and key == NO_KEY else key,
        timeout=settings.llm_timeout, max_retries=settings.llm_retries,
        http_client=open_http_client(settings.llm_timeout, files=files))
