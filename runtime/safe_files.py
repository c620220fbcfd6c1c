"""Files that are written whole or not at all, and temporary folders that only one user can access.

The folders are removed even if their process is killed.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout

_LOCK = ".lock"  # in a temporary folder, held as long as the folder is in use


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that moves to `path` at the block's end; if block or disk fail, the old file stays."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def own_folder(place: Path, prefix: str, suffix: str = "") -> Iterator[Path]:
    """Create a folder that only this user can enter, for the block; first delete those that killed processes left."""
    sweep_folders(place, prefix, suffix)
    with (tempfile.TemporaryDirectory(suffix, prefix, place, ignore_cleanup_errors=True) as folder,
          FileLock(Path(folder, _LOCK), thread_local=False)):
        yield Path(folder)


def sweep_folders(place: Path, prefix: str, suffix: str = "") -> None:
    """Remove the folders that killed processes left behind; the arguments are those of `own_folder`."""
    for lock in place.glob(f"{prefix}*{suffix}/{_LOCK}"):
        # A folder in use is locked (Timeout), and one of another user cannot be locked (OSError): both stay.
        with suppress(Timeout, OSError), FileLock(lock, timeout=0):
            shutil.rmtree(lock.parent)
