"""A build in Python: what it shows while it works, and its report."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, cast

from rich.console import Console

from ..agents.construction.state import BuildReport
from .progress import build_progress

_LOG = logging.getLogger("banyan")
Progress: TypeAlias = Callable[[dict[str, Any]], None]
"""Called at each step of a build with {"step", "done", "total"}; the total is None while unknown."""


@contextmanager
def show_progress(progress: Progress | bool | None) -> Iterator[Progress]:
    """Yield the function to call at each step of a build; None shows a bar if standard error is a terminal."""
    if callable(progress):
        yield progress
    elif progress or (progress is None and sys.stderr.isatty()):
        with build_progress(Console(stderr=True)) as show:
            yield show
    else:
        yield lambda _: None


def follow_build(kind: str, event: Any, show: Progress, report: dict[str, Any]) -> None:
    """Show an event of a build, or take its report from one."""
    if kind == "custom":
        show(event)
    else:
        report.update(event.get("report") or {})


def log_failures(report: dict[str, Any]) -> BuildReport:
    """Log the failures of a build and return its report."""
    for line in report["files_failed"]:
        _LOG.warning("not read: %s", line)
    if report["chunks_failed"]:
        _LOG.warning("%d chunks failed; add again with BuildContext(retry_failed=True)", report["chunks_failed"])
    if report["stopped"]:
        _LOG.warning("stopped: %s", report["stopped"])
    return cast("BuildReport", report)
