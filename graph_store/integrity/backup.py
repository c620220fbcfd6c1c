"""Write backups: a zip file with a snapshot of the ledger and a manifest to check it by.

The file contains `manifest.json`, which describes `ledger.sqlite`, and nothing else. Graph and vectors
are rebuilt from the ledger without model calls, so they are left out.
"""

import hashlib
import os
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Literal

from pydantic import Field

from ...models.embedding.embedder import Embedder
from ...schemas.documents import Frozen
from ..knowledge_base import KnowledgeBase
from ..layout import Layout
from ..ledger.copying import copy_rows
from ..ledger.database import FORMAT as LEDGER_FORMAT
from ..ledger.database import Database, now
from ..ledger.sqlite import address_of
from ..ledger.version import published_state
from ..store_errors import LedgerDamagedError, StoreError, display_path
from ..vectors.ledger_embedder import recorded_model
from .verify import foreign_objects, unsound

FORMAT: Literal["banyan-backup-1"] = "banyan-backup-1"
LEDGER = "ledger.sqlite"
MANIFEST = "manifest.json"

Progress = Callable[[int, int], None]
"""Called with the amount done and the total, in any unit."""

_PAGES = 1024  # copied between two reports of progress: 4 MB
MESSAGE = 1000
"""Characters of a reason, which may quote what is in the ledger."""


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


def back_up(layout: Layout, target: Path, embedder: Embedder, progress: Progress, *, force: bool = False) -> Manifest:
    """Write a backup file, completely or not at all.

    It contains the ledger as it was at the start. Builds may write meanwhile; what they commit later is not in it.

    Args:
        layout: the knowledge base.
        target: the file to write.
        embedder: the embedding model, with which the backup is opened to check it.
        progress: called with the amount done and the total.
        force: replace an existing file.

    Raises:
        BackupError: the file exists already or cannot be written there, or the backup could not be restored.
        LedgerDamagedError: the ledger is damaged.
        OSError: the disk is full or not writable; an existing file is unchanged.
    """
    _check_target(layout, target, force=force)
    # Write to a temporary folder beside the target: there the finished file can be renamed in one step.
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.resolve().parent,
                                     ignore_cleanup_errors=True) as name:
        folder = Path(name)
        copy, manifest = _copy_ledger(layout, folder, embedder, progress)
        archive_file = folder / "backup.zip"
        with archive_file.open("xb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(MANIFEST, manifest.model_dump_json(indent=1))
                archive.write(copy, LEDGER)
            file.flush()
            os.fsync(file.fileno())
        if not force and target.exists():
            raise BackupError(f"{target} was written by another process meanwhile; name another file")
        archive_file.replace(target)
    return manifest


def _copy_ledger(layout: Layout, folder: Path, embedder: Embedder, progress: Progress) -> tuple[Path, Manifest]:
    """Copy the current state of the ledger to an empty folder, and check the copy by reading it as `restore` does."""
    apart = Layout.of(folder, layout.name)
    apart.root.mkdir()
    copy = apart.ledger_file
    if isinstance(layout.ledger, Path):
        _copy_file(layout.ledger, copy, progress)
    else:
        with closing(Database(layout.ledger, create=False)) as source, closing(Database(copy)) as target:
            copy_rows(source, target, progress)
    try:
        embedding = read_ledger(apart, embedder)
    except UnrestorableError as error:
        raise BackupError(f"a backup of {layout.name!r} could not be restored: {error}; `banyan verify` names all that "
                          "is wrong, and how to put it right") from error
    with closing(sqlite3.connect(copy, isolation_level=None)) as file:
        # With write-ahead logging, a second file would belong to the ledger.
        file.execute("PRAGMA journal_mode=DELETE")
        counts = {table: file.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
                  for table in ("documents", "chunks", "extractions")}
    return copy, Manifest(format=FORMAT, name=layout.name, created=now(), ledger_format=LEDGER_FORMAT,
                          size=copy.stat().st_size, sha256=checksum(copy), embedding=embedding, **counts)


def _check_target(layout: Layout, target: Path, *, force: bool) -> None:
    """Check that a backup may be written to a file."""
    resolved = target.resolve()
    if resolved.is_relative_to(layout.root.resolve()):
        raise BackupError(f"{target} lies in the knowledge base's own folder, with which it would be lost: name a file "
                          "elsewhere, best on another disk")
    if target.is_dir() or (target.exists() and not target.is_file()):
        raise BackupError(f"{target} is no file: name the file to write")
    if target.exists() and not force:
        raise BackupError(f"{target} is there already: name another file, or replace it with --force")
    if not resolved.parent.is_dir():
        raise BackupError(f"{target} cannot be written: there is no folder {resolved.parent}; make it, or name another")


def _copy_file(ledger: Path, copy: Path, progress: Progress) -> None:
    """Copy an SQLite ledger to a new file with SQLite's backup, and check the copy."""
    try:
        with closing(sqlite3.connect(address_of(ledger), uri=True, isolation_level=None, timeout=30)) as source, \
                closing(sqlite3.connect(copy, isolation_level=None)) as target:
            # One read transaction sees a single state, so the copy need not restart when a build commits.
            source.execute("BEGIN")
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()
            source.backup(target, pages=_PAGES, progress=lambda _, remaining, total: progress(total - remaining, total))
            source.execute("COMMIT")
            problems = [str(row[0]) for row in target.execute("PRAGMA integrity_check(1)")]
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        raise LedgerDamagedError(f"the ledger {display_path(ledger)} is damaged ({error})") from error
    if problems != ["ok"]:
        raise LedgerDamagedError(f"the ledger {display_path(ledger)} is damaged ({problems[0]})")


class UnrestorableError(StoreError):
    """A file cannot be used as the ledger of a knowledge base; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason[:MESSAGE])


def read_ledger(apart: Layout, embedder: Embedder) -> str:
    """Check a ledger by reading each of its rows with the code that reads it in a knowledge base.

    Args:
        apart: a separate folder that has only the ledger; derived files are created beside it.
        embedder: the embedding model, which embeds only the schema's labels.

    Returns:
        The embedding model that the knowledge base was built with.

    Raises:
        UnrestorableError: the ledger is not sound, or has more than a ledger's tables.
        OSError: the disk is full or not writable.
    """
    embedding = _check(apart)
    try:
        with KnowledgeBase(apart, embedder, any_embedding=True) as kb:
            kb.version()
            published_state(kb.database)
            problems = unsound(kb)
    except (OSError, sqlite3.OperationalError):
        raise  # a problem of the disk, not of the ledger
    except Exception as error:
        # A file from someone else may have anything in its rows, so that reading them can raise any error.
        raise UnrestorableError(f"its ledger cannot be opened ({type(error).__name__}: {error})") from error
    if problems:
        raise UnrestorableError(f"its ledger: {problems[0].what}")
    return embedding


def _check(apart: Layout) -> str:
    """Check that the ledger's file is sound and has no other tables; return the name of the embedding model."""
    try:
        with closing(sqlite3.connect(apart.ledger_file)) as raw:
            if raw.execute("SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index')").fetchone()[0]:
                raise UnrestorableError("its ledger has views or triggers")
            if not raw.execute("PRAGMA user_version").fetchone()[0]:  # a ledger's format
                raise UnrestorableError("its ledger is none")
        with closing(Database(apart.ledger_file)) as database:
            problems = [*database.problems(), *foreign_objects(database)]
            embedding, _ = recorded_model(database)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise UnrestorableError(f"its ledger cannot be read ({error})") from error
    except LedgerDamagedError as error:
        raise UnrestorableError("its ledger is damaged") from error
    if problems:
        raise UnrestorableError(f"its ledger: {problems[0]}")
    return embedding


def checksum(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
