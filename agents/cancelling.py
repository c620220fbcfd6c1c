"""Nodes that end when their run is cancelled, as a server does on request.

An asynchronous run hands a node to a thread. When it is cancelled it forgets the thread, which cannot be stopped: it
would go on to make calls, and its run would hold the knowledge base for ever. So the thread is told.
"""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from langchain_core.runnables import RunnableLambda
from langgraph.runtime import get_runtime

from ..runtime.cancellation import cancellable


def cancellable_node(node: Callable[..., dict[str, Any]]) -> RunnableLambda[Any, dict[str, Any]]:
    """The node, called as it is in a synchronous run, and so that it hears of a cancellation in an asynchronous one.

    Args:
        node: takes the state, and the run's `runtime` if it has a parameter of that name.
    """
    takes_runtime = "runtime" in inspect.signature(node).parameters

    def call(state: Any) -> dict[str, Any]:
        return node(state, get_runtime()) if takes_runtime else node(state)

    async def call_in_thread(state: Any) -> dict[str, Any]:
        with cancellable() as cancellation:
            try:
                return await asyncio.to_thread(call, state)
            except asyncio.CancelledError:
                cancellation.cancel()
                raise

    return RunnableLambda(call, afunc=call_in_thread, name=node.__name__)
