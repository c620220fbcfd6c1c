"""Limit a process's calls to an endpoint, at once and per minute; write a log line and a telemetry span for each.

All calls to one endpoint share its rates and circuit breaker; the number of calls at once ("slots") is limited for each
event loop. Neither log lines nor spans contain a prompt, an answer, an error's text or a key.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Hashable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import anyio
from opentelemetry.trace import SpanKind

from ...config import Settings
from ...runtime.telemetry import span
from ...runtime.threads import once_in_each_process
from ...text.scripts import estimate_tokens
from ..reasoner import ReasonerError
from .endpoint import Capability, EndpointDown, EndpointFailed, Messages, Reply, host_of, name_of

LOG = logging.getLogger("banyan.llm")
# The counts of a reply, and their names in the attributes of a span.
_USAGE = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens",
          "cached_tokens": "cache_read.input_tokens"}
FAILURES_IN_A_ROW = 5  # each after all retries; they show that the endpoint is down
SECONDS_OPEN = 10.0  # about the time a server needs to restart; trying earlier would be a retry, as the calls have made
_CHECK_SECONDS = 1.0  # after which a waiting call checks the circuit breaker again
_WATCHERS: list[Callable[[Mapping[str, Any]], None]] = []  # see `watch`
_STEP: ContextVar[str] = ContextVar("banyan_llm_step", default="")  # see `calls_of_step`
_T = TypeVar("_T")
_Client = TypeVar("_Client")

SendIn = Callable[[Messages, dict[str, Any], Capability], Coroutine[Any, Any, Reply]]
"""Sends messages and the JSON schema of the answer in a form that the endpoint takes, and learns which these are."""


class Breaker:
    """Counts the failures of calls to one endpoint. Used only on the process's event loop."""

    def __init__(self, name: str, clock: Callable[[], float]) -> None:
        self._name, self._clock = name, clock
        self._failures, self._reason, self._down_until = 0, "", 0.0

    def check(self) -> None:
        """Raise EndpointDown if the endpoint is down and it is too early to try it."""
        if self._clock() < self._down_until:
            raise EndpointDown(f"the endpoint is down: {self._reason}. Progress is saved. Run the command again when "
                               "it answers, to go on from here")

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Record whether the block's call fails, unless it is cancelled; after enough failures, raise EndpointDown."""
        self.check()
        try:
            yield
        except EndpointFailed as failure:
            self._failures += 1
            if failure.certain or self._failures >= FAILURES_IN_A_ROW:
                self._reason, self._down_until = str(failure), self._clock() + SECONDS_OPEN
                LOG.warning("%s is down: no call is sent to it for %g s", self._name, SECONDS_OPEN)
                self.check()  # raises EndpointDown in place of this failure
            raise
        except ReasonerError:  # the endpoint answered, even if it refused this one request
            self._failures = 0
            raise
        self._failures = 0


class _PerLoop(Generic[_T]):
    """An object for each event loop, to which waiting tasks and connections belong."""

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self._objects: WeakKeyDictionary[asyncio.AbstractEventLoop, _T] = WeakKeyDictionary()

    def of_this_loop(self) -> _T:
        """Return the running event loop's object, which its first use makes."""
        loop = asyncio.get_running_loop()
        if loop not in self._objects:
            self._objects[loop] = self._make()
        return self._objects[loop]


class EndpointLimits:
    """The limits of the calls to one endpoint and model, and what the process has learnt of it."""

    def __init__(self, settings: Settings, slots: _PerLoop[anyio.Semaphore]) -> None:
        self.model, self.host = settings.llm_model, host_of(settings)
        self.breaker = Breaker(name_of(settings), time.monotonic)
        self.capability = Capability(name_of(settings))
        self._slots = slots  # shared by the models of an endpoint
        requests, tokens = settings.llm_requests_per_second, settings.llm_tokens_per_minute
        self._seconds_per_request = 0.0 if requests is None else 1 / requests
        self._seconds_per_token = 0.0 if tokens is None else 60 / tokens
        self._next_request = self._next_tokens = 0.0  # when each rate allows the next call
        self._lock = Lock()

    @asynccontextmanager
    async def turn(self, texts: Iterable[str], fields: dict[str, Any]) -> AsyncIterator[None]:
        """Wait for a slot and the rates, and hold the slot while the block makes its call, which sends `texts`.

        The time waited joins the `fields` of its log line, as the block adds the reply's tokens.
        Raise EndpointDown, also while it waits.
        """
        started = time.perf_counter()
        async with self._slots.of_this_loop():
            expected_tokens = sum(map(estimate_tokens, texts)) if self._seconds_per_token else 0
            self.breaker.check()
            while (wait := self._take_turn(expected_tokens)) > 0:
                await asyncio.sleep(min(wait, _CHECK_SECONDS))
                self.breaker.check()
            fields["waited_ms"] = round(1000 * (time.perf_counter() - started))
            with self.breaker.watch():
                yield
            used_tokens = fields["prompt_tokens"] + fields["completion_tokens"]
            with self._lock:  # the expected tokens were counted when the turn began
                self._next_tokens += (used_tokens - expected_tokens) * self._seconds_per_token

    def _take_turn(self, tokens: int) -> float:
        """Return the seconds until the rates allow another call; 0 means that it may begin now, and is counted."""
        with self._lock:
            now = time.monotonic()
            wait = max(self._next_request, self._next_tokens) - now
            if wait > 0:
                return wait
            self._next_request = now + self._seconds_per_request
            self._next_tokens = now + tokens * self._seconds_per_token
            return 0.0


class ProcessEndpoints:
    """The limits of this process's endpoints. Safe to use from any thread."""

    def __init__(self) -> None:
        self._slots: dict[Hashable, _PerLoop[anyio.Semaphore]] = {}
        self._limits: dict[Hashable, EndpointLimits] = {}

    def limits(self, settings: Settings) -> EndpointLimits:
        """Return the limits of the settings' endpoint and model. Each API key has its own."""
        # The slots are per account, as its models share them; the rates are per model.
        account = host_of(settings), settings.llm_base_url, settings.llm_api_key, settings.llm_concurrency
        slots = self._slots.setdefault(account, _PerLoop(lambda: anyio.Semaphore(settings.llm_concurrency)))
        rates = settings.llm_requests_per_second, settings.llm_tokens_per_minute
        return self._limits.setdefault((account, settings.llm_model, rates), EndpointLimits(settings, slots))


process_endpoints = once_in_each_process(ProcessEndpoints)


class LimitedCalls(Generic[_Client]):
    """Calls through a client that is connected with the first one: limits, circuit breaker, log and spans."""

    def __init__(self, connect: Callable[[], _Client], settings: Settings, operation: str = "chat") -> None:
        self._connect, self._operation = connect, operation  # what the calls do, for the spans
        self._clients: _PerLoop[list[_Client]] = _PerLoop(list)  # empty until the client is connected
        self._connecting = _PerLoop(anyio.Lock)
        self.limits = process_endpoints().limits(settings)

    async def ask(self, texts: Iterable[str], call: Callable[[_Client], Awaitable[Reply]]) -> Reply:
        """Make one paid call with the client, which sends `texts`, when the limits allow it; return its reply."""
        self.limits.breaker.check()  # before a line is logged: a call that is not sent is no call
        async with self._connecting.of_this_loop():
            clients = self._clients.of_this_loop()
            if not clients:
                with self.limits.breaker.watch():
                    clients.append(await asyncio.to_thread(self._connect))
        with _observed_call(self.limits, self._operation) as fields:
            async with self.limits.turn(texts, fields):
                reply = await call(clients[0])
                fields.update({name: getattr(reply, name) for name in _USAGE})
            return reply


class LimitedEndpoint(LimitedCalls[SendIn]):
    """Sends each call in a form that the model takes, and learns from it which these are."""

    async def send(self, messages: Messages, json_schema: dict[str, Any], permit: Callable[[], None]) -> Reply:
        """Make one paid call right after `permit`, or raise ReasonerError. The endpoint may ignore the schema."""
        async def call(send: SendIn) -> Reply:
            permit()
            return await send(messages, json_schema, self.limits.capability)

        return await self.ask([content for _, content in messages], call)


@contextmanager
def calls_of_step(name: str) -> Iterator[None]:
    """Name the step, such as "extract", that makes the calls of the block."""
    token = _STEP.set(name)
    try:
        yield
    finally:
        _STEP.reset(token)


def watch(on_call: Callable[[Mapping[str, Any]], None]) -> None:
    """Call a function after each call of this process, with the fields of its log line, until the process ends."""
    _WATCHERS.append(on_call)


@contextmanager
def _observed_call(limits: EndpointLimits, operation: str) -> Iterator[dict[str, Any]]:
    """Record one call as a span, as the GenAI conventions say, and as a line of the log; yield its fields."""
    step, started = _STEP.get(), time.perf_counter()
    fields: dict[str, Any] = {"step": step, "model": limits.model, "host": limits.host, "outcome": "ok"}
    attributes = {"gen_ai.operation.name": operation, "gen_ai.provider.name": "openai",
                  "gen_ai.request.model": limits.model, "server.address": limits.host, "banyan.step": step}
    with span(f"{operation} {limits.model}", attributes, SpanKind.CLIENT) as current:
        try:
            yield fields
        except BaseException as error:
            fields["outcome"] = type(error).__name__
            raise
        finally:
            elapsed = round(1000 * (time.perf_counter() - started))
            # The wait for a free slot does not count as the endpoint's time; a call that was not sent only waited.
            fields["ms"] = elapsed - fields.setdefault("waited_ms", elapsed)
            LOG.info("call %s", " ".join(f"{name}={value}" for name, value in fields.items()),
                     extra={"fields": {"event": "call", **fields}})  # for a log of JSON lines
            for on_call in _WATCHERS:
                on_call(fields)
            current.set_attributes({f"gen_ai.usage.{attribute}": fields[name]
                                    for name, attribute in _USAGE.items() if name in fields})
