"""Restoring a backup: unpacked with mistrust into a file of its own, which then replaces the ledger in one step.

The knowledge base has the old ledger or the new one, whenever it ends. Its derived files go first: what
was made from the old ledger must not meet the new one, and is made again from either.
"""

import hashlib
import os
import shutil
import sqlite3
import zipfile
import zlib
from contextlib import closing, suppress
from pathlib import Path

from pydantic import ValidationError

from ...models.embedding.embedder import Embedder
from ...runtime import audit
from ...runtime.own_folder import own_folder
from ..errors import StoreError
from ..layout import RESTORING, Layout
from ..ledger.copying import copy_rows
from ..ledger.database import FORMAT, Database
from ..ledger.sqlite import make_private
from ..ledger.version import begin_epoch
from ..vectors.place import IDENTITY
from .backup import BLOCK, LEDGER, MANIFEST, BackupError, Manifest, Progress
from .backup_reading import MESSAGE, UnrestorableError, read_ledger

MAX_MANIFEST = 1 << 16
MAX_LEDGER = 1 << 38
"""256 GB: a thousand times the largest knowledge base tried."""
MAX_RATIO = 200
"""Text and JSON in SQLite pages shrink to a fifth or a tenth; only what was made to fill disks shrinks more. Small
files may: an empty ledger is mostly zeros."""
_SMALL = 1 << 24
_HEAD = 18
_PAGE_SIZES = (512, 1024, 2048, 4096, 8192, 16384, 32768)


def read_manifest(file: Path) -> Manifest:
    """What a backup says is in it, if it has the form of one; nothing is unpacked.

    Raises:
        BackupError: it is no backup, or one of a later format, or larger than it may be.
        OSError: it cannot be read.
    """
    if not file.is_file():
        raise BackupError(f"there is no backup {file}" if not file.exists() else f"{file} is no file")
    try:
        with zipfile.ZipFile(file) as archive:
            return _manifest(file, archive)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, EOFError) as error:
        raise _none(file, str(error) or "it ends too early") from error


def _none(file: Path, why: str) -> BackupError:
    return BackupError(f"{file} is no backup, or damaged: {why}; `banyan backup` writes one. Nothing was changed")


def _manifest(file: Path, archive: zipfile.ZipFile) -> Manifest:
    entries = archive.infolist()
    if sorted(entry.filename for entry in entries) != sorted((LEDGER, MANIFEST)):
        raise _none(file, f"it should hold {MANIFEST} and {LEDGER} and nothing else")
    if any(entry.header_offset < 0 for entry in entries):
        raise _none(file, "its directory points before its beginning")
    about, ledger = archive.getinfo(MANIFEST), archive.getinfo(LEDGER)
    if about.file_size > MAX_MANIFEST:
        raise _none(file, f"{MANIFEST} has {about.file_size:,} bytes, at most {MAX_MANIFEST:,} are read")
    with archive.open(about) as stream:
        text = stream.read(MAX_MANIFEST + 1)
    try:
        manifest = Manifest.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        raise _none(file, f"{MANIFEST}: {'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}") from error
    if manifest.ledger_format > FORMAT:
        raise BackupError(f"{file} has a ledger of format {manifest.ledger_format}; this version of Banyan reads "
                          f"formats up to {FORMAT}: use the version that wrote it, or a later one")
    if ledger.file_size != manifest.size:
        raise _none(file, f"{LEDGER} has {ledger.file_size:,} bytes, and {MANIFEST} says {manifest.size:,}")
    if manifest.size > MAX_LEDGER or manifest.size > max(_SMALL, MAX_RATIO * ledger.compress_size):
        raise _none(file, f"{ledger.compress_size:,} bytes would become {manifest.size:,}")
    return manifest


def restore(file: Path, layout: Layout, embedder: Embedder, progress: Progress, *, force: bool = False) -> Manifest:
    """Replace a knowledge base's ledger by a backup's; what is derived is left to the next opening.

    Before that every row was read through the code that will read it, in a folder of its own.

    Args:
        file: the backup.
        layout: the knowledge base; none need be there.
        embedder: the embedding model; nothing is embedded but the schema's labels.
        progress: told how many bytes of how many are read.
        force: replace a knowledge base that is there.

    Raises:
        BackupError: the file is no sound backup, or there is something where it should go.
        WriterBusyError: another process is writing to the knowledge base.
        OSError: the disk is full or not writable; what was there is unchanged.
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
        # A home folder of its own, without a server of vectors.
        apart = Layout.of(home, layout.name)
        apart.root.mkdir()
        _unpack(file, manifest, apart.ledger_file, progress)
        try:
            embedding = read_ledger(apart, embedder)
        except UnrestorableError as error:
            raise _none(file, str(error)) from error
        if embedding != manifest.embedding:
            raise _none(file, f"its ledger is of the embedding model {embedding!r}, and {MANIFEST} says "
                              f"{manifest.embedding!r}"[:MESSAGE])
        _install(apart.ledger_file, layout, progress)
        audit.record(layout.root.parent, "restore", layout.name, f"a backup of {manifest.created}")
    return manifest


def _unpack(file: Path, manifest: Manifest, unpacked: Path, progress: Progress) -> None:
    digest, size = hashlib.sha256(), 0
    make_private(unpacked)
    try:
        with zipfile.ZipFile(file) as archive, archive.open(LEDGER) as source, unpacked.open("r+b") as target:
            while block := source.read(BLOCK):
                size += len(block)
                if size > manifest.size:
                    break
                digest.update(block)
                target.write(block)
                progress(size, manifest.size)
            target.flush()
            os.fsync(target.fileno())
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, EOFError) as error:
        raise _none(file, str(error) or "it ends too early") from error
    if (size, digest.hexdigest()) != (manifest.size, manifest.sha256):
        raise _none(file, f"{LEDGER} is not what {MANIFEST} says (SHA-256)")


def _install(unpacked: Path, layout: Layout, progress: Progress) -> None:
    layout.root.mkdir(exist_ok=True)
    with layout.alone():
        _begin_anew(unpacked, layout)
        layout.graph.unlink(missing_ok=True)
        layout.index.unlink(missing_ok=True)
        if layout.database is None:
            _replace(unpacked, layout.ledger_file)
        else:
            with closing(Database(unpacked)) as source, closing(Database(layout.ledger)) as target:
                copy_rows(source, target, progress)


def _begin_anew(unpacked: Path, layout: Layout) -> None:
    """Begin an epoch in the new ledger, so that whatever was derived of another one is made again."""
    identity = None
    with suppress(StoreError, sqlite3.Error):  # the old ledger may be damaged: that is what backups are for
        if layout.exists():
            with closing(Database(layout.ledger, create=False)) as old:
                identity = old.get_meta(IDENTITY)
    with closing(Database(unpacked)) as new:
        begin_epoch(new)
        if identity:  # what it had on a server is recognised as its own
            new.set_meta(IDENTITY, identity)
        new.execute("PRAGMA journal_mode=DELETE")
        # Written over the old ledger page by page, it needs pages of its size.
        file = layout.ledger_file
        size = int.from_bytes(_head(file)[16:18], "big") if file.is_file() else 0
        if size in _PAGE_SIZES:
            new.execute(f"PRAGMA page_size={size}")
            new.execute("VACUUM")


def _replace(unpacked: Path, ledger: Path) -> None:
    """Make the unpacked ledger the knowledge base's, at once."""
    if ledger.is_file() and _head(ledger) == _head(unpacked):
        try:
            _copy_into(unpacked, ledger)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            pass  # too damaged to be written to; nobody can be reading it either
        else:
            return
    # The log of the old ledger would be taken for the new one's.
    for name in (f"{LEDGER}-wal", f"{LEDGER}-shm", f"{LEDGER}-journal"):
        ledger.with_name(name).unlink(missing_ok=True)
    unpacked.replace(ledger)


def _head(ledger: Path) -> bytes:
    """What a file begins with that SQLite can write pages to: its signature and the size of a page."""
    with ledger.open("rb") as file:
        return file.read(_HEAD)


def _copy_into(unpacked: Path, ledger: Path) -> None:
    """Write the new ledger over the old one in one transaction of SQLite's; readers have the old one until it ends."""
    with closing(sqlite3.connect(unpacked)) as source, \
            closing(sqlite3.connect(ledger, timeout=30, isolation_level=None)) as target:
        target.execute("PRAGMA journal_mode=WAL")
        target.execute("PRAGMA synchronous=FULL")
        source.backup(target)
