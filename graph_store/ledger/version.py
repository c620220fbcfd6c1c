"""What tells one state of a knowledge base from the next."""

from collections.abc import Sequence
from typing import NamedTuple

from .database import Database


class Version(NamedTuple):
    """Differs between states that differ for a reader: in facts, vectors, communities, or the schema."""

    position: int
    """The number of the last change of a chunk's contribution."""
    vectors: int
    """The position that the vectors reflect."""
    tree: int
    """The position that the communities reflect."""
    tree_revision: int
    """How often communities were detected or described."""
    schema: int
    resolution: int
    """How often the aliases of entities changed."""
    folder: int
    """The number of the folder of vectors in service."""


def version_of(database: Database) -> Version:
    """The version of what a connection to a ledger reads."""
    return Version(
        position=database.count("SELECT max(seq) FROM changes"),
        vectors=int(database.get_meta("vectors_position") or 0),
        tree=int(database.get_meta("tree_position") or 0),
        tree_revision=int(database.get_meta("tree_revision") or 0),
        schema=database.count("SELECT max(version) FROM schema_versions"),
        resolution=int(database.get_meta("resolution") or 0),
        folder=int(database.get_meta("vectors_generation") or 0))


def publish(database: Database) -> None:
    """Tell readers that a run has ended well; until then they stay with what they have."""
    with database.transaction():
        database.set_meta("runs", str(published(database)[0] + 1))


def published(database: Database) -> tuple[int, int]:
    """How many runs ended well that wrote something, and the number of the folder of vectors in service."""
    return int(database.get_meta("runs") or 0), int(database.get_meta("vectors_generation") or 0)


def is_past(database: Database, state: Sequence[int]) -> bool:
    """Whether a snapshot's state may be an earlier one: after a restore the number of the vectors is higher.

    Where the ledger is shared, another home's restore has left the snapshot of this one as it was.
    """
    if not state:
        return True
    then, now = Version(*state[:-1]).folder, version_of(database).folder
    return then == now if database.identity else then <= now
