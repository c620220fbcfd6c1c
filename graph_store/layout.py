"""Names and folders of knowledge bases."""

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from ..schemas.chroma_server import ChromaServer
from .errors import KnowledgeBaseNameError, LedgerDamagedError, UnknownKnowledgeBaseError, WriterBusyError, named

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

    @classmethod
    def of(cls, home: Path, name: str, server: ChromaServer | None = None) -> "Layout":
        """The layout of the knowledge base `name` under `home`; nothing is created."""
        return cls(home / check_name(name), server)

    @property
    def name(self) -> str:
        """The knowledge base's name."""
        return self.root.name

    @property
    def ledger(self) -> Path:
        """The SQLite ledger: the one source of truth."""
        return self.root / "ledger.sqlite"

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
        lock = FileLock(self.lock, timeout=0)
        try:
            lock.acquire()
        except Timeout as error:
            raise WriterBusyError(f"another process is writing to {self.name!r}; wait until it has ended, or end it, "
                                  "and try again") from error
        try:
            yield
        finally:
            lock.release()

    def check_ledger(self) -> None:
        """Check that the ledger is not lost: an empty one must never replace it.

        Raises:
            LedgerDamagedError: the ledger is missing or empty, although files that were made from it exist.
        """
        size, logged = _size(self.ledger), _size(self.ledger.with_name(f"{self.ledger.name}-wal"))
        if size or (size is not None and logged):
            return
        if logged or self.graph.exists() or self.vectors.exists():
            raise LedgerDamagedError(f"{named(self.ledger)} is {'missing' if size is None else 'empty'}, and what "
                                     "was made from it is there")

    def require(self) -> "Layout":
        """Check that the knowledge base exists, and return its layout.

        Raises:
            UnknownKnowledgeBaseError: it does not exist.
            LedgerDamagedError: only a part of it exists.
        """
        self.check_ledger()
        if not self.ledger.is_file():
            raise UnknownKnowledgeBaseError(self.name, self.root.parent, knowledge_bases(self.root.parent))
        return self


def knowledge_bases(home: Path) -> list[str]:
    """The names of the knowledge bases under `home`, sorted."""
    if not home.is_dir():
        return []
    return sorted(entry.name for entry in home.iterdir() if (entry / "ledger.sqlite").is_file())


def _size(path: Path) -> int | None:
    """A file's size in bytes, or None if it is missing. One system call, as a log may go meanwhile."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None
