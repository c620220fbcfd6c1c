"""Following a blocking run from the event loop: it runs in a worker thread, and ends when nobody follows it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Generic, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread

from ...runtime.cancellation import Cancellation, cancellable
from ..errors import DeadlineError

_T = TypeVar("_T")

_KEPT = 2_000
"""Items that wait for a client that reads slowly. A question has some hundred at most (retrieval/planning.py)."""


class Followed(Generic[_T]):
    """A run and its items, which are kept until they are read."""

    def __init__(self, items: Callable[[], Iterator[_T]], seconds: float | None) -> None:
        self._items = items
        self._seconds = seconds
        self._deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        self._stopped = False
        self._cancellation: Cancellation | None = None
        self._send, self._receive = anyio.create_memory_object_stream[_T](_KEPT)
        self._task: asyncio.Task[None] | None = None

    def begin(self, limiter: anyio.CapacityLimiter, share: AbstractAsyncContextManager[None] | None) -> None:
        """Run it as soon as the share, and then the limiter, have a thread for it."""
        async def pump() -> None:
            with self._send:
                async with share or nullcontext():
                    if not self._stopped:
                        await anyio.to_thread.run_sync(self._work, limiter=limiter)

        self._task = asyncio.create_task(pump())
        # Its exception is raised where the items are read; if nobody reads any more, it is dropped.
        self._task.add_done_callback(lambda done: done.cancelled() or done.exception())

    def _work(self) -> None:
        """In a worker thread: send the items, until told to stop."""
        with cancellable() as cancellation:
            # Whoever stops it before this line is seen on the next one.
            self._cancellation = cancellation
            if self._stopped:
                return
            for item in self._items():
                if self._stopped:
                    return
                anyio.from_thread.run_sync(self._send.send_nowait, item)

    async def __aiter__(self) -> AsyncIterator[_T]:
        """The items as they come; then the exception that ended the run, if one did.

        Raises:
            DeadlineError: the deadline has passed; what is under way ends as soon as it can.
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
        """End it at its next item; calls that it waits for end at once."""
        self._stopped = True
        if self._cancellation is not None:
            self._cancellation.cancel()

    def close(self) -> None:
        """End it, and read no more of it."""
        self.stop()
        self._receive.close()


@asynccontextmanager
async def following(items: Callable[[], Iterator[_T]], limiter: anyio.CapacityLimiter, *,
                    share: AbstractAsyncContextManager[None] | None = None, seconds: float | None = None,
                    ) -> AsyncIterator[Followed[_T]]:
    """Follow a blocking iterator; leaving the block stops it.

    Args:
        items: makes the iterator, in a worker thread.
        limiter: how many such runs there are at once. One that was stopped counts until its thread has ended.
        share: of whoever asks, entered before the limiter; none: all may be its own.
        seconds: that it may take, waiting included; none: any.
    """
    run = Followed(items, seconds)
    run.begin(limiter, share)
    try:
        yield run
    finally:
        run.close()
