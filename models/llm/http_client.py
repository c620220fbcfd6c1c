"""The HTTP clients of endpoints: what they read of a response is bounded, from any server."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import openai

from .failures import ResponseRefused

MAX_BODY = 32 * 1024 * 1024
"""Bytes of a response: far more than the longest answer, or a batch of embeddings."""


class _Refused(ResponseRefused, httpx2.DecodingError):
    """Of the kind that the openai package takes for a failure of the connection."""


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > MAX_BODY:
                raise _Refused(f"its response is larger than {MAX_BODY:,} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    # Compressed, a small response could become one that fills the memory.
    if response.headers.get("content-encoding", "identity").lower() not in {"", "identity"}:
        await response.aclose()
        raise _Refused("its response is compressed, which was not asked for")
    response.stream = _Bounded(response.stream)


def open_http_client(timeout: float) -> openai.DefaultAsyncHttpxClient:
    """Return a client for the openai package that asks for uncompressed responses, and reads at most `MAX_BODY`.

    Args:
        timeout: seconds without a byte after which a call fails.
    """
    return openai.DefaultAsyncHttpxClient(timeout=timeout, headers={"Accept-Encoding": "identity"},
                                          event_hooks={"response": [_bound]})
