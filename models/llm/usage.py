"""What endpoints report of tokens: anything may come, and whole numbers go on."""

import math
from collections.abc import Mapping
from typing import Any

_MOST = 1_000_000_000
"""Tokens of one call; more is no count."""


def token_count(reported: object) -> int | None:
    """Return a count of tokens as a whole number, a fraction rounded up; None if it can be no count."""
    if isinstance(reported, bool) or not isinstance(reported, int | float) or not 0 <= reported <= _MOST:
        return None
    return math.ceil(reported)


def read_usage(reported: object) -> dict[str, Any]:
    """Return the part of an answer's `usage` that is read, with what can be no count left out."""
    if not isinstance(reported, Mapping):
        return {}
    details = reported.get("prompt_tokens_details")
    cached = token_count(details.get("cached_tokens")) if isinstance(details, Mapping) else None
    counts = {name: count for name in ("prompt_tokens", "completion_tokens", "total_tokens")
              if (count := token_count(reported.get(name))) is not None}
    return {**counts, **({"prompt_tokens_details": {"cached_tokens": cached}} if cached is not None else {})}
