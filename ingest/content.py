"""What a reader makes of a file."""

from collections.abc import Mapping
from typing import NamedTuple


class Content(NamedTuple):
    """A file that is one document: its text, not yet cleaned, its title or "", and what else it says of itself.

    The pages of a printed work end with a form feed each.
    """

    text: str
    title: str = ""
    metadata: Mapping[str, object] = {}
    paged: bool = False
    unread: str = ""
    """Which part of the file could not be read, and what to do about it."""
