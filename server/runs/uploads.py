"""Uploaded files on their way into a knowledge base, stored privately under safe names."""

import re
import shutil
import unicodedata
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import anyio.to_thread
from sqlalchemy import Connection, text

from ...graph_store.layout import check_name
from ...ingest.document_ids import MAX_ID
from ..error_responses import RefusedError
from ..server_database import ServerDatabase
from .process_lock import UPLOADS, ProcessLock, kb_lock

_MAX_PART = 255
"""Most bytes of a file's name on common file systems."""
_FORBIDDEN = frozenset(':*?"<>|\ufffd')
"""Characters that mean a drive or a stream on Windows, and the replacement for undecodable bytes."""
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that are invisible in a name: control characters, format characters including those that change
the direction of text, line breaks, and unassigned characters."""
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_READ = "read"
"""The folder of the files being read, by knowledge base."""
_PART = 1 << 20
"""Bytes of a file to store in one row."""


class FileNameError(RefusedError):
    """The name of an uploaded file cannot be a document's id."""

    status = 422


class Upload(NamedTuple):
    """A file from a client: its name, and its content, which can be read once."""

    name: str
    content: BinaryIO


def safe_name(name: str) -> str:
    """Return a file's name as a relative path below a folder, with `/` between its parts.

    Args:
        name: the name from the client, of any system; it is normalised to NFC, so it is the same from all systems.

    Raises:
        FileNameError: it is absolute, leads out of its folder, is hidden, or is not a valid file name on every system.
    """
    shown = repr(name if len(name) <= 100 else f"{name[:100]}...")  # noqa: PLR2004
    plain = unicodedata.normalize("NFC", name.encode(errors="replace").decode()).replace("\\", "/")
    if not plain or len(plain) > MAX_ID:
        raise FileNameError(f"the file name {shown} has {len(plain)} characters: use 1 to {MAX_ID}")
    if any(letter in _FORBIDDEN or unicodedata.category(letter) in _INVISIBLE for letter in plain):
        raise FileNameError(f"the file name {shown} contains a character that no document's id may have (one of "
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
    """Return safe names for the files of one upload (see `safe_name`).

    Raises:
        FileNameError: a name is not safe, or two are the same on a system that ignores case.
    """
    safe = [safe_name(name) for name in names]
    # Nor may one file be the folder of another.
    taken: dict[str, str] = {}
    for name in safe:
        key = unicodedata.normalize("NFKC", name).casefold()
        if key in taken:
            raise FileNameError(f"two files have the same or nearly the same name {name!r}: rename one")
        taken[key] = name
    for key, name in taken.items():
        parts = key.split("/")
        if any("/".join(parts[:end]) in taken for end in range(1, len(parts))):
            raise FileNameError(f"a part of the file name {name!r} is another file's name: rename one")
    return safe


class Uploads:
    """The uploads of a server, stored in its database until their build ends, so another process can resume it."""

    def __init__(self, database: ServerDatabase, home: Path) -> None:
        """Set where uploads are stored; nothing is stored yet.

        Args:
            database: the server's database.
            home: the home folder, where the files are written while they are read.
        """
        self._db = database
        self._root = home / UPLOADS / _READ

    def add(self, connection: Connection, build: str, uploads: Sequence[Upload], names: Sequence[str]) -> None:
        """Store the files of a build.

        Args:
            connection: the transaction to use.
            build: the build's id.
            uploads: the files.
            names: the safe name of each file (see `safe_names`).
        """
        for number, (name, upload) in enumerate(zip(names, uploads, strict=True)):
            for part, content in enumerate(_parts(upload.content)):
                connection.execute(text(
                    "INSERT INTO banyan_uploads (build, file, part, name, content) "
                    "VALUES (:build, :file, :part, :name, :content)"),
                    {"build": build, "file": number, "part": part, "name": name, "content": content})

    @asynccontextmanager
    async def reading(self, build: str, kb: str) -> AsyncIterator[Path]:
        """Write a build's files to a folder, to be read within the block and deleted at its end.

        All builds of a knowledge base use the same folder, because a document's source is the path it was read from.
        The caller must hold the lock of the knowledge base (see `kb_lock`).
        """
        target = self._root / check_name(kb)
        try:
            await anyio.to_thread.run_sync(self._write, build, target)
            yield target
        finally:
            await anyio.to_thread.run_sync(_empty, target)

    def _write(self, build: str, target: Path) -> None:
        _empty(target)
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        target.mkdir(mode=0o700)
        with self._db.reading() as connection:
            parts = connection.execute(
                text("SELECT file, part, name FROM banyan_uploads WHERE build = :build ORDER BY file, part"),
                {"build": build}).fetchall()
            for number, part, name in parts:
                content = connection.execute(
                    text("SELECT content FROM banyan_uploads WHERE build = :build AND file = :file AND part = :part"),
                    {"build": build, "file": number, "part": part}).scalar_one()
                file = target / name
                file.parent.mkdir(parents=True, exist_ok=True)
                with file.open("ab" if part else "xb") as written:
                    written.write(content)

    def remove(self, connection: Connection, build: str) -> None:
        """Delete the files of a build."""
        connection.execute(text("DELETE FROM banyan_uploads WHERE build = :build"), {"build": build})

    def sweep(self, process: ProcessLock) -> None:
        """Remove files of killed processes from this home folder: those whose lock is free."""
        for folder in self._root.glob("*/"):
            if process.try_lock(kb_lock(folder.name)):
                _empty(folder)
                process.unlock(kb_lock(folder.name))


def _parts(content: BinaryIO) -> Iterator[bytes]:
    """Split a file into parts that fit into memory and a row; an empty file has one empty part."""
    yield content.read(_PART)
    while part := content.read(_PART):
        yield part


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
