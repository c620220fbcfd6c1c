"""Text as it is stored: what cannot be stored or shown is taken out once, where a text enters."""

import re
from typing import TypeVar

from .scripts import CJK

_T = TypeVar("_T")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_CJK_BREAK = re.compile(rf"(?<=[{CJK}])[^\S\n]*\n\s*(?=[{CJK}])")
_SURROGATES = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    r"""The text as it is stored.

    Args:
        text: any text.

    Returns:
        The text with `\n` as its only line break (form feeds and the like are line breaks too),
        without control characters but tab, and with U+FFFD for lone surrogates. Nothing else is
        changed.
    """
    text = _LINE_ENDS.sub("\n", text)
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", text))


def one_line(text: str) -> str:
    """Return a name or value with its white space collapsed, as it is stored and shown.

    A line that breaks between two Chinese or Japanese characters leaves no space: none stands between words there.
    """
    return " ".join(_CJK_BREAK.sub("", text).split())


def clean_json(value: _T) -> _T:
    """Return a decoded JSON value with every text in it, names of fields included, as `clean_text` has it.

    Raises:
        RecursionError: it is nested deeper than Python allows.
    """
    if isinstance(value, str):
        return clean_text(value)  # type: ignore[return-value]
    if isinstance(value, list):
        return [clean_json(item) for item in value]  # type: ignore[return-value]
    if isinstance(value, dict):
        return {clean_json(name): clean_json(item) for name, item in value.items()}  # type: ignore[return-value]
    return value
