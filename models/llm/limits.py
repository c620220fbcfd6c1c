"""Limit a process's calls to an endpoint, at once and per minute.

All calls to the same endpoint share its slots, rates and circuit breaker, for any knowledge base and in any thread. The
openai client handles timeouts and backoff of a single request; this module bounds a call as a whole.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar, cast

from aiolimiter import AsyncLimiter
from pydantic import SecretStr

from ...config import Settings
from ...runtime.cancellation import current
from ...runtime.once import once
from ...text.tokens import estimate_tokens
from ..reasoner import ReasonerError
from .breaker import Breaker, EndpointFailed
from .capability import Capability
from .endpoint import Messages, Reply, host_of, name_of
from .observing import observed_call

_T = TypeVar("_T")

LONGEST_BACKOFF = 120.0
"""Seconds between two requests of a call: the openai client honours a Retry-After up to two minutes, and gives up on a
longer one."""
SLACK = 30.0
"""Seconds added to the longest a call may take: the first one imports its client, on a machine that may be busy."""
FIRST_RATIO = 1.5
"""A call's tokens by those of its prompt, until replies show it: an answer half as long as the prompt."""


class _Key(NamedTuple):
    """Identifies calls that share limits. The API key is part of it: each account has its own limits."""

    host: str
    base_url: str
    api_key: SecretStr
    model: str
    concurrency: int
    requests_per_second: float | None
    tokens_per_minute: int | None


class Limits:
    """The limits of the calls to one endpoint and model. Used only on the process's event loop."""

    def __init__(self, key: _Key, slots: asyncio.Semaphore) -> None:
        self.host = key.host
        self.breaker = Breaker(f"model {key.model!r} at {key.host}", time.monotonic)
        self._slots = slots
        requests, tokens = key.requests_per_second, key.tokens_per_minute
        self._requests = None if requests is None else AsyncLimiter(1, 1 / requests)
        # Bursts of a second: saved-up tokens must be few compared with a minute's limit.
        self._tokens = None if tokens is None else AsyncLimiter(tokens / 60, 1)
        self._in_order = asyncio.Lock()
        self._due = 0.0
        """Tokens of earlier calls that the next call has to wait for."""
        self._prompted = self._used = 0

    @property
    def tokens_are_limited(self) -> bool:
        """True if there is a rate of tokens, so a prompt's tokens matter."""
        return self._tokens is not None

    @asynccontextmanager
    async def turn(self, prompt: int) -> AsyncIterator[Callable[[int], None]]:
        """Wait for a slot and for the rates, and hold the slot for the block.

        Args:
            prompt: estimated tokens of the call's prompt, or 0 if they are not limited.

        Yields:
            A function to call with the tokens that the call used in all, as its reply reports them.

        Raises:
            CancelledError: the run was cancelled while the call waited.
            EndpointDown: the endpoint went down while the call waited.
        """
        async with self._slots:
            async with self._in_order:
                await self._rates()
            # A run's calls are cancelled one after the other: a cancelled call's slot must not start the next one.
            if current().cancelled:
                raise asyncio.CancelledError
            expected = prompt * (self._used / self._prompted if self._prompted else FIRST_RATIO)
            self._due += expected

            def used(tokens: int) -> None:
                self._due += tokens - expected
                self._prompted += prompt
                self._used += tokens

            yield used

    async def _rates(self) -> None:
        """Wait until the rates allow another call. A call of any size passes, and later calls wait longer for it."""
        self.breaker.check()
        if self._requests is not None:
            await self._requests.acquire()
        if self._tokens is not None:
            while self._due > 0:
                self.breaker.check()
                share = min(self._due, self._tokens.max_rate)
                await self._tokens.acquire(share)
                self._due -= share
        self.breaker.check()


class ProcessEndpoints:
    """The limits and capabilities of this process's endpoints.

    Safe to call from any thread; what it returns is used only on the process's event loop.
    """

    def __init__(self) -> None:
        self._slots: dict[tuple[str, str, SecretStr, int], asyncio.Semaphore] = {}
        self._limits: dict[_Key, Limits] = {}
        self._capabilities: dict[tuple[str, str], Capability] = {}

    def limits(self, settings: Settings) -> Limits:
        """Return the limits of the settings' endpoint and model."""
        key = _Key(host_of(settings), settings.llm_base_url or "", settings.llm_api_key, settings.llm_model,
                   settings.llm_concurrency, settings.llm_requests_per_second, settings.llm_tokens_per_minute)
        slots = self._slots.setdefault((key.host, key.base_url, key.api_key, key.concurrency),
                                       asyncio.Semaphore(key.concurrency))
        return self._limits.setdefault(key, Limits(key, slots))

    def capability(self, settings: Settings) -> Capability:
        """Return the record of the forms of request that the settings' endpoint and model take."""
        base_url, model = settings.llm_base_url or "", settings.llm_model
        return self._capabilities.setdefault((base_url, model), Capability(name_of(settings)))


@once
def process_endpoints() -> ProcessEndpoints:
    """Return the endpoints of this process."""
    return ProcessEndpoints()


class LimitedEndpoint:
    """Implements `Endpoint` around a client: limits, circuit breaker, log and spans.

    Args:
        connect: returns a function that sends a call; called in a thread before the first call, as importing the client
            takes long.
        settings: the limits and the endpoint.
        operation: the operation's name in spans.
    """

    def __init__(self, connect: Callable[[], Callable[..., Awaitable[Any]]], settings: Settings,
                 operation: str = "chat") -> None:
        self._connect = connect
        self._operation = operation
        self._client: Callable[..., Awaitable[Any]] | None = None
        self._connecting = asyncio.Lock()
        self._model = settings.llm_model
        self._limits = process_endpoints().limits(settings)
        tries = settings.llm_retries + 1
        self._longest = tries * settings.llm_timeout + settings.llm_retries * LONGEST_BACKOFF + SLACK

    async def send(self, messages: Messages, json_schema: dict[str, Any], permit: Callable[[], None]) -> Reply:
        """Make one paid call when the limits allow it.

        Raises:
            ReasonerError: the call failed for good; `EndpointFailed` if that was not the request's fault.
            EndpointDown: the endpoint is down, and the call was not sent.
        """
        return cast("Reply", await self.ask([content for _, content in messages], permit, messages, json_schema))

    async def ask(self, texts: Iterable[str], permit: Callable[[], None], *arguments: Any) -> Any:
        """Make one paid call of any kind when the limits allow it.

        Args:
            texts: the texts that the model reads.
            permit: see `Endpoint.send`.
            arguments: the client's arguments.

        Returns:
            The client's result, which has the tokens of a `Reply`.

        Raises:
            ReasonerError: as for `send`.
        """
        limits = self._limits
        # Counting takes longer than everything else here.
        prompt = sum(map(estimate_tokens, texts)) if limits.tokens_are_limited else 0
        limits.breaker.check()
        with observed_call(self._model, limits.host, self._operation) as call:
            async with self._connecting:
                if self._client is None:
                    try:
                        self._client = await asyncio.to_thread(self._connect)
                    except EndpointFailed as failure:
                        raise limits.breaker.failed(failure) from None
            async with limits.turn(prompt) as used:
                permit()
                call.sent()
                reply = await self._answer(self._client(*arguments))
                call.answered(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
                used(reply.prompt_tokens + reply.completion_tokens)
                return reply

    async def _answer(self, call: Awaitable[_T]) -> _T:
        breaker = self._limits.breaker
        breaker.admit()
        try:
            async with asyncio.timeout(self._longest):
                reply = await call
        except EndpointFailed as failure:
            raise breaker.failed(failure) from None
        except TimeoutError:
            raise breaker.failed(self._endless()) from None
        except ReasonerError:
            breaker.answered()
            raise
        except BaseException:
            breaker.given_up()
            raise
        breaker.answered()
        return reply

    def _endless(self) -> EndpointFailed:
        return EndpointFailed(f"model {self._model!r} at {self._limits.host}: it did not come to an end within "
                              f"{self._longest:g} s, all retries together; see to the endpoint, then try again")
