"""What the ledger notes in its table `meta`: its state, instructions to the model, and open work of builds.

The counters of the state tell one state of a knowledge base from the next.
"""

import secrets
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

import orjson

from ...schemas.errors import BanyanError
from .database import Database
from .tables import POSITION, RESOLUTION

_STATE = "state"
_LARGEST = 2**53


class Version(NamedTuple):
    """A state of a knowledge base: it differs whenever documents, facts, communities, or the schema differ."""

    position: int
    tree: int
    """The position that the communities reflect."""
    tree_revision: int
    """How often communities were detected or described."""
    schema: int
    resolution: int
    epoch: int


class TreeState(NamedTuple):
    """The state of the ledger that the communities show."""

    position: int = 0
    resolution: int = 0
    drift: int = 0
    """How many entities were added or removed since all communities were last detected anew."""
    revision: int = 0
    """How often communities were detected or described."""


class Overview(NamedTuple):
    """The sizes of a knowledge base, stored by each successful run, so that a list need not open every index."""

    documents: int
    chunks: int
    entities: int
    triples: int
    communities: int
    schema_version: int


class LedgerState(NamedTuple):
    """The counters of a ledger's state, and the states that derived rows belong to.

    Attributes:
        position: a number that grows with every change of what everything else is derived from (see `tables`).
        resolution: a number that grows with every change of the aliases of entities, or of people's edits.
        epoch: a random number that differs between knowledge bases and changes with a reindex or restore; 0 before the
            first write.
        runs: how many runs wrote something and ended successfully.
        tree: the state that the communities show.
        resolved: the state that the aliases belong to (see `AliasTable.state`); None before the first resolution.
        overview: the sizes that the last run stored (see `Overview`).
    """

    position: int = 0
    resolution: int = 0
    epoch: int = 0
    runs: int = 0
    tree: TreeState = TreeState()
    resolved: str | None = None
    overview: Sequence[int] | None = None


def ledger_state(database: Database) -> LedgerState:
    """Return the state of the ledger that a connection reads."""
    stored = dict(map(tuple, database.rows(
        "SELECT key, value FROM meta WHERE key IN (:state, :position, :resolution)", state=_STATE, position=POSITION,
        resolution=RESOLUTION)))
    noted = {name: value for name, value in orjson.loads(stored.get(_STATE, "{}")).items()
             if name in LedgerState._fields}
    numbers = {name: int(noted.get(name, 0)) for name in ("epoch", "runs")}
    return LedgerState(**{**noted, **numbers, "tree": TreeState(*map(int, noted.get("tree", ()))),
                          "position": int(stored.get(POSITION, 0)), "resolution": int(stored.get(RESOLUTION, 0))})


def note_state(database: Database, **changes: object) -> None:
    """Change some attributes of the ledger's state."""
    database.note(_STATE, **changes)


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
    """Publish the changes of a run that ended successfully, with the sizes of the knowledge base."""
    with database.transaction():
        note_state(database, runs=ledger_state(database).runs + 1, overview=overview)


def published_state(database: Database) -> tuple[int, int]:
    """Return the number of successful runs that wrote something, and the epoch."""
    state = ledger_state(database)
    return state.runs, state.epoch


Purpose = Literal["answers", "extraction"]
_KEYS: dict[Purpose, str] = {"answers": "instructions", "extraction": "extraction_instructions"}
MOST_INSTRUCTIONS = 4000
"""Characters of instructions: they go into every prompt for their purpose, and are paid for with each call."""
BUILD = "build"
"""The key under which builds store their notes."""


class InstructionsError(BanyanError):
    """Instructions that are too long."""


class Instructions:
    """A person's instructions for all answers or for all extractions, stored in the ledger."""

    def __init__(self, database: Database, purpose: Purpose) -> None:
        self._db = database
        self._key = _KEYS[purpose]

    def get(self) -> str:
        """Return the instructions; empty if there are none."""
        return str(self._db.notes("settings").get(self._key, ""))

    def set(self, instructions: str) -> None:
        """Replace the instructions; an empty text removes them. Raise InstructionsError if they are too long."""
        check_instructions(instructions)
        self._db.note("settings", **{self._key: instructions.strip()})


def check_instructions(instructions: str) -> None:
    """Raise InstructionsError if instructions are too long."""
    if len(instructions) > MOST_INSTRUCTIONS:
        raise InstructionsError(f"the instructions have {len(instructions):,} characters; they are paid for with "
                                f"every call, so at most {MOST_INSTRUCTIONS:,} are allowed: shorten them")


def note_unread_files(database: Database, files: Sequence[str]) -> None:
    """Store the files that a build could not read or left out, each with the reason."""
    database.note(BUILD, unread_files=list(files))


def read_unread_files(database: Database) -> list[str]:
    """Return the files that the latest build could not read or left out, each with the reason."""
    return [str(line) for line in database.notes(BUILD).get("unread_files", ())]


Calls = list[list[str]]
"""The calls of a batch of a build, each as the ids of the chunks that share it."""


def read_batches(database: Database) -> list[Calls]:
    """Return the batches of a build that are being written and extracted, or were when it ended early."""
    return list(database.notes(BUILD).get("batches", ()))


def write_batches(database: Database, batches: Iterable[Calls]) -> None:
    """Store the batches of a build that are being written and extracted."""
    database.note(BUILD, batches=[*batches])


def keep_chunks(calls: Calls, chunks: Collection[str]) -> Calls:
    """Return calls with only some of their chunks, without those that have none of these."""
    parts = [[chunk for chunk in call if chunk in chunks] for call in calls]
    return [part for part in parts if part]


def split_call(database: Database, chunks: Sequence[str]) -> None:
    """Replace a failed call in the stored batches by one call for each of its chunks."""
    with database.transaction():  # other calls may fail at the same time
        batches = read_batches(database)
        for calls in batches:
            if list(chunks) in calls:
                place = calls.index(list(chunks))
                calls[place:place + 1] = [[chunk] for chunk in chunks]
        write_batches(database, batches)
