"""Names and folders of knowledge bases."""

import re
from dataclasses import dataclass
from pathlib import Path

from .errors import KnowledgeBaseNameError, UnknownKnowledgeBaseError

MAX_NAME = 64
_NAME = re.compile(rf"[^\W_](?:[\w-]{{0,{MAX_NAME - 2}}}[^\W_])?")


def check_name(name: str) -> str:
    """A knowledge base's name, if it is safe as one folder's name.

    Args:
        name: letters and digits of any script, `-` and `_` inside, at most 64 characters.

    Raises:
        KnowledgeBaseNameError: anything else, so that no name leads out of the home folder.
    """
    if not _NAME.fullmatch(name):
        shown = name if len(name) <= MAX_NAME else f"{name[:MAX_NAME]}..."
        raise KnowledgeBaseNameError(
            f"{shown!r} cannot name a knowledge base: use 1 to {MAX_NAME} letters, digits, '-' and '_', "
            "beginning and ending with a letter or digit")
    return name


@dataclass(frozen=True)
class Layout:
    """Where the parts of one knowledge base stand."""

    root: Path

    @classmethod
    def of(cls, home: Path, name: str) -> "Layout":
        """The layout of the knowledge base `name` under `home`; nothing is created."""
        return cls(home / check_name(name))

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
        """Chroma's folder: derived."""
        return self.root / "chroma"

    @property
    def lock(self) -> Path:
        """The lock file that the one writer holds."""
        return self.root / "writer.lock"

    def require(self) -> "Layout":
        """Itself, if the knowledge base exists.

        Raises:
            UnknownKnowledgeBaseError: it does not; names those that do.
        """
        if not self.ledger.is_file():
            known = knowledge_bases(self.root.parent)
            raise UnknownKnowledgeBaseError(
                f"there is no knowledge base {self.name!r} in {self.root.parent}; "
                + (f"there are: {', '.join(known)}" if known else "make one with `banyan build`"))
        return self


def knowledge_bases(home: Path) -> list[str]:
    """The names of the knowledge bases under `home`, sorted."""
    if not home.is_dir():
        return []
    return sorted(entry.name for entry in home.iterdir() if (entry / "ledger.sqlite").is_file())
