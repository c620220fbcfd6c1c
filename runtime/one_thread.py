"""Single-threaded linear algebra, for sums that are the same on every run."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController

_lock = threading.RLock()  # one for the process, because the limit applies to the process


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit linear algebra libraries to one thread: several threads add numbers in a varying order.

    The limit applies to the whole process, and threadpoolctl lets one thread at a time set it: others wait here.
    """
    with _lock, ThreadpoolController().limit(limits=1):
        yield
