"""Graph nodes, which end when their run is cancelled."""

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from langchain_core.runnables import Runnable
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import get_runtime
from opentelemetry.trace import Span

from ..runtime.event_loop import run
from ..runtime.telemetry import span
from ..runtime.threads import in_thread

Within = Callable[[], AbstractContextManager[object]]
"""Returns a context that is entered for each call of a node."""


def _span(name: str, state: Any) -> AbstractContextManager[Span]:
    # A name that is not checked yet may be anything.
    return span(f"step {name}", {"banyan.node": name, "banyan.knowledge_base": str(state.get("knowledge_base"))[:100]},
                expected=(GraphBubbleUp,))


def _abandon_nothing(_: Any) -> None:
    """Do nothing: the step leaves nothing open."""


class _Node(Runnable[Any, Any]):
    """A node of a graph, which LangGraph traces: a `RunnableLambda` would trace each run once more, and in a task."""

    def __init__(self, name: str, step: Callable[[Any], Coroutine[Any, Any, Any]]) -> None:
        self.name, self._step = name, step

    def invoke(self, input: Any, *_: Any, **__: Any) -> Any:  # noqa: A002  (LangChain's name)
        return run(self._step, input)

    async def ainvoke(self, input: Any, *_: Any, **__: Any) -> Any:  # noqa: A002
        return await self._step(input)


def as_node(step: Callable[..., Any], abandon: Callable[[Any], None] = _abandon_nothing, within: Within = nullcontext,
            ) -> Runnable[Any, Any]:
    """Make an asynchronous node from a step, which runs in a thread unless it is a coroutine function.

    A parent graph that runs synchronously calls it on an event loop, too.

    Args:
        step: takes the state, and the run's `runtime` if it has a parameter of that name.
        abandon: called with the state if the step fails or is cancelled, which ends its run.
        within: a context that is entered for each call.
    """
    takes_runtime, is_async = "runtime" in inspect.signature(step).parameters, inspect.iscoroutinefunction(step)

    async def node(state: Any) -> Any:
        given = (state, get_runtime()) if takes_runtime else (state,)
        try:
            with _span(step.__name__, state), within():
                return await (step(*given) if is_async else in_thread(step, *given))
        except GraphBubbleUp:  # an interrupt for a person's decision
            raise
        except BaseException:
            await asyncio.shield(asyncio.to_thread(abandon, state))
            raise

    return _Node(step.__name__, node)
