"""Uploaded files on their way into a knowledge base, stored privately under safe names."""

import re
import shutil
import unicodedata
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import BinaryIO, NamedTuple

import anyio.to_thread
from sqlalchemy import Connection, delete, insert, select

from ...graph_store.layout import check_name
from ...ingest.metadata import MAX_ID
from ..responses import RefusedError
from ..server_database import UPLOADS, ServerDatabase

_MAX_NAME_BYTES = 255
"""Most bytes of a file's name on common file systems."""
_FORBIDDEN = frozenset(':*?"<>|\ufffd')
"""Characters that mean a drive or a stream on Windows, and the replacement for undecodable bytes."""
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that are invisible in a name: control characters, format characters including those that change
the direction of text, line breaks, and unassigned characters."""
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_READ_FOLDER = ".uploads/read"
"""The folder of the files being read, by knowledge base; no knowledge base can have its name."""
_PART_BYTES = 1 << 20
"""Bytes of a file to store in one row."""


class FileNameError(RefusedError, status=422):
    """The name of an uploaded file cannot be a document's id."""


class Upload(NamedTuple):
    """A file from a client: its name, and its content, which can be read once."""

    name: str
    content: BinaryIO


def safe_name(name: str) -> str:
    """Return a file's name from any system as a relative path in Unicode NFC, with `/` between its parts.

    Raises:
        FileNameError: the path is absolute, leads out of its folder, is hidden, or is not allowed on every system.
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
        if _DEVICE.fullmatch(part) or len(part.encode()) > _MAX_NAME_BYTES:
            raise FileNameError(f"the file name {shown} is a device's, or longer than {_MAX_NAME_BYTES} bytes: rename "
                                "the file")
    return plain


def safe_names(names: Sequence[str]) -> list[str]:
    """Return safe names for the files of one upload.

    Raises:
        FileNameError: a name is not safe; two names are equal on a system that ignores case; or one file would have to
            be the folder of another, as in `a` and `a/b`.
    """
    safe = [safe_name(name) for name in names]
    taken: dict[str, str] = {}  # names by their form without differences of case or width
    for name in safe:
        key = unicodedata.normalize("NFKC", name).casefold()
        if key in taken:
            raise FileNameError(f"two files have the same or nearly the same name {name!r}: rename one")
        taken[key] = name
    for key, name in taken.items():
        parts = key.split("/")
        folders = ["/".join(parts[:end]) for end in range(1, len(parts))]
        if any(folder in taken for folder in folders):
            raise FileNameError(f"a part of the file name {name!r} is another file's name: rename one")
    return safe


def store_files(connection: Connection, job: str, uploads: Sequence[Upload], names: Sequence[str]) -> None:
    """Store the files of a job under their safe names, in parts of `_PART_BYTES`, so any process can run the job."""
    for number, (name, upload) in enumerate(zip(names, uploads, strict=True)):
        for part in count():
            content = upload.content.read(_PART_BYTES)
            if part and not content:  # the end; the first part is stored even if it is empty, for an empty file
                break
            connection.execute(insert(UPLOADS).values(build=job, file=number, part=part, name=name, content=content))


def remove_files(connection: Connection, job: str) -> None:
    """Delete the files of a job."""
    connection.execute(delete(UPLOADS).where(UPLOADS.c.build == job))


def files_folder(kb: str) -> str:
    """Return the path, below the home folder, of the folder from which builds of a knowledge base read their files."""
    return f"{_READ_FOLDER}/{kb}"


@asynccontextmanager
async def reading_files(database: ServerDatabase, home: Path, job: str, kb: str) -> AsyncIterator[Path]:
    """Write a job's files to a folder, which can be read within the block and is deleted at its end.

    All jobs of a knowledge base use the same folder, so a document that is uploaded again has the same path as its
    source. Only one of them runs at a time.
    """
    folder = home / files_folder(check_name(kb))
    try:
        await anyio.to_thread.run_sync(_write_files, database, job, folder)
        yield folder
    finally:
        await anyio.to_thread.run_sync(shutil.rmtree, folder, True)


def _write_files(database: ServerDatabase, job: str, folder: Path) -> None:
    """Write the stored files of a job to a folder that only the server's user can read; what was in it is deleted."""
    shutil.rmtree(folder, ignore_errors=True)
    for private_folder in (folder.parent.parent, folder.parent, folder):
        private_folder.mkdir(mode=0o700, exist_ok=True)
    with database.reading() as connection:
        parts = connection.execute(select(UPLOADS.c.file, UPLOADS.c.part, UPLOADS.c.name).where(
            UPLOADS.c.build == job).order_by(UPLOADS.c.file, UPLOADS.c.part)).fetchall()
        for number, part, name in parts:
            content = connection.execute(select(UPLOADS.c.content).where(
                UPLOADS.c.build == job, UPLOADS.c.file == number, UPLOADS.c.part == part)).scalar_one()
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("ab" if part else "xb") as stream:  # the first part creates the file, others are appended
                stream.write(content)


def sweep_files(home: Path, in_use: Collection[str]) -> None:
    """Remove the uploaded files that killed processes have left, except those of the knowledge bases in use."""
    for folder in home.glob(files_folder("*/")):
        if folder.name not in in_use:
            shutil.rmtree(folder, ignore_errors=True)
