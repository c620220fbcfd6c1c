"""Guards around libraries: calls that may never return, panics, warnings that concern no user, and their threads."""

import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from .threads import is_cancelled

_T = TypeVar("_T")

_POLL = 0.5
"""Seconds between two looks at the clock; a call that ends is noticed at once."""
GRACE = 5.0
"""Seconds that a call may take after its run was cancelled: stopping in the middle of a write is worse."""
_warnings = threading.RLock()
_algebra = threading.RLock()  # one for the process, because the limit applies to the process


class NoAnswer(Exception):
    """A call did not return in time. Its thread is left behind and may still hold what it uses."""


def call_within(seconds: float, call: Callable[[], _T]) -> _T:
    """Return what a call returns, from a thread of its own, so Ctrl-C and cancelled runs reach the waiting thread.

    Raises:
        NoAnswer: it has not returned within `seconds`, or within `GRACE` seconds of its run's cancellation.
        BaseException: what the call raised.
    """
    answer: Future[_T] = Future()
    try:
        threading.Thread(target=_settle, args=(answer, call), name="banyan-call", daemon=True).start()
    except RuntimeError:  # no thread starts while the interpreter shuts down
        return call()
    deadline, is_abandoned = time.monotonic() + seconds, False
    while True:
        if is_cancelled() and not is_abandoned:
            is_abandoned, deadline = True, min(deadline, time.monotonic() + GRACE)
        try:
            return answer.result(timeout=_POLL)
        except TimeoutError:
            if answer.done():  # it ended just now, or raised a TimeoutError itself
                return answer.result()
        if time.monotonic() > deadline:
            raise NoAnswer


def _settle(answer: "Future[_T]", call: Callable[[], _T]) -> None:
    try:
        answer.set_result(call())
    except BaseException as error:  # noqa: BLE001  (the waiting thread raises it)
        answer.set_exception(error)


def is_panic(error: BaseException) -> bool:
    """Return True for a Rust panic, which PyO3 raises as a BaseException of a class that it does not export."""
    return type(error).__name__ == "PanicException"


@contextmanager
def ignoring(category: type[Warning]) -> Iterator[None]:
    """Suppress warnings of a category within the block.

    Warning filters belong to the process: without the lock, one thread could restore another's warnings.
    """
    with _warnings, warnings.catch_warnings():
        warnings.simplefilter("ignore", category)
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit linear algebra libraries to one thread: several threads add numbers in a varying order.

    The limit applies to the whole process, and threadpoolctl lets one thread at a time set it: others wait here.
    """
    with _algebra, ThreadpoolController().limit(limits=1):
        yield
