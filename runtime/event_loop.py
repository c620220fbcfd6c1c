"""Calls of asynchronous functions from synchronous code: the edges of the command line and of the Python interface.

Everything that waits for an endpoint is asynchronous and runs on its caller's event loop. Synchronous callers have no
event loop, or one that they block, as a notebook does: their calls that overlap share one, which ends with the last.
"""

import asyncio
import queue
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any, TypeVar, cast

import anyio
import anyio.from_thread
from anyio.from_thread import BlockingPortalProvider

from .threads import is_worker, once_in_each_process

_I = TypeVar("_I")
_T = TypeVar("_T")


@once_in_each_process
def _shared_loop() -> BlockingPortalProvider:
    return BlockingPortalProvider()


def run(function: Callable[..., Coroutine[Any, Any, _T]], *arguments: Any) -> _T:
    """Call an asynchronous function from synchronous code, and return its result.

    A thread of `in_thread` uses the event loop that waits for it. Ctrl-C cancels the call and waits for its end.

    Raises:
        asyncio.CancelledError: the run that the thread works for was cancelled, and the call with it.
    """
    if not is_worker():
        return _run_on_shared_loop(function, *arguments)
    try:
        return anyio.from_thread.run(_call_with_cleanup, function, *arguments)
    except CancelledError:
        raise asyncio.CancelledError from None


def _run_on_shared_loop(function: Callable[..., Coroutine[Any, Any, _T]], *arguments: Any) -> _T:
    """Start a call on the shared event loop and wait for its result.

    Ctrl-C ends the wait by a KeyboardInterrupt while the call still runs. It is cancelled, and leaving the loop waits
    for its end.
    """
    with _shared_loop() as loop:
        call = loop.start_task_soon(_call_with_cleanup, function, *arguments)
        try:
            result: _T = call.result()
        finally:
            call.cancel()  # does nothing to a call that has ended
    return result


async def _call_with_cleanup(function: Callable[..., Coroutine[Any, Any, _T]], *arguments: Any) -> _T:
    """Call a function in a task that is cancelled only once, so that it can await while it cleans up.

    anyio cancels again at each await.
    """
    task = asyncio.ensure_future(function(*arguments))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task])
        if not task.cancelled() and (error := task.exception()):
            raise error from None
        raise


def iterate(items: Callable[[], AsyncIterable[_T]]) -> Iterator[_T]:
    """Yield the items of an asynchronous iterable in synchronous code.

    They are made on an event loop meanwhile, which is cancelled when this iterator is closed.
    """
    made: queue.SimpleQueue[list[_T]] = queue.SimpleQueue()

    async def make() -> None:
        try:
            async for item in items():
                made.put([item])
        finally:
            made.put([])

    with _shared_loop() as loop:
        making = loop.start_task_soon(_call_with_cleanup, make)
        try:
            while item := made.get():
                yield from item
            making.result()
        finally:
            making.cancel()


_WAITING = set[AsyncGenerator[None]]()


async def close_with_loop(close: Callable[[], Awaitable[None]]) -> None:
    """Await a function when the running event loop ends: asyncio then closes generators that are still open."""
    async def wait() -> AsyncGenerator[None]:
        try:
            yield
        finally:
            _WAITING.remove(waiting)
            await close()

    waiting = wait()
    _WAITING.add(waiting)
    await anext(waiting)


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
