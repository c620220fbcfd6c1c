"""What tells one state of a knowledge base from the next."""

import secrets
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from .database import Database

_STATE = "state"
_LARGEST = 2**53


class Version(NamedTuple):
    """Differs between states that differ for a reader: in documents, facts, communities, or the schema.

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
    """What the communities reflect.

    Attributes:
        position, resolution: the state of the ledger that they were found in.
        drift: how many entities came or went since all of them were found anew.
        revision: how often they were found or described.
    """

    position: int = 0
    resolution: int = 0
    drift: int = 0
    revision: int = 0


class Overview(NamedTuple):
    """What a list of knowledge bases shows of one; noted when a run has ended well, so that listing opens none."""

    documents: int
    chunks: int
    entities: int
    triples: int
    communities: int
    schema_version: int


class LedgerState(NamedTuple):
    """What tells one state of a ledger from the next, and what is derived in it, as `meta` holds it in one row.

    Attributes:
        position: the number of the last change of documents, chunks, or what is admitted of them.
        resolution: how often the aliases of entities, or people's edits, changed.
        epoch: a number that differs between knowledge bases, and after a reindex or restore; 0 before writing.
        runs: how many runs ended well that wrote something.
        tree: what the communities reflect.
        resolved: what the aliases reflect (see `AliasTable.state`); None before the first resolution.
        reliability: how far vectors can be trusted, by script.
        overview: the sizes that the last run noted (see `Overview`).
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
    """Return the state of what a connection to a ledger reads."""
    noted = database.notes(_STATE)
    numbers = {name: int(noted.get(name, 0)) for name in ("position", "resolution", "epoch", "runs")}
    tree = map(int, noted.get("tree", ())[:len(TreeState._fields)])
    return LedgerState(**{**noted, **numbers, "tree": TreeState(*tree)})


def note_state(database: Database, **changes: object) -> None:
    """Change some attributes of the ledger's state."""
    database.note(_STATE, **changes)


def advance(database: Database) -> None:
    """Count a change of rows that anything is derived from, inside the transaction that makes it.

    These rows are the documents in service, their chunks, whether a chunk is done, and what is admitted of it. Derived
    files are compared with this number alone, so every change of such rows has to be counted here.
    """
    note_state(database, position=ledger_state(database).position + 1)


def count_resolution(database: Database) -> None:
    """Count a change of the entities' aliases or of people's edits, inside the transaction that makes it."""
    note_state(database, resolution=ledger_state(database).resolution + 1)


def version_of(database: Database) -> Version:
    """Return the version of what a connection to a ledger reads."""
    state = ledger_state(database)
    return Version(
        position=state.position, tree=state.tree.position, tree_revision=state.tree.revision,
        schema=database.count("SELECT max(version) FROM schema_versions"), resolution=state.resolution,
        epoch=state.epoch)


def begin_epoch(database: Database) -> None:
    """Set a new random epoch; derived files that note another one are outdated, or another knowledge base's."""
    note_state(database, epoch=1 + secrets.randbelow(_LARGEST))


def publish(database: Database, overview: Sequence[int]) -> None:
    """Tell readers that a run has ended well; until then they stay with what they have. It notes its sizes."""
    with database.transaction():
        note_state(database, runs=ledger_state(database).runs + 1, overview=overview)


def published_state(database: Database) -> tuple[int, int]:
    """Return how many runs ended well that wrote something, and the epoch."""
    state = ledger_state(database)
    return state.runs, state.epoch
