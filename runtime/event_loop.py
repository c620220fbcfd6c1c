"""One event loop per process, on which all calls to endpoints wait, whichever thread or event loop makes them.

asyncio's clients, semaphores and limiters belong to one event loop, and LangGraph runs nodes in several threads and
event loops. So all calls of a process run on one dedicated loop, and their callers wait for a future.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar, cast

from .cancellation import CallCancelled, current
from .once import once_in_each_process

_I = TypeVar("_I")
_T = TypeVar("_T")


class EventLoopThread:
    """An event loop in a daemon thread. Coroutines run in the context of the caller that submits them."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name=name, daemon=True).start()

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine to its end while the calling thread waits.

        Raises:
            CallCancelled: the caller's run was cancelled (`cancellable`); the coroutine is cancelled as well.
        """
        if current().is_cancelled:
            coroutine.close()
            raise CallCancelled
        return self.result(self.submit(coroutine))

    def submit(self, coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Start a coroutine; `result` returns its outcome."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def result(self, future: Future[_T]) -> _T:
        """Wait for a submitted coroutine and return its result, blocking the calling thread.

        Raises:
            CallCancelled: the caller's run was cancelled; the coroutine is cancelled as well.
        """
        try:
            with current().cancelling(future):
                return future.result()
        except CancelledError:
            raise CallCancelled from None
        except BaseException:  # an interrupt of the waiting thread
            future.cancel()
            raise

    async def arun(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine to its end while the calling task waits; cancelling the task cancels the coroutine."""
        return await asyncio.wrap_future(self.submit(coroutine))


@once_in_each_process
def process_loop() -> EventLoopThread:
    """Return the event loop of this process, started at the first call."""
    return EventLoopThread("banyan-event-loop")


async def in_parallel(ask: Callable[[_I], Awaitable[_T]], items: Sequence[_I], workers: int) -> list[_T]:
    """Return the answers to all items, in order; after the first failure, no further item starts.

    Calls in progress then end first: they are paid for, and their answers are stored.

    Raises:
        Exception: of the items that failed, the first's.
    """
    slots, failed = asyncio.Semaphore(workers), False

    async def work(item: _I) -> _T | None:
        nonlocal failed
        async with slots:
            if failed:
                return None
            try:
                return await ask(item)
            except Exception:
                failed = True
                raise

    outcomes = await asyncio.gather(*map(work, items), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return cast("list[_T]", outcomes)
