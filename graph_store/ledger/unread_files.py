"""The files that the latest build could not read, noted for everyone who asks later."""

import json
from collections.abc import Sequence

from .database import Database

_UNREAD = "unread_files"


def note_unread_files(database: Database, files: Sequence[str]) -> None:
    """Store the files that a build could not read or left out, each with the reason."""
    database.set_meta(_UNREAD, json.dumps(list(files)))


def read_unread_files(database: Database) -> list[str]:
    """Return those of the latest build that read files."""
    return [str(line) for line in json.loads(database.get_meta(_UNREAD) or "[]")]
