"""Results that are kept for texts: of short ones alone, as some thousand long ones would fill the memory."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

LONGEST_KEPT = 300
"""Characters: nearly all names and labels are shorter; longer ones were made to fill the memory."""

T = TypeVar("T")


def cached_if_short(kept: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """A decorator that keeps the results for the short texts that a function was last called with.

    Args:
        kept: how many.
    """

    def decorated(function: Callable[[str], T]) -> Callable[[str], T]:
        cached = lru_cache(maxsize=kept)(function)

        @wraps(function)
        def called(text: str) -> T:
            return cached(text) if len(text) <= LONGEST_KEPT else function(text)

        return called

    return decorated
