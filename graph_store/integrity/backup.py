"""Write backups: a zip file with a snapshot of the ledger, and a manifest to check it by; the rest can be derived."""

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
from ..ledger.database import FORMAT as LEDGER_FORMAT
from ..ledger.database import Database, now
from ..ledger.sqlite import make_private
from ..ledger.version import published_state
from ..store_errors import FormatError, LedgerDamagedError, StoreError
from ..vectors.ledger_embedder import recorded_model
from .verify import foreign_objects, unsound

FORMAT: Literal["banyan-backup-1"] = "banyan-backup-1"
LEDGER = "ledger.sqlite"
MANIFEST = "manifest.json"

Progress = Callable[[int, int], None]
"""Called with the amount done and the total, in any unit."""

MESSAGE = 1000
"""Characters of a reason, which may quote what is in the ledger."""


class BackupError(StoreError):
    """A backup cannot be written or read."""


class UnrestorableError(StoreError):
    """A file cannot be used as the ledger of a knowledge base; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason[:MESSAGE])


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
    """Write a backup file with the ledger as it was at the start, completely or not at all.

    Raises:
        BackupError, LedgerDamagedError: it cannot be written there, or could not be restored.
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


def _copy_ledger(layout: Layout, folder: Path, embedder: Embedder, progress: Progress) -> tuple[Path, Manifest]:
    """Copy the current state of the ledger to an empty folder, and check the copy by reading it as `restore` does."""
    apart = Layout.of(folder, layout.name)
    apart.root.mkdir()
    copy = apart.ledger_file
    with closing(Database(layout.ledger, create=False)) as source:
        if isinstance(layout.ledger, Path):
            make_private(copy)
            source.execute("VACUUM INTO :copy", copy=str(copy))  # one state, whatever a build commits meanwhile
        else:
            with closing(Database(copy)) as target:
                target.copy_rows(source, progress)
    try:
        embedding = read_ledger(apart, embedder)
    except UnrestorableError as error:
        raise BackupError(f"a backup of {layout.name!r} could not be restored: {error}; `banyan verify` names all that "
                          "is wrong, and how to put it right") from error
    with closing(Database(copy)) as ledger:
        counts = {table: ledger.count(f"SELECT count(*) FROM {table}")  # noqa: S608
                  for table in ("documents", "chunks", "extractions")}
    size = copy.stat().st_size
    progress(size, size)
    with copy.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return copy, Manifest(format=FORMAT, name=layout.name, created=now(), ledger_format=LEDGER_FORMAT, size=size,
                          sha256=digest, embedding=embedding, **counts)


def read_ledger(apart: Layout, embedder: Embedder) -> str:
    """Check a ledger in a folder of its own by reading all its rows; return its embedding model.

    Raises:
        UnrestorableError: the ledger is not sound, or has more than a ledger's tables.
    """
    try:
        with closing(sqlite3.connect(apart.ledger_file)) as raw:
            if not raw.execute("PRAGMA user_version").fetchone()[0]:
                raise UnrestorableError("its ledger is none")
        with closing(Database(apart.ledger_file)) as database:
            problems = foreign_objects(database) or database.problems()
            embedding = "" if problems else recorded_model(database)[0]
    except (sqlite3.DatabaseError, UnicodeDecodeError, LedgerDamagedError, FormatError) as error:
        raise UnrestorableError(f"its ledger cannot be read ({error})") from error
    if not problems:
        problems = _read_rows(apart, embedder)
    if problems:
        raise UnrestorableError(f"its ledger: {problems[0]}")
    return embedding


def _read_rows(apart: Layout, embedder: Embedder) -> list[str]:
    try:
        with KnowledgeBase(apart, embedder, any_embedding=True) as kb:
            kb.version()
            published_state(kb.database)
            kb.communities.all(level=None)
            return [problem.what for problem in unsound(kb)]
    except (OSError, sqlite3.OperationalError):
        raise  # a problem of the disk, not of the ledger
    except Exception as error:
        # A file from someone else may have anything in its rows, so that reading them can raise any error.
        raise UnrestorableError(f"its ledger cannot be opened ({type(error).__name__}: {error})") from error
