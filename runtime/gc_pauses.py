"""Pauses of Python's cyclic garbage collector while many long-lived objects are created.

The collector scans all objects whenever their number has grown by a quarter. While modules are imported, or a graph is
loaded or converted to arrays, it finds nothing, and takes a quarter to a third of the time.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pauses = 0
_was_enabled = True


@contextmanager
def gc_paused(*, permanent: bool = False) -> Iterator[None]:
    """Pause garbage collection in all threads; blocks may be nested.

    Args:
        permanent: exclude the objects created in the block from later collections, for imports and data that a process
            has until its end.
    """
    global _pauses, _was_enabled  # noqa: PLW0603  (the process has only one collector)
    with _lock:
        if not _pauses:
            _was_enabled = gc.isenabled()
        _pauses += 1
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if not _pauses and _was_enabled:
                # Move the new objects to the oldest generation at once, without scanning them on the way.
                gc.freeze()
                if not permanent:
                    gc.unfreeze()
                gc.enable()
