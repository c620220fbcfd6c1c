"""Turn a reply into a typed answer, or into a description of what is wrong with it."""

import json
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import ValidationError

from .endpoint import Reply
from .parsing import UnusableAnswer, json_object
from .wire import Shape

T = TypeVar("T")

_SHOWN = 200
_SHOWN_ERRORS = 3
# Models may wrap an answer in these fields if it was requested as a function's arguments or by its JSON schema.
_WRAPPERS = ("arguments", "parameters", "properties")


def read_reply(reply: Reply, shape: Shape[T]) -> T:
    """Read the typed answer in a reply.

    Raises:
        UnusableAnswer: the reply is a refusal or does not fit the shape; says what is wrong, in words to show to the
            model.
    """
    if reply.refusal:
        raise UnusableAnswer(f"the model refused to answer: {' '.join(reply.refusal.split())[:_SHOWN]}")
    try:
        return read_text(reply.text, shape)
    except ValueError as error:
        cut = "the answer was cut off at the length limit; " if reply.finish == "length" else ""
        raise UnusableAnswer(cut + _describe(error)) from error


def read_text(text: str, shape: Shape[T]) -> T:
    """Read the typed answer in a text.

    Raises:
        ValueError: it does not fit.
    """
    data = json_object(text)
    try:
        return shape.read(data)
    except ValueError:
        for inner in _unwrap(data, shape.json_schema):
            try:
                return shape.read(inner)
            except ValueError:  # the outer object's errors say more
                continue
        raise


def _unwrap(data: dict[str, Any], json_schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in (*_WRAPPERS, json_schema.get("title", "")):
        inner = data.get(name)
        if isinstance(inner, str):
            try:
                inner = json.loads(inner)
            except (ValueError, RecursionError):
                continue
        if isinstance(inner, dict):
            yield inner


def _describe(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(str(part) for part in detail['loc'])}: {detail['msg']}"
                     for detail in details[:_SHOWN_ERRORS])
