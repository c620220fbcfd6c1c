"""A cache for functions of texts: only short texts are cached, because a few thousand long ones would fill memory."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

LONGEST_KEPT = 300
"""The longest cached text in characters: nearly all names and labels are shorter."""

T = TypeVar("T")


def cached_if_short(most: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Return a decorator that caches a function's results for recently used short texts.

    Args:
        most: the most results to cache.
    """

    def decorate(function: Callable[[str], T]) -> Callable[[str], T]:
        cached = lru_cache(maxsize=most)(function)

        @wraps(function)
        def call(text: str) -> T:
            return cached(text) if len(text) <= LONGEST_KEPT else function(text)

        return call

    return decorate
