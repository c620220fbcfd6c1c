"""What tells one state of a knowledge base from the next."""

import json
import secrets
from typing import NamedTuple

from .database import Database
from .facts import position

_EPOCH, _TREE = "epoch", "tree"
_LARGEST = 2**53


class Version(NamedTuple):
    """Differs between states that differ for a reader: in documents, facts, communities, or the schema."""

    position: int
    """The number of the last change of documents, chunks, or what is admitted of them."""
    tree: int
    """The position that the communities reflect."""
    tree_revision: int
    """How often communities were detected or described."""
    schema: int
    resolution: int
    """How often the aliases of entities changed."""
    epoch: int
    """See `epoch`."""


class TreeState(NamedTuple):
    """What the communities reflect, as `meta` holds it in one row.

    Attributes:
        position, resolution: the state of the ledger that they were found in.
        drift: how many entities came or went since all of them were found anew.
        revision: how often they were found or described.
        is_described: whether all of them were described since they were found, 1 or 0.
    """

    position: int = 0
    resolution: int = 0
    drift: int = 0
    revision: int = 0
    is_described: int = 0


def tree_state(database: Database) -> TreeState:
    """Return what the communities reflect; zeros before the first."""
    return TreeState(*map(int, json.loads(database.get_meta(_TREE) or "[]")))


def set_tree_state(database: Database, state: TreeState) -> None:
    """Store what the communities reflect."""
    database.set_meta(_TREE, json.dumps(state))


def version_of(database: Database) -> Version:
    """Return the version of what a connection to a ledger reads."""
    tree = tree_state(database)
    return Version(
        position=position(database),
        tree=tree.position,
        tree_revision=tree.revision,
        schema=database.count("SELECT max(version) FROM schema_versions"),
        resolution=int(database.get_meta("resolution") or 0),
        epoch=epoch(database))


def epoch(database: Database) -> int:
    """Return a number that differs between knowledge bases, and after a reindex or restore; 0 before writing."""
    return int(database.get_meta(_EPOCH) or 0)


def begin_epoch(database: Database) -> None:
    """Set a new random epoch; derived files that note another one are outdated, or another knowledge base's."""
    database.set_meta(_EPOCH, str(1 + secrets.randbelow(_LARGEST)))


def publish(database: Database) -> None:
    """Tell readers that a run has ended well; until then they stay with what they have."""
    with database.transaction():
        database.set_meta("runs", str(published_state(database)[0] + 1))


def published_state(database: Database) -> tuple[int, int]:
    """Return how many runs ended well that wrote something, and the epoch."""
    rows = database.rows("SELECT key, value FROM meta WHERE key IN ('runs', :epoch)", epoch=_EPOCH)
    found: dict[str, int] = {str(key): int(value) for key, value in rows}
    return found.get("runs", 0), found.get(_EPOCH, 0)
