"""Threads for work that would block an event loop, their cancellation, and values that a process creates once.

A thread cannot be cancelled. Long work therefore checks now and then whether the task that waits for it was.
"""

import asyncio
import os
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial, wraps
from threading import Condition
from typing import Any, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread
from anyio.lowlevel import RunVar
from cachetools import cached

_T = TypeVar("_T")
_LIMITER: RunVar[anyio.CapacityLimiter] = RunVar("banyan_threads")
_COUNTED: ContextVar[bool] = ContextVar("banyan_thread_counted", default=False)
"""Whether this works for a thread that is waiting: it needs no turn of its own, for which both could wait."""
_BESIDE_PROCESSORS = 4
"""Threads that may wait for a disk while the others compute."""


def _limiter() -> anyio.CapacityLimiter:
    """Return the limiter of this event loop."""
    if _COUNTED.get():
        return anyio.CapacityLimiter(1)
    try:
        return _LIMITER.get()
    except LookupError:
        limiter = anyio.CapacityLimiter((os.cpu_count() or 1) + _BESIDE_PROCESSORS)
        _LIMITER.set(limiter)
        return limiter


async def in_thread(function: Callable[..., _T], *arguments: Any, **named: Any) -> _T:
    """Call a function that computes or waits for a disk in a thread, and return its result.

    If this is cancelled, the function sees it at its next `check_cancelled`, and what it waits for with `run`
    (`event_loop`) is cancelled, too; the caller goes on when it has ended.
    """
    scope, limiter = anyio.CancelScope(), _limiter()

    async def call() -> _T:
        _COUNTED.set(True)
        with scope:
            return await anyio.to_thread.run_sync(partial(function, *arguments, **named), limiter=limiter)
        raise asyncio.CancelledError

    work = asyncio.ensure_future(call())
    # Cancelled twice, as by an event loop that closes, nobody waits for it: asyncio would log its exception.
    work.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        scope.cancel()
        await asyncio.wait([work])
        error = None if work.cancelled() else work.exception()
        raise error or asyncio.CancelledError from None


def check_cancelled() -> None:
    """End the work of a thread of `in_thread` whose task was cancelled; elsewhere do nothing.

    Raises:
        asyncio.CancelledError: it was cancelled.
    """
    is_worker()


def is_worker() -> bool:
    """Return True in a thread of `in_thread`, where `run` uses the event loop that waits for it.

    Raises:
        asyncio.CancelledError: its task was cancelled.
    """
    try:
        anyio.from_thread.check_cancelled()
    except anyio.NoEventLoopError:
        return False
    return True


def is_cancelled() -> bool:
    """Return True if this is a thread of `in_thread` whose task was cancelled."""
    try:
        check_cancelled()
    except asyncio.CancelledError:
        return True
    return False


def once(create: Callable[[], _T]) -> Callable[[], _T]:
    """Call a function without arguments once, and return that result on every call.

    Unlike `functools.cache`, it calls the function once even if several threads arrive at the same time.
    """
    return cached({}, condition=Condition())(create)


def once_in_each_process(create: Callable[[], _T]) -> Callable[[], _T]:
    """Like `once`, for what a forked child cannot use, such as threads and event loops: it creates its own."""
    value = once(create)

    def forget() -> None:
        nonlocal value
        value = once(create)  # the old one's lock may be held by a thread that the child does not have

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)

    @wraps(create)
    def get() -> _T:
        return value()

    get.cache_clear = forget  # type: ignore[attr-defined]
    return get
