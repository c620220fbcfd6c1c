"""What can go wrong with a knowledge base, each with its cause and its fix in the message."""

from collections.abc import Sequence
from pathlib import Path

from ..schemas.errors import BanyanError


def named(path: Path) -> str:
    """A file of a knowledge base as messages name it: where the home folder is, is not every client's business."""
    return f"{path.parent.name}/{path.name}"


class StoreError(BanyanError):
    """Base of all errors of a knowledge base; what was stored before is unchanged."""


class KnowledgeBaseNameError(StoreError):
    """A name that is not safe as a folder's name."""


class UnknownKnowledgeBaseError(StoreError):
    """There is no knowledge base of that name.

    Its message goes to whoever asks, also to a client that may not list the knowledge bases. `here` says as well where
    the home folder is and which there are: for who can read that folder.
    """

    def __init__(self, name: str, home: Path | str, known: Sequence[str] = ()) -> None:
        make = "make one with `banyan build`, or in Python with `add`"
        super().__init__(f"there is no knowledge base {name!r}; {make}")
        self.here = f"there is no knowledge base {name!r} in {home}; " + (
            f"there are: {', '.join(known)}" if known else make)


class UnknownDocumentError(StoreError):
    """There is no document of that id."""


class WriterBusyError(StoreError):
    """Another process or run is writing to the knowledge base."""


class EmbeddingMismatchError(StoreError):
    """The store's vectors come from another embedding model than the one in use."""


class LedgerDamagedError(StoreError):
    """The ledger is gone, or does not hold what was written to it."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}; `banyan verify` says what else is wrong. Restore a backup: `banyan restore FILE "
                         "--kb NAME --force`; without one, move its folder away and build again")


class VectorServerError(StoreError):
    """The server that holds the vectors does not answer now."""


class DatabaseError(StoreError):
    """The database server that holds the ledger is not there, or refused. `here` adds which one, and what it says."""

    def __init__(self, what: str, cause: str = "") -> None:
        super().__init__(what)
        self.here = f"{what} ({cause})" if cause else what


class EntityDecisionError(StoreError):
    """A person's decision on two entities that cannot be carried out."""


class FormatError(StoreError):
    """The store was written in a format that this version does not read."""
