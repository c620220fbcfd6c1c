"""Turn a reply into a typed answer, or into a description of what is wrong with it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from .endpoint import Reply
from .parsing import UnusableAnswer, json_objects
from .wire import Shape

T = TypeVar("T")

_SHOWN = 200
_SHOWN_ERRORS = 3
# Models may wrap an answer in these fields if it was requested as a function's arguments or by its JSON schema.
_WRAPPERS = ("arguments", "parameters", "properties")
_EMPTY: Mapping[str, Any] = {"array": (), "string": ""}
"""What null stands for, by the type that is expected."""


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
    """Read the typed answer in a text: its last complete JSON object that fits.

    Raises:
        ValueError: none fits; the error is that of the likeliest one.
    """
    schema = shape.json_schema
    names = (*schema.get("properties", ()), *_WRAPPERS, schema.get("title", ""))
    wrong: ValueError | None = None
    for data in json_objects(text, names):
        for answer in (data, *_unwrap(data, schema)):
            try:
                return shape.read(_fill_nulls(answer, schema))
            except ValueError as error:  # the outer object's errors say more
                wrong = wrong or error
    assert wrong is not None  # noqa: S101  (without an object, json_objects raises)
    raise wrong


def _fill_nulls(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return an answer with empty lists and texts where it has null instead."""
    if value is None and schema.get("type") in _EMPTY and "enum" not in schema:
        return _EMPTY[schema["type"]]
    if isinstance(value, list) and "items" in schema:
        return [_fill_nulls(item, schema["items"]) for item in value]
    if isinstance(value, dict) and "properties" in schema:
        return {name: _fill_nulls(part, schema["properties"].get(name, {})) for name, part in value.items()}
    return value


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
