"""A knowledge base's instructions to the model that words its answers, or extracts from its documents."""

from typing import Literal

from ...schemas.errors import BanyanError
from .database import Database

Purpose = Literal["answers", "extraction"]
_KEYS: dict[Purpose, str] = {"answers": "instructions", "extraction": "extraction_instructions"}
MOST_INSTRUCTIONS = 4000
"""Characters of instructions: they go into every prompt for their purpose, and are paid for with each call."""


class InstructionsError(BanyanError):
    """Instructions that are too long."""


class Instructions:
    """What a person wants of all answers or of all extractions. Stored in the ledger.

    For answers this is their tone, length, format and language. For extraction it is what to extract and what to leave
    out, and a glossary: terms with their meanings.
    """

    def __init__(self, database: Database, purpose: Purpose) -> None:
        """Read and write a ledger's instructions for one purpose."""
        self._db = database
        self._key = _KEYS[purpose]

    def get(self) -> str:
        """Return the instructions; empty if there are none."""
        return str(self._db.notes("settings").get(self._key, ""))

    def set(self, instructions: str) -> None:
        """Replace the instructions; an empty text removes them.

        Raises:
            InstructionsError: they are too long.
        """
        check_instructions(instructions)
        self._db.note("settings", **{self._key: instructions.strip()})


def check_instructions(instructions: str) -> None:
    """Check the length of instructions.

    Raises:
        InstructionsError: they are too long.
    """
    if len(instructions) > MOST_INSTRUCTIONS:
        raise InstructionsError(f"the instructions have {len(instructions):,} characters; they are paid for with "
                                f"every call, so at most {MOST_INSTRUCTIONS:,} are allowed: shorten them")
