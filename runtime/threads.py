"""Work in threads that would block an event loop, calls of asynchronous functions from synchronous code, cancellation.

Everything that waits for an endpoint is asynchronous and runs on its caller's event loop. A synchronous caller has no
event loop, or it blocks its own, as in a notebook. For such callers there is one shared event loop in another thread.
It starts with the first call and ends with the process, so calls share its threads and its connections to endpoints.

A thread cannot be cancelled from outside: long work in one checks now and then if the waiting task was cancelled.
"""

import asyncio
import os
import queue
import threading
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import CancelledError, Future, wait
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any, TypeVar, cast

import anyio
import anyio.from_thread
import anyio.to_thread
from anyio.from_thread import BlockingPortal, start_blocking_portal
from anyio.lowlevel import RunVar
from cachetools import cached

_I = TypeVar("_I")
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
    and a call that it waits for with `run` is cancelled.
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


def check_cancelled() -> bool:
    """Return True in a thread of `in_thread`; asyncio.CancelledError: the task that waits for it was cancelled."""
    try:
        anyio.from_thread.check_cancelled()
    except anyio.NoEventLoopError:
        return False
    return True


def once(create: Callable[[], _T]) -> Callable[[], _T]:
    """Decorate a function without arguments: it is called once, even by several threads at the same time."""
    return cached({}, condition=threading.Condition())(create)


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


@once_in_each_process
def _start_portal() -> BlockingPortal:
    """Start the shared event loop, and have it ended before Python waits for the process's threads."""
    running, process = ExitStack(), os.getpid()
    portal = running.enter_context(start_blocking_portal(name="banyan event loop"))

    def end_loop() -> None:
        if os.getpid() == process:  # a forked child has inherited this function, but not the loop
            portal.call(portal.stop, True)  # cancels what still runs, and closes the connections
            running.close()

    threading._register_atexit(end_loop)  # type: ignore[attr-defined]  # noqa: SLF001 - functions of `atexit` run later
    return portal


@contextmanager
def _run_in_background(function: Callable[..., Coroutine[Any, Any, _T]], *arguments: Any) -> Iterator[Future[_T]]:
    """Call an asynchronous function on the shared event loop; at the block's end, cancel it and wait for its end."""
    # Set when the function has ended. The portal's own future is done once it is cancelled, before any cleanup.
    result = Future[_T]()

    async def call() -> None:
        try:
            result.set_result(await _call_with_cleanup(function, *arguments))
        except BaseException as error:  # noqa: BLE001 - the caller gets it; raised here it could end the shared loop
            result.set_exception(error)

    task = _start_portal().start_task_soon(call)
    try:
        yield result
    finally:
        task.cancel()
        wait([result])  # which ends: the portal starts `call` even if it is cancelled first


def run(function: Callable[..., Coroutine[Any, Any, _T]], *arguments: Any) -> _T:
    """Call an asynchronous function from synchronous code, and return its result.

    In a thread of `in_thread` it runs on the event loop that waits for the thread, otherwise on the shared one. Ctrl-C,
    or cancelling the task that waits for this thread (asyncio.CancelledError), cancels the call and awaits its end.
    """
    try:
        if check_cancelled():
            return anyio.from_thread.run(_call_with_cleanup, function, *arguments)
        with _run_in_background(function, *arguments) as call:
            return call.result()
    except CancelledError:
        raise asyncio.CancelledError from None


async def _call_with_cleanup(function: Callable[..., Coroutine[Any, Any, _T]], *arguments: Any) -> _T:
    """Await a function in a task of its own, which is cancelled once: anyio would cancel its cleanup repeatedly."""
    task = asyncio.ensure_future(function(*arguments))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task])
        if not task.cancelled() and (error := task.exception()):  # the cleanup failed, or the function before it
            raise error from None
        raise


def iterate(items: Callable[[], AsyncIterable[_T]]) -> Iterator[_T]:
    """Yield the items of an asynchronous iterable in synchronous code; closing the iterator cancels its task."""
    produced: queue.SimpleQueue[list[_T]] = queue.SimpleQueue()  # lists of one item; an empty list is the end

    async def produce() -> None:
        try:
            async for item in items():
                produced.put([item])
        finally:
            produced.put([])

    with _run_in_background(produce) as producer:
        while item := produced.get():
            yield from item
        producer.result()  # raises the error of `items`, if any


_OPEN_GENERATORS = set[AsyncGenerator[None]]()  # keeps them from being deleted, and so closed, too early


async def close_with_loop(close: Callable[[], Awaitable[None]]) -> None:
    """Have an asynchronous function called when the running event loop ends.

    asyncio then closes the asynchronous generators that are open: one is, at its `yield`, and calls the function.
    """
    async def call_at_close() -> AsyncGenerator[None]:
        try:
            yield
        finally:
            _OPEN_GENERATORS.remove(generator)
            await close()

    generator = call_at_close()
    _OPEN_GENERATORS.add(generator)
    await anext(generator)


async def in_parallel(ask: Callable[[_I], Awaitable[_T]], items: Sequence[_I], workers: int) -> list[_T]:
    """Await a function with each item, `workers` at once, and return the results in the order of the items.

    After the first failure no further call starts. Calls in progress are awaited before the error is raised, because
    they are paid for, and their answers are stored. The error is that of the first item, in their order, that failed.
    """
    slots, has_failed = asyncio.Semaphore(workers), False

    async def work(item: _I) -> _T | None:
        nonlocal has_failed
        async with slots:
            if has_failed:
                return None  # not seen by the caller, who gets the other call's error
            try:
                return await ask(item)
            except Exception:
                has_failed = True
                raise

    outcomes = await asyncio.gather(*map(work, items), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return cast("list[_T]", outcomes)
