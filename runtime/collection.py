"""Python's collection of cycles, at rest while many objects are made that stay.

The collector looks at all objects each time their number has grown by a quarter. While a graph is loaded, or arrays
are made from it, it finds nothing, and that takes a third of the time.
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
    """Collect nothing for a while, in any thread; may be nested."""
    global _resting, _collecting  # noqa: PLW0603  (the collector is one for the process)
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
                # What was made joins the oldest objects at once; else it would be looked through on its way there.
                gc.freeze()
                gc.unfreeze()
                gc.enable()
