"""Cancelling a run: threads that wait for a call stop waiting, and long computations look at a flag.

In asyncio's own tasks a cancellation is asyncio's. Threads cannot be cancelled, so theirs is told to them.
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
    """A step was given up because its run was cancelled. It is no failure of what was asked."""

    def __init__(self) -> None:
        super().__init__("the call was given up because its run was cancelled; run again to go on from there")


class Cancellation:
    """Whether a run was cancelled, and the calls to cancel with it. Safe to use from threads and signal handlers."""

    def __init__(self, outer: "Cancellation | None" = None) -> None:
        self._outer = outer
        self._cancelled = False
        self._calls: set[Future[Any]] = set()

    @property
    def cancelled(self) -> bool:
        """Whether it, or one around it, was cancelled."""
        return self._cancelled or (self._outer is not None and self._outer.cancelled)

    def check(self) -> None:
        """Raises CallCancelled if it was cancelled."""
        if self.cancelled:
            raise CallCancelled

    def cancel(self) -> None:
        """Cancel the calls under way, and those that follow."""
        self._cancelled = True
        for call in self._calls.copy():
            call.cancel()

    @contextmanager
    def cancelling(self, call: Future[Any]) -> Iterator[None]:
        """Within the block, a cancellation cancels the call."""
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
    """The cancellation of the run that this thread works for."""
    return _CURRENT.get() or Cancellation()


@contextmanager
def cancellable() -> Iterator[Cancellation]:
    """A block, and the threads it hands its context to, that can be cancelled from any thread."""
    cancellation = Cancellation(_CURRENT.get())
    token = _CURRENT.set(cancellation)
    try:
        yield cancellation
    finally:
        _CURRENT.reset(token)


@contextmanager
def cancelled_by_ctrl_c() -> Iterator[None]:
    """A block that Ctrl-C cancels before it interrupts the main thread, which else waits for threads to end.

    Outside the main thread, or where SIGINT is ignored or handled otherwise, nothing changes.
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
    """Like `asyncio.run`, also within `cancelled_by_ctrl_c`: Ctrl-C cancels `main`, and is raised when that has ended.

    Raised where it arrives, it would break off whichever callback of the event loop is at work, and what waits for
    that callback would wait for ever.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    outer = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or outer is signal.SIG_IGN:
        return asyncio.run(main)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # only then does asyncio put its own in its place
    with cancellable() as cancellation:
        try:
            return asyncio.run(_heard(main, cancellation))
        finally:
            signal.signal(signal.SIGINT, outer)


async def _heard(main: Coroutine[Any, Any, _T], cancellation: Cancellation) -> _T:
    """Run a coroutine whose calls are told of Ctrl-C at once: else one that waits begins in a cancelled one's turn."""
    cancel = signal.getsignal(signal.SIGINT)

    def handle(number: int, frame: FrameType | None) -> None:
        cancellation.cancel()
        if callable(cancel):
            cancel(number, frame)

    signal.signal(signal.SIGINT, handle)
    try:
        return await main
    except CallCancelled:  # a thread of it may have heard before its tasks did
        if cancellation.cancelled:
            raise asyncio.CancelledError from None
        raise


@contextmanager
def ctrl_c_deferred() -> Iterator[None]:
    """A block at whose end Ctrl-C is heard, for libraries that crash where it interrupts them.

    Outside the main thread, which alone hears it, nothing changes.
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
