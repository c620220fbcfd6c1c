"""Find the JSON object in a model's answer."""

import json
import re
from typing import Any

from ...text.cleaning import clean_json

# Some servers' chat templates open the block in the prompt, so the answer has only its end.
_THINKING = re.compile(r"\A.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_DECODER = json.JSONDecoder(strict=False)  # line breaks within strings are a common and harmless slip
_SHOWN = 80
MAX_ANSWER = 1_000_000
"""The most characters of an answer that is read: ten times the longest reply of today's models."""


class UnusableAnswer(ValueError):
    """An answer is no JSON object or has the wrong shape; the text says what is wrong."""


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object in an answer, without `<think>` blocks, code fences and words around it.

    The text is never completed: a truncated object is an error, because what is missing is unknown.

    Returns:
        The object, without characters that cannot be stored (`clean_json`); the longest if there are several side by
        side.

    Raises:
        UnusableAnswer: there is no complete object, or the text is too long.
    """
    if len(text) > MAX_ANSWER:
        raise UnusableAnswer(f"it has {len(text):,} characters, at most {MAX_ANSWER:,} are read")
    try:
        return clean_json(_json_object(text))
    except RecursionError:
        raise UnusableAnswer("it is nested too deeply") from None


def _json_object(text: str) -> dict[str, Any]:
    whole = _decode(text.strip(), 0)
    if whole is not None and whole[1] == len(text.strip()):
        return whole[0]
    answer = _THINKING.sub("", text)
    longest: tuple[dict[str, Any], int] | None = None
    start = answer.find("{")
    while start >= 0:
        decoded = _decode(answer, start)
        if decoded is not None and (longest is None or decoded[1] - start > longest[1]):
            longest = decoded[0], decoded[1] - start
        start = answer.find("{", decoded[1] if decoded else start + 1)
    if longest is None:
        shown = answer.strip()[:_SHOWN] or "nothing"
        raise UnusableAnswer(f"there is no complete JSON object in it; it begins: {shown}")
    return longest[0]


def _decode(text: str, start: int) -> tuple[dict[str, Any], int] | None:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return (value, end) if isinstance(value, dict) else None
