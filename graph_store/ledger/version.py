"""The counters that tell one state of a knowledge base from the next."""

import secrets
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from .database import Database

_STATE = "state"
"""The key of `meta` for the example questions of one state; they may name anything that a document says."""
_LARGEST = 2**53


class Version(NamedTuple):
    """A state of a knowledge base: it differs whenever documents, facts, communities, or the schema differ.

    `position`, `resolution` and `epoch` are those of the `LedgerState`.
    """

    position: int
    tree: int
    """The position that the communities reflect."""
    tree_revision: int
    """How often communities were detected or described."""
    schema: int
    resolution: int
    epoch: int


class TreeState(NamedTuple):
    """The state of the ledger that the communities show.

    Attributes:
        position, resolution: the state of the ledger in which they were detected.
        drift: how many entities were added or removed since all communities were last detected anew.
        revision: how often communities were detected or described.
    """

    position: int = 0
    resolution: int = 0
    drift: int = 0
    revision: int = 0


class Overview(NamedTuple):
    """The sizes that a list of knowledge bases shows.

    They are stored at the end of a successful run, so that the list need not open every knowledge base's index.
    """

    documents: int
    chunks: int
    entities: int
    triples: int
    communities: int
    schema_version: int


class LedgerState(NamedTuple):
    """The counters of a ledger's state, and the states that derived rows belong to, stored in one row of `meta`.

    Attributes:
        position: the number of the last change of documents, of chunks, or of the admitted items of chunks.
        resolution: how often the aliases of entities, or people's edits, changed.
        epoch: a random number that differs between knowledge bases and changes with a reindex or restore; 0 before the
            first write.
        runs: how many runs wrote something and ended successfully.
        tree: the state that the communities show.
        resolved: the state that the aliases belong to (see `AliasTable.state`); None before the first resolution.
        reliability: how far vectors can be trusted, by script.
        overview: the sizes that the last run stored (see `Overview`).
    """

    position: int = 0
    resolution: int = 0
    epoch: int = 0
    runs: int = 0
    tree: TreeState = TreeState()
    resolved: str | None = None
    reliability: Mapping[str, float] = MappingProxyType({})
    overview: Sequence[int] | None = None


def ledger_state(database: Database) -> LedgerState:
    """Return the state of the ledger that a connection reads."""
    stored = database.notes(_STATE)
    numbers = {name: int(stored.get(name, 0)) for name in ("position", "resolution", "epoch", "runs")}
    tree = map(int, stored.get("tree", ())[:len(TreeState._fields)])  # earlier versions stored more numbers
    return LedgerState(**{**stored, **numbers, "tree": TreeState(*tree)})


def note_state(database: Database, **changes: object) -> None:
    """Change some attributes of the ledger's state."""
    database.note(_STATE, **changes)


def advance(database: Database) -> None:
    """Count a change of rows from which anything is derived; call this in the transaction that makes the change.

    These rows are the documents in service, their chunks, whether a chunk is done, and its admitted items. Only this
    number tells whether derived files are up to date, so every change of such rows has to be counted.
    """
    note_state(database, position=ledger_state(database).position + 1)


def count_resolution(database: Database) -> None:
    """Count a change of aliases or of people's edits; call this in the transaction that makes the change."""
    note_state(database, resolution=ledger_state(database).resolution + 1)


def version_of(database: Database) -> Version:
    """Return the version of the knowledge base that a connection to its ledger reads."""
    state = ledger_state(database)
    return Version(
        position=state.position, tree=state.tree.position, tree_revision=state.tree.revision,
        schema=database.count("SELECT max(version) FROM schema_versions"), resolution=state.resolution,
        epoch=state.epoch)


def begin_epoch(database: Database) -> None:
    """Set a new random epoch; derived files with another epoch are outdated or belong to another knowledge base."""
    note_state(database, epoch=1 + secrets.randbelow(_LARGEST))


def publish(database: Database, overview: Sequence[int]) -> None:
    """Publish the changes of a run that ended successfully, with the sizes of the knowledge base (see `Overview`).

    Readers keep reading the previous state until the number of runs grows.
    """
    with database.transaction():
        note_state(database, runs=ledger_state(database).runs + 1, overview=overview)


def published_state(database: Database) -> tuple[int, int]:
    """Return the number of successful runs that wrote something, and the epoch."""
    state = ledger_state(database)
    return state.runs, state.epoch
