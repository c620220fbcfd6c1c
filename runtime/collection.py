"""Pauses of Python's cyclic garbage collector while many long-lived objects are created.

The collector scans all objects whenever their number has grown by a quarter. While a graph is loaded or converted to
arrays it finds nothing, and takes a third of the time.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_resting = 0
_collecting = True


@contextmanager
def at_rest() -> Iterator[None]:
    """Pause garbage collection in all threads; blocks may be nested."""
    global _resting, _collecting  # noqa: PLW0603  (the process has only one collector)
    with _lock:
        if not _resting:
            _collecting = gc.isenabled()
        _resting += 1
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            _resting -= 1
            if not _resting and _collecting:
                # Move the new objects to the oldest generation at once, without scanning them on the way.
                gc.freeze()
                gc.unfreeze()
                gc.enable()
