"""What builds note for later: files that the latest one could not read, and batches of calls that are under way."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .database import Database

_OPEN_BATCHES = "open_batches"
_UNREAD = "unread_files"


def note_unread_files(database: Database, files: Sequence[str]) -> None:
    """Store the files that a build could not read or left out, each with the reason."""
    database.set_meta(_UNREAD, json.dumps(list(files)))


def read_unread_files(database: Database) -> list[str]:
    """Return those of the latest build that read files."""
    return [str(line) for line in json.loads(database.get_meta(_UNREAD) or "[]")]


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
    return [OpenBatch(*batch) for batch in json.loads(database.get_meta(_OPEN_BATCHES) or "[]")]


def write_open_batches(database: Database, batches: Iterable[OpenBatch]) -> None:
    """Store which batches are under way."""
    database.set_meta(_OPEN_BATCHES, json.dumps([*batches]))
