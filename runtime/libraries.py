"""Guards around calls of libraries: a time limit, Rust panics, unwanted warnings, and the number of threads."""

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
"""Seconds between two checks of the deadline; the end of a call is noticed at once."""
GRACE = 5.0
"""Seconds that a call may still take after its run was cancelled, so it need not stop in the middle of a write."""
_warnings_lock = threading.RLock()
_algebra_lock = threading.RLock()  # one for the process, because the limit applies to the process


class NoAnswer(Exception):
    """A call did not return in time. Its thread is left behind and may still hold what it uses."""


def call_within(seconds: float, call: Callable[[], _T]) -> _T:
    """Make a call in a thread of its own, wait for it at most some seconds, and return its result.

    The waiting thread can be interrupted by Ctrl-C and by the cancellation of its run, which a blocking call could not.

    Raises:
        NoAnswer: the call has not returned within `seconds`, or within `GRACE` seconds after the run was cancelled.
        BaseException: the error that the call raised.
    """
    answer: Future[_T] = Future()
    try:
        threading.Thread(target=_call_and_settle, args=(answer, call), name="banyan-call", daemon=True).start()
    except RuntimeError:  # no thread starts while the interpreter shuts down
        return call()
    deadline, run_was_cancelled = time.monotonic() + seconds, False
    while True:
        if is_cancelled() and not run_was_cancelled:
            run_was_cancelled = True
            deadline = min(deadline, time.monotonic() + GRACE)
        try:
            return answer.result(timeout=_POLL)
        except TimeoutError:
            if answer.done():  # the call ended just now, or raised a TimeoutError itself
                return answer.result()
        if time.monotonic() > deadline:
            raise NoAnswer


def _call_and_settle(answer: "Future[_T]", call: Callable[[], _T]) -> None:
    """Make a call, and put its result or its error into the future."""
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

    Warning filters apply to the whole process. The lock keeps the end of one thread's block from restoring the warnings
    within another thread's block.
    """
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", category)
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit linear algebra libraries to one thread within the block, so results are reproducible.

    Several threads would add floating-point numbers in a varying order. The limit applies to the whole process and can
    be set by one block at a time, so the blocks of other threads wait.
    """
    with _algebra_lock, ThreadpoolController().limit(limits=1):
        yield
