"""Following a blocking run from the event loop: it runs in a worker thread, and ends when its follower leaves."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Generic, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread

from ...runtime.cancellation import Cancellation, cancellable
from ..error_responses import DeadlineError

_T = TypeVar("_T")

_KEPT = 2_000
"""Most items to buffer for a slow client. A question has a few hundred at most (retrieval/caps.py)."""


class Followed(Generic[_T]):
    """A run whose items are buffered until they are read."""

    def __init__(self, items: Callable[[], Iterator[_T]], seconds: float | None) -> None:
        self._items = items
        self._seconds = seconds
        self._deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        self._stopped = False
        self._cancellation: Cancellation | None = None
        self._send, self._receive = anyio.create_memory_object_stream[_T](_KEPT)
        self._task: asyncio.Task[None] | None = None

    def begin(self, limiter: anyio.CapacityLimiter, share: AbstractAsyncContextManager[None] | None) -> None:
        """Start the run as soon as the share and the limiter have a free thread for it."""
        async def pump() -> None:
            with self._send:
                async with share or nullcontext():
                    if not self._stopped:
                        await anyio.to_thread.run_sync(self._work, limiter=limiter)

        self._task = asyncio.create_task(pump())
        # Its exception is raised to the reader of its items; without a reader it is dropped.
        self._task.add_done_callback(lambda done: done.cancelled() or done.exception())

    def _work(self) -> None:
        """Send the items in a worker thread, until stopped."""
        with cancellable() as cancellation:
            # A stop before this line is noticed on the next one.
            self._cancellation = cancellation
            if self._stopped:
                return
            for item in self._items():
                if self._stopped:
                    return
                anyio.from_thread.run_sync(self._send.send_nowait, item)

    async def __aiter__(self) -> AsyncIterator[_T]:
        """Yield the items as they come, then raise the exception that ended the run, if any.

        Raises:
            DeadlineError: the deadline has passed; the run ends as soon as it can.
        """
        while True:
            try:
                async with asyncio.timeout_at(self._deadline):
                    item = await self._receive.receive()
            except anyio.EndOfStream:
                break
            except TimeoutError:
                self.stop()
                raise DeadlineError(self._seconds or 0) from None
            yield item
        assert self._task is not None  # noqa: S101  (`begin` was called)
        await asyncio.shield(self._task)

    def stop(self) -> None:
        """Stop the run at its next item, and cancel the calls that it waits for."""
        self._stopped = True
        if self._cancellation is not None:
            self._cancellation.cancel()

    def close(self) -> None:
        """Stop the run, and read no more of its items."""
        self.stop()
        self._receive.close()


@asynccontextmanager
async def following(items: Callable[[], Iterator[_T]], limiter: anyio.CapacityLimiter, *,
                    share: AbstractAsyncContextManager[None] | None = None, seconds: float | None = None,
                    ) -> AsyncIterator[Followed[_T]]:
    """Follow a blocking iterator, and stop it when the block ends.

    Args:
        items: creates the iterator, in a worker thread.
        limiter: limits the number of parallel runs. A stopped run counts until its thread has ended.
        share: the client's share, entered before the limiter; None means no limit per client.
        seconds: the time limit, including the wait; None means no limit.
    """
    run = Followed(items, seconds)
    run.begin(limiter, share)
    try:
        yield run
    finally:
        run.close()
