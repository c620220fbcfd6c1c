"""Uploaded files on their way into a knowledge base: in a private folder, under names that lead nowhere."""

import re
import shutil
import unicodedata
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

import anyio.to_thread
from filelock import FileLock, Timeout

from ...graph_store.layout import check_name
from ..errors import RefusedError
from .process_lock import UPLOADS

MAX_ID = 1000
"""Characters of a document's id (see `Document`)."""
_MAX_PART = 255
"""Bytes of a file's name on the usual file systems."""
_FORBIDDEN = frozenset(':*?"<>|\ufffd')
"""What Windows reads as a drive or a stream, and what stands for bytes that could not be decoded."""
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode's categories of what is not seen in a name: control and format characters, those that turn the direction of
others among them, breaks of lines, and what is no character."""
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_READ = "read"
"""The folder of what is being read, by knowledge base."""


class FileNameError(RefusedError):
    """An uploaded file's name that cannot be a document's id."""

    status = 422


class Upload(NamedTuple):
    """A file that a client sent: its name, and its content, which is read once."""

    name: str
    content: BinaryIO


def safe_name(name: str) -> str:
    """A file's name as a relative path below a folder, with `/` between its parts.

    Args:
        name: as a client sent it, of any system; Unicode's form NFC is taken, so that a name is the same from all.

    Raises:
        FileNameError: it is absolute, leads out of its folder, is hidden, or cannot be a file's name everywhere.
    """
    shown = repr(name if len(name) <= 100 else f"{name[:100]}...")  # noqa: PLR2004
    plain = unicodedata.normalize("NFC", name.encode(errors="replace").decode()).replace("\\", "/")
    if not plain or len(plain) > MAX_ID:
        raise FileNameError(f"the file name {shown} has {len(plain)} characters: use 1 to {MAX_ID}")
    if any(letter in _FORBIDDEN or unicodedata.category(letter) in _INVISIBLE for letter in plain):
        raise FileNameError(f"the file name {shown} holds a character that no document's id may have (one of "
                            ": * ? \" < > | or an invisible one): rename the file")
    for part in plain.split("/"):
        if part in {"", ".", ".."} or part != part.strip() or part.startswith(".") or part.endswith("."):
            raise FileNameError(f"the file name {shown} leads out of its folder, is hidden, or begins or ends with a "
                                "space or dot: rename the file")
        if _DEVICE.fullmatch(part) or len(part.encode()) > _MAX_PART:
            raise FileNameError(f"the file name {shown} is a device's, or longer than {_MAX_PART} bytes: rename the "
                                "file")
    return plain


def safe_names(names: Sequence[str]) -> list[str]:
    """The names of the files of one upload (see `safe_name`).

    Raises:
        FileNameError: one is not safe, or two are the same on a system that ignores case.
    """
    safe = [safe_name(name) for name in names]
    # One may not be the folder of another either.
    taken: dict[str, str] = {}
    for name in safe:
        key = unicodedata.normalize("NFKC", name).casefold()
        if key in taken:
            raise FileNameError(f"two files are called {name!r}, or nearly so: rename one")
        taken[key] = name
    for key, name in taken.items():
        parts = key.split("/")
        if any("/".join(parts[:end]) in taken for end in range(1, len(parts))):
            raise FileNameError(f"a part of the file name {name!r} is another file's name: rename one")
    return safe


class Uploads:
    """The uploads of one process: its folder among those of the processes that serve a home folder."""

    def __init__(self, home: Path, process: str) -> None:
        """Nothing is kept yet.

        Args:
            home: the home folder.
            process: the id under which it holds its lock while it runs (see `ProcessLock`).
        """
        self._root = home / UPLOADS
        self._own = self._root / process

    def store(self, build: str, uploads: Sequence[Upload]) -> list[str]:
        """Keep the files of a build until it begins; returns their names.

        Raises:
            FileNameError: a name is not safe; nothing is kept.
            OSError: there is no room for them; nothing is kept.
        """
        names = safe_names([upload.name for upload in uploads])
        folder = self._own / build
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            folder.mkdir(parents=True)
            for name, upload in zip(names, uploads, strict=True):
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as file:
                    shutil.copyfileobj(upload.content, file)
        except BaseException:
            self.drop(build)
            raise
        return names

    @asynccontextmanager
    async def reading(self, build: str, kb: str) -> AsyncIterator[Path]:
        """The folder with a build's files, to be read within the block; they are gone at its end.

        It is the same for all builds of a knowledge base, because a document's source is where it was read. Whoever
        enters this holds `lock_of` the knowledge base.
        """
        target = self._root / _READ / kb
        try:
            await anyio.to_thread.run_sync(_empty, target)
            await anyio.to_thread.run_sync((self._own / build).rename, target)
            yield target
        finally:
            await anyio.to_thread.run_sync(_empty, target)

    def lock_of(self, kb: str) -> Path:
        """The file that is locked by whoever builds a knowledge base, of all processes of the home folder.

        Raises:
            KnowledgeBaseNameError: none can have this name.
        """
        folder = self._root / _READ
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder / f"{check_name(kb)}.lock"

    def drop(self, build: str) -> None:
        """The files of a build that never began are not needed any more."""
        _empty(self._own / build)

    def sweep(self) -> None:
        """Remove what processes left that were killed: nobody holds their locks."""
        for lock in (*self._root.glob("*.lock"), *self._root.glob(f"{_READ}/*.lock")):
            with suppress(Timeout), FileLock(lock, blocking=False):
                _empty(lock.with_suffix(""))

    def close(self) -> None:
        """The process ends."""
        _empty(self._own)


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
