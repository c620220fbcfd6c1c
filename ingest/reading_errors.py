"""Errors while documents are read."""

from ..schemas.documents import Frozen
from ..schemas.errors import BanyanError

LEFT_OUT = "left out: "
"""How the reason begins why files that are no documents are not read; this is no failure of a build."""


class LoadFailure(Frozen):
    """A file or record that gave no document, with the cause and the fix; reading continues with the others."""

    path: str
    reason: str


class IngestError(BanyanError):
    """Nothing can be read, for example because a path does not exist."""


class UnreadableError(ValueError):
    """One file cannot be read; the message names the cause and the fix."""
