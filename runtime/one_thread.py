"""Sums in one thread, so that they come out the same each time."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController

_lock = threading.RLock()
_found: list[tuple[int, ThreadpoolController]] = []
"""The libraries of this process, and how many modules were imported when they were looked for."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the libraries of linear algebra to one thread: several add up in an order of their own.

    The limit is the process's, and threadpoolctl lets one thread at a time set it: others wait here.
    """
    with _lock, _libraries().limit(limits=1):
        yield


def _libraries() -> ThreadpoolController:
    """The libraries with threads; to look for them takes 3 ms, and only an import brings others."""
    if not _found or _found[0][0] != len(sys.modules):
        _found[:] = [(len(sys.modules), ThreadpoolController())]
    return _found[0][1]
