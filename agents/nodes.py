"""Graph nodes, which end when their run is cancelled."""

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from typing import Any

from langchain_core.runnables import Runnable
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import get_runtime
from opentelemetry.trace import Span

from ..runtime.event_loop import run
from ..runtime.telemetry import span
from ..runtime.threads import in_thread


def _span(name: str, state: Any) -> AbstractContextManager[Span]:
    # The first step has not checked the knowledge base's name yet, so it may be any value.
    return span(f"step {name}", {"banyan.node": name, "banyan.knowledge_base": str(state.get("knowledge_base"))[:100]},
                expected=(GraphBubbleUp,))


def _abandon_nothing(_: Any) -> None:
    """Do nothing: the step leaves nothing open."""


class _Node(Runnable[Any, Any]):
    """A graph node without tracing of its own: LangGraph traces nodes, and a `RunnableLambda` would do so again."""

    def __init__(self, name: str, step: Callable[[Any], Coroutine[Any, Any, Any]]) -> None:
        self.name, self._step = name, step

    def invoke(self, input: Any, *_: Any, **__: Any) -> Any:  # noqa: A002  (LangChain's name)
        return run(self._step, input)

    async def ainvoke(self, input: Any, *_: Any, **__: Any) -> Any:  # noqa: A002
        return await self._step(input)


class Branch(Runnable[Any, Any]):
    """A function that chooses the next nodes from the state, without waiting: LangGraph would call it in a thread."""

    def __init__(self, choose: Callable[[Any], Any]) -> None:
        self.name, self._choose = choose.__name__, choose

    def invoke(self, input: Any, *_: Any, **__: Any) -> Any:  # noqa: A002  (LangChain's name)
        """Return the next nodes."""
        return self._choose(input)

    async def ainvoke(self, input: Any, *_: Any, **__: Any) -> Any:  # noqa: A002
        """Return the next nodes."""
        return self._choose(input)


def as_node(step: Callable[..., Any], abandon: Callable[[Any], None] = _abandon_nothing) -> Runnable[Any, Any]:
    """Make a graph node from a step.

    A step that is a coroutine function runs on the event loop; any other step runs in a thread. The node can also be
    invoked synchronously.
    """
    takes_runtime, is_async = "runtime" in inspect.signature(step).parameters, inspect.iscoroutinefunction(step)

    async def node(state: Any) -> Any:
        """Run the step; if it fails or is cancelled, abandon its run."""
        arguments = (state, get_runtime()) if takes_runtime else (state,)
        try:
            with _span(step.__name__, state):
                return await (step(*arguments) if is_async else in_thread(step, *arguments))
        except GraphBubbleUp:  # an interrupt for a person's decision
            raise
        except BaseException:
            await asyncio.shield(asyncio.to_thread(abandon, state))
            raise

    return _Node(step.__name__, node)
