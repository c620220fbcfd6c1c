"""The sizes of a knowledge base, noted when a run has ended well, so listing many opens none of them."""

from contextlib import closing
from typing import NamedTuple

from ...config import Settings
from ..layout import Layout
from .database import Database
from .version import ledger_state


class Overview(NamedTuple):
    """What a list of knowledge bases shows of one."""

    documents: int
    chunks: int
    entities: int
    triples: int
    communities: int
    schema_version: int


def read_overview(settings: Settings, name: str) -> Overview | None:
    """Return the sizes of a knowledge base, from its ledger alone; None if no run has noted them.

    Raises:
        StoreError: there is no such knowledge base, or its ledger cannot be read.
    """
    with closing(Database(Layout.by(settings, name).require().ledger, create=False)) as database:
        noted = ledger_state(database).overview
    return Overview(*noted) if noted else None
