"""What the ledger notes in its table `meta`: counters of its state, instructions to the model, open work of builds."""

import secrets
from collections.abc import Collection, Sequence
from itertools import chain
from typing import Literal, NamedTuple

import orjson

from ...schemas.errors import BanyanError
from .database import Database
from .tables import POSITION, RESOLUTION

_STATE = "state"
_LARGEST = 2**53  # up to which JSON readers in floating point, such as browsers, read a number exactly


class Version(NamedTuple):
    """A state of a knowledge base, by counters of `LedgerState` and the schema's number: it differs if content does."""

    position: int
    tree: int  # the position that the communities reflect
    tree_revision: int
    schema: int
    resolution: int
    epoch: int


class GraphState(NamedTuple):
    """The last change of rows, and of aliases or edits, that a graph, vectors or a tree show; both numbers grow."""

    position: int
    resolution: int


class TreeState(NamedTuple):
    """The state of the ledger that the communities show."""

    position: int = 0
    resolution: int = 0
    drift: int = 0  # how many entities were added or removed since all communities were last detected anew
    revision: int = 0  # how often communities were detected or described


class Overview(NamedTuple):
    """The sizes of a knowledge base, stored by each successful run, so that a list need not open every index."""

    documents: int
    chunks: int
    entities: int
    triples: int
    communities: int
    schema_version: int


class LedgerState(NamedTuple):
    """The counters of a ledger's state, and the states that derived rows belong to."""

    position: int = 0  # grows with every change of what everything else is derived from (see `tables`)
    resolution: int = 0  # grows with every change of the aliases of entities, or of people's edits
    epoch: int = 0
    """Random: differs between knowledge bases and changes with a reindex or restore; 0 before the first write."""
    runs: int = 0  # how many runs wrote something and ended successfully
    tree: TreeState = TreeState()
    resolved: str | None = None
    """The state that the aliases belong to (see `AliasTable.state`); None before the first resolution."""
    overview: Sequence[int] | None = None  # the sizes that the last run stored (see `Overview`)


def ledger_state(database: Database) -> LedgerState:
    """Return the state of the ledger that a connection reads."""
    stored = dict(map(tuple, database.rows("SELECT key, value FROM meta WHERE key IN (:state, :position, :resolution)",
                                           state=_STATE, position=POSITION, resolution=RESOLUTION)))
    noted = orjson.loads(stored.get(_STATE, "{}"))
    return LedgerState(
        int(stored.get(POSITION, 0)), int(stored.get(RESOLUTION, 0)), int(noted.get("epoch", 0)),
        int(noted.get("runs", 0)), TreeState(*map(int, noted.get("tree", ()))), noted.get("resolved"),
        noted.get("overview"))


def note_state(database: Database, **changes: object) -> None:
    """Change some attributes of the ledger's state; triggers count position and resolution."""
    database.note(_STATE, **changes)


def version_of(database: Database) -> Version:
    """Return the version of the knowledge base that a connection to its ledger reads."""
    state = ledger_state(database)
    return Version(state.position, state.tree.position, state.tree.revision,
                   database.count("SELECT max(version) FROM schema_versions"), state.resolution, state.epoch)


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
MOST_INSTRUCTIONS = 4000  # characters: instructions go into each prompt for their purpose, and are paid for
BUILD = "build"  # the key under which builds store these notes:
UNREAD_FILES = "unread_files"  # the files that the latest build could not read or left out, each with the reason
UNREAD_COUNT = "unread_count"  # how many files it could not read at all
BATCHES = "batches"  # those that are being written and extracted, or were when the build ended early
OPEN_BATCHES = "open_batches"  # the batches of calls that an endpoint is answering


def count_unread_files(database: Database) -> int:
    """Return how many files the latest build could not read at all."""
    return int(database.notes(BUILD).get(UNREAD_COUNT, 0))


class InstructionsError(BanyanError):
    """Instructions that are too long."""


class Instructions:
    """A person's instructions for all answers or for all extractions, stored in the ledger."""

    def __init__(self, database: Database, purpose: Purpose) -> None:
        self._db, self._key = database, _KEYS[purpose]

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


Calls = list[list[str]]  # the calls of a batch of a build, each as the ids of the chunks that share it


def keep_chunks(calls: Calls, chunks: Collection[str]) -> Calls:
    """Return calls with only those of their chunks that are in `chunks`; calls that would be empty are left out."""
    smaller_calls = ([chunk for chunk in call if chunk in chunks] for call in calls)
    return [call for call in smaller_calls if call]


def split_call(database: Database, chunks: Sequence[str]) -> None:
    """Replace a failed call in the stored batches by one call for each of its chunks."""
    def split(call: list[str]) -> Calls:
        return [[chunk] for chunk in call] if call == list(chunks) else [call]

    with database.transaction():  # other calls may fail at the same time
        batches: list[Calls] = database.notes(BUILD).get(BATCHES, [])
        database.note(BUILD, **{BATCHES: [[*chain.from_iterable(map(split, calls))] for calls in batches]})
