"""A knowledge base's instructions for the wording of its answers."""

from ...schemas.errors import BanyanError
from .database import Database

_KEY = "instructions"
MOST_INSTRUCTIONS = 4000
"""Characters of instructions: they go into every prompt that asks for an answer."""


class InstructionsError(BanyanError):
    """Instructions that are too long."""


class Instructions:
    """What a person wants of all answers: tone, length, format, language. Stored in the ledger."""

    def __init__(self, database: Database) -> None:
        """Read and write the instructions of a ledger."""
        self._db = database

    def get(self) -> str:
        """Return the instructions; empty if there are none."""
        return self._db.get_meta(_KEY) or ""

    def set(self, instructions: str) -> None:
        """Replace the instructions; an empty text removes them.

        Raises:
            InstructionsError: they are too long.
        """
        check_instructions(instructions)
        self._db.set_meta(_KEY, instructions.strip())


def check_instructions(instructions: str) -> None:
    """Check the length of instructions.

    Raises:
        InstructionsError: they are too long.
    """
    if len(instructions) > MOST_INSTRUCTIONS:
        raise InstructionsError(f"the instructions have {len(instructions):,} characters; they go into every prompt, "
                                f"so at most {MOST_INSTRUCTIONS:,} are allowed")
