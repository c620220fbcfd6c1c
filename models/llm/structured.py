"""The typed answer in a reply: the JSON object that the model wrote, found and checked, but never completed."""

import json
import re
import sys
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from ...text.cleaning import clean_json
from .endpoint import Reply
from .wire import Shape

T = TypeVar("T")
_DECODER = json.JSONDecoder(strict=False)  # line breaks within strings are a common and harmless slip
# Some servers' chat templates open the block in the prompt, so the answer has only its end.
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_STRING_OR_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+")|,(?=\s*+[}\]])', re.DOTALL)
# Models may wrap an answer in these fields if it was requested as a function's arguments or by its JSON schema.
_WRAPPERS = ("arguments", "parameters", "properties")
_MOST_BROKEN_OBJECTS = 1000  # braces that open no readable object, after which the search ends
_MOST_OBJECTS = 100  # of those found, the last ones: each is checked, and a useless reply may have a hundred thousand
_MOST_READ_AGAIN = 100_000  # characters read a second time, after such braces or commas, so that reading stays linear
MAX_ANSWER = 1_000_000  # characters of an answer: ten times the longest reply of today's models
_CHARACTERS_SHOWN, _REFUSAL_SHOWN, _ERRORS_SHOWN = 80, 200, 3


class UnusableAnswer(ValueError):
    """An answer is no JSON object or has the wrong shape; the text says what is wrong."""


def read_reply(reply: Reply, shape: Shape[T]) -> T:
    """Read the typed answer in a reply."""
    if reply.refusal:
        raise UnusableAnswer(f"the model refused to answer: {' '.join(reply.refusal.split())[:_REFUSAL_SHOWN]}")
    try:
        return read_text(reply.text, shape)
    except ValueError as error:
        problem = str(error)
        if isinstance(error, ValidationError):
            details = error.errors(include_url=False, include_context=False, include_input=False)[:_ERRORS_SHOWN]
            problem = "; ".join(f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in details)
        cut = "the answer was cut off at the length limit; " if reply.finish == "length" else ""
        raise UnusableAnswer(cut + problem) from error


def read_text(text: str, shape: Shape[T]) -> T:
    """Read the typed answer in a text: its last complete JSON object that fits, or one within it that wraps it."""
    schema = shape.json_schema
    wrappers = (*_WRAPPERS, schema.get("title", ""))
    errors = list[ValueError]()
    for data in json_objects(text, (*schema.get("properties", ()), *wrappers)):
        for answer in (data, *(data[name] for name in wrappers if isinstance(data.get(name), dict))):
            try:
                return shape.read(_fill_nulls(answer, schema))
            except ValueError as error:
                errors.append(error)
    raise errors[0]  # the outer object's errors say more


def _fill_nulls(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return an answer with empty lists and texts instead of null, which stays where an enum allows no empty value."""
    if value is None and "enum" not in schema:
        return {"array": (), "string": ""}.get(schema.get("type", ""))
    if isinstance(value, list) and "items" in schema:
        return [_fill_nulls(item, schema["items"]) for item in value]
    if isinstance(value, dict) and "properties" in schema:
        return {name: _fill_nulls(part, schema["properties"].get(name, {})) for name, part in value.items()}
    return value


def json_objects(text: str, names: Collection[str]) -> list[dict[str, Any]]:
    """Return the JSON objects in an answer that have one of some fields; the last first, as drafts come before it.

    Thoughts, code fences and words around the objects are ignored. A truncated object is an error, because what is
    missing is unknown.

    Raises:
        UnusableAnswer: there is no complete object with such a field, or the text is too long.
    """
    if len(text) > MAX_ANSWER:
        raise UnusableAnswer(f"it has {len(text):,} characters, at most {MAX_ANSWER:,} are read")
    answer = text[max((thought.end() for thought in _THOUGHT_END.finditer(text)), default=0):]
    whole, end, _ = _decode_object(text.strip(), 0)
    objects, problem = ([whole], "") if whole is not None and end == len(text.strip()) else _scan(answer, names)
    if not objects:
        shown = answer.strip()[:_CHARACTERS_SHOWN] or "nothing"
        raise UnusableAnswer(f"there is no complete JSON object in it{problem}; it begins: {shown}")
    try:
        return [clean_json(value) for value in objects]
    except RecursionError:
        raise UnusableAnswer("it is nested too deeply") from None


def _scan(text: str, names: Collection[str]) -> tuple[list[dict[str, Any]], str]:
    """Return the JSON objects with one of some fields in a text, the last first, and why its first brace opens none."""
    objects, problem = list[dict[str, Any]](), ""
    broken, characters_left = 0, _MOST_READ_AGAIN
    start = text.find("{")
    while start >= 0 and broken < _MOST_BROKEN_OBJECTS and characters_left > 0:
        value, end, reason = _decode_object(text, start)
        if value is None:
            problem = problem or f" ({reason})"
            broken += 1
            characters_left -= end - start
            end = start + 1  # there may be readable objects within it
        elif value.keys().isdisjoint(names):
            problem = problem or " that has a field which was asked for"
        else:
            objects.append(value)
        start = text.find("{", end)
    nearly_object = text[text.find("{"):text.rfind("}") + 1]
    if broken and len(nearly_object) <= _MOST_READ_AGAIN:  # commas before closing brackets may be all that is wrong
        repaired = _STRING_OR_LAST_COMMA.sub(r"\1", nearly_object)
        value, end, _ = _decode_object(repaired, 0)
        if value and end == len(repaired):
            objects.insert(0, value)
    return objects[:-_MOST_OBJECTS - 1:-1], problem


def _decode_object(text: str, start: int) -> tuple[dict[str, Any] | None, int, str]:
    """Return the object that starts at a position, or None, how far the text was read, and what is wrong."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return None, max(error.pos, start + 1), str(error)
    except RecursionError:  # at least a character was read for each level
        return None, min(len(text), start + sys.getrecursionlimit()), "it is nested too deeply"
    return (value if isinstance(value, dict) else None), end, "no object"
