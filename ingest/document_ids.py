"""Ids of documents: which texts are valid ids, and how the ids of records and files differ."""

import re
import unicodedata

from ..schemas.naming import UNSEEN
from .reading import UnreadableError

MAX_ID = 1000
"""The largest number of characters in an id (see `Document`)."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAK = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029]")


class DocumentIdError(UnreadableError):
    """A text that cannot be a document's id; the message names the cause and the fix."""


def check_id(text: str) -> str:
    """Normalise a text to Unicode NFC and return it as a document's id.

    Ids that look the same are the same: an id has no invisible characters and no line breaks, and no blanks at its
    ends. Banyan never opens an id as a path, but people read it as one, so it must not contain `.` or `..`.

    Args:
        text: a file's relative path, or the id that a record or a caller gives a document.

    Raises:
        DocumentIdError: the text cannot be an id.
    """
    name = unicodedata.normalize("NFC", text)
    if not name or len(name) > MAX_ID:
        raise _error(text, f"it has {len(name):,} characters: use 1 to {MAX_ID:,}")
    if _SURROGATE.search(name):
        raise _error(text, "it is no valid Unicode: write it in UTF-8")
    if UNSEEN.search(name) or _BREAK.search(name):
        raise _error(text, "it has an invisible character or a line break: take it out")
    if name != name.strip():
        raise _error(text, "it begins or ends with a blank: take it out")
    if not {".", ".."}.isdisjoint(name.replace("\\", "/").split("/")):
        raise _error(text, "a part of it is `.` or `..`: use another name")
    return name


def record_id(file: str, own: str) -> str:
    """Return the id of a record that has an id: `FILE/OWN`, which no file next to FILE can have.

    Args:
        file: the id of the record's file.
        own: the record's id within its file.

    Raises:
        DocumentIdError: the id cannot be used.
    """
    return check_id(f"{file}/{check_id(own)}")


def _error(text: str, reason: str) -> DocumentIdError:
    shown = ascii(text[:60]) if not text.isprintable() else repr(text[:60])
    return DocumentIdError(f"the id {shown} cannot be used: {reason}")
