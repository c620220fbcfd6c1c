"""Threads for work that would block an event loop, their cancellation, and values that a process creates once.

A thread cannot be cancelled from outside. Long work in a thread therefore checks now and then whether the task that
waits for it was cancelled.
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
_LIMITER: RunVar[anyio.CapacityLimiter] = RunVar("banyan_threads")  # of each event loop
_COUNTED: ContextVar[bool] = ContextVar("banyan_thread_counted", default=False)
"""True in a call that a counted thread waits for: it is not counted again, or both could wait for each other."""
_THREADS_BESIDE_PROCESSORS = 4  # threads that may wait for a disk while the others compute


def _limiter_of_loop() -> anyio.CapacityLimiter:
    """Return the limiter of the event loop's threads; a call that a counted thread waits for gets one of its own."""
    if _COUNTED.get():
        return anyio.CapacityLimiter(1)  # as good as none: the thread makes one call at a time
    try:
        return _LIMITER.get()
    except LookupError:
        limiter = anyio.CapacityLimiter((os.cpu_count() or 1) + _THREADS_BESIDE_PROCESSORS)
        _LIMITER.set(limiter)
        return limiter


async def in_thread(function: Callable[..., _T], *arguments: Any, **named: Any) -> _T:
    """Call a function that computes or waits for a disk in a thread, and return its result.

    If the caller is cancelled, it waits until the function has ended. The function ends at its next `check_cancelled`,
    and a call that it waits for with `event_loop.run` is cancelled.
    """
    scope, limiter = anyio.CancelScope(), _limiter_of_loop()

    async def call() -> _T:
        _COUNTED.set(True)
        with scope:
            return await anyio.to_thread.run_sync(partial(function, *arguments, **named), limiter=limiter)
        raise asyncio.CancelledError  # the scope ends without an error when it was cancelled

    work = asyncio.ensure_future(call())
    # Of a caller that is cancelled twice, nobody awaits `work`; asyncio would log its exception as never retrieved.
    work.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        scope.cancel()  # which the thread sees at `check_cancelled`
        await asyncio.wait([work])
        error = None if work.cancelled() else work.exception()
        raise error or asyncio.CancelledError from None  # an error of the function itself comes first


def check_cancelled() -> None:
    """Raise asyncio.CancelledError if this is a thread of `in_thread` and the task that waits for it was cancelled."""
    is_worker()  # called for its error


def is_worker() -> bool:
    """Return True in a thread of `in_thread`; asyncio.CancelledError: the task that waits for it was cancelled."""
    try:
        anyio.from_thread.check_cancelled()
    except anyio.NoEventLoopError:
        return False
    return True


def once(create: Callable[[], _T]) -> Callable[[], _T]:
    """Decorate a function without arguments: it is called once, even by several threads at the same time."""
    return cached({}, condition=Condition())(create)


def once_in_each_process(create: Callable[[], _T]) -> Callable[[], _T]:
    """Do what `once` does, but anew in a forked child, which cannot inherit values such as threads and event loops."""
    value = once(create)

    def forget() -> None:
        nonlocal value
        value = once(create)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)

    @wraps(create)
    def get() -> _T:
        return value()

    get.cache_clear = forget  # type: ignore[attr-defined]
    return get
