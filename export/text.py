"""Escaping of documents' texts for the export formats."""

import re
from typing import Any

import orjson

# All characters that XML 1.0 allows, which HTML can show too; others would break a file or be invisible.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACEMENT = "\ufffd"


def printable(text: str) -> str:
    """Replace each character that XML forbids, such as control characters, with a replacement mark."""
    return _UNPRINTABLE.sub(_REPLACEMENT, text)


def json_text(value: Any) -> str:
    """Return a value as JSON on one line."""
    return orjson.dumps(value).decode()
