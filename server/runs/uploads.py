"""Uploaded files on their way into a knowledge base: in a private folder, under names that lead nowhere."""

import re
import shutil
import time
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..errors import RefusedError

UPLOADS = ".uploads"
"""Within the home folder; no knowledge base can be called so."""
MAX_ID = 1000
"""Characters of a document's id (see `Document`)."""
_MAX_PART = 255
"""Bytes of a file's name on the usual file systems."""
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd:*?"<>|]')
"""Control characters, those that turn the direction of others, what Windows reads as a drive or a stream, and what
stands for bytes that could not be decoded."""
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_LEFT_SECONDS = 24 * 3600
"""What is older was left by a server that was killed: a build begins to read its files when its turn has come."""


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
    if _FORBIDDEN.search(plain):
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
    """The folders of the uploads of a home folder."""

    def __init__(self, home: Path) -> None:
        self._root = home / UPLOADS

    def store(self, build: str, uploads: Sequence[Upload]) -> list[str]:
        """Keep the files of a build until it begins; returns their names.

        Raises:
            FileNameError: a name is not safe; nothing is kept.
            OSError: there is no room for them; nothing is kept.
        """
        names = safe_names([upload.name for upload in uploads])
        folder = self._root / "queued" / build
        try:
            folder.mkdir(parents=True, mode=0o700)
            self._root.chmod(0o700)
            for name, upload in zip(names, uploads, strict=True):
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as file:
                    shutil.copyfileobj(upload.content, file)
        except BaseException:
            self.drop(build)
            raise
        return names

    def open(self, build: str, kb: str) -> Path:
        """The folder with a build's files, for reading now.

        It is the same for all builds of a knowledge base, because a document's source is where it was read.
        """
        target = self._root / "read" / kb
        self.close(kb)
        target.parent.mkdir(exist_ok=True)
        (self._root / "queued" / build).rename(target)
        return target

    def close(self, kb: str) -> None:
        """The files that were open are not needed any more."""
        shutil.rmtree(self._root / "read" / kb, ignore_errors=True)

    def drop(self, build: str) -> None:
        """The files of a build that never began are not needed any more."""
        shutil.rmtree(self._root / "queued" / build, ignore_errors=True)

    def sweep(self) -> None:
        """Remove what servers left that were killed."""
        for folder in (*self._root.glob("queued/*"), *self._root.glob("read/*")):
            if time.time() - folder.stat().st_mtime > _LEFT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
