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
    """Write a backup, completely or not at all; `force` replaces an existing file.

    It contains the ledger as it was at the start. Builds are not blocked, and their later commits are left out.

    Raises:
        BackupError: the file exists already, cannot be written there, or could not be restored.
        LedgerDamagedError: the ledger is damaged.
        OSError: the disk is full or not writable; an existing file is unchanged.
    """
    _check_target(layout, target, force=force)
    # Written in the target's folder, so it can be moved in one step.
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.resolve().parent,
                                     ignore_cleanup_errors=True) as name:
        folder = Path(name)
        copy, manifest = _copy_ledger(layout, folder, embedder, progress)
        written = folder / "backup.zip"
        with written.open("xb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(MANIFEST, manifest.model_dump_json(indent=1))
                archive.write(copy, LEDGER)
            file.flush()
            os.fsync(file.fileno())
        if not force and target.exists():
            raise BackupError(f"{target} was written by another process meanwhile; name another file")
        written.replace(target)
    return manifest


def _copy_ledger(layout: Layout, folder: Path, embedder: Embedder, progress: Progress) -> tuple[Path, Manifest]:
    """Copy the current state of the ledger to an empty folder, and read the copy as `restore` does.

    The embedding model embeds only the schema's labels.

    Raises:
        BackupError: the copy could not be restored.
        LedgerDamagedError: the ledger is damaged.
        OSError: the disk is full or not writable.
    """
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
        # In WAL mode a second file would belong to the ledger.
        file.execute("PRAGMA journal_mode=DELETE")
        counts = {table: file.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
                  for table in ("documents", "chunks", "extractions")}
    return copy, Manifest(format=FORMAT, name=layout.name, created=now(), ledger_format=LEDGER_FORMAT,
                          size=copy.stat().st_size, sha256=checksum(copy), embedding=embedding, **counts)


def _check_target(layout: Layout, target: Path, *, force: bool) -> None:
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
    try:
        with closing(sqlite3.connect(address_of(ledger), uri=True, isolation_level=None, timeout=30)) as source, \
                closing(sqlite3.connect(copy, isolation_level=None)) as target:
            # One read transaction sees a single state, so the copy need not restart when a build commits.
            source.execute("BEGIN")
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()
            source.backup(target, pages=_PAGES, progress=lambda _, left, total: progress(total - left, total))
            source.execute("COMMIT")
            problems = [str(row[0]) for row in target.execute("PRAGMA integrity_check(1)")]
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        raise LedgerDamagedError(f"the ledger {display_path(ledger)} is damaged ({error})") from error
    if problems != ["ok"]:
        raise LedgerDamagedError(f"the ledger {display_path(ledger)} is damaged ({problems[0]})")


class UnrestorableError(StoreError):
    """A ledger that cannot be a knowledge base's; says what is wrong with it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason[:MESSAGE])


def read_ledger(apart: Layout, embedder: Embedder) -> str:
    """Read every row of a ledger, alone in a separate folder, through the code that will read it.

    Files are made beside it; nothing is embedded but the schema's labels.

    Returns:
        The embedding model that the knowledge base was built with.

    Raises:
        UnrestorableError: it is not sound, or has more than a ledger's tables.
        OSError: the disk is full or not writable.
    """
    embedding = _check(apart)
    try:
        with KnowledgeBase(apart, embedder, any_embedding=True) as kb:
            kb.version()
            published_state(kb.database)
            problems = unsound(kb)
    except (OSError, sqlite3.OperationalError):
        raise  # of the disk
    except Exception as error:
        # Rows of a stranger's may be anything, and so may what reading them raises.
        raise UnrestorableError(f"its ledger cannot be opened ({type(error).__name__}: {error})") from error
    if problems:
        raise UnrestorableError(f"its ledger: {problems[0].what}")
    return embedding


def _check(apart: Layout) -> str:
    """Check that the ledger is sound and has its tables alone; return the name of the embedding model.

    A view or trigger of a stranger's would be run by our own statements.
    """
    try:
        with closing(sqlite3.connect(apart.ledger_file)) as raw:
            if raw.execute("SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index')").fetchone()[0]:
                raise UnrestorableError("its ledger has views or triggers")
            if not raw.execute("PRAGMA user_version").fetchone()[0]:
                raise UnrestorableError("its ledger is none")
        with closing(Database(apart.ledger_file)) as database:
            problems = [*database.problems(), *foreign_objects(database)]
            embedding, _ = recorded_model(database)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # what SQLite says may quote what is there
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
