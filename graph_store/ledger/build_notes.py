"""What builds note for later: files that the latest one could not read, and batches of calls that are under way."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .database import Database

BUILD = "build"
"""The key of what builds note."""


def note_unread_files(database: Database, files: Sequence[str]) -> None:
    """Store the files that a build could not read or left out, each with the reason."""
    database.note(BUILD, unread_files=list(files))


def read_unread_files(database: Database) -> list[str]:
    """Return those of the latest build that read files."""
    return [str(line) for line in database.notes(BUILD).get("unread_files", ())]


class OpenBatch(NamedTuple):
    """A batch whose answers are not recorded yet."""

    file: str
    """The endpoint's id of its requests."""
    id: str
    """The endpoint's id of the batch; "" while it is not known whether the endpoint has started it."""
    keys: list[str]
    """The keys of its calls."""


def read_open_batches(database: Database) -> list[OpenBatch]:
    """Return the batches that an endpoint is answering, so a build that was killed submits nothing again."""
    return [OpenBatch(*batch) for batch in database.notes(BUILD).get("open_batches", ())]


def write_open_batches(database: Database, batches: Iterable[OpenBatch]) -> None:
    """Store which batches are under way."""
    database.note(BUILD, open_batches=[*batches])
