"""Values that a process creates once."""

import os
from collections.abc import Callable
from functools import wraps
from threading import Condition
from typing import TypeVar

from cachetools import cached

_T = TypeVar("_T")


def once(create: Callable[[], _T]) -> Callable[[], _T]:
    """Call a function without arguments once, and return that result on every call.

    Unlike `functools.cache`, it calls the function once even if several threads arrive at the same time.
    """
    return cached({}, condition=Condition())(create)


def once_in_each_process(create: Callable[[], _T]) -> Callable[[], _T]:
    """Like `once`, for what a forked child cannot use, such as threads and event loops: it creates its own."""
    value = once(create)

    def forget() -> None:
        nonlocal value
        value = once(create)  # the old one's lock may be held by a thread that the child does not have

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)

    @wraps(create)
    def get() -> _T:
        return value()

    get.cache_clear = forget  # type: ignore[attr-defined]
    return get
