"""Work on many items at once, such as questions to a model."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from ..models.reasoner import ReasonerError
from ..runtime.event_loop import in_parallel, run

_T = TypeVar("_T")


def for_each(work: Callable[[_T], Awaitable[None]], items: Sequence[_T], at_once: int, *,
             on_failure: Callable[[_T, ReasonerError], None], progress: Callable[[int, int], None]) -> None:
    """Call an asynchronous function with each item, several at once; an error other than a reasoner's ends the work.

    Args:
        work: the function.
        items: its arguments.
        at_once: the number of items to work on at once.
        on_failure: called with an item on which the reasoner failed.
        progress: called with (done, all) after each item.
    """
    done = 0

    async def attempt(item: _T) -> None:
        nonlocal done
        try:
            await work(item)
        except ReasonerError as error:
            on_failure(item, error)
        done += 1
        progress(done, len(items))

    run(in_parallel, attempt, items, at_once)
