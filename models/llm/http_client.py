"""The HTTP clients of endpoints: what they read of a response is bounded, from any server."""

import asyncio
import json
import re
import ssl
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import httpx2
import openai

from ...config import Settings
from ...runtime.event_loop import close_with_loop
from ...runtime.threads import once
from ..reasoner import ReasonerError
from .endpoint import name_of, proxy_before
from .failures import NO_KEY, find_cause

MAX_BODY = 32 * 1024 * 1024
"""Bytes of a response: far more than the longest answer, or a batch of embeddings."""
MAX_FILE = 16 * MAX_BODY
"""Bytes of a file with the answers of a batch."""
_STATUS = re.compile(r"[45][0-9][0-9]")


@once
def _load_certificates() -> ssl.SSLContext:
    """Load the certificates of all clients, which takes a tenth of a second."""
    return httpx2.create_ssl_context()


class ResponseRefused(httpx2.DecodingError):
    """A response is not read to its end. The openai package takes it for a failure of the connection."""


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, most: int) -> None:
        self._stream = stream
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the parts of the response; raise `ResponseRefused` when they exceed the limit."""
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > self._most:
                raise ResponseRefused(f"its response is larger than {self._most:,} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound_response(response: httpx2.Response, most: int) -> None:
    """Make sure that at most `most` bytes of a response are read."""
    if response.headers.get("content-encoding", "identity").lower() not in {"", "identity"}:
        await response.aclose()
        raise ResponseRefused("its response is compressed, which was not asked for")
    response.stream = _BoundedStream(response.stream, most)


def open_openai(settings: Settings, *, files: bool = False) -> openai.AsyncOpenAI:
    """Return a client of the openai package for the settings' endpoint; without an address, OpenAI's.

    It belongs to the event loop of its first request, and is closed with it. It asks for uncompressed responses and
    follows no redirect, which would send prompts to another host.
    """
    key = settings.llm_api_key.get_secret_value()
    proxy = proxy_before(settings)
    try:
        # Without a proxy, httpx is not to read the environment: it would open each proxy there at once.
        http_client = openai.DefaultAsyncHttpxClient(
            timeout=settings.llm_timeout, verify=_load_certificates(), follow_redirects=False, trust_env=bool(proxy),
            headers={"Accept-Encoding": "identity"})
    except (ImportError, ValueError) as error:  # a package for SOCKS is missing, or no proxy has such an address
        raise ReasonerError(f"{name_of(settings)}: the proxy cannot be used ({error}); run `pip install socksio` if it "
                            "is a SOCKS proxy, unset its variable, or name the endpoint's host in NO_PROXY") from None
    seconds = settings.llm_timeout * (MAX_FILE // MAX_BODY if files else 1)
    send = http_client.send

    async def send_in_time(*arguments: Any, **options: Any) -> httpx2.Response:
        async with asyncio.timeout(seconds):  # in all: httpx's limit is that of each read
            return await send(*arguments, **options)

    http_client.send = send_in_time  # type: ignore[method-assign]
    bound = partial(_bound_response, most=MAX_FILE if files else MAX_BODY)
    response_hooks: list[Any] = [bound] if files else [bound, reveal_error]

    async def close_later(_: httpx2.Request) -> None:
        http_client.event_hooks = {"response": response_hooks}  # this function is called before the first request only
        await close_with_loop(http_client.aclose)

    http_client.event_hooks = {"request": [close_later], "response": response_hooks}
    return openai.AsyncOpenAI(
        base_url=settings.llm_base_url,
        # OpenAI's own client knows the variable with the key.
        api_key=None if settings.llm_base_url is None and key == NO_KEY else key,
        timeout=settings.llm_timeout, max_retries=settings.llm_retries, http_client=http_client)


async def reveal_error(response: httpx2.Response) -> None:
    """Give a response that reports an error but has the status of a success the status of the error.

    So the openai package repeats or raises it as any other error.
    """
    is_whole = "event-stream" not in response.headers.get("content-type", "")
    if is_whole and response.status_code == httpx2.codes.OK:
        response.status_code = _status_in(await response.aread())


def _status_in(body: bytes) -> int:
    """Return the HTTP status of a body: 200 for an answer, else that of its error, or one that fits it."""
    if not body.strip():
        return httpx2.codes.BAD_GATEWAY
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):  # mostly a page of another server
        return httpx2.codes.NOT_FOUND
    choices = reply.get("choices") if isinstance(reply, dict) else None
    of_choice = choices[0].get("error") if isinstance(choices, list) and choices and isinstance(
        choices[0], dict) else None
    error = of_choice or (reply.get("error") if isinstance(reply, dict) else None)
    if not error:
        return httpx2.codes.OK
    code = str(error.get("code")) if isinstance(error, dict) else ""
    if _STATUS.fullmatch(code):
        return int(code)
    return httpx2.codes.BAD_REQUEST if find_cause(json.dumps(error)) else httpx2.codes.BAD_GATEWAY
