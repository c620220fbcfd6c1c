"""Limit a process's calls to an endpoint, at once and per minute, and observe each: a log line and a telemetry span.

All calls of the process to one endpoint share its rates and circuit breaker. The number of calls at once ("slots") is
limited for each event loop. The openai client handles backoff, and `http_client` bounds each request.

Neither log lines nor spans contain a prompt, an answer, an error's text or a key. Spans go where the program that
embeds Banyan, or `opentelemetry-instrument`, directs them, and nowhere by default.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Generic, TypeVar, cast
from weakref import WeakKeyDictionary

import anyio
from opentelemetry.trace import SpanKind

from ...config import Settings
from ...runtime.telemetry import span
from ...runtime.threads import once_in_each_process
from ...text.scripts import estimate_tokens
from .endpoint import Capability, Messages, Reply, host_of, name_of
from .failures import Breaker

LOG = logging.getLogger("banyan.llm")
_USAGE = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens",
          "cached_tokens": "cache_read.input_tokens"}
_WATCHERS: list[Callable[[Mapping[str, Any]], None]] = []
_T = TypeVar("_T")
_Client = TypeVar("_Client")

SendIn = Callable[[Messages, dict[str, Any], Capability], Awaitable[Reply]]
"""Sends messages and the JSON schema of the answer in a form that the endpoint takes, and learns which these are."""
_CHECK_SECONDS = 1.0
"""Seconds after which a waiting call checks the circuit breaker again."""


class PerLoop(Generic[_T]):
    """An object for each event loop: waiting tasks and connections belong to one."""

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, _T] = WeakKeyDictionary()

    def of_this_loop(self) -> _T:
        """Return the object of the running event loop, made when it is first needed."""
        loop = asyncio.get_running_loop()
        if loop not in self._made:
            self._made[loop] = self._make()
        return self._made[loop]


class EndpointLimits:
    """The limits of the calls to one endpoint and model, and what the process has learnt of it."""

    def __init__(self, settings: Settings, slots: PerLoop[anyio.Semaphore]) -> None:
        """Store the settings' limits; `slots` are the calls at once, shared by the models of an endpoint."""
        self.host = host_of(settings)
        self.breaker = Breaker(name_of(settings), time.monotonic)
        self.capability = Capability(name_of(settings))
        self._slots = slots
        requests, tokens = settings.llm_requests_per_second, settings.llm_tokens_per_minute
        self._seconds_per_request = 0.0 if requests is None else 1 / requests
        self._seconds_per_token = 0.0 if tokens is None else 60 / tokens
        self._next_request = self._next_tokens = 0.0
        """When the rates allow the next call."""
        self._lock = Lock()

    @asynccontextmanager
    async def turn(self, texts: Iterable[str]) -> AsyncIterator[Callable[[int], None]]:
        """Wait for a slot and for the rates, and hold the slot for the block.

        Args:
            texts: the texts of the call's prompt, counted if tokens are limited.

        Yields:
            A function to call with the tokens that the call used in all, as its reply reports them.

        Raises:
            EndpointDown: the endpoint went down while the call waited.
        """
        async with self._slots.of_this_loop():
            expected = sum(map(estimate_tokens, texts)) if self._seconds_per_token else 0
            self.breaker.check()
            while (wait := self._take_turn(expected)) > 0:
                await asyncio.sleep(min(wait, _CHECK_SECONDS))
                self.breaker.check()

            def record_use(tokens: int) -> None:
                with self._lock:  # the expected tokens were counted when the turn began
                    self._next_tokens += (tokens - expected) * self._seconds_per_token

            yield record_use

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
        self._slots: dict[Hashable, PerLoop[anyio.Semaphore]] = {}
        self._limits: dict[Hashable, EndpointLimits] = {}

    def limits(self, settings: Settings) -> EndpointLimits:
        """Return the limits of the settings' endpoint and model. Each API key has its own."""
        account = host_of(settings), settings.llm_base_url, settings.llm_api_key, settings.llm_concurrency
        slots = self._slots.setdefault(account, PerLoop(lambda: anyio.Semaphore(settings.llm_concurrency)))
        rates = settings.llm_requests_per_second, settings.llm_tokens_per_minute
        return self._limits.setdefault((account, settings.llm_model, rates), EndpointLimits(settings, slots))


@once_in_each_process
def process_endpoints() -> ProcessEndpoints:
    """Return the endpoints of this process."""
    return ProcessEndpoints()


class LimitedCalls(Generic[_Client]):
    """Calls through a client: limits, circuit breaker, log and spans."""

    def __init__(self, connect: Callable[[], _Client], settings: Settings, operation: str = "chat") -> None:
        self._connect = connect
        self._operation = operation
        self._clients: PerLoop[list[_Client]] = PerLoop(list)  # empty until the client is connected
        self._connecting = PerLoop(anyio.Lock)
        self._model = settings.llm_model
        self._limits = process_endpoints().limits(settings)

    async def ask(self, texts: Iterable[str], permit: Callable[[], None],
                  call: Callable[[_Client], Awaitable[_T]]) -> _T:
        """Make one paid call when the limits allow it."""
        limits = self._limits
        limits.breaker.check()
        with observed_call(self._model, limits.host, self._operation) as observed:
            async with self._connecting.of_this_loop():
                if not (clients := self._clients.of_this_loop()):
                    with limits.breaker.watch():
                        clients.append(await asyncio.to_thread(self._connect))
            async with limits.turn(texts) as record_use:
                permit()
                observed.sent_at = time.perf_counter()
                with limits.breaker.watch():
                    answer: Any = await call(clients[0])
                observed.fields.update(prompt_tokens=answer.prompt_tokens, completion_tokens=answer.completion_tokens,
                                       cached_tokens=answer.cached_tokens)
                record_use(answer.prompt_tokens + answer.completion_tokens)
                return cast("_T", answer)


class LimitedEndpoint(LimitedCalls[SendIn]):
    """Implements `Endpoint`: sends each call in a form that the model takes, and learns from it which these are."""

    async def send(self, messages: Messages, json_schema: dict[str, Any], permit: Callable[[], None]) -> Reply:
        """See `Endpoint.send` and `ask`."""
        return await self.ask([content for _, content in messages], permit,
                              lambda send: send(messages, json_schema, self._limits.capability))


@dataclass
class _Step:
    """A step that asks a model, such as "extract", and how many calls it has sent."""

    name: str
    calls: int = 0


_STEP: ContextVar[_Step | None] = ContextVar("banyan_llm_step", default=None)


@dataclass
class ObservedCall:
    """A call in progress: the fields of its log line so far, and when it was sent."""

    fields: dict[str, Any] = field(default_factory=dict)
    sent_at: float | None = None


def watch(on_call: Callable[[Mapping[str, Any]], None]) -> None:
    """Call a function after each call of this process, with the fields of its log line, until the process ends."""
    _WATCHERS.append(on_call)


@contextmanager
def observed_step(name: str, model: str) -> Iterator[None]:
    """Observe a step, with or without calls to a model: a span, and a line in the log at level DEBUG."""
    step = _Step(name)
    started = time.perf_counter()
    fields = {"step": name, "model": model}
    token = _STEP.set(step)
    with span(f"banyan.{name}", {"banyan.step": name}) as current:
        try:
            with _add_outcome(fields):
                yield
        finally:
            _STEP.reset(token)
            current.set_attribute("banyan.calls", step.calls)
            milliseconds = round(1000 * (time.perf_counter() - started))
            _log_line(logging.DEBUG, "step", {**fields, "ms": milliseconds, "calls": step.calls})


@contextmanager
def observed_call(model: str, host: str, operation: str = "chat") -> Iterator[ObservedCall]:
    """Observe one call: a span with the attributes of the GenAI conventions, and a line in the log at level INFO."""
    step, started = _STEP.get() or _Step(""), time.perf_counter()
    step.calls += 1
    call = ObservedCall({"step": step.name, "model": model, "host": host, "attempt": step.calls})
    with span(f"{operation} {model}", {
            "gen_ai.operation.name": operation, "gen_ai.provider.name": "openai", "gen_ai.request.model": model,
            "server.address": host, "banyan.step": step.name, "banyan.attempt": step.calls},
            SpanKind.CLIENT) as current:
        try:
            with _add_outcome(call.fields):
                yield call
        finally:
            ended = time.perf_counter()
            sent_at = call.sent_at or ended  # the wait for a free slot does not count as the endpoint's time
            call.fields.update(ms=round(1000 * (ended - sent_at)), waited_ms=round(1000 * (sent_at - started)))
            _log_line(logging.INFO, "call", call.fields)
            for on_call in _WATCHERS:
                on_call(call.fields)
            current.set_attributes({f"gen_ai.usage.{to}": call.fields[name] for name, to in _USAGE.items()
                                    if name in call.fields})


@contextmanager
def _add_outcome(fields: dict[str, Any]) -> Iterator[None]:
    """Add the outcome of the block to the fields: "ok", or the type of its error."""
    fields["outcome"] = "ok"
    try:
        yield
    except BaseException as error:
        fields["outcome"] = type(error).__name__
        raise


def _log_line(level: int, event: str, fields: dict[str, Any]) -> None:
    """Log one line; its fields are also the record's `fields`, for a formatter that writes them separately."""
    if LOG.isEnabledFor(level):
        LOG.log(level, "%s %s", event, " ".join(f"{name}={value}" for name, value in fields.items()),
                extra={"fields": {"event": event, **fields}})
