"""Texts of documents inside texts of ours."""

import re
from typing import Any

import orjson

# All that XML 1.0 admits, which HTML shows as well; the rest would break a file or vanish unseen.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACEMENT = "\ufffd"


def printable(text: str) -> str:
    """The text with a replacement mark for each character that XML forbids, as control characters are."""
    return _UNPRINTABLE.sub(_REPLACEMENT, text)


def json_text(value: Any) -> str:
    """A value as JSON on one line."""
    return orjson.dumps(value).decode()
