"""The content that a reader returns."""

from collections.abc import Mapping
from typing import NamedTuple


class Content(NamedTuple):
    """A file that is one document: its text, not yet cleaned, its title or "", and its metadata.

    A form feed separates the pages of a printed work.
    """

    text: str
    title: str = ""
    metadata: Mapping[str, object] = {}
    paged: bool = False
    unread: str = ""
    """The part of the file that could not be read, and how to fix it."""
    omitted: str = ""
    """What is not read in any file of this kind, such as "2 pictures, 1 comment"."""
