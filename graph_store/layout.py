"""Names and folders of knowledge bases."""

import re
import shutil
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import SecretStr

from ..config import Settings
from ..runtime.own_folder import sweep_folders
from ..schemas.chroma_server import ChromaServer
from .errors import (
    DatabaseError,
    KnowledgeBaseNameError,
    LedgerDamagedError,
    UnknownKnowledgeBaseError,
    WriterBusyError,
    display_path,
)
from .postgresql import LedgerSchema, ledgers, opened

_LEDGER = "ledger.sqlite"
DROPPED, RESTORING = ".dropped-", ".restore"
"""What the names of folders in a home begin or end with that hold what is dropped, and what is restored."""
_IDENTITY = "ledger.id"
"""Which ledger the derived files are of, where it is not in the folder itself."""
_READER_MAKES_UP = 60.0
"""Seconds that a drop or rename waits for a reader that derives files."""
MAX_NAME = 64
MAX_NAME_BYTES = 200
"""A folder's name has at most 255 bytes on the usual file systems; a backup or temporary copy adds to it."""
_NAME = re.compile(rf"[^\W_](?:[\w-]{{0,{MAX_NAME - 2}}}[^\W_])?")
# Names of devices: Windows opens the device instead of a folder of that name.
_RESERVED = re.compile(r"con|prn|aux|nul|(?:com|lpt)[0-9¹²³]", re.IGNORECASE)


def check_name(name: str) -> str:
    """A knowledge base's name, if it is safe as one folder's name.

    Args:
        name: letters and digits of any script, `-` and `_` inside, at most 64 characters and 200
            bytes, in Unicode's form NFKC (of several ways to write the same letters, one), and none
            of the device names of Windows.

    Raises:
        KnowledgeBaseNameError: anything else, whatever its type, so that no name leads out of the home
            folder and no two names look the same for how their letters are encoded.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        shown = str(name) if len(str(name)) <= MAX_NAME else f"{str(name)[:MAX_NAME]}..."
        raise KnowledgeBaseNameError(
            f"{shown!r} cannot name a knowledge base: use 1 to {MAX_NAME} letters, digits, '-' and '_', "
            "beginning and ending with a letter or digit")
    plain = unicodedata.normalize("NFKC", name)
    if plain != name:
        raise KnowledgeBaseNameError(f"{name!a} cannot name a knowledge base: its letters can be written in "
                                     f"several ways; use their usual form, {plain!r}")
    if _RESERVED.fullmatch(name):
        raise KnowledgeBaseNameError(f"{name!r} cannot name a knowledge base: Windows keeps it for a device; "
                                     "choose another")
    if len(name.encode()) > MAX_NAME_BYTES:
        raise KnowledgeBaseNameError(f"{name!r} cannot name a knowledge base: it has {len(name.encode())} bytes, at "
                                     f"most {MAX_NAME_BYTES} fit a folder's name; shorten it")
    return name


@dataclass(frozen=True)
class Layout:
    """The files and folders of one knowledge base."""

    root: Path
    server: ChromaServer | None = None
    """The Chroma server that holds the vectors; None: they are in the folder `vectors`."""

    database: SecretStr | None = None
    """The address of the PostgreSQL database that holds the ledger; None: it is in the folder."""

    @classmethod
    def of(cls, home: Path, name: str, server: ChromaServer | None = None,
           database: SecretStr | None = None) -> "Layout":
        """The layout of the knowledge base `name` under `home`; nothing is created."""
        return cls(home / check_name(name), server, database)

    @classmethod
    def by(cls, settings: Settings, name: str) -> "Layout":
        """The layout of the knowledge base `name` by the settings; nothing is created."""
        return cls.of(settings.home, name, settings.chroma_server, settings.database)

    @property
    def name(self) -> str:
        """The knowledge base's name."""
        return self.root.name

    @property
    def ledger(self) -> Path | LedgerSchema:
        """The ledger: the one source of truth."""
        return self.ledger_file if self.database is None else LedgerSchema(self.database, self.name)

    @property
    def ledger_file(self) -> Path:
        """The ledger where it is in SQLite."""
        return self.root / _LEDGER

    @property
    def graph(self) -> Path:
        """The serialized NetworkX graph: derived."""
        return self.root / "graph.json"

    @property
    def vectors(self) -> Path:
        """Chroma's folder, if there is no server: derived."""
        return self.root / "chroma"

    @property
    def index(self) -> Path:
        """What retrieval maps into memory; files of vectors are beside it: derived."""
        return self.root / "index.bin"

    @property
    def lock(self) -> Path:
        """The lock file that the one writer holds."""
        return self.root / "writer.lock"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Within the block nobody else writes to the knowledge base; it may be elsewhere when the block ends.

        Raises:
            WriterBusyError: something is writing to it.
        """
        busy = f"another process is writing to {self.name!r}; wait until it has ended, or end it, and try again"
        if isinstance(self.ledger, LedgerSchema):
            with opened(self.ledger.url) as connection:
                if not self.ledger.try_lock(connection):
                    raise WriterBusyError(busy)
                with self._holding(busy, _READER_MAKES_UP) if self.root.is_dir() else nullcontext():
                    yield
            return
        with self._holding(busy, 0):
            yield

    @contextmanager
    def _holding(self, busy: str, seconds: float) -> Iterator[None]:
        """Within the block nobody else writes in the folder; whoever does has so many seconds to end."""
        lock = FileLock(self.lock)
        try:
            lock.acquire(timeout=seconds)
        except Timeout as error:
            raise WriterBusyError(busy) from error
        try:
            yield
        finally:
            lock.release()

    def remove_remains(self) -> None:
        """Remove a folder that has a lock and no ledger: whoever waited for the lock of a dropped one made it anew."""
        if self.root.is_dir() and not self.exists() and all(entry == self.lock for entry in self.root.iterdir()):
            shutil.rmtree(self.root, ignore_errors=True)

    def exists(self) -> bool:
        """Whether there is such a knowledge base."""
        if self.database is None:
            return self.ledger_file.is_file()
        return self.name in ledgers(self.database)

    def check_ledger(self) -> None:
        """Check that the ledger is not lost: an empty one must never replace it.

        Raises:
            LedgerDamagedError: the ledger is missing or empty, although files that were made from it exist.
            DatabaseError: ledgers are in PostgreSQL, and here is one in SQLite.
        """
        file = self.ledger_file
        if self.database is not None:
            if file.exists():
                raise DatabaseError(
                    f"{display_path(file)} is there, and BANYAN_DATABASE_URL says that ledgers are in PostgreSQL: to "
                    "take it there, back it up without that setting, move its folder away, and restore it with the "
                    "setting")
            return
        size, logged = _size(file), _size(file.with_name(f"{file.name}-wal"))
        if size or (size is not None and logged):
            return
        if logged or self.graph.exists() or self.vectors.exists():
            raise LedgerDamagedError(f"{display_path(file)} is {'missing' if size is None else 'empty'}, and what "
                                     "was made from it is there")

    def require(self) -> "Layout":
        """Check that the knowledge base exists, and return its layout.

        Raises:
            UnknownKnowledgeBaseError: it does not exist.
            LedgerDamagedError: only a part of it exists.
        """
        self.check_ledger()
        if not self.exists():
            raise UnknownKnowledgeBaseError(self.name, self.root.parent, _names(self.root.parent, self.database))
        return self

    def make(self, identity: str) -> None:
        """Make the folder, without what was derived there of another ledger.

        Args:
            identity: the ledger's, where it is not in the folder itself.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        note = self.root / _IDENTITY
        if not identity or _text(note) == identity:
            return
        with FileLock(self.lock):
            if _text(note) != identity:
                for entry in self.root.iterdir():
                    if entry.is_dir():
                        shutil.rmtree(entry)
                    elif entry != self.lock:
                        entry.unlink()
                note.write_text(identity, "utf-8")


def sweep(settings: Settings) -> None:
    """Remove what killed drops and restores left in the home folder, and what is derived of ledgers that are gone.

    Ledgers in PostgreSQL may be dropped or renamed by others.

    Raises:
        DatabaseError: the server is not there.
        OSError: a file cannot be removed.
    """
    home = settings.home
    for grave in home.glob(f"{DROPPED}*"):
        shutil.rmtree(grave, ignore_errors=True)  # whoever dropped it may be removing it, too
    sweep_folders(home, ".", RESTORING)
    if settings.database is None:
        return
    notes = {note.parent.name: _text(note) for note in home.glob(f"*/{_IDENTITY}")}
    there = ledgers(settings.database) if notes else {}  # not before: those that are made meanwhile are there
    for name, identity in notes.items():
        layout = Layout.by(settings, name)
        if there.get(name) != identity and not layout.ledger_file.exists():
            with suppress(Timeout), FileLock(layout.lock, timeout=0):
                shutil.rmtree(layout.root)


def knowledge_bases(settings: Settings) -> list[str]:
    """The names of the knowledge bases that the settings lead to, sorted."""
    return _names(settings.home, settings.database)


def _names(home: Path, database: SecretStr | None) -> list[str]:
    if database is not None:
        return sorted(ledgers(database))
    if not home.is_dir():
        return []
    return sorted(entry.name for entry in home.iterdir() if (entry / _LEDGER).is_file())


def _text(file: Path) -> str:
    return file.read_text("utf-8") if file.is_file() else ""


def _size(path: Path) -> int | None:
    """A file's size in bytes, or None if it is missing. One system call, as a log may go meanwhile."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None
