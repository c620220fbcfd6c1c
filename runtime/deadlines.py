"""Calls to libraries that may never return: they run in a thread of their own, and waiting for them ends."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from .threads import is_cancelled

_T = TypeVar("_T")

_POLL = 0.5
"""Seconds between two looks at the clock; a call that ends is noticed at once."""
GRACE = 5.0
"""Seconds that a call may take after its run was cancelled: stopping in the middle of a write is worse."""


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
