"""The process's own event loop: all calls to endpoints wait there, whichever thread or event loop asked for them.

Clients, semaphores and limiters of asyncio belong to one event loop, and LangGraph runs nodes in several threads and
event loops. So the calls of a process run on one loop of their own, and their callers wait for a future.
"""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from .cancellation import CallCancelled, current
from .once import once

_T = TypeVar("_T")


class EventLoopThread:
    """An event loop in a daemon thread. Coroutines run in the context of the caller that hands them over."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name=name, daemon=True).start()

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine to its end while the calling thread waits.

        Raises:
            CallCancelled: the caller's run was cancelled (`cancellable`); the coroutine is cancelled as well.
        """
        if current().cancelled:
            coroutine.close()
            raise CallCancelled
        return self.result(self.submit(coroutine))

    def submit(self, coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Start a coroutine; what it comes to is asked for by `result`."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def result(self, future: Future[_T]) -> _T:
        """What a coroutine that was submitted comes to, while the calling thread waits.

        Raises:
            CallCancelled: the caller's run was cancelled; the coroutine is cancelled as well.
        """
        try:
            with current().cancelling(future):
                return future.result()
        except CancelledError:
            raise CallCancelled from None
        except BaseException:  # an interrupt of the thread that waits
            future.cancel()
            raise

    async def arun(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine to its end while the calling task waits; cancelling the task cancels the coroutine."""
        return await asyncio.wrap_future(self.submit(coroutine))

    def start(self, coroutine: Coroutine[Any, Any, object]) -> None:
        """Run a coroutine whose outcome nobody waits for."""
        self.submit(coroutine)


@once
def process_loop() -> EventLoopThread:
    """The event loop of this process, started at the first call."""
    return EventLoopThread("banyan-event-loop")
