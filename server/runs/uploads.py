"""Uploaded files on their way into a knowledge base, stored privately under safe names."""

import re
import shutil
import unicodedata
from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import anyio.to_thread
from fastapi import UploadFile
from sqlalchemy import Connection, insert, select

from ...graph_store.layout import check_name
from ...ingest.metadata import MAX_ID
from ..responses import RefusedError
from ..server_database import UPLOADS, ServerDatabase

_MAX_NAME_BYTES = 255  # most bytes of a file's name on common file systems
_FORBIDDEN = frozenset(':*?"<>|\ufffd')  # drives and streams on Windows, and the replacement for undecodable bytes
# Control and format characters, among them those that change the direction of text; line breaks; unassigned ones.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Names that Windows opens as devices, with any suffix.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_PART_BYTES = 1 << 20  # bytes of a file to store in one row


class FileNameError(RefusedError, status=422):
    """The name of an uploaded file cannot be a document's id."""


def _safe_name(name: str) -> str:
    """Return a file's name as a relative path in Unicode NFC; raise FileNameError if it is not safe."""
    encodable = name.encode(errors="replace").decode()  # a lone surrogate becomes "?", which is forbidden
    plain = unicodedata.normalize("NFC", encodable).replace("\\", "/")
    has_bad_letter = any(letter in _FORBIDDEN or unicodedata.category(letter) in _INVISIBLE for letter in plain)
    if len(plain) > MAX_ID or has_bad_letter or not all(map(_is_safe_part, plain.split("/"))):
        raise FileNameError(
            f"the file name {name[:100]!r} cannot be a document's id: it is empty or too long, leads out of its "
            "folder, is hidden or a device's, begins or ends with a space or dot, or contains one of : * ? \" < > | "
            "or an invisible character. Rename the file")
    return plain


def _is_safe_part(part: str) -> bool:
    """Return True if a part of a path is an allowed and visible name of a file or folder on every system."""
    is_plain = part.strip() == part and not part.startswith(".") and not part.endswith(".")
    return bool(part) and is_plain and not _DEVICE.fullmatch(part) and len(part.encode()) <= _MAX_NAME_BYTES


def safe_names(names: Sequence[str]) -> list[str]:
    """Return safe names for the files of an upload; raise FileNameError if one is unsafe, or two are nearly equal."""
    safe = [_safe_name(name) for name in names]
    # Some file systems take names for one that differ in case or width.
    keys = [unicodedata.normalize("NFKC", name).casefold() for name in safe]
    times, folders = Counter(keys), {str(folder) for key in keys for folder in Path(key).parents}
    for name, key in zip(safe, keys, strict=True):
        if times[key] > 1 or key in folders:
            raise FileNameError(f"another file has nearly the same name as {name!r}, or needs it as a folder: rename "
                                "one")
    return safe


def store_files(connection: Connection, job: str, uploads: Sequence[UploadFile], names: Sequence[str]) -> None:
    """Store the files of a job under their safe names, in parts of `_PART_BYTES`, so any process can run the job."""
    for number, (name, upload) in enumerate(zip(names, uploads, strict=True)):
        for part in count():
            content = upload.file.read(_PART_BYTES)
            if part and not content:  # the end; the first part is stored even if it is empty, for an empty file
                break
            connection.execute(insert(UPLOADS).values(build=job, file=number, part=part, name=name, content=content))


def files_folder(kb: str) -> str:
    """Return the path, below the home folder, of the folder from which builds of a knowledge base read their files."""
    return f".uploads/read/{kb}"  # no knowledge base's name begins with a dot


@asynccontextmanager
async def reading_files(database: ServerDatabase, home: Path, job: str, kb: str) -> AsyncIterator[Path]:
    """Write a job's files to a private folder, which can be read within the block and is deleted at its end.

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
    """Write a job's files to a folder that only this user can read, in place of what a killed process left there."""
    shutil.rmtree(folder, ignore_errors=True)
    for private_folder in (folder.parent.parent, folder.parent, folder):  # `mode` concerns the last folder of a path
        private_folder.mkdir(mode=0o700, exist_ok=True)
    of_job = UPLOADS.c.build == job
    with database.reading() as connection:
        parts = connection.execute(select(UPLOADS.c.file, UPLOADS.c.part, UPLOADS.c.name).where(of_job).order_by(
            UPLOADS.c.file, UPLOADS.c.part)).fetchall()
        for number, part, name in parts:  # one part in memory at a time
            content = connection.execute(select(UPLOADS.c.content).where(
                of_job, UPLOADS.c.file == number, UPLOADS.c.part == part)).scalar_one()
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("ab" if part else "xb") as stream:  # the first part creates the file, others are appended
                stream.write(content)


def sweep_files(home: Path, in_use: Collection[str]) -> None:
    """Remove the uploaded files that killed processes have left, except those of the knowledge bases in use."""
    for folder in home.glob(files_folder("*/")):
        if folder.name not in in_use:
            shutil.rmtree(folder, ignore_errors=True)
