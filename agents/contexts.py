"""Checking a run's context: LangGraph builds it from what a client sent, and checks no value."""

from collections.abc import Hashable
from functools import cache
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from ..schemas.errors import BanyanError


class ContextError(BanyanError):
    """A context with a value of a wrong type."""


def check_context(context: object) -> None:
    """Check that all values of a context have the types that it declares.

    Raises:
        ContextError: one has another type; names the field, and the type.
    """
    try:
        # As JSON, in which a tuple is a list; strictly, so "false" is not a bool.
        _adapter(cast("Hashable", type(context))).validate_json(to_json(vars(context), fallback=repr), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ContextError(f"the context's {where} is {str(first['input'])[:60]!r}: {first['msg']}") from error


@cache
def _adapter(context: Any) -> TypeAdapter[Any]:
    return TypeAdapter(context)
