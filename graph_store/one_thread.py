"""Sums in one thread, so that they come out the same each time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

_lock = threading.RLock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the libraries of linear algebra to one thread: several add up in an order of their own.

    The limit is the process's, and threadpoolctl lets one thread at a time set it: others wait here.
    """
    with _lock, threadpool_limits(limits=1):
        yield
