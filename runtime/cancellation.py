"""Calls that can be given up at once, and calls side by side that end at the first failure.

A thread that waits for a socket cannot be woken. So a call runs in a thread of its own, and who waits for it waits for
a future, which a cancellation ends. The thread is a daemon: it keeps no process alive.
"""

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import partial
from types import FrameType
from typing import TypeVar

from ..schemas.errors import BanyanError
from .kept_threads import KeptThreads

_I = TypeVar("_I")
_O = TypeVar("_O")

_THREADS = KeptThreads("banyan-call")


class CallCancelled(BanyanError):
    """A call was given up because nobody waits for it any more. It is no failure of what was asked."""

    def __init__(self) -> None:
        super().__init__("the call was given up because its run was cancelled; run again to go on from there")


class Cancellation:
    """Ends the waiting of all calls of a run, and of the runs within it, once and for all.

    Args:
        outer: of the run that this one is a part of.
    """

    def __init__(self, outer: "Cancellation | None" = None) -> None:
        self._outer = outer
        self._cancelled = threading.Event()
        self._waiting: set[Future[None]] = set()
        # Reentrant: a signal's handler cancels in the thread that it interrupts, which may hold it.
        self._lock = threading.RLock()

    @property
    def cancelled(self) -> bool:
        """Whether it, or one around it, was cancelled."""
        return self._cancelled.is_set() or (self._outer is not None and self._outer.cancelled)

    def check(self) -> None:
        """Nothing, unless it was cancelled.

        Raises:
            CallCancelled: it was.
        """
        if self.cancelled:
            raise CallCancelled

    def cancel(self) -> None:
        """End the waiting of all that wait, and of those that come."""
        self._cancelled.set()
        with self._lock:
            waiting = list(self._waiting)
        for future in waiting:
            with suppress(InvalidStateError):  # it ended by itself meanwhile
                future.set_result(None)

    @contextmanager
    def ending(self, future: "Future[None]") -> Iterator[None]:
        """Within the block the future ends with the cancellation, if not before."""
        with self._lock:
            self._waiting.add(future)
        try:
            if self._cancelled.is_set():
                self.cancel()
            if self._outer is None:
                yield
            else:
                with self._outer.ending(future):
                    yield
        finally:
            with self._lock:
                self._waiting.discard(future)


_CURRENT: ContextVar[Cancellation | None] = ContextVar("banyan_cancellation", default=None)
_NEVER = Cancellation()


def current() -> Cancellation:
    """The cancellation that the calls of this thread, or of the one that handed on its context, are under."""
    return _CURRENT.get() or _NEVER


@contextmanager
def cancellable() -> Iterator[Cancellation]:
    """A block whose calls can be cancelled together, from any thread."""
    cancellation = Cancellation(_CURRENT.get())
    token = _CURRENT.set(cancellation)
    try:
        yield cancellation
    finally:
        _CURRENT.reset(token)


@contextmanager
def cancelled_by_ctrl_c() -> Iterator[None]:
    """A block in which Ctrl-C gives up all calls before it interrupts the main thread.

    Otherwise who is interrupted waits for threads that wait for answers, for minutes. In another thread than the main
    one, or where SIGINT is ignored or handled by somebody else, nothing is changed.
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


def pause(seconds: float) -> None:
    """Sleep, unless cancelled.

    Raises:
        CallCancelled: it was.
    """
    _wait(Future(), seconds)
    if current().cancelled:
        raise CallCancelled


def answered(function: Callable[[], _O], seconds: float) -> _O:
    """What a function returns, or raises, that waits for a server; run in a thread of its own, in this context.

    Args:
        function: what to run. It goes on where it is given up, and nobody hears of what becomes of it.
        seconds: how long to wait for it.

    Raises:
        CallCancelled: it was given up before it had ended.
        TimeoutError: the time is over.
    """
    if current().cancelled:
        raise CallCancelled
    outcome: Future[_O] = Future()
    ended: Future[None] = Future()
    context = copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(function))
        except BaseException as error:  # noqa: BLE001  (raised in the thread that waits)
            outcome.set_exception(error)
        with suppress(InvalidStateError):  # it was given up
            ended.set_result(None)

    _THREADS.run(run)
    _wait(ended, seconds)
    if outcome.done():
        return outcome.result()
    if current().cancelled:
        raise CallCancelled
    raise TimeoutError


def _wait(future: "Future[None]", seconds: float) -> None:
    with current().ending(future), suppress(TimeoutError):
        future.result(seconds)


def in_parallel(function: Callable[[_I], _O], items: Sequence[_I], workers: int) -> list[_O]:
    """What a function returns for each item, in order; after its first exception, no further item is begun.

    Args:
        function: safe to call from several threads. It runs in the context of the caller.
        items: what it is called with, begun in order.
        workers: how many at once.

    Raises:
        Exception: of the items that failed, the first's; those begun by then have ended.
    """
    results: dict[int, _O] = {}
    failures: dict[int, BaseException] = {}
    to_do = deque(range(len(items)))

    context = copy_context()

    def work(ended: "Future[None]") -> None:
        while not failures:
            try:
                place = to_do.popleft()
            except IndexError:
                break
            try:
                results[place] = context.copy().run(function, items[place])
            except BaseException as error:  # noqa: BLE001  (raised in the thread that waits)
                failures[place] = error
        ended.set_result(None)

    all_ended: list[Future[None]] = [Future() for _ in range(min(workers, len(items)))]
    for ended in all_ended:
        _THREADS.run(partial(work, ended))
    try:
        wait(all_ended)
    finally:
        to_do.clear()  # after Ctrl-C; otherwise nothing is left that might be begun
        wait(all_ended)
    if failures:
        raise failures[min(failures)]
    return [results[place] for place in range(len(items))]
