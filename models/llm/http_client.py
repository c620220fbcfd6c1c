"""The HTTP clients of endpoints, with bounded responses. Importing them takes a second: only who calls imports them."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

import httpx2
import openai

from ...config import Settings
from ...runtime.budgets import charge
from ...runtime.threads import close_with_loop, in_parallel, run
from ...text.scripts import estimate_tokens
from ..reasoner import ReasonerError
from . import endpoint
from .endpoint import NO_KEY, Reply, failure, name_of, proxy_before, reported_count
from .limits import LimitedCalls

MAX_BODY = 32 * 1024 * 1024  # bytes of a response: far more than the longest answer, or a batch of embeddings
_STATUS = re.compile(r"[45][0-9][0-9]")  # of an error


class ResponseRefused(httpx2.DecodingError):
    """A response is not read to its end. The openai package takes it for a failure of the connection."""


class _BoundedStream(httpx2.AsyncByteStream):
    """The parts of a response; raises `ResponseRefused` when they exceed the limit."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the parts until they exceed `MAX_BODY` bytes in all; then raise ResponseRefused."""
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > MAX_BODY:
                raise ResponseRefused(f"its response is larger than {MAX_BODY:,} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _check_response(response: httpx2.Response) -> None:
    """Bound what is read of a response, and give an error that came with the status 200 a status of its own."""
    # A small compressed body may unpack to a huge one.
    if response.headers.get("content-encoding", "identity").lower() not in {"", "identity"}:
        await response.aclose()
        raise ResponseRefused("its response is compressed, which was not asked for")
    response.stream = _BoundedStream(response.stream)
    is_whole = "event-stream" not in response.headers.get("content-type", "")  # a stream is to be read as it arrives
    is_file = response.url.path.endswith("/content")  # the lines of a batch's file are answers to many requests
    if is_whole and not is_file and response.status_code == httpx2.codes.OK:
        response.status_code = _status_in(await response.aread())  # the openai package repeats or raises by the status


def open_openai(settings: Settings) -> openai.AsyncOpenAI:
    """Return a client of the openai package for the settings' endpoint; without an address, OpenAI's.

    It is closed with the event loop of its first request, and follows no redirect, which would send prompts elsewhere.
    """
    key = settings.llm_api_key.get_secret_value()
    try:
        # Without a proxy, httpx is not to read the environment: it would open each proxy there at once.
        http_client = openai.DefaultAsyncHttpxClient(
            timeout=settings.llm_timeout, follow_redirects=False, trust_env=bool(proxy_before(settings)),
            headers={"Accept-Encoding": "identity"})
    except (ImportError, ValueError) as error:  # a package for SOCKS is missing, or no proxy has such an address
        raise ReasonerError(f"{name_of(settings)}: the proxy cannot be used ({error}); run `pip install socksio` if it "
                            "is a SOCKS proxy, unset its variable, or name the endpoint's host in NO_PROXY") from None
    send = http_client.send

    async def send_in_time(*arguments: Any, **options: Any) -> httpx2.Response:
        """Send a request within `llm_timeout`, in place of the client's own method."""
        async with asyncio.timeout(settings.llm_timeout):  # in all: httpx's limit is that of each read
            return await send(*arguments, **options)

    http_client.send = send_in_time  # type: ignore[method-assign]
    async def close_later(_: httpx2.Request) -> None:
        """Register the client to be closed with the event loop of its first request; called before that request."""
        http_client.event_hooks = {"response": [_check_response]}  # later requests do not call this again
        await close_with_loop(http_client.aclose)

    http_client.event_hooks = {"request": [close_later], "response": [_check_response]}
    return openai.AsyncOpenAI(
        base_url=settings.llm_base_url,
        # With None the client reads OPENAI_API_KEY, which must not go to another host.
        api_key=None if settings.llm_base_url is None and key == NO_KEY else key,
        timeout=settings.llm_timeout, max_retries=settings.llm_retries, http_client=http_client)


def _status_in(body: bytes) -> int:
    """Return the HTTP status of a body: 200 for an answer, else that of its error, or one that fits it."""
    if not body.strip():
        return httpx2.codes.BAD_GATEWAY
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):  # mostly a page of another server
        return httpx2.codes.NOT_FOUND
    match reply:
        case {"choices": [{"error": error}, *_]} | {"error": error} if error:  # some have it in the first choice
            code = str(error.get("code")) if isinstance(error, dict) else ""
        case _:
            return httpx2.codes.OK
    if _STATUS.fullmatch(code):
        return int(code)
    # What its words explain is the request's fault; anything else may be gone when the request is sent again.
    return httpx2.codes.BAD_REQUEST if endpoint.fix_for(json.dumps(error)) else httpx2.codes.BAD_GATEWAY


class ServedModel:
    """A model behind another path than the chat, such as `/embeddings`, with the chat's limits, timeouts and retries.

    The settings have its address, key and name in place of the chat's; `variables` is the prefix of its own settings.
    """

    def __init__(self, settings: Settings, variables: str, operation: str) -> None:
        self._settings = settings
        self._failure = partial(failure, settings=settings, variables=variables)

        def connect() -> openai.AsyncOpenAI:
            try:
                return open_openai(settings)
            except openai.OpenAIError as error:  # such as a missing key
                raise self._failure(error, fix=endpoint.NOT_SET_UP) from None

        self._calls = LimitedCalls(connect, settings, operation)

    def post(self, path: str, requests: Sequence[tuple[dict[str, Any], Sequence[str]]]) -> list[dict[str, Any]]:
        """Send requests and return their answers in order. Their tokens are charged as `charge_calls` says.

        A request is its body, and the texts in it that the model reads: their tokens are limited and counted.
        """
        charged, paid_tokens = charge(), list[int]()  # whom to charge, and the tokens of each answered request

        async def ask(request: tuple[dict[str, Any], Sequence[str]]) -> dict[str, Any]:
            sent_body, texts = request
            answer: dict[str, Any] = {}

            async def call(client: openai.AsyncOpenAI) -> Reply:
                """Send the request, put the response into `answer`, and return a reply that has its tokens alone."""
                try:
                    body = await client.post(path, body=sent_body, cast_to=object)
                except openai.OpenAIError as error:
                    raise self._failure(error) from None
                if not isinstance(body, dict):
                    raise self._failure(ValueError(type(body).__name__), fix=endpoint.NOT_OPENAI)
                answer.update(body)
                usage = body["usage"] if isinstance(body.get("usage"), dict) else {}
                counts = map(reported_count, (usage.get("prompt_tokens"), usage.get("total_tokens")))
                return Reply("", next(filter(None, counts), sum(map(estimate_tokens, texts))), 0)

            reply = await self._calls.ask(texts, call)
            paid_tokens.append(reply.prompt_tokens)
            if charged.budget is not None:
                charged.budget.add(self._settings.llm_model, reply.prompt_tokens, 0)
            return answer

        try:
            return run(in_parallel, ask, requests, self._settings.llm_concurrency)
        finally:  # calls before an error are paid, too
            if charged.account and paid_tokens:
                charged.account(path.strip("/"), self._settings.llm_model, len(paid_tokens), sum(paid_tokens))
