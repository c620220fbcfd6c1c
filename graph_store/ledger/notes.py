"""Store instructions to the model, the files that a build could not read, and the calls that are under way."""

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from ...schemas.errors import BanyanError
from .database import Database

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


class OpenBatch(NamedTuple):
    """A batch whose answers are not recorded yet."""

    file: str
    """The endpoint's id of its requests."""
    id: str
    """The endpoint's id of the batch; "" while it is not known whether the endpoint has started it."""
    keys: list[str]
    """The keys of its calls."""


def read_open_batches(database: Database) -> list[OpenBatch]:
    """Return the batches that an endpoint is answering, so a build that was killed submits nothing again."""
    return [OpenBatch(*batch) for batch in database.notes(BUILD).get("open_batches", ())]


def write_open_batches(database: Database, batches: Iterable[OpenBatch]) -> None:
    """Store which batches are under way."""
    database.note(BUILD, open_batches=[*batches])


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
    return [left for call in calls if (left := [chunk for chunk in call if chunk in chunks])]


def split_call(database: Database, chunks: Sequence[str]) -> None:
    """Replace a failed call in the stored batches by one call for each of its chunks."""
    alone = [[chunk] for chunk in chunks]
    with database.transaction():  # other calls may fail at the same time
        write_batches(database, [
            [part for call in calls for part in (alone if call == list(chunks) else [call])]
            for calls in read_batches(database)])
