"""Check names of knowledge bases, locate their files and folders, and keep copies of the PDF files of documents."""

import hashlib
import re
import shutil
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import SecretStr

from ..config import Settings
from ..runtime.safe_files import sweep_folders, whole_file
from ..schemas.documents import Document
from ..schemas.services import ChromaServer
from . import store_errors
from .ledger.postgresql import AdvisoryLock, LedgerSchema, ledgers, open_connection
from .store_errors import KnowledgeBaseNameError, LedgerDamagedError, UnknownKnowledgeBaseError, display_path

_LEDGER = "ledger.sqlite"
DROPPED, RESTORING, BACKING_UP, SCOPE = ".dropped-", ".restore", ".backup", ".scope"
"""The prefix of folders with dropped knowledge bases, and the suffixes of folders for restores, backups and scopes."""
_READER_SECONDS = 60.0  # seconds that a drop or rename waits for a reader that rebuilds derived files
MAX_NAME = 64  # characters of a name, which is shown in lists and addresses
MAX_NAME_BYTES = 200  # file systems allow 255, and backups and temporary copies append to the name
_NAME = re.compile(rf"[^\W_](?:[\w-]{{0,{MAX_NAME - 2}}}[^\W_])?")


def check_name(name: str) -> str:
    """Return a knowledge base's name if it is safe as a folder name, or raise KnowledgeBaseNameError."""
    # In the form NFKC, no two names differ only in how their letters are encoded.
    if (isinstance(name, str) and _NAME.fullmatch(name) and unicodedata.normalize("NFKC", name) == name
            and len(name.encode()) <= MAX_NAME_BYTES):  # a client may send anything, also what is no text
        return name
    raise KnowledgeBaseNameError(
        f"{str(name)[:MAX_NAME]!r} cannot name a knowledge base: use 1 to {MAX_NAME} letters (in Unicode's form NFKC, "
        f"at most {MAX_NAME_BYTES} bytes), digits, '-' and '_', beginning and ending with a letter or digit")


class _File:
    """A file or folder below the root of a layout."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, layout: "Layout", _: type["Layout"]) -> Path:
        return layout.root / self._name


@dataclass(frozen=True)
class Layout:
    """The files and folders of one knowledge base."""

    ledger_file = _File(_LEDGER)  # the ledger's file, if it is in SQLite
    graph = _File("graph.json")  # the serialized NetworkX graph (derived)
    vectors = _File("chroma")  # chroma's folder, if there is no server (derived)
    index = _File("index.bin")  # the index that retrieval maps into memory (derived)
    printed_works = _File("printed")  # copies of documents' PDF files for the page; any may be missing
    lock = _File("writer.lock")  # the writer's lock file
    build_lock = _File("build.lock")  # a build has it to its end, also while others write between its batches
    turn_lock = _File("turn.lock")  # the lock file of whoever waits for a build to let others write

    root: Path
    server: ChromaServer | None = None  # with the vectors; None: they are in the folder `vectors`
    database: SecretStr | None = None  # PostgreSQL's address, which has the ledger; None: it is in the folder

    @classmethod
    def of(cls, home: Path, name: str, server: ChromaServer | None = None,
           database: SecretStr | None = None) -> "Layout":
        """Return the layout of the knowledge base `name` under `home`, without creating anything."""
        return cls(home / check_name(name), server, database)

    @classmethod
    def by(cls, settings: Settings, name: str) -> "Layout":
        """Return the layout of the knowledge base `name` by the settings, without creating anything."""
        return cls.of(settings.home, name, settings.chroma_server, settings.database)

    @property
    def name(self) -> str:
        """The knowledge base's name."""
        return self.root.name

    @property
    def ledger(self) -> Path | LedgerSchema:
        """The ledger, the only source of truth."""
        return self.ledger_file if self.database is None else LedgerSchema(self.database, self.name)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the knowledge base within the block, which may move or delete it; raises WriterBusyError."""
        ledger = self.ledger
        with ExitStack() as locks:
            try:
                if isinstance(ledger, LedgerSchema):
                    connection = locks.enter_context(open_connection(ledger.url))  # at its end the lock is released
                    AdvisoryLock(ledger, lambda sql: connection.exec_driver_sql(sql).scalar()).acquire()
                # This is the writer's lock of SQLite; with PostgreSQL only readers that derive files have it.
                if isinstance(ledger, Path) or self.root.is_dir():
                    seconds = 0.0 if isinstance(ledger, Path) else _READER_SECONDS
                    locks.enter_context(FileLock(self.lock, timeout=seconds))
            except Timeout as error:
                raise store_errors.WriterBusyError.of(self.name) from error
            yield

    def is_taken(self) -> bool:
        """Return True if the name is in use: by a ledger, or, without PostgreSQL, by a folder with more than locks."""
        if self.database is None:
            return self.root.exists() and any(entry.suffix != ".lock" for entry in self.root.iterdir())
        return self.exists() or self.ledger_file.exists()  # a ledger that was made without PostgreSQL

    def exists(self) -> bool:
        """Return True if the knowledge base exists."""
        if self.database is None:
            return self.ledger_file.is_file()
        return self.name in ledgers(self.database)

    def check_ledger(self) -> None:
        """Raise an error if the ledger is lost, or not where the settings say: opening would make a new, empty one."""
        file = self.ledger_file
        if self.database is not None:
            if file.exists():
                raise store_errors.DatabaseError(
                    f"{display_path(file)} is there, and BANYAN_DATABASE_URL says that ledgers are in PostgreSQL: to "
                    "take it there, back it up without that setting, move its folder away, and restore it with the "
                    "setting")
            return
        log = file.with_name(f"{file.name}-wal")  # the rows of a new ledger may be only there
        has_rows = any(path.is_file() and path.stat().st_size > 0 for path in (file, log))
        # A log or derived files without a ledger: there was one.
        if not (file.exists() and has_rows) and (has_rows or self.graph.exists() or self.vectors.exists()):
            state = "empty" if file.exists() else "missing"
            raise LedgerDamagedError(f"{display_path(file)} is {state}, and what was made from it is there")

    def require(self) -> "Layout":
        """Check that the knowledge base exists, and return its layout."""
        self.check_ledger()
        if not self.exists():
            raise UnknownKnowledgeBaseError(self.name, self.root.parent, _names_in(self.root.parent, self.database))
        return self


def sweep(settings: Settings) -> None:
    """Remove what killed drops, restores, backups and scopes have left at home, and files of missing ledgers."""
    home = settings.home
    for grave in home.glob(f"{DROPPED}*"):
        shutil.rmtree(grave, ignore_errors=True)  # the process that dropped it may be removing it too
    for suffix in (RESTORING, BACKING_UP, SCOPE):
        sweep_folders(home, ".", suffix)
    if settings.database is None:
        return
    derived = [graph.parent.name for graph in home.glob("*/graph.json")]
    # Read the ledgers after the folders: this way, ledgers that are created meanwhile are not missed.
    existing = ledgers(settings.database) if derived else set()
    for name in set(derived) - existing:
        layout = Layout(home / name)
        if not layout.ledger_file.exists():  # otherwise it is a knowledge base of another setting, in SQLite
            with suppress(Timeout), FileLock(layout.lock, timeout=0):
                shutil.rmtree(layout.root)


def knowledge_bases(settings: Settings) -> list[str]:
    """Return the sorted names of the knowledge bases in the home folder or database of the settings."""
    return _names_in(settings.home, settings.database)


def _names_in(home: Path, database: SecretStr | None) -> list[str]:
    """Return the sorted names of the knowledge bases in a database or, without one, in a home folder."""
    if database is not None:
        return sorted(ledgers(database))
    return sorted(file.parent.name for file in home.glob(f"*/{_LEDGER}") if file.is_file())


def split_names(names: str) -> list[str]:
    """Return the names of knowledge bases that are given with commas between, each once."""
    if not isinstance(names, str):  # what a client sent is no text: `check_name` rejects it
        return [names]
    return list(dict.fromkeys(map(str.strip, names.split(","))))


def check_names(names: str) -> str:
    """Return the names of one or more knowledge bases, with commas between; see `check_name`."""
    return ",".join(map(check_name, split_names(names)))


def choose_name(name: str, settings: Settings, sees: Callable[[str], bool]) -> str:
    """Return the name of the knowledge base to read from: the given name, else BANYAN_KB, else the only one.

    Several names with commas between are checked one by one. Knowledge bases that the caller may not see, as `sees`
    says, are treated as missing. Raises UnknownKnowledgeBaseError if it does not exist, KnowledgeBaseNameError if none
    is named and there is not exactly one; the messages list those that there are.
    """
    name = name or (settings.kb if sees(settings.kb) else "")
    if len(names := split_names(name)) > 1:
        return ",".join(choose_name(one, settings, sees) for one in names)
    known = [existing for existing in knowledge_bases(settings) if sees(existing)]
    if name:
        if sees(name):  # a lost ledger is an error of its own, which only those who may see the base are told
            Layout.by(settings, name).check_ledger()
        if name not in known:
            raise UnknownKnowledgeBaseError(name, settings.home, known, seen=known)
        return name
    if len(known) == 1:
        return known[0]
    raise KnowledgeBaseNameError(
        f"which knowledge base? There are {', '.join(known)}: name one as `knowledge_base`, or set BANYAN_KB" if known
        else "there is no knowledge base yet: make one with `banyan build PATH --kb NAME`")


class PrintedWorks:
    """Copies of the PDF files of a knowledge base's documents; only the web page shows them, so any may be missing."""

    def __init__(self, folder: Path, *, active: bool = True) -> None:
        """Use a folder for the copies; not `active` if machines share the ledger, as deletions would miss copies."""
        self._folder, self._active = folder, active

    def keep(self, document: Document) -> None:
        """Copy the PDF file of a document that was just read, or remove the copy of an earlier one.

        The document's source must not come from a client, who could name any file of this machine.
        """
        source = Path(document.source)
        if not self._active or not document.pages or source.suffix.lower() != ".pdf" or not source.is_file():
            self._path_of_copy(document.id).unlink(missing_ok=True)
            return
        self._folder.mkdir(mode=0o700, exist_ok=True)
        with source.open("rb") as original, whole_file(self._path_of_copy(document.id)) as copy:
            shutil.copyfileobj(original, copy)

    def find(self, document_id: str) -> Path | None:
        """Return the copy of a document's PDF file, or None."""
        copy = self._path_of_copy(document_id)
        return copy if copy.is_file() else None

    def keep_only(self, document_ids: set[str]) -> None:
        """Remove the copies of all other documents."""
        wanted = {self._path_of_copy(document) for document in document_ids}
        for copy in set(self._folder.glob("*.pdf")) - wanted:
            copy.unlink(missing_ok=True)

    def _path_of_copy(self, document_id: str) -> Path:
        """Return where the copy of a document's file is or would be: a hash, as ids may have any signs."""
        return self._folder / f"{hashlib.sha256(document_id.encode()).hexdigest()[:32]}.pdf"
