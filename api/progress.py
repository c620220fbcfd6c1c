"""Progress bars."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

_NAMES = {"read": "reading", "extract": "extracting", "write": "writing", "index": "indexing"}


def _bars(console: Console) -> Progress:
    return Progress(TextColumn("{task.description:>10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                    console=console, transient=True)


@contextmanager
def build_progress(console: Console) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Show a bar for each step of a build, driven by the graph's progress events {step, done, total}."""
    tasks: dict[str, TaskID] = {}
    with _bars(console) as progress:
        def show(event: dict[str, Any]) -> None:
            step = event["step"]
            if step not in tasks:
                tasks[step] = progress.add_task(_NAMES[step], total=None)
            progress.update(tasks[step], completed=event["done"], total=event["total"])

        yield show


@contextmanager
def track(console: Console, name: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar, and yield the function that moves it: (done, total)."""
    with _bars(console) as progress:
        task = progress.add_task(name, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
