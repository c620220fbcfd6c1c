"""Observe calls: a log line for each, and OpenTelemetry spans if the user has set that up.

Neither contains a prompt, an answer, an error's text or a key. Nothing is sent from here: spans go where the program
that embeds Banyan, or `opentelemetry-instrument`, directs them, and nowhere by default.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.trace import SpanKind

from ...runtime.telemetry import span

LOG = logging.getLogger("banyan.llm")
_USAGE = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens",
          "cached_tokens": "cache_read.input_tokens"}
_WATCHERS: list[Callable[[Mapping[str, Any]], None]] = []


@dataclass
class _Step:
    """A step that asks a model, and how many calls it has sent."""

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
            _log_line(logging.DEBUG, "step", {**fields, "ms": _ms(time.perf_counter() - started), "calls": step.calls})


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
            call.fields.update(ms=_ms(ended - sent_at), waited_ms=_ms(sent_at - started))
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


def _ms(seconds: float) -> int:
    return round(1000 * seconds)


def _log_line(level: int, event: str, fields: dict[str, Any]) -> None:
    """Log one line; its fields are also the record's `fields`, for a formatter that writes them separately."""
    if LOG.isEnabledFor(level):
        LOG.log(level, "%s %s", event, " ".join(f"{name}={value}" for name, value in fields.items()),
                extra={"fields": {"event": event, **fields}})
