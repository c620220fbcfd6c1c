"""What can go wrong while documents are read."""

from ..schemas.documents import Frozen
from ..schemas.errors import BanyanError


class LoadFailure(Frozen):
    """A file or record that gave no document, with the cause and the fix; the others go on."""

    path: str
    reason: str


class IngestError(BanyanError):
    """Nothing can be read at all: a path that was given does not exist."""


class UnreadableError(ValueError):
    """One file cannot be read; the message names the cause and the fix."""
