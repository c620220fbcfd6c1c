"""Find the JSON objects in a model's answer, and one that is nearly JSON."""

import json
import re
import sys
from collections.abc import Collection, Iterator
from typing import Any

from ...text.cleaning import clean_json

_DECODER = json.JSONDecoder(strict=False)  # line breaks within strings are a common and harmless slip
# Some servers' chat templates open the block in the prompt, so the answer has only its end.
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_MOST_BROKEN_OBJECTS = 1000
"""The number of braces that open no readable object after which the search ends."""
_MOST_OBJECTS = 100
"""Objects that are yielded, the likeliest ones: each is checked, and a useless reply may have a hundred thousand."""
_MOST_READ_AGAIN = 100_000
"""The most characters that are read a second time, after such braces or commas, so that reading stays linear."""
_CHARACTERS_SHOWN = 80
_STRING_OR_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+")|,(?=\s*+[}\]])', re.DOTALL)
MAX_ANSWER = 1_000_000
"""The most characters of an answer that is read: ten times the longest reply of today's models."""


class UnusableAnswer(ValueError):
    """An answer is no JSON object or has the wrong shape; the text says what is wrong."""


def json_objects(text: str, names: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in an answer, the likeliest one first.

    Drafts come before the final answer: the last object is the likeliest. Thoughts, code fences and words around the
    objects are ignored. The text is never completed: a truncated object is an error, because what is missing is
    unknown.

    Args:
        text: the answer.
        names: fields of the expected object. Objects without any of them come last, and not at all if they are parts
            of an object that cannot be read.

    Yields:
        The objects, without characters that cannot be stored (`clean_json`).

    Raises:
        UnusableAnswer: there is no complete object, or the text is too long.
    """
    if len(text) > MAX_ANSWER:
        raise UnusableAnswer(f"it has {len(text):,} characters, at most {MAX_ANSWER:,} are read")
    answer = text[max((thought.end() for thought in _THOUGHT_END.finditer(text)), default=0):]
    has_any = False
    try:
        for value in _objects(text.strip(), answer, names):
            yield clean_json(value)
            has_any = True
    except RecursionError:
        raise UnusableAnswer("it is nested too deeply") from None
    if not has_any:
        raise UnusableAnswer(_problem(answer))


def _objects(text: str, answer: str, names: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield the objects in a text, whose part behind the thoughts is the answer; see `json_objects`."""
    whole, end = _decode(text, 0)
    if whole is not None and end == len(text):
        yield whole
        return
    objects, first_broken = _scan(answer)
    objects = objects[-_MOST_OBJECTS:]
    fitting = [value for value, _ in objects if not names or not value.keys().isdisjoint(names)]
    yield from reversed(fitting)
    # Those behind the first unreadable object may be parts of it.
    yield from (value for value, start in reversed(objects) if start < first_broken and value not in fitting)
    nearly = answer[answer.find("{"):answer.rfind("}") + 1]
    if first_broken < len(answer) and len(nearly) <= _MOST_READ_AGAIN:
        value, end = _decode(repaired := _STRING_OR_LAST_COMMA.sub(r"\1", nearly), 0)
        if value and end == len(repaired):
            yield value


def _scan(text: str) -> tuple[list[tuple[dict[str, Any], int]], int]:
    """Return the JSON objects in a text with their places, and the place of the first brace that opens none."""
    objects, first_broken, broken = list[tuple[dict[str, Any], int]](), len(text), 0
    start, characters_left = text.find("{"), _MOST_READ_AGAIN
    while start >= 0 and broken < _MOST_BROKEN_OBJECTS and characters_left > 0:
        value, end = _decode(text, start)
        if value is None:
            broken += 1
            characters_left -= end - start
            first_broken, end = min(first_broken, start), start + 1  # there may be readable objects within it
        else:
            objects.append((value, start))
        start = text.find("{", end)
    return objects, first_broken


def _problem(answer: str) -> str:
    """Return why there is no object in an answer."""
    shown = answer.strip()[:_CHARACTERS_SHOWN] or "nothing"
    start = answer.find("{")
    try:
        json.loads(answer[start:] if start >= 0 else "{}", strict=False)
        reason = ""
    except RecursionError:
        reason = " (it is nested too deeply)"
    except ValueError as error:
        reason = f" ({error})"
    return f"there is no complete JSON object in it{reason}; it begins: {shown}"


def _decode(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    """Return the object that starts at a position, or None, and how far the text was read."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return None, max(error.pos, start + 1)
    except RecursionError:
        return None, min(len(text), start + sys.getrecursionlimit())  # at least a character was read for each level
    return (value if isinstance(value, dict) else None), end
