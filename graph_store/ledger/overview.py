"""The sizes of a knowledge base, noted when a run has ended well, so listing many opens none of them."""

import json
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from ...config import Settings
from ..layout import Layout
from ..postgresql_bases import LedgerSchema
from .database import Database

_OVERVIEW = "overview"
_TICK = 2_000_000_000
"""Nanoseconds: some file systems note times to two seconds."""
_Files = tuple[tuple[int, int, int], ...]


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


class Overviews:
    """Reads the sizes of knowledge bases; a ledger whose files have not changed since is not opened again."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[_Files, Overview | None]] = {}

    def read(self, settings: Settings, name: str) -> Overview | None:
        """Return the sizes of a knowledge base, from its ledger alone; None if no run has noted them.

        Raises:
            StoreError: there is no such knowledge base, or its ledger cannot be read.
        """
        ledger = Layout.by(settings, name).require().ledger
        if not isinstance(ledger, Path):
            return _read(ledger)
        files = _files(ledger)
        known = self._known.get(ledger)
        if known is None or known[0] != files:
            known = files, _read(ledger)
            if _are_settled(files):
                self._known[ledger] = known
        return known[1]


def _read(ledger: Path | LedgerSchema) -> Overview | None:
    with closing(Database(ledger, create=False)) as database:
        noted = database.get_meta(_OVERVIEW)
    return Overview(*json.loads(noted)) if noted else None


def _files(ledger: Path) -> _Files:
    """Return what tells whether a ledger or its log was written: of each file its id, its size and when it changed."""
    found = []
    for path in (ledger, ledger.with_name(f"{ledger.name}-wal")):
        try:
            stat = path.stat()
        except FileNotFoundError:
            continue
        if stat.st_size:
            found.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return tuple(found)


def _are_settled(files: _Files) -> bool:
    """Return True if another write would change the files' times: two within one tick of the clock have the same."""
    return all(time.time_ns() - changed > _TICK for _, _, changed in files)
