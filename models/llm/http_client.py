"""The HTTP clients of endpoints: what they read of a response is bounded, from any server.

Responses that are errors in all but their status get that status, and errors that no retry can help a header against
retries, so the openai package retries or raises them as any other error.
"""

import json
import re
import ssl
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import httpx2
import openai

from ...config import Settings
from ...runtime.event_loop import close_with_loop
from ...runtime.threads import once
from .failures import NO_KEY, ResponseRefused, find_cause

MAX_BODY = 32 * 1024 * 1024
"""Bytes of a response: far more than the longest answer, or a batch of embeddings."""
MAX_FILE = 64 * MAX_BODY
"""Bytes of a file with the answers of a batch, which is read line by line."""
_OVERLOADED = re.compile(r"rate[_ -]?limit|too many requests|quota|throttl|overload|busy|capacity|exhausted",
                         re.IGNORECASE)
_STATUS = re.compile(r"[45][0-9][0-9]")
_REFUSED = re.compile(r"invalid|unsupported|not (?:supported|allowed|permitted)|unrecognized|"
                      r"unknown (?:field|parameter|argument)", re.IGNORECASE)


@once
def _certificates() -> ssl.SSLContext:
    """Load the certificates of all clients, which takes a tenth of a second."""
    return httpx2.create_ssl_context()


class _Refused(ResponseRefused, httpx2.DecodingError):
    """Of the kind that the openai package takes for a failure of the connection."""


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, most: int) -> None:
        self._stream = stream
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the parts of the response; raise `_Refused` when they exceed the limit."""
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > self._most:
                raise _Refused(f"its response is larger than {self._most:,} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound_response(response: httpx2.Response, most: int = MAX_BODY) -> None:
    """Make sure that at most `most` bytes of a response are read."""
    if response.headers.get("content-encoding", "identity").lower() not in {"", "identity"}:
        await response.aclose()
        raise _Refused("its response is compressed, which was not asked for")
    response.stream = _BoundedStream(response.stream, most)


def open_http_client(timeout: float, *, files: bool = False) -> openai.DefaultAsyncHttpxClient:
    """Return a client for the openai package that asks for uncompressed responses, and reads at most `MAX_BODY`.

    It belongs to the event loop of its first request, and is closed with it. A response that reports an error but has
    the status of a success gets the status of the error.

    Args:
        timeout: seconds without a byte after which a call fails.
        files: True if the client reads files, which may be larger, and whose lines may report errors of their own.
    """
    client = openai.DefaultAsyncHttpxClient(timeout=timeout, verify=_certificates(),
                                            headers={"Accept-Encoding": "identity"})
    response_hooks: dict[str, list[Callable[..., Any]]] = {
        "response": [partial(_bound_response, most=MAX_FILE)] if files else [_bound_response, reveal_error]}

    async def close_later(_: httpx2.Request) -> None:
        client.event_hooks = response_hooks  # without this function: it is called before the first request only
        await close_with_loop(client.aclose)

    client.event_hooks = {"request": [close_later], **response_hooks}
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


class EmptyResponse(httpx2.DecodingError):
    """A response has no body. The openai package takes it for a failure of the connection, and tries again."""


async def reveal_error(response: httpx2.Response) -> None:
    """Give a response that reports an error the status of the error.

    Raises:
        EmptyResponse: the response has no body.
    """
    if "event-stream" in response.headers.get("content-type", ""):
        return
    if response.status_code == httpx2.codes.OK:
        body = (await response.aread()).strip()
        if not body:
            raise EmptyResponse("its response is empty")
        error = _error_in(body) if b'"error"' in body else None
        if error:
            response.status_code = _status_of(error)
    if response.status_code == httpx2.codes.TOO_MANY_REQUESTS:
        body = await response.aread()
        if find_cause(body.decode("utf-8", "replace")) == "credit":
            response.headers["x-should-retry"] = "false"  # the openai package then does not retry


def _error_in(body: bytes) -> Any:
    """Return the error that a body reports instead of a reply, if any."""
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(reply, dict):
        return None
    if reply.get("object") == "error":
        return reply
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    return reply.get("error") or choice.get("error")


def _status_of(error: Any) -> int:
    """Return the HTTP status for an error in a body: the one in its fields, or one that fits its words."""
    codes = [str(error.get(name)) for name in ("code", "status", "status_code")] if isinstance(error, dict) else []
    for code in codes:
        if _STATUS.fullmatch(code):
            return int(code)
    words = json.dumps(error, ensure_ascii=False)
    if _OVERLOADED.search(words) or find_cause(words) == "credit":
        return httpx2.codes.TOO_MANY_REQUESTS
    if find_cause(words) or _REFUSED.search(words):
        return httpx2.codes.BAD_REQUEST
    return httpx2.codes.BAD_GATEWAY
