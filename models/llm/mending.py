"""Read objects that are nearly JSON: single quotes, Python's constants, commas before a closing bracket."""

import json
import re
from typing import Any

# A string that does not end is a token too, so no text is scanned twice.
_TOKENS = re.compile(r"""\s+|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[{}\[\],:]|[^\s{}\[\],:"']+""", re.DOTALL)
_QUOTES = re.compile(r"""\\.|\"""", re.DOTALL)
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}


_DEEPEST = 64
"""Braces and brackets within each other; no answer has so many."""


def mend(text: str, start: int, end: int) -> tuple[dict[str, Any] | None, int]:
    """Return the object that starts at an opening brace, or None if it cannot be read, and how far the text was read.

    No more than the text before `end` is read.
    """
    pieces, depth = list[str](), 0
    for token in _TOKENS.finditer(text, start, end):
        piece = token[0]
        if piece in {"}", "]"} and pieces[-1] == "," and pieces[-2] not in {"{", "["}:
            pieces.pop()
        depth += (piece in {"{", "["}) - (piece in {"}", "]"})
        if not piece.isspace():
            pieces.append(_as_json(piece))
        if not depth:
            return _load("".join(pieces)), token.end()
        if depth > _DEEPEST:
            return None, token.end()
    return None, min(end, len(text))


def _as_json(piece: str) -> str:
    """Return a token as JSON has it; other tokens are returned unchanged."""
    if piece[0] != "'":
        return _CONSTANTS.get(piece, piece)
    if len(piece) < 2 or piece[-1] != "'":  # noqa: PLR2004  (both quotes)
        return piece
    return f'"{_QUOTES.sub(_swap_quotes, piece[1:-1])}"'


def _swap_quotes(found: "re.Match[str]") -> str:
    """Return a quote or an escaped character of a string in single quotes as a string in double quotes has it."""
    return {"\\'": "'", '"': '\\"'}.get(found[0], found[0])


def _load(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
