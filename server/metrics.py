"""What `/metrics` tells a Prometheus: requests, questions, builds, and the calls of a model.

Labels are route templates, states, statuses and names of steps: nothing that a client sends, so that their number has a
bound. Of several processes each writes to files in the folder PROMETHEUS_MULTIPROC_DIR, which `banyan serve --workers`
makes, and whichever is asked adds them up.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from starlette.types import Scope

from ..models.llm import observing
from ..runtime.once import once
from .answers import Build

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_NO_FAILURES = {"ok", "CancelledError", "CallCancelled"}
_STATES = ("queued", "running", "waiting")
_SECONDS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)

_requests = Counter("banyan_requests", "Requests that were answered.", ["method", "route", "status"])
_seconds = Histogram("banyan_request_seconds", "What they took, streams to their end.", ["method", "route"],
                     buckets=_SECONDS)
QUESTIONS = Gauge("banyan_questions_running", "Questions and searches that are being answered, without those that "
                  "wait.", multiprocess_mode="livesum")
_calls = Counter("banyan_llm_calls", "Calls of a model.", ["step"])
_failures = Counter("banyan_llm_failures", "Calls of a model that failed.", ["step"])
_tokens = Counter("banyan_llm_tokens", "Tokens of the calls that were answered; cached ones are among the prompt's.",
                  ["step", "kind"])


def route_of(scope: Scope) -> str:
    """The template of a request's route, once it was found; empty: there is none."""
    return getattr(scope.get("route"), "path", "") or ""


def method_of(scope: Scope) -> str:
    """A request's method, whatever a client sent."""
    return scope["method"] if scope["method"] in _METHODS else "other"


def count_request(scope: Scope, status: int, seconds: float) -> None:
    """Count a request that was answered.

    Args:
        scope: ASGI's, after its route was found.
        status: of the response.
        seconds: that it took.
    """
    route, method = route_of(scope) or "none", method_of(scope)
    _requests.labels(method, route, str(status)).inc()
    _seconds.labels(method, route).observe(seconds)


@once
def count_calls() -> None:
    """Count the calls of models that this process sends from now on."""
    observing.watch(_count_call)


def _count_call(fields: Mapping[str, Any]) -> None:
    step = fields["step"] or "other"
    _calls.labels(step).inc()
    if fields["outcome"] not in _NO_FAILURES:
        _failures.labels(step).inc()
    for kind in ("prompt", "completion", "cached"):
        _tokens.labels(step, kind).inc(fields.get(f"{kind}_tokens", 0))


def exposition(builds: Iterable[Build]) -> bytes:
    """All that was counted, of all processes, in Prometheus's text form.

    Args:
        builds: those of the server.
    """
    registry = REGISTRY
    if folder := os.environ.get(_FOLDER):
        _forget_dead(Path(folder))
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # it adds itself
    states: list[str] = [build.state for build in builds]
    # Of all processes, as their records have them: no sum of gauges.
    lines = ["# HELP banyan_builds Builds that are not over.", "# TYPE banyan_builds gauge",
             *(f'banyan_builds{{state="{state}"}} {states.count(state)}.0' for state in _STATES)]
    return generate_latest(registry) + "\n".join(lines).encode() + b"\n"


def _forget_dead(folder: Path) -> None:
    """Take what only processes that run have out of the sums: one that was killed answers nothing any more."""
    for file in folder.glob("gauge_live*_*.db"):
        process = int(file.stem.rpartition("_")[2])
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            mark_process_dead(process)  # type: ignore[no-untyped-call]
        except PermissionError:  # it runs, as somebody else's
            continue
