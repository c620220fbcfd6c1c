"""Work on many items at once, such as questions to a model."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from ..models.reasoner import ReasonerError
from ..runtime.event_loop import in_parallel, run

_T = TypeVar("_T")


def for_each(work: Callable[[_T], Awaitable[None]], items: Sequence[_T], at_once: int, *,
             on_failure: Callable[[_T, ReasonerError], None], progress: Callable[[int, int], None]) -> None:
    """Call an asynchronous function with each item, several at once, and wait for all of them.

    A ReasonerError is passed to `on_failure`, and the other items go on. Any other error ends the work and is raised.

    Args:
        work: the function.
        items: its arguments.
        at_once: the number of items to work on at once.
        on_failure: called with an item on which the reasoner failed.
        progress: called after each item with the number of finished items and of all items.
    """
    done = 0

    async def attempt(item: _T) -> None:
        """Call the function with an item, report a failure of the reasoner, and report progress."""
        nonlocal done
        try:
            await work(item)
        except ReasonerError as error:
            on_failure(item, error)
        done += 1
        progress(done, len(items))

    run(in_parallel, attempt, items, at_once)
