"""Cancellation of a run: threads stop waiting for calls, and long computations check a flag.

asyncio cancels its own tasks. Threads cannot be cancelled, so they check for a cancellation themselves.
"""

import asyncio
import signal
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, TypeVar

from ..schemas.errors import BanyanError


class CallCancelled(BanyanError):
    """The run was cancelled, so the step was abandoned. The request itself did not fail."""

    def __init__(self) -> None:
        super().__init__("the call was cancelled with its run. Progress is saved: run again to resume")


class Cancellation:
    """The state of a run's cancellation and its cancellable calls. Safe to use from threads and signal handlers."""

    def __init__(self, outer: "Cancellation | None" = None) -> None:
        self._outer = outer
        self._cancelled = False
        self._calls: set[Future[Any]] = set()

    @property
    def is_cancelled(self) -> bool:
        """Whether this cancellation, or an enclosing one, was triggered."""
        return self._cancelled or (self._outer is not None and self._outer.is_cancelled)

    def check(self) -> None:
        """Raise CallCancelled if the run was cancelled."""
        if self.is_cancelled:
            raise CallCancelled

    def cancel(self) -> None:
        """Cancel the current and all further calls."""
        self._cancelled = True
        for call in self._calls.copy():
            call.cancel()

    @contextmanager
    def cancelling(self, call: Future[Any]) -> Iterator[None]:
        """Cancel the call if the run is cancelled within the block."""
        self._calls.add(call)
        try:
            if self._cancelled:
                call.cancel()
            if self._outer is None:
                yield
            else:
                with self._outer.cancelling(call):
                    yield
        finally:
            self._calls.discard(call)


_T = TypeVar("_T")
_CURRENT: ContextVar[Cancellation | None] = ContextVar("banyan_cancellation", default=None)


def current() -> Cancellation:
    """Return the cancellation of the current thread's run."""
    return _CURRENT.get() or Cancellation()


@contextmanager
def cancellable() -> Iterator[Cancellation]:
    """Open a block that any thread can cancel, together with the threads that inherit its context."""
    cancellation = Cancellation(_CURRENT.get())
    token = _CURRENT.set(cancellation)
    try:
        yield cancellation
    finally:
        _CURRENT.reset(token)


@contextmanager
def cancelled_by_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C cancel the block before it interrupts the main thread, which would otherwise wait for its threads.

    Does nothing outside the main thread, or where SIGINT is ignored or has another handler.
    """
    usual = (threading.current_thread() is threading.main_thread()
             and signal.getsignal(signal.SIGINT) is signal.default_int_handler)
    if not usual:
        yield
        return
    with cancellable() as cancellation:
        def handle(number: int, frame: FrameType | None) -> None:
            cancellation.cancel()
            signal.default_int_handler(number, frame)

        signal.signal(signal.SIGINT, handle)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def run_interruptible(main: Coroutine[Any, Any, _T]) -> _T:
    """Run like `asyncio.run`, also within `cancelled_by_ctrl_c`; on Ctrl-C, cancel `main`, wait for it, and raise.

    A KeyboardInterrupt raised on arrival would break off an arbitrary callback of the event loop, and code that waits
    for that callback would hang.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    outer = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or outer is signal.SIG_IGN:
        return asyncio.run(main)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # asyncio installs its own handler only over this one
    with cancellable() as cancellation:
        try:
            return asyncio.run(_run_and_cancel(main, cancellation))
        finally:
            signal.signal(signal.SIGINT, outer)


async def _run_and_cancel(main: Coroutine[Any, Any, _T], cancellation: Cancellation) -> _T:
    """Run a coroutine and cancel its calls at once on Ctrl-C; otherwise a waiting call would start in their place."""
    cancel = signal.getsignal(signal.SIGINT)

    def handle(number: int, frame: FrameType | None) -> None:
        cancellation.cancel()
        if callable(cancel):
            cancel(number, frame)

    signal.signal(signal.SIGINT, handle)
    try:
        return await main
    except CallCancelled:  # a thread may have noticed the cancellation before the tasks did
        if cancellation.is_cancelled:
            raise asyncio.CancelledError from None
        raise


@contextmanager
def ctrl_c_deferred() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block, for libraries that crash when it interrupts them.

    Does nothing outside the main thread, the only one that receives signals.
    """
    outer = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(outer):
        yield
        return
    heard = False

    def hear(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  (as handlers are called)
        nonlocal heard
        heard = True

    signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, outer)
        if heard:
            signal.raise_signal(signal.SIGINT)
