"""Warnings of libraries that are none to our users, turned off for a moment."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.RLock()


@contextmanager
def ignoring(category: type[Warning]) -> Iterator[None]:
    """Within the block warnings of a category are not shown, nor raised.

    Filters are the process's: a thread that set them back while another is within would let it hear its warning.
    """
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", category)
        yield
