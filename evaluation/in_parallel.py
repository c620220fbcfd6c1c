"""Work on many items at once, such as questions to a model."""

from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from typing import TypeVar

from langchain_core.runnables.config import ContextThreadPoolExecutor

from ..models.reasoner import ReasonerError

_T = TypeVar("_T")


def for_each(work: Callable[[_T], None], items: Sequence[_T], at_once: int, *,
             on_failure: Callable[[_T, ReasonerError], None], progress: Callable[[int, int], None]) -> None:
    """Call a function with each item, several at once; an error other than a reasoner's ends the work.

    Args:
        work: the function.
        items: its arguments.
        at_once: the number of threads.
        on_failure: called with an item on which the reasoner failed.
        progress: called with (done, all) after each item.
    """
    pool = ContextThreadPoolExecutor(at_once)
    try:
        running = {pool.submit(work, item): item for item in items}
        for number, future in enumerate(as_completed(running), 1):
            try:
                future.result()
            except ReasonerError as error:
                on_failure(running[future], error)
            progress(number, len(items))
    finally:  # On Ctrl-C or another error do not wait for queued calls.
        pool.shutdown(cancel_futures=True)
