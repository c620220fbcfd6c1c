"""Progress bars of the command line."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

_NAMES = {"read": "reading", "extract": "extracting", "write": "writing", "index": "indexing"}


def _bars(console: Console) -> Progress:
    return Progress(TextColumn("{task.description:>10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                    console=console, transient=True)


class BuildProgress:
    """A bar for each step of a build, as the graph's progress events name them."""

    def __init__(self, console: Console) -> None:
        self._progress = _bars(console)
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._progress.stop()

    def show(self, event: dict[str, Any]) -> None:
        """Move the bar of an event {step, done, total}."""
        step = event["step"]
        if step not in self._tasks:
            self._tasks[step] = self._progress.add_task(_NAMES[step], total=None)
        self._progress.update(self._tasks[step], completed=event["done"], total=event["total"])


@contextmanager
def track(console: Console, name: str) -> Iterator[Callable[[int, int], None]]:
    """A bar that is told (done, all)."""
    with _bars(console) as progress:
        task = progress.add_task(name, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
