"""The metrics at `/metrics` for Prometheus: requests, questions, builds, and model calls; and a span for each request.

Labels are route templates, states, statuses and names of steps, never client input, so their number is limited.
Each of several processes writes to files in the folder PROMETHEUS_MULTIPROC_DIR, which `banyan serve --workers`
creates, and the process that answers adds them up.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPMethod, HTTPStatus
from typing import Any

from opentelemetry.trace import SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.datastructures import Headers
from starlette.types import Scope

from ..models.llm.limits import watch
from ..runtime.telemetry import mark_failed, span
from ..runtime.threads import once

_SECONDS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)  # the upper bounds of the histogram's buckets
_requests = Counter("banyan_requests", "Requests that were answered.", ["method", "route", "status"])
_seconds = Histogram("banyan_request_seconds", "Seconds per request, streams to their end.", ["method", "route"],
                     buckets=_SECONDS)
QUESTIONS = Gauge("banyan_questions_running", "Questions and searches in progress, without those that wait.",
                  multiprocess_mode="livesum")
_builds = Gauge("banyan_builds", "Builds that are not over.", ["state"], multiprocess_mode="mostrecent")
_calls = Counter("banyan_llm_calls", "Calls of a model.", ["step"])
_failures = Counter("banyan_llm_failures", "Calls of a model that failed.", ["step"])
_tokens = Counter("banyan_llm_tokens", "Tokens of answered calls; cached ones are part of the prompt's.",
                  ["step", "kind"])


@contextmanager
def observe_request(scope: Scope) -> Iterator[Callable[[int], float]]:
    """Open a telemetry span for a request, as a child of the sender's span if the headers name one (W3C Trace Context).

    It has neither path and query nor the client's name. The block gets a function to call with the response's status
    at its end, which counts the request, and returns the seconds that it took.
    """
    started, sender = time.monotonic(), TraceContextTextMapPropagator().extract(dict(Headers(scope=scope)))
    method = scope["method"] if scope["method"] in HTTPMethod.__members__ else "other"
    with span(method, {"http.request.method": method}, SpanKind.SERVER, within=sender) as current:

        def finish(status: int) -> float:
            # The template, such as `/api/builds/{build}`, of the route that the request matched.
            route, seconds = getattr(scope.get("route"), "path", "") or "", time.monotonic() - started
            _requests.labels(method, route or "none", str(status)).inc()
            _seconds.labels(method, route or "none").observe(seconds)
            current.update_name(f"{method} {route}".strip())
            current.set_attributes({"http.response.status_code": status, **({"http.route": route} if route else {}),
                                    "banyan.request": str(scope["state"]["request_id"])})
            if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                mark_failed(current, str(status))
            return seconds

        yield finish


@once
def count_calls() -> None:
    """Start to count this process's model calls; later calls of this function do nothing."""
    def count(fields: Mapping[str, Any]) -> None:
        step = fields["step"] or "other"
        _calls.labels(step).inc()
        if fields["outcome"] not in {"ok", "CancelledError"}:
            _failures.labels(step).inc()
        for kind in ("prompt", "completion", "cached"):
            _tokens.labels(step, kind).inc(fields.get(f"{kind}_tokens", 0))

    watch(count)


def exposition(states: Sequence[str]) -> bytes:
    """Return all counts in Prometheus's text format; `states` are those of the builds of all processes."""
    for state in ("queued", "running", "waiting"):
        _builds.labels(state).set(states.count(state))
    registry = REGISTRY
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # it adds itself
    return generate_latest(registry)
