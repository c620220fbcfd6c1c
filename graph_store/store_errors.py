"""Errors of a knowledge base; each message names the cause and the fix."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from ..schemas.errors import BanyanError


def display_path(path: Path) -> str:
    """Return a knowledge base's file as FOLDER/FILE, so messages do not disclose the home folder to clients."""
    return f"{path.parent.name}/{path.name}"


class StoreError(BanyanError):
    """Base class of the errors of a knowledge base; stored data is unchanged."""


class KnowledgeBaseNameError(StoreError):
    """The name of a knowledge base is not safe as a folder name."""


class UnknownKnowledgeBaseError(StoreError):
    """There is no knowledge base of that name; `local_message` is the message for users of this machine."""

    def __init__(self, name: str, home: Path | str, known: Sequence[str] = (), seen: Sequence[str] = ()) -> None:
        """Build both messages: `local_message` names the home folder and all `known` bases, the other those `seen`."""
        hint_of_seen, hint_of_known = (
            f"there are: {', '.join(names)}" if names else "make one with `banyan build`, or in Python with `add`"
            for names in (seen, known))
        super().__init__(f"there is no knowledge base {name!r}; {hint_of_seen}")
        self.local_message = f"there is no knowledge base {name!r} in {home}; {hint_of_known}"


class UnknownDocumentError(StoreError):
    """There is no document with that id."""


class WriterBusyError(StoreError):
    """Another process or run is writing to the knowledge base."""

    @classmethod
    def of(cls, name: str) -> "WriterBusyError":
        """Return the error for a knowledge base that another process is writing to."""
        return cls(f"another process is writing to {name!r}; wait until it has ended, or end it, and try again")


class EmbeddingMismatchError(StoreError):
    """The store's vectors come from another embedding model than the one in use."""


class LedgerDamagedError(StoreError):
    """The ledger is missing or damaged."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}; `banyan verify` says what else is wrong. Restore a backup: `banyan restore FILE "
                         "--kb NAME --force`; without one, move its folder away and build again")


@contextmanager
def readable(what: str) -> Iterator[None]:
    """Within the block, report values that do not validate as a LedgerDamagedError that names them as `what`."""
    try:
        yield
    except ValidationError as error:
        raise LedgerDamagedError(f"{what} is damaged in the ledger ({error.errors()[0]['msg']})") from error


class VectorServerError(StoreError):
    """The vector server does not answer."""


class DatabaseError(StoreError):
    """The ledger's database server is unreachable or refused. `local_message` adds the server and its message."""

    def __init__(self, what: str, cause: str = "") -> None:
        super().__init__(what)
        self.local_message = f"{what} ({cause})" if cause else what


class EntityDecisionError(StoreError):
    """A person's decision on entities or facts cannot be carried out."""


class FormatError(StoreError):
    """The store was written in a format that this version does not read."""
