"""Progress of builds and other work: bars, functions that are called, and what is logged at the end of a build."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeAlias, cast

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from ..agents.construction.state import BuildReport
from ..text.cleaning import visible

_LOG = logging.getLogger("banyan")
Progress: TypeAlias = Callable[[dict[str, Any]], None]
"""Called at each step of a build with {"step", "done", "total", "file"}; the total is None while unknown, and
the file is the one that is being read."""
_LABELS = {"read": "reading", "batch": "in batches", "extract": "extracting", "write": "writing", "index": "indexing"}


@contextmanager
def build_progress(console: Console) -> Iterator[Progress]:
    """Show a progress bar for each step of a build, and yield the function that takes the build's events.

    The bars disappear at the end; without a terminal or notebook, nothing is drawn.
    """
    tasks: dict[str, TaskID] = {}
    with Bars(TextColumn("{task.description:>10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
              TimeRemainingColumn(), TextColumn("{task.fields[file]}", markup=False),
              console=console, transient=True, disable=not (console.is_terminal or console.is_jupyter)) as progress:
        def show(event: dict[str, Any]) -> None:
            """Draw a step's progress; its bar is added when it begins."""
            step = event["step"]
            if step not in tasks:
                tasks[step] = progress.add_task(_LABELS.get(step, step), total=None, file="")
            progress.update(tasks[step], completed=event["done"], total=event["total"],
                            file=visible(event["file"]).replace("\n", " "))

        yield show


@contextmanager
def track(console: Console, name: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar with this name, and yield the function that updates it with (done, total)."""
    with build_progress(console) as show:
        yield lambda done, total: show({"step": name, "done": done, "total": total, "file": ""})


def show_progress(progress: Progress | bool | None) -> AbstractContextManager[Progress]:
    """Return a context of the function to call at each step of a build: `progress`, or one that shows bars, or nothing.

    Bars are shown for True, and for None if standard error is a terminal.
    """
    if callable(progress):
        return nullcontext(progress)
    shows_bars = progress or (progress is None and sys.stderr.isatty())
    return build_progress(Console(stderr=True)) if shows_bars else nullcontext(lambda _: None)


def log_failures(report: dict[str, Any]) -> BuildReport:
    """Log what a build did not read or finish, as warnings if the user should act on it, and return its report."""
    for level, message, lines in (
            (logging.WARNING, "not read: %s", report["files_failed"]),
            (logging.INFO, "partly read: %s", report["files_partly_read"]),
            (logging.WARNING, "moved: %s; delete the old document", report["files_moved"]),
            (logging.INFO, "deleted, as its file has it no more: %s", report["records_gone"])):
        for line in lines:
            _LOG.log(level, message, line)
    if report["chunks_failed"]:
        _LOG.warning("%d chunks failed; add again with BuildContext(retry_failed=True)", report["chunks_failed"])
    if report["stopped"]:
        _LOG.warning("stopped: %s", report["stopped"])
    return cast("BuildReport", report)
