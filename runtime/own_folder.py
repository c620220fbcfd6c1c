"""Temporary folders that only one user can access, and that are removed even if their process is killed."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

_LOCK = ".lock"


@contextmanager
def own_folder(place: Path, prefix: str, suffix: str = "") -> Iterator[Path]:
    """Create a temporary folder that only this user can enter, after removing folders of killed processes.

    Args:
        place: the parent folder.
        prefix: the beginning of the folder's name.
        suffix: the end of the folder's name.
    """
    sweep_folders(place, prefix, suffix)
    with (tempfile.TemporaryDirectory(suffix, prefix, place, ignore_cleanup_errors=True) as folder,
          FileLock(Path(folder, _LOCK), thread_local=False)):
        yield Path(folder)


def sweep_folders(place: Path, prefix: str, suffix: str = "") -> None:
    """Remove the folders that killed processes left behind; the arguments are those of `own_folder`."""
    for lock in place.glob(f"{prefix}*{suffix}/{_LOCK}"):
        with suppress(Timeout, OSError), FileLock(lock, timeout=0):  # in use, or another user's
            shutil.rmtree(lock.parent)
