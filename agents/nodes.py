"""Graph nodes, whose state is plain data, and which end when their run is cancelled."""

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import get_runtime
from langgraph.types import Command, Send
from pydantic import BaseModel, TypeAdapter
from pydantic_core import to_jsonable_python

from ..runtime.event_loop import run
from ..runtime.telemetry import span
from ..runtime.threads import in_thread

_T = TypeVar("_T")


def add_or_reset(old: list[_T], new: list[_T]) -> list[_T]:
    """Reduce a state field: join the lists that parallel nodes return; an empty list resets the field."""
    return [*old, *new] if new else []


class _Node(Runnable[Any, Any]):
    """A graph node without tracing of its own: LangGraph traces nodes, and a `RunnableLambda` would do so again."""

    def __init__(self, name: str, step: Callable[[Any], Coroutine[Any, Any, Any]]) -> None:
        self.name, self._step = name, step

    def invoke(self, input: Any, *_: Any, **__: Any) -> Any:  # noqa: A002  (LangChain's name)
        return run(self._step, input)

    async def ainvoke(self, input: Any, *_: Any, **__: Any) -> Any:  # noqa: A002
        return await self._step(input)


def as_node(step: Callable[..., Any], abandon: Callable[[Any], None]) -> Runnable[Any, Any]:
    """Make a graph node from a step.

    A step that is a coroutine function runs on the event loop; any other step runs in a thread. The node can also be
    invoked synchronously. The models in the step's `state`, by the types of its annotation, are plain data in the
    graph's own state: a checkpoint can be read in LangGraph's strict mode, and after a class has moved.
    """
    takes_runtime, is_async = "runtime" in inspect.signature(step).parameters, inspect.iscoroutinefunction(step)
    models = _model_fields(get_type_hints(step)["state"])

    async def node(state: Any) -> Any:
        """Run the step; if it fails or is cancelled, abandon its run."""
        state = {name: models[name].validate_python(value) if name in models else value
                 for name, value in state.items()}
        arguments = (state, get_runtime()) if takes_runtime else (state,)
        # The first step has not checked the knowledge base's name yet, so it may be any value.
        attributes = {"banyan.node": step.__name__, "banyan.knowledge_base": str(state.get("knowledge_base"))[:100]}
        try:
            with span(f"step {step.__name__}", attributes, expected=(GraphBubbleUp,)):
                return _to_plain_data(await (step(*arguments) if is_async else in_thread(step, *arguments)))
        except GraphBubbleUp:  # an interrupt for a person's decision
            raise
        except BaseException:
            await asyncio.shield(asyncio.to_thread(abandon, state))
            raise

    return _Node(step.__name__, node)


@cache
def _model_fields(state: type) -> dict[str, TypeAdapter[Any]]:
    """Return the fields of a state that have models, each with what validates it; making these takes milliseconds."""
    fields = get_type_hints(state, include_extras=True)
    return {name: TypeAdapter[Any](type_) for name, type_ in fields.items() if _has_model(type_)}


def _has_model(type_: Any) -> bool:
    """Return True if a type is or contains a model; LangGraph stores messages itself."""
    is_model = isinstance(type_, type) and issubclass(type_, BaseModel) and not issubclass(type_, BaseMessage)
    return is_model or any(map(_has_model, get_args(type_)))


def _to_plain_data(value: Any) -> Any:
    """Return a step's result with plain data in the place of models."""
    match value:
        case Command():
            return replace(value, update=_to_plain_data(value.update), goto=_to_plain_data(value.goto))
        case Send():
            return Send(value.node, _to_plain_data(value.arg))
        case BaseMessage():
            return value
        case Mapping():
            return {key: _to_plain_data(one) for key, one in value.items()}
        case list() | tuple():
            return [*map(_to_plain_data, value)]
    return to_jsonable_python(value)
