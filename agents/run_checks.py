"""Check the input of a run: its context, the files that it may read, and its models.

LangGraph builds the context from what a client sent without checking it. And anyone who reaches a LangGraph server can
start a run, so such a run may read only some files.
"""

import os
from collections.abc import Hashable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from langgraph.config import get_config
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from ..config import LLM_STEPS, AskStep, Settings
from ..ingest.reading import IngestError
from ..schemas.errors import BanyanError
from ..schemas.formats.schema_loading import seed_names
from ..schemas.graph_schema import AUTO_SCHEMA, OPEN_SCHEMA


class ContextError(BanyanError):
    """A context with a value of a wrong type."""


def check_context(context: object) -> None:
    """Check that all values of a context have the types that its class declares."""
    try:
        # The context is validated as JSON, in which a tuple is a list. `strict` rejects "false" as a bool.
        _type_adapter(cast("Hashable", type(context))).validate_json(to_json(vars(context), fallback=repr), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise ContextError(f"the context's {field} is {str(first['input'])[:60]!r}: {first['msg']}") from error


@cache
def _type_adapter(context: Any) -> TypeAdapter[Any]:
    return TypeAdapter(context)


def is_served() -> bool:
    """Return True if the current node's run was started through a LangGraph server.

    Such a server adds the user (`langgraph_auth_user`) and the request (`langgraph_request_id`) to `configurable`.
    They are there also when one graph calls another, and clients cannot remove them.
    """
    return any(str(name).startswith("langgraph_") for name in get_config().get("configurable", {}))


def served_client() -> str:
    """Return the name of the key that started this LangGraph server run, or "" in other runs."""
    # A key restricted to some knowledge bases has an identity that lists them after a colon.
    return str(get_config().get("configurable", {}).get("langgraph_auth_user_id") or "").partition(":")[0]


def is_seen(name: object) -> bool:
    """Return True if the client that started this run may see a knowledge base; always True without a server.

    Of several, named with commas between, it must see all.
    """
    _, limited, names = str(get_config().get("configurable", {}).get("langgraph_auth_user_id") or "").partition(":")
    return not limited or set(str(name).split(",")) <= set(names.split(","))


def resumed_run() -> str:
    """Return the id of the run that this run resumes, whose budget it shares, or "" if none.

    The caller names it as `resumes` in `configurable`. Clients of a server may not, because it is another's budget.
    """
    return "" if is_served() else str(get_config().get("configurable", {}).get("resumes", ""))


def check_readable(files: Iterable[str], schema: str, folders: str) -> None:
    """Check that a run that was started through a server may read the files that its input names."""
    allowed = [Path(folder).resolve() for folder in folders.split(os.pathsep) if folder]
    schema_is_file = schema and schema not in {AUTO_SCHEMA, OPEN_SCHEMA, *seed_names()}
    for file in (*files, *([schema] if schema_is_file else [])):
        path = Path(file).resolve()
        if not any(path.is_relative_to(folder) for folder in allowed):
            raise IngestError(
                f"{file!r} may not be read by a run that comes through a server: give documents as text, "
                'documents=[{"id", "title", "text"}], or name folders that every client may read in '
                f"BANYAN_SERVER_DOCUMENTS (now {folders!r}) where the server runs")


class ModelChoiceError(BanyanError):
    """A question asks for a step or model that cannot be chosen."""


def check_models(models: Mapping[AskStep, str], settings: Settings, *, served: bool) -> None:
    """Check that the steps of a question, in a checked context, may use the models that it chooses."""
    if not all(models.values()):
        raise ModelChoiceError('`models` names a model for each step, as in {"answer": "gpt-4o"}: fix the context')
    if models and not settings.uses_llm:
        raise ModelChoiceError("no model can be chosen while the rules answer: set BANYAN_LLM_BASE_URL")
    offered = {settings.model_of(step) for step in LLM_STEPS}
    offered.update(name for name in map(str.strip, settings.server_models.split(",")) if name)
    if served and (not_offered := set(models.values()) - offered):
        raise ModelChoiceError(f"the server does not offer {', '.join(sorted(map(repr, not_offered)))}: choose among "
                               f"{', '.join(sorted(offered))}, or have it named in BANYAN_SERVER_MODELS")
