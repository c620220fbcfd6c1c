"""Back up the ledger to a zip file with a manifest, and restore it, checked before it replaces another in one step."""

import hashlib
import os
import shutil
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from ...models.embedding.embedder import Embedder
from ...runtime import audit
from ...runtime.safe_files import own_folder, whole_file
from ...schemas.documents import Frozen
from ..knowledge_base import KnowledgeBase
from ..layout import RESTORING, Layout
from ..ledger.database import FORMAT as LEDGER_FORMAT
from ..ledger.database import Database, now
from ..ledger.notes import begin_epoch, published_state
from ..ledger.sqlite import PRIMARY_CODE, make_private
from ..sql.table_store import files_in
from ..store_errors import StoreError
from ..vectors.vector_store import IDENTITY
from ..vectors.vector_synchroniser import recorded_model
from .verify import find_unsound, foreign_objects

FORMAT: Literal["banyan-backup-1"] = "banyan-backup-1"
LEDGER = "ledger.sqlite"
MANIFEST = "manifest.json"
_LONGEST_REASON = 1000  # characters of a reason, which may quote what is in the ledger
MAX_MANIFEST = 1 << 16  # bytes, a hundred times those of any manifest
MAX_RATIO = 200  # the highest compression ratio of a real ledger, to reject zip bombs
_SMALL = 1 << 24  # bytes of a ledger up to which any ratio is allowed: an empty one is mostly zeros
_FAULTS_OF_DISK = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
                   sqlite3.SQLITE_CANTOPEN}  # errors that leave open whether the ledger is damaged


class BackupError(StoreError):
    """A backup cannot be written or read."""


class Manifest(Frozen):
    """The description of a backup's content."""

    format: Literal["banyan-backup-1"]
    name: str = Field(description="what the knowledge base was called")
    created: str = Field(description="when, in UTC")
    ledger_format: int = Field(ge=1)
    size: int = Field(ge=1, description="bytes of the ledger")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="of the ledger")
    documents: int = Field(ge=0)
    chunks: int = Field(ge=0)
    extractions: int = Field(ge=0, description="chunks that were extracted")
    embedding: str = Field(default="", description="the embedding model that the knowledge base was built with")


def back_up(layout: Layout, target: Path, embedder: Embedder, *, force: bool = False) -> Manifest:
    """Write a backup, whole or not at all; BackupError or LedgerDamagedError if it could not be written or restored."""
    resolved = target.resolve()
    if resolved.is_relative_to(layout.root.resolve()):
        raise BackupError(f"{target} lies in the knowledge base's own folder, with which it would be lost: name a file "
                          "elsewhere, best on another disk")
    if target.exists() and not (force and target.is_file()):
        raise BackupError(f"{target} is there already: name another file, or replace it with --force")
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=resolved.parent,
                                     ignore_cleanup_errors=True) as folder:
        apart = Layout.of(Path(folder), layout.name)
        manifest = _copy_ledger(layout, apart, embedder)
        with whole_file(target) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(MANIFEST, manifest.model_dump_json(indent=1))
            archive.write(apart.ledger_file, LEDGER)
    return manifest


def _copy_ledger(layout: Layout, apart: Layout, embedder: Embedder) -> Manifest:
    """Copy the current state of the ledger to an empty layout, and check the copy by reading it as `restore` does."""
    apart.root.mkdir()
    copy = apart.ledger_file
    with closing(Database(layout.ledger, create=False)) as source:
        if isinstance(layout.ledger, Path):  # in SQLite
            make_private(copy)
            source.execute("VACUUM INTO :copy", copy=str(copy))  # one state, whatever a build commits meanwhile
        else:
            with closing(Database(copy)) as target:
                target.copy_rows(source)
    try:
        _read_ledger(apart, embedder)
    except BackupError as error:
        raise BackupError(f"a backup of {layout.name!r} could not be restored: {error}; `banyan verify` names all that "
                          "is wrong, and how to put it right") from error
    with closing(Database(copy)) as ledger:
        counts = {table: ledger.count(f"SELECT count(*) FROM {table}")  # noqa: S608
                  for table in ("documents", "chunks", "extractions")}
        embedding, _ = recorded_model(ledger)
    with copy.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Manifest(format=FORMAT, name=layout.name, created=now(), ledger_format=LEDGER_FORMAT,
                    size=copy.stat().st_size, sha256=digest, embedding=embedding, **counts)


def _read_ledger(apart: Layout, embedder: Embedder) -> None:
    """Read all rows of a ledger in a folder of its own, or raise BackupError."""
    try:
        with closing(sqlite3.connect(apart.ledger_file)) as raw:
            is_ledger = bool(raw.execute("PRAGMA user_version").fetchone()[0])  # 0 in a file that is not Banyan's
        with closing(Database(apart.ledger_file)) as database:
            problems = (foreign_objects(database) or database.problems()) if is_ledger else ["it is none"]
        if not problems:
            with KnowledgeBase(apart, embedder, any_embedding=True) as kb:
                published_state(kb.database)  # raises an error if it cannot be read
                problems = list(find_unsound(kb))
    except (OSError, sqlite3.OperationalError):
        raise  # a problem of the disk, not of the ledger
    except Exception as error:
        # A file from someone else may have anything in its rows, so that reading them can raise any error.
        raise BackupError(f"its ledger cannot be read ({type(error).__name__}: {error})"[:_LONGEST_REASON]) from error
    if problems:
        raise BackupError(f"its ledger: {problems[0]}"[:_LONGEST_REASON])


def read_manifest(file: Path) -> Manifest:
    """Read and check a backup's manifest without unpacking the ledger, or raise BackupError."""
    if not file.is_file():
        raise BackupError(f"there is no backup {file}: name a file that `banyan backup` wrote")
    with _open_archive(file) as archive:
        if sorted(archive.namelist()) != sorted((LEDGER, MANIFEST)):
            raise _unusable_backup(file, f"it should hold {MANIFEST} and {LEDGER} and nothing else")
        about, ledger = archive.getinfo(MANIFEST), archive.getinfo(LEDGER)
        if about.file_size > MAX_MANIFEST:
            raise _unusable_backup(file, f"{MANIFEST} has {about.file_size:,} bytes, at most {MAX_MANIFEST:,} are read")
        text = archive.read(about)
    try:
        manifest = Manifest.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        raise _unusable_backup(file, f"{MANIFEST}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    if manifest.ledger_format != LEDGER_FORMAT:
        raise BackupError(f"{file} has a ledger of format {manifest.ledger_format}, and this version of Banyan reads "
                          f"format {LEDGER_FORMAT} alone: restore it with the version that wrote it")
    if ledger.file_size > max(_SMALL, MAX_RATIO * ledger.compress_size):
        raise _unusable_backup(file, f"{ledger.compress_size:,} bytes would become {ledger.file_size:,}")
    return manifest


@contextmanager
def _open_archive(file: Path) -> Iterator[zipfile.ZipFile]:
    """Open a backup within the block, and raise BackupError if it is not a sound zip file."""
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, zlib.error, EOFError) as error:
        raise _unusable_backup(file, str(error) or "it ends too early") from error


def _unusable_backup(file: Path, why: str) -> BackupError:
    return BackupError(f"{file} is no backup, or damaged: {why}; `banyan backup` writes one. Nothing was changed")


def restore(file: Path, layout: Layout, embedder: Embedder, *, force: bool = False) -> Manifest:
    """Replace a knowledge base's ledger by a backup's, which is checked first; the next opening derives its files.

    Raises BackupError if the file is no sound backup or, without `force`, the knowledge base exists; WriterBusyError;
    OSError if the disk is full or not writable: existing data is then unchanged.
    """
    manifest = read_manifest(file)
    if not force and layout.is_taken():
        raise BackupError(f"there is a knowledge base {layout.name!r} in {layout.root.parent}: choose another name, or "
                          "replace it with --force")
    layout.root.parent.mkdir(parents=True, exist_ok=True)
    with own_folder(layout.root.parent, ".", RESTORING) as home:
        # The check is done in a home folder of its own, without a vector server.
        apart = Layout.of(home, layout.name)
        apart.root.mkdir()
        make_private(apart.ledger_file)
        # zipfile reads no more than the archive lists.
        with _open_archive(file) as archive, archive.open(LEDGER) as source, apart.ledger_file.open("r+b") as target:
            shutil.copyfileobj(source, target)
            target.flush()
            os.fsync(target.fileno())
            target.seek(0)
            digest = hashlib.file_digest(target, "sha256").hexdigest()
            if target.tell() != manifest.size or digest != manifest.sha256:
                raise _unusable_backup(file, f"{LEDGER} is not what {MANIFEST} says (SHA-256)")
        try:
            _read_ledger(apart, embedder)
        except BackupError as error:
            raise _unusable_backup(file, str(error)) from error
        _install_ledger(apart.ledger_file, layout)
        audit.record(layout.root.parent, "restore", layout.name, f"a backup of {manifest.created}")
    return manifest


def _install_ledger(unpacked: Path, layout: Layout) -> None:
    """Put an unpacked ledger in the place of a knowledge base's, and delete files derived from the old one."""
    layout.root.mkdir(exist_ok=True)
    with layout.alone():
        identity = None  # by which the old ledger's vectors on a server are found, to be replaced
        with suppress(StoreError, sqlite3.Error):  # the old ledger may be damaged; that may be why it is replaced
            if layout.exists():
                with closing(Database(layout.ledger, create=False)) as old:
                    identity = old.notes("settings").get(IDENTITY)
        with closing(Database(unpacked)) as new:
            begin_epoch(new)  # so that everything derived from another ledger is outdated
            if identity:
                new.note("settings", **{IDENTITY: identity})
            new.execute("PRAGMA journal_mode=DELETE")  # a write-ahead log would be a second file of the ledger
        for derived in (layout.graph, layout.index, *files_in(layout.root)):
            derived.unlink(missing_ok=True)
        if layout.printed_works.is_dir():
            shutil.rmtree(layout.printed_works)  # they belong to documents of the old ledger
        if layout.database is None:
            _replace_ledger(unpacked, layout.ledger_file)
        else:
            with closing(Database(unpacked)) as source, closing(Database(layout.ledger)) as target:
                target.copy_rows(source)  # in PostgreSQL


def _replace_ledger(unpacked: Path, ledger: Path) -> None:
    """Put an unpacked ledger in the place of one in SQLite, which readers may have open and which may be damaged."""
    if ledger.is_file():
        try:
            # In one transaction of SQLite: readers see the old ledger until it commits.
            with closing(sqlite3.connect(unpacked)) as source, closing(sqlite3.connect(ledger, timeout=30)) as target:
                target.execute("PRAGMA journal_mode=WAL")
                target.execute("PRAGMA synchronous=FULL")
                source.backup(target)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & PRIMARY_CODE in _FAULTS_OF_DISK:
                raise  # writing the file anew would fail, too, or take it from a reader
        else:
            return
    # It is too damaged for SQLite to write to it; SQLite would apply its logs to the new one.
    for name in (f"{LEDGER}-wal", f"{LEDGER}-shm", f"{LEDGER}-journal"):
        ledger.with_name(name).unlink(missing_ok=True)
    unpacked.replace(ledger)
