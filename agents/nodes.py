"""Graph nodes for synchronous and asynchronous runs, which end when their run is cancelled."""

import asyncio
import contextvars
import functools
import inspect
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from langchain_core.runnables import RunnableLambda
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import get_runtime
from opentelemetry.trace import Span

from ..runtime.cancellation import CallCancelled, cancellable, current
from ..runtime.event_loop import process_loop
from ..runtime.once import once_in_each_process
from ..runtime.telemetry import span

_T = TypeVar("_T")
Within = Callable[[], AbstractContextManager[object]]
"""Returns a context that is entered for each call of a node."""


def _span(name: str, state: Any) -> AbstractContextManager[Span]:
    # A name that is not checked yet may be anything.
    return span(f"step {name}", {"banyan.node": name, "banyan.knowledge_base": str(state.get("knowledge_base"))[:100]},
                expected=(GraphBubbleUp,))


def _abandon_nothing(_: Any) -> None:
    """Do nothing: the step leaves nothing open."""


def as_node(step: Callable[..., Any], abandon: Callable[[Any], None] = _abandon_nothing, within: Within = nullcontext,
            ) -> RunnableLambda[Any, dict[str, Any]]:
    """Make a node from a step: a function, or a coroutine function if it waits for an endpoint.

    An asynchronous run calls a function in a thread, which sees a cancellation; a synchronous run awaits a coroutine
    on the process's event loop.

    Args:
        step: takes the state, and the run's `runtime` if it has a parameter of that name.
        abandon: called with the state if the step fails or is cancelled, which ends its run.
        within: a context that is entered for each call.
    """
    takes_runtime = "runtime" in inspect.signature(step).parameters
    waits = inspect.iscoroutinefunction(step)

    def call(state: Any) -> Any:
        return step(state, get_runtime()) if takes_runtime else step(state)

    def run(state: Any) -> Any:
        try:
            current().check()
            with _span(step.__name__, state), within():
                return process_loop().run(call(state)) if waits else call(state)
        except GraphBubbleUp:  # an interrupt for a person's decision
            raise
        except BaseException:
            abandon(state)
            raise

    async def arun(state: Any) -> Any:
        try:
            with _span(step.__name__, state), within():
                return await (call(state) if waits else _in_thread(lambda: call(state)))
        except GraphBubbleUp:
            raise
        except BaseException:
            await asyncio.shield(asyncio.to_thread(abandon, state))
            raise

    return RunnableLambda(run, afunc=arun, name=step.__name__)


@once_in_each_process
def _busy_threads() -> ThreadPoolExecutor:
    """Return the threads for CPU-bound work; the event loops' threads remain free for calls to endpoints."""
    return ThreadPoolExecutor((os.cpu_count() or 1) + 4, thread_name_prefix="banyan-busy")


async def in_busy_thread(function: Callable[..., _T], *arguments: Any, **named: Any) -> _T:
    """Run a CPU-bound function in a thread, without blocking the event loop, and return its result."""
    run = functools.partial(contextvars.copy_context().run, function, *arguments, **named)
    return await asyncio.get_running_loop().run_in_executor(_busy_threads(), run)


async def _in_thread(function: Callable[[], Any]) -> Any:
    """Run a function in a thread and return its result. If cancelled, cancel the thread's work and wait for its end."""
    with cancellable() as cancellation:
        work = asyncio.ensure_future(asyncio.to_thread(function))
        # Cancelled twice, as by an event loop that closes, nobody waits for it: asyncio would log its exception.
        work.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            cancellation.cancel()
            await asyncio.wait([work])
            error = work.exception()
            if error is None or isinstance(error, CallCancelled):
                raise
            raise error from None
