"""The batches of calls that an endpoint is answering, so that a build that was killed submits nothing again."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from .database import Database

_KEY = "open_batches"


class OpenBatch(NamedTuple):
    """A batch whose answers are not recorded yet."""

    file: str
    """The endpoint's id of its requests."""
    id: str
    """The endpoint's id of the batch; "" while it is not known whether the endpoint has started it."""
    keys: list[str]
    """The keys of its calls."""


def read_open_batches(database: Database) -> list[OpenBatch]:
    """Return the batches that are under way."""
    return [OpenBatch(*batch) for batch in json.loads(database.get_meta(_KEY) or "[]")]


def write_open_batches(database: Database, batches: Iterable[OpenBatch]) -> None:
    """Store which batches are under way."""
    database.set_meta(_KEY, json.dumps([*batches]))
