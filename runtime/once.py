"""Values that a process creates once."""

from collections.abc import Callable
from threading import Condition
from typing import TypeVar

from cachetools import cached

_T = TypeVar("_T")


def once(create: Callable[[], _T]) -> Callable[[], _T]:
    """Call a function without arguments once, and return that result on every call.

    Unlike `functools.cache`, it calls the function once even if several threads arrive at the same time.
    """
    return cached({}, condition=Condition())(create)
