"""Folders for work that is thrown away: one user's, and removed even where their process was killed."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

_LOCK = ".lock"


@contextmanager
def own_folder(place: Path, prefix: str, suffix: str = "") -> Iterator[Path]:
    """Within the block there is a new folder that this user alone can enter; those of killed processes go first.

    Args:
        place: where it is made.
        prefix: what its name begins with.
        suffix: what its name ends with.
    """
    sweep_folders(place, prefix, suffix)
    with (tempfile.TemporaryDirectory(suffix, prefix, place, ignore_cleanup_errors=True) as folder,
          FileLock(Path(folder, _LOCK), thread_local=False)):
        yield Path(folder)


def sweep_folders(place: Path, prefix: str, suffix: str = "") -> None:
    """Remove the folders that killed processes left behind; arguments as of `own_folder`."""
    for lock in place.glob(f"{prefix}*{suffix}/{_LOCK}"):
        with suppress(Timeout, OSError), FileLock(lock, timeout=0):  # in use, or another user's
            shutil.rmtree(lock.parent)
