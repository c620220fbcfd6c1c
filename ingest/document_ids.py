"""Ids of documents: which texts may be one, and how a record's id is told from a file's."""

import re
import unicodedata

from ..schemas.naming import UNSEEN
from .failures import UnreadableError

MAX_ID = 1000
"""Characters of an id (see `Document`)."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAK = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029]")


class DocumentIdError(UnreadableError):
    """A text that cannot be a document's id; says why, and what to do."""


def check_id(text: str) -> str:
    """Return a text as a document's id, in Unicode's form NFC.

    Ids that look the same are the same: an id has no invisible characters, line breaks or blanks at its ends. It is
    never opened as a path, but people read it as one, so it does not lead upwards.

    Args:
        text: a file's relative path, or what a record or a caller calls a document.

    Raises:
        DocumentIdError: it cannot be an id.
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
    """Return the id of a record that has one of its own: `FILE/OWN`, which no file beside FILE can have.

    Args:
        file: the id of the record's file.
        own: what the record calls itself.

    Raises:
        DocumentIdError: the record's own id cannot be one.
    """
    return check_id(f"{file}/{check_id(own)}")


def _error(text: str, reason: str) -> DocumentIdError:
    shown = ascii(text[:60]) if not text.isprintable() else repr(text[:60])
    return DocumentIdError(f"the id {shown} cannot be used: {reason}")
