"""Values that a process creates once."""

import os
from collections.abc import Callable
from functools import wraps
from threading import Condition
from typing import TypeVar

from cachetools import cached

_T = TypeVar("_T")


def once(create: Callable[[], _T]) -> Callable[[], _T]:
    """Decorate a function without arguments: it is called once, and every call returns that result.

    Unlike `functools.cache`, it calls the function once even if several threads arrive at the same time.
    """
    return cached({}, condition=Condition())(create)


def once_in_each_process(create: Callable[[], _T]) -> Callable[[], _T]:
    """Do what `once` does, but call the function again in a forked child process.

    This is for values that a child cannot inherit, such as threads and event loops.
    """
    value = once(create)

    def forget() -> None:
        """Call the function again next time.

        A new `once` is needed: the lock of the old one may be held by a thread that the child does not have.
        """
        nonlocal value
        value = once(create)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)

    @wraps(create)
    def get() -> _T:
        return value()

    get.cache_clear = forget  # type: ignore[attr-defined]
    return get
