"""Suppression of library warnings that do not concern our users."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.RLock()


@contextmanager
def ignoring(category: type[Warning]) -> Iterator[None]:
    """Suppress warnings of a category within the block.

    Warning filters belong to the process: without the lock, one thread could restore another's warnings.
    """
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", category)
        yield
