"""Limit a process's calls to an endpoint, at once and per minute.

All calls to the same endpoint share its slots, rates and circuit breaker, for any knowledge base and in any thread. The
openai client handles timeouts and backoff of a single request; this module bounds a call as a whole.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar, cast

from aiolimiter import AsyncLimiter

from ...config import Settings
from ...runtime.cancellation import current
from ...runtime.once import once_in_each_process
from ...text.tokens import estimate_tokens
from .breaker import Breaker, EndpointFailed
from .capability import Capability, Refusals
from .endpoint import Messages, Reply, SendIn, host_of, name_of
from .observing import observed_call

_T = TypeVar("_T")
_Client = TypeVar("_Client")

LONGEST_BACKOFF = 120.0
"""Seconds between two requests of a call: the openai client honours a Retry-After up to two minutes, and gives up on a
longer one."""
SLACK = 30.0
"""Seconds added to the longest a call may take: the first one imports its client, on a machine that may be busy."""


class EndpointLimits:
    """The limits of the calls to one endpoint and model, and what is learnt of it.

    Used only on the process's event loop.
    """

    def __init__(self, settings: Settings, slots: asyncio.Semaphore) -> None:
        self.host = host_of(settings)
        self.breaker = Breaker(name_of(settings), time.monotonic)
        self.capability = Capability(name_of(settings))
        self.refusals = Refusals(name_of(settings))
        self._slots = slots
        requests, tokens = settings.llm_requests_per_second, settings.llm_tokens_per_minute
        self._requests = None if requests is None else AsyncLimiter(1, 1 / requests)
        # Bursts of a second: saved-up tokens must be few compared with a minute's limit.
        self._tokens = None if tokens is None else AsyncLimiter(tokens / 60, 1)
        self._in_order = asyncio.Lock()
        self._due = 0.0
        """Tokens of earlier calls that the next call has to wait for."""

    @asynccontextmanager
    async def turn(self, texts: Iterable[str]) -> AsyncIterator[Callable[[int], None]]:
        """Wait for a slot and for the rates, and hold the slot for the block.

        Args:
            texts: the texts of the call's prompt, counted if tokens are limited.

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
            if current().is_cancelled:
                raise asyncio.CancelledError
            expected = 0 if self._tokens is None else sum(map(estimate_tokens, texts))
            self._due += expected

            def record_use(tokens: int) -> None:
                self._due += tokens - expected

            yield record_use

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
    """The limits of this process's endpoints.

    Safe to call from any thread; what it returns is used only on the process's event loop.
    """

    def __init__(self) -> None:
        self._slots: dict[Hashable, asyncio.Semaphore] = {}
        self._limits: dict[Hashable, EndpointLimits] = {}

    def limits(self, settings: Settings) -> EndpointLimits:
        """Return the limits of the settings' endpoint and model. Each API key has its own."""
        account = host_of(settings), settings.llm_base_url, settings.llm_api_key, settings.llm_concurrency
        slots = self._slots.setdefault(account, asyncio.Semaphore(settings.llm_concurrency))
        rates = settings.llm_requests_per_second, settings.llm_tokens_per_minute
        return self._limits.setdefault((account, settings.llm_model, rates), EndpointLimits(settings, slots))


@once_in_each_process
def process_endpoints() -> ProcessEndpoints:
    """Return the endpoints of this process."""
    return ProcessEndpoints()


class LimitedCalls(Generic[_Client]):
    """Calls through a client: limits, circuit breaker, log and spans.

    Args:
        connect: returns the client; called in a thread before the first call, as importing it takes long.
        settings: the limits and the endpoint.
        operation: the operation's name in spans.
    """

    def __init__(self, connect: Callable[[], _Client], settings: Settings, operation: str = "chat") -> None:
        self._connect = connect
        self._operation = operation
        self._client: _Client | None = None
        self._connecting = asyncio.Lock()
        self._model = settings.llm_model
        self._limits = process_endpoints().limits(settings)
        tries = settings.llm_retries + 1
        self._longest = tries * settings.llm_timeout + settings.llm_retries * LONGEST_BACKOFF + SLACK

    async def ask(self, texts: Iterable[str], permit: Callable[[], None],
                  call: Callable[[_Client], Awaitable[_T]]) -> _T:
        """Make one paid call when the limits allow it.

        Args:
            texts: the texts that the model reads.
            permit: see `Endpoint.send`.
            call: sends it through the client, and returns what has the tokens of a `Reply`.

        Raises:
            ReasonerError: the call failed for good; `EndpointFailed` if that was not the request's fault.
            EndpointDown: the endpoint is down, and the call was not sent.
        """
        limits = self._limits
        limits.breaker.check()
        with observed_call(self._model, limits.host, self._operation) as observed:
            async with self._connecting:
                if self._client is None:
                    try:
                        self._client = await asyncio.to_thread(self._connect)
                    except EndpointFailed as failure:
                        raise limits.breaker.record_failure(failure) from None
            async with limits.turn(texts) as record_use:
                permit()
                observed.start()
                with limits.breaker.watch():
                    answer: Any = await self._end_in_time(call(self._client))
                observed.record_answer(answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens)
                record_use(answer.prompt_tokens + answer.completion_tokens)
                return cast("_T", answer)

    async def _end_in_time(self, call: Awaitable[_T]) -> _T:
        try:
            async with asyncio.timeout(self._longest):
                return await call
        except TimeoutError:
            raise EndpointFailed(f"model {self._model!r} at {self._limits.host}: it did not come to an end within "
                                 f"{self._longest:g} s, all retries together; see to the endpoint, then try again"
                                 ) from None


class LimitedEndpoint(LimitedCalls[SendIn]):
    """Implements `Endpoint`: sends each call in a form that the model takes, and learns from it which these are."""

    async def send(self, messages: Messages, json_schema: dict[str, Any], permit: Callable[[], None]) -> Reply:
        """See `Endpoint.send` and `ask`."""
        capability = self._limits.capability

        async def call(send_in: SendIn) -> Reply:
            forms = capability.forms()  # at the call's turn, when earlier calls have shown more
            reply = await send_in(messages, json_schema, forms, self._limits.refusals)
            return reply._replace(judged=lambda usable: capability.record(forms[0], reply.form, usable=usable))

        return await self.ask([content for _, content in messages], permit, call)
