"""The sizes of a knowledge base, noted when a run has ended well, so listing many opens none of them."""

import json
from contextlib import closing
from typing import NamedTuple

from ...config import Settings
from ..layout import Layout
from .database import Database

_OVERVIEW = "overview"


class Overview(NamedTuple):
    """What a list of knowledge bases shows of one."""

    documents: int
    chunks: int
    entities: int
    triples: int
    communities: int
    schema_version: int


def note_overview(database: Database, overview: Overview) -> None:
    """Store the sizes of the state that readers see from now on."""
    database.set_meta(_OVERVIEW, json.dumps(overview))


def read_overview(settings: Settings, name: str) -> Overview | None:
    """Return the sizes of a knowledge base, from its ledger alone; None if no run has noted them.

    Raises:
        StoreError: there is no such knowledge base, or its ledger cannot be read.
    """
    with closing(Database(Layout.by(settings, name).require().ledger, create=False)) as database:
        noted = database.get_meta(_OVERVIEW)
    return Overview(*json.loads(noted)) if noted else None
