"""Following a run from the event loop: it goes on while its client reads slowly, and ends when its follower leaves."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext
from typing import Generic, TypeVar

import anyio

from ..error_responses import DeadlineError

_T = TypeVar("_T")

_KEPT = 2_000
"""Most items to buffer for a slow client. A question has a few hundred at most (retrieval/caps.py)."""


class Followed(Generic[_T]):
    """A run whose items are buffered until they are read."""

    def __init__(self, run: Callable[[], AsyncGenerator[_T]], slots: AbstractAsyncContextManager[object],
                 share: AbstractAsyncContextManager[object], seconds: float | None) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[_T](_KEPT)
        self._task = asyncio.create_task(self._follow(run, slots, share, seconds))
        # Its exception is raised to the reader of its items; without a reader it is dropped.
        self._task.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _follow(self, run: Callable[[], AsyncGenerator[_T]], slots: AbstractAsyncContextManager[object],
                      share: AbstractAsyncContextManager[object], seconds: float | None) -> None:
        with self._send:
            try:
                async with asyncio.timeout(seconds) as deadline, share, slots, aclosing(run()) as items:
                    async for item in items:
                        self._send.send_nowait(item)
            except TimeoutError:
                if deadline.expired():
                    raise DeadlineError(seconds or 0) from None
                raise

    async def __aiter__(self) -> AsyncIterator[_T]:
        """Yield the items as they come, then raise the exception that ended the run, if any.

        Raises:
            DeadlineError: the time limit has passed.
        """
        async for item in self._receive:
            yield item
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()

    def stop(self) -> None:
        """Stop the run and the calls that it waits for."""
        self._task.cancel()

    def close(self) -> None:
        """Stop the run, and read no more of its items."""
        self.stop()
        self._receive.close()


@asynccontextmanager
async def following(run: Callable[[], AsyncGenerator[_T]], limiter: anyio.CapacityLimiter, *,
                    share: AbstractAsyncContextManager[object] | None = None, seconds: float | None = None,
                    ) -> AsyncIterator[Followed[_T]]:
    """Follow an asynchronous generator, and stop it when the block ends.

    Args:
        run: creates the generator.
        limiter: limits the number of parallel runs.
        share: the client's share, entered before the limiter; None means no limit per client.
        seconds: the time limit, including the wait; None means no limit.
    """
    followed = Followed(run, limiter, share or nullcontext(), seconds)
    try:
        yield followed
    finally:
        followed.close()
