"""A path of its own for each client of Chroma in this process, even where several open the same folder.

Chroma gives clients of the same path one shared instance, which it starts and stops without a lock, and an open
instance does not see everything that other processes write. A path with `/.` appended names the same folder.

The paths in use are state of the module because what they protect is the process's: Chroma's instances, and the locks
that SQLite holds on files.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOCK = threading.RLock()  # re-entrant: garbage collection may close a reader at any moment
_IN_USE: set[str] = set()


def claim_path(folder: Path) -> str:
    """A path to a folder that no other client of this process uses; to be released."""
    with _LOCK:
        path = str(folder)
        while path in _IN_USE:
            path += "/."
        _IN_USE.add(path)
        return path


def release_path(path: str) -> None:
    """The client of a path is closed."""
    with _LOCK:
        _IN_USE.discard(path)


@contextmanager
def unused(folder: Path) -> Iterator[bool]:
    """Whether no client of this process uses a folder; none starts to inside the block.

    A file that Chroma has open must not even be read by this process: closing it would drop the locks that Chroma's
    own SQLite holds on it (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    with _LOCK:
        yield all(Path(path) != folder for path in _IN_USE)
