"""Restore a backup: unpack it into a separate file, check it, then replace the ledger in one step.

The derived files are deleted first, as they do not match the new ledger; they are rebuilt from either ledger.
"""

import hashlib
import os
import shutil
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from pydantic import ValidationError

from ...models.embedding.embedder import Embedder
from ...runtime import audit
from ...runtime.safe_files import own_folder
from ..layout import RESTORING, Layout
from ..ledger.database import FORMAT, Database
from ..ledger.sqlite import PRIMARY_CODE, make_private
from ..ledger.version import begin_epoch
from ..sql.table_store import files_in
from ..store_errors import StoreError
from ..vectors.vector_store import IDENTITY
from .backup import (
    LEDGER,
    MANIFEST,
    MESSAGE,
    BackupError,
    Manifest,
    Progress,
    UnrestorableError,
    read_ledger,
)

MAX_MANIFEST = 1 << 16
MAX_LEDGER = 1 << 38
"""256 GB, far more than any real ledger."""
MAX_RATIO = 200
"""The maximum compression ratio of a real ledger, to reject zip bombs. Small files may exceed it, because an empty
ledger is mostly zeros."""
_SMALL = 1 << 24
_BLOCK = 1 << 20
_FAULTS_OF_DISK = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
                   sqlite3.SQLITE_CANTOPEN}


def read_manifest(file: Path) -> Manifest:
    """Read and check a backup's manifest without unpacking the ledger, or raise BackupError."""
    if not file.is_file():
        raise BackupError(f"there is no backup {file}: `banyan backup` writes one" if not file.exists() else
                          f"{file} is no file: name one that `banyan backup` wrote")
    with _open_archive(file) as archive:
        entries = archive.infolist()
        if sorted(entry.filename for entry in entries) != sorted((LEDGER, MANIFEST)):
            raise _unusable_backup(file, f"it should hold {MANIFEST} and {LEDGER} and nothing else")
        if any(entry.header_offset < 0 for entry in entries):
            raise _unusable_backup(file, "its directory points before its beginning")
        about, ledger = archive.getinfo(MANIFEST), archive.getinfo(LEDGER)
        if about.file_size > MAX_MANIFEST:
            raise _unusable_backup(file, f"{MANIFEST} has {about.file_size:,} bytes, at most {MAX_MANIFEST:,} are read")
        with archive.open(about) as stream:
            text = stream.read(MAX_MANIFEST + 1)
    try:
        manifest = Manifest.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the whole"
        raise _unusable_backup(file, f"{MANIFEST}: {field}: {first['msg']}") from error
    if manifest.ledger_format != FORMAT:
        raise BackupError(f"{file} has a ledger of format {manifest.ledger_format}, and this version of Banyan reads "
                          f"format {FORMAT} alone: restore it with the version that wrote it")
    if ledger.file_size != manifest.size:
        raise _unusable_backup(file, f"{LEDGER} has {ledger.file_size:,} bytes, and {MANIFEST} says {manifest.size:,}")
    if manifest.size > MAX_LEDGER or manifest.size > max(_SMALL, MAX_RATIO * ledger.compress_size):
        raise _unusable_backup(file, f"{ledger.compress_size:,} bytes would become {manifest.size:,}")
    return manifest


@contextmanager
def _open_archive(file: Path) -> Iterator[zipfile.ZipFile]:
    """Open a backup within the block, and raise a clear error if it is not a sound zip file."""
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, EOFError) as error:
        raise _unusable_backup(file, str(error) or "it ends too early") from error


def _unusable_backup(file: Path, why: str) -> BackupError:
    return BackupError(f"{file} is no backup, or damaged: {why}; `banyan backup` writes one. Nothing was changed")


def restore(file: Path, layout: Layout, embedder: Embedder, progress: Progress, *, force: bool = False) -> Manifest:
    """Replace a knowledge base's ledger by a backup's, which is checked first; the next opening derives its files.

    Raises:
        BackupError: the file is not a sound backup, or the knowledge base exists already, without `force`.
        WriterBusyError: another process is writing to the knowledge base.
        OSError: the disk is full or not writable; existing data is unchanged.
    """
    manifest = read_manifest(file)
    if file.resolve().is_relative_to(layout.root.resolve()):
        raise BackupError(f"{file} lies in the folder of {layout.name!r} itself: move it elsewhere first")
    if layout.database is not None:
        layout.check_ledger()
        exists = layout.exists()
    else:
        exists = layout.root.exists() and any(entry != layout.lock for entry in layout.root.iterdir())
    if exists and not force:
        raise BackupError(f"there is a knowledge base {layout.name!r} in {layout.root.parent}: choose another name, or "
                          "replace it with --force")
    layout.root.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(layout.root.parent).free
    if manifest.size > free:
        raise BackupError(f"the ledger takes {manifest.size:,} bytes and the disk has {free:,} left: free some space")
    with own_folder(layout.root.parent, ".", RESTORING) as home:
        # The check is done in a home folder of its own, without a vector server.
        apart = Layout.of(home, layout.name)
        apart.root.mkdir()
        _unpack_ledger(file, manifest, apart.ledger_file, progress)
        try:
            embedding = read_ledger(apart, embedder)
        except UnrestorableError as error:
            raise _unusable_backup(file, str(error)) from error
        if embedding != manifest.embedding:
            raise _unusable_backup(file, f"its ledger is of the embedding model {embedding!r}, and {MANIFEST} says "
                                         f"{manifest.embedding!r}"[:MESSAGE])
        _install_ledger(apart.ledger_file, layout, progress)
        audit.record(layout.root.parent, "restore", layout.name, f"a backup of {manifest.created}")
    return manifest


def _unpack_ledger(file: Path, manifest: Manifest, unpacked: Path, progress: Progress) -> None:
    digest, size = hashlib.sha256(), 0
    make_private(unpacked)
    with _open_archive(file) as archive, archive.open(LEDGER) as source, unpacked.open("r+b") as target:
        while block := source.read(_BLOCK):
            size += len(block)
            if size > manifest.size:
                break
            digest.update(block)
            target.write(block)
            progress(size, manifest.size)
        target.flush()
        os.fsync(target.fileno())
    if (size, digest.hexdigest()) != (manifest.size, manifest.sha256):
        raise _unusable_backup(file, f"{LEDGER} is not what {MANIFEST} says (SHA-256)")


def _install_ledger(unpacked: Path, layout: Layout, progress: Progress) -> None:
    """Put an unpacked ledger in the place of a knowledge base's, and delete files derived from the old one."""
    layout.root.mkdir(exist_ok=True)
    with layout.alone():
        identity = None
        with suppress(StoreError, sqlite3.Error):  # the old ledger may be damaged; that may be why it is replaced
            if layout.exists():
                with closing(Database(layout.ledger, create=False)) as old:
                    identity = old.notes("settings").get(IDENTITY)
        with closing(Database(unpacked)) as new:
            begin_epoch(new)  # so that everything derived from another ledger is outdated
            if identity:
                new.note("settings", **{IDENTITY: identity})
            new.execute("PRAGMA journal_mode=DELETE")  # a write-ahead log would be a second file of the ledger
        layout.graph.unlink(missing_ok=True)
        layout.index.unlink(missing_ok=True)
        for tables in files_in(layout.root):
            tables.unlink(missing_ok=True)
        if layout.printed_works.is_dir():
            shutil.rmtree(layout.printed_works)  # they belong to documents of the old ledger
        if layout.database is None:
            _replace_ledger(unpacked, layout.ledger_file)
        else:
            with closing(Database(unpacked)) as source, closing(Database(layout.ledger)) as target:
                target.copy_rows(source, progress)


def _replace_ledger(unpacked: Path, ledger: Path) -> None:
    if ledger.is_file():
        try:
            # In one transaction of SQLite: readers see the old ledger until it commits.
            with closing(sqlite3.connect(unpacked)) as source, closing(sqlite3.connect(ledger, timeout=30)) as target:
                target.execute("PRAGMA journal_mode=WAL")
                target.execute("PRAGMA synchronous=FULL")
                source.backup(target)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & PRIMARY_CODE in _FAULTS_OF_DISK:
                raise
        else:
            return
    # It is too damaged for SQLite to write to it; SQLite would apply its logs to the new one.
    for name in (f"{LEDGER}-wal", f"{LEDGER}-shm", f"{LEDGER}-journal"):
        ledger.with_name(name).unlink(missing_ok=True)
    unpacked.replace(ledger)
