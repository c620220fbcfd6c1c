"""Ways to write a folder, so that each client of Chroma in this process has an instance of its own.

Chroma gives clients that name the same path one instance, which it makes and ends without a lock; and an
instance that is open does not see all that other processes write. A path with `/.` in it is another name
for the same folder.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOCK = threading.RLock()  # re-entrant: garbage collection may close a reader at any moment
_IN_USE: set[str] = set()


def take_path(folder: Path) -> str:
    """A way to write a folder that no other client of this process uses; to be given back."""
    with _LOCK:
        path = str(folder)
        while path in _IN_USE:
            path += "/."
        _IN_USE.add(path)
        return path


@contextmanager
def unused(folder: Path) -> Iterator[bool]:
    """Whether no client of this process uses a folder; none begins to inside the block.

    A file that Chroma has open must not even be read by this process: closing it would drop the locks
    that Chroma's own SQLite holds on it (https://sqlite.org/howtocorrupt.html, 2.2), and waiting for each
    other's locks and the interpreter's would never end.
    """
    with _LOCK:
        yield all(Path(path) != folder for path in _IN_USE)


def give_back(path: str) -> None:
    """The client that used a path is closed."""
    with _LOCK:
        _IN_USE.discard(path)
