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


@dataclass
class _Step:
    """A step that asks a model, and how many calls it has sent."""

    name: str
    calls: int = 0


_STEP: ContextVar[_Step | None] = ContextVar("banyan_llm_step", default=None)


@contextmanager
def observed_step(name: str, model: str) -> Iterator[None]:
    """Observe a step, with or without calls to a model: a span, and a line in the log at level DEBUG."""
    step, started = _Step(name), time.perf_counter()
    token = _STEP.set(step)
    outcome = "ok"
    try:
        with span(f"banyan.{name}", {"banyan.step": name}) as current:
            try:
                yield
            except BaseException as error:
                outcome = type(error).__name__
                raise
            finally:
                current.set_attribute("banyan.calls", step.calls)
    finally:
        _STEP.reset(token)
        _line(logging.DEBUG, "step", {"step": name, "model": model, "ms": _ms(started), "calls": step.calls,
                                      "outcome": outcome})


@dataclass
class ObservedCall:
    """A call in progress, with the fields of its log line so far."""

    waited_since: float
    fields: dict[str, Any] = field(default_factory=dict)
    started: float | None = None

    def sent(self) -> None:
        """Start the clock: the wait for a free slot does not count as the endpoint's time."""
        self.started = time.perf_counter()

    def answered(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int) -> None:
        """Record the tokens of the answer."""
        self.fields.update(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens,
                           cached_tokens=cached_tokens)


_WATCHING: list[Callable[[Mapping[str, Any]], None]] = []


def watch(told: Callable[[Mapping[str, Any]], None]) -> None:
    """Call a function after each call of this process, with the fields of its log line, until the process ends."""
    _WATCHING.append(told)


@contextmanager
def observed_call(model: str, host: str, operation: str = "chat") -> Iterator[ObservedCall]:
    """Observe one call: a span with the attributes of the GenAI conventions, and a line in the log at level INFO.

    Args:
        model: the model's name.
        host: the endpoint's host.
        operation: the operation's name in the conventions.
    """
    step = _STEP.get() or _Step("")
    step.calls += 1
    call = ObservedCall(time.perf_counter(), {"step": step.name, "model": model, "host": host, "attempt": step.calls})
    outcome = "ok"
    with span(f"{operation} {model}", {
            "gen_ai.operation.name": operation, "gen_ai.provider.name": "openai", "gen_ai.request.model": model,
            "server.address": host, "banyan.step": step.name, "banyan.attempt": step.calls},
            SpanKind.CLIENT) as current:
        try:
            yield call
        except BaseException as error:
            outcome = type(error).__name__
            raise
        finally:
            sent = call.started
            call.fields.update(ms=0 if sent is None else _ms(sent), outcome=outcome,
                               waited_ms=_ms(call.waited_since, sent))
            _line(logging.INFO, "call", call.fields)
            for told in _WATCHING:
                told(call.fields)
            current.set_attributes({f"gen_ai.usage.{to}": call.fields[name] for name, to in _USAGE.items()
                                    if name in call.fields})


_USAGE = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens",
          "cached_tokens": "cache_read.input_tokens"}


def _ms(started: float, ended: float | None = None) -> int:
    return round(1000 * ((time.perf_counter() if ended is None else ended) - started))


def _line(level: int, what: str, fields: dict[str, Any]) -> None:
    """Log one line; its fields are also the record's `fields`, for a formatter that writes them separately."""
    if LOG.isEnabledFor(level):
        LOG.log(level, "%s %s", what, " ".join(f"{name}={value}" for name, value in fields.items()),
                extra={"fields": {"event": what, **fields}})
