"""What a process has one of."""

from collections.abc import Callable
from threading import Condition
from typing import TypeVar

from cachetools import cached

_T = TypeVar("_T")


def once(create: Callable[[], _T]) -> Callable[[], _T]:
    """Call a function without arguments once, and return that result ever after.

    Unlike `functools.cache` it is called once even if several threads are the first at the same time.
    """
    return cached({}, condition=Condition())(create)
