"""What the nodes of both graphs share: how a step becomes a node, and checks of what clients of a server send."""

import asyncio
import inspect
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import get_runtime
from langgraph.types import Command, Send
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import to_json, to_jsonable_python

from ..config import LLM_STEPS, AskStep, Settings
from ..ingest.reading import IngestError
from ..runtime.telemetry import span
from ..runtime.threads import in_thread, run
from ..schemas.errors import BanyanError
from ..schemas.formats.schema_loading import seed_names
from ..schemas.graph_schema import AUTO_SCHEMA, OPEN_SCHEMA

_T = TypeVar("_T")
_USER = "langgraph_auth_user_id"  # "CLIENT", or "CLIENT:BASE,BASE" for a key that is limited to some bases


def add_or_reset(old: list[_T], new: list[_T]) -> list[_T]:
    """Reduce a state field: join the lists that parallel nodes return; an empty one (of a new round) resets it."""
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
    """Make a graph node from a step: a coroutine function, or a function that runs in a thread.

    The step gets its `state`, with models in place of plain data by its annotation, and the run's `context` if it takes
    one. If it fails or is cancelled, `abandon` gets its state, so that it can free what the run holds.
    """
    types, is_async = get_type_hints(step), inspect.iscoroutinefunction(step)
    adapters, context_class = _model_fields(types["state"]), types.get("context")

    async def node(state: Any) -> Any:
        state = dict(state)
        for name in adapters.keys() & state.keys():
            state[name] = adapters[name].validate_python(state[name])
        arguments = [state, get_runtime().context or context_class()] if context_class else [state]
        # The first step has not checked the knowledge base's name yet, so it may be any value.
        attributes = {"banyan.node": step.__name__, "banyan.knowledge_base": str(state.get("knowledge_base"))[:100]}
        try:
            with span(f"step {step.__name__}", attributes, expected=(GraphBubbleUp,)):
                return _to_plain_data(await (step(*arguments) if is_async else in_thread(step, *arguments)))
        except GraphBubbleUp:  # an interrupt for a person's decision
            raise
        except BaseException:
            await asyncio.shield(asyncio.to_thread(abandon, state))  # even if the run is cancelled once more
            raise

    return _Node(step.__name__, node)


@cache
def _model_fields(state: type) -> dict[str, TypeAdapter[Any]]:
    """Return the fields of a state that have models, each with what validates it; cached, as making one takes long."""
    fields = get_type_hints(state, include_extras=True)
    return {name: TypeAdapter[Any](type_) for name, type_ in fields.items() if _has_model(type_)}


def _has_model(type_: Any) -> bool:
    """Return True if a type is or contains a model, other than a message, which LangGraph stores itself."""
    is_model = isinstance(type_, type) and issubclass(type_, BaseModel) and not issubclass(type_, BaseMessage)
    return is_model or any(map(_has_model, get_args(type_)))


def _to_plain_data(value: Any) -> Any:
    """Return a step's result with plain data in the place of models, also within commands; messages stay."""
    match value:
        case Command():
            return replace(value, update=_to_plain_data(value.update), goto=_to_plain_data(value.goto))
        case Send():
            return Send(value.node, _to_plain_data(value.arg))
        case BaseMessage():
            return value
        case Mapping():
            return {key: _to_plain_data(item) for key, item in value.items()}
        case list() | tuple():
            return [_to_plain_data(item) for item in value]
    return to_jsonable_python(value)


class ContextError(BanyanError):
    """A context with a value of a wrong type."""


def check_context(context: object) -> None:
    """Raise ContextError unless all values of a context have the types that its class declares."""
    try:
        # The context is validated as JSON, in which a tuple is a list. `strict` rejects "false" as a bool.
        TypeAdapter[Any](type(context)).validate_json(to_json(vars(context), fallback=repr), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise ContextError(f"the context's {name} is {str(first['input'])[:60]!r}: {first['msg']}") from error


def _configurable(name: str) -> str:
    """Return a value of the current run's configuration as text; "" if it has none of this name."""
    return str(get_config().get("configurable", {}).get(name) or "")


def is_served() -> bool:
    """Return True if this run came through a LangGraph server, whose names in `configurable` no client can remove."""
    return any(str(name).startswith("langgraph_") for name in get_config().get("configurable", {}))


def served_client() -> str:
    """Return the name of the key that started this LangGraph server run, or "" in other runs."""
    return _configurable(_USER).partition(":")[0]


def is_seen_by_client(name: object) -> bool:
    """Return True if the client that started this run may see all of some knowledge bases, as "a,b" names them."""
    _, colon, allowed = _configurable(_USER).partition(":")
    is_limited = bool(colon)  # without a colon the key, or a run without one, may see every knowledge base
    return not is_limited or set(str(name).split(",")) <= set(allowed.split(","))


def resumed_run() -> str:
    """Return the id of the run that this run resumes, whose budget it shares, as its caller says; "" if none."""
    return "" if is_served() else _configurable("resumes")  # a server's clients may name none: it is another's budget


def check_readable(files: Iterable[str], schema: str, folders: str) -> None:
    """Raise IngestError if a run through a server may not read a file of its input: those below `folders` it may."""
    allowed = [Path(folder).resolve() for folder in folders.split(os.pathsep) if folder]
    is_schema_a_file = schema not in {"", AUTO_SCHEMA, OPEN_SCHEMA, *seed_names()}
    for file in [*files, schema] if is_schema_a_file else files:
        path = Path(file).resolve()
        if not any(path.is_relative_to(folder) for folder in allowed):
            raise IngestError(
                f"{file!r} may not be read by a run that comes through a server: give documents as text, "
                'documents=[{"id", "title", "text"}], or name folders that every client may read in '
                f"BANYAN_SERVER_DOCUMENTS (now {folders!r}) where the server runs")


class ModelChoiceError(BanyanError):
    """A question asks for a step or model that cannot be chosen."""


def check_models(models: Mapping[AskStep, str], settings: Settings, *, served: bool) -> None:
    """Raise ModelChoiceError if a question may not use a model that it chooses: a server offers only some."""
    if not all(models.values()):
        raise ModelChoiceError('`models` names a model for each step, as in {"answer": "gpt-4o"}: fix the context')
    if models and not settings.uses_llm:
        raise ModelChoiceError("no model can be chosen while the rules answer: set BANYAN_LLM_BASE_URL")
    offered = {settings.model_of(step) for step in LLM_STEPS}
    offered.update(name for name in map(str.strip, settings.server_models.split(",")) if name)
    if served and (not_offered := set(models.values()) - offered):
        raise ModelChoiceError(f"the server does not offer {', '.join(sorted(map(repr, not_offered)))}: choose among "
                               f"{', '.join(sorted(offered))}, or have it named in BANYAN_SERVER_MODELS")
