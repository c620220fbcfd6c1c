"""Linear algebra in one thread, so that sums come out the same each time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController

_lock = threading.RLock()  # of the process, as the limit is


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the libraries of linear algebra to one thread: several add up in an order of their own.

    The limit is the process's, and threadpoolctl lets one thread at a time set it: others wait here.
    """
    with _lock, ThreadpoolController().limit(limits=1):
        yield
