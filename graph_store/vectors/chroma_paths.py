"""Give each Chroma client in this process a unique path, even if several open the same folder.

Chroma shares one instance among clients of the same path and starts and stops it without a lock. An open instance also
misses some changes by other processes. A path with `/.` appended names the same folder.

The paths in use are module state, because they protect process-wide state: Chroma's instances, and SQLite's file locks.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOCK = threading.RLock()  # re-entrant, because garbage collection may close a reader at any moment
_IN_USE: set[str] = set()


def claim_path(folder: Path) -> str:
    """Reserve a path to a folder that no other client of this process uses, until `release_path`."""
    with _LOCK:
        path = str(folder)
        while path in _IN_USE:
            path += "/."
        _IN_USE.add(path)
        return path


def release_path(path: str) -> None:
    """Release a path whose client is closed."""
    with _LOCK:
        _IN_USE.discard(path)


@contextmanager
def pause_claims(folder: Path) -> Iterator[bool]:
    """Let no client start inside the block, and yield True if none uses a folder.

    This process must not even read a file that Chroma has open, because closing it would drop the locks of Chroma's
    own SQLite (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    with _LOCK:
        yield all(Path(path) != folder for path in _IN_USE)
