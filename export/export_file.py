"""Atomic writing of an exported file."""

import uuid
from collections.abc import Iterable
from pathlib import Path

from ..schemas.errors import BanyanError


class ExportError(BanyanError):
    """The file cannot be written."""


def write_file(path: Path, pieces: Iterable[str]) -> int:
    """Write pieces of text to a temporary file and move it to `path`; a device or pipe is written to directly.

    Args:
        path: the file; an existing one is replaced once everything is written.
        pieces: the text, which is encoded as UTF-8.

    Returns:
        The number of bytes written.

    Raises:
        ExportError: the file's folder does not exist, or `path` is a folder.
        OSError: the disk is full or not writable; the old file is unchanged.
    """
    if path.is_dir():
        raise ExportError(f"{path} is a folder: name a file in it")
    if path.exists() and not path.is_file():
        return _write(path, "wb", pieces)
    target = path.resolve()
    if not target.parent.is_dir():
        raise ExportError(f"{path} cannot be written: there is no folder {target.parent}; create it, or choose another")
    temporary = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        size = _write(temporary, "xb", pieces)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return size


def _write(path: Path, mode: str, pieces: Iterable[str]) -> int:
    size = 0
    with path.open(mode) as file:
        for piece in pieces:
            size += file.write(piece.encode())
    return size
