"""Cleaning text when it is read, so that no stored text has characters that cannot be stored or shown."""

import re
from typing import TypeVar

from .scripts import CJK

_T = TypeVar("_T")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_SOFT_HYPHEN = re.compile("\xad+(?:[^\\S\n]*\n[^\\S\n]*(?=\\S))?")
_LIGATURES = str.maketrans({"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl",
                            "\ufb05": "st", "\ufb06": "st"})
_SYMBOLS = dict.fromkeys(map(ord, "\uf06c\uf06e\uf076\uf09f\uf0a7\uf0a8\uf0b7\uf0d8"), "\u2022") | {
    0xF0FC: "\u2713", 0xF0FB: "\u2717"}
"""What Word and PowerPoint write for list marks of the fonts Symbol and Wingdings: bullets, a tick and a cross."""
_TYPESET = re.compile("[\xad\ufb00-\ufb06\uf06c-\uf0fc]")
_CJK_BREAK = re.compile(rf"(?<=[{CJK}])[^\S\n]*\n\s*(?=[{CJK}])")
_SURROGATES = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    r"""Return the text in the form in which it is stored.

    Args:
        text: any text.

    Returns:
        The text with `\n` as its only line break (form feeds and similar characters count as line breaks),
        without control characters except tab, and with U+FFFD for lone surrogates. Soft hyphens are removed and
        ligatures such as "ﬁ" become plain letters, because both only change how a word is printed. List marks of symbol
        fonts become "•". Everything else is unchanged.
    """
    text = _LINE_ENDS.sub("\n", text)
    if _TYPESET.search(text):
        text = _SOFT_HYPHEN.sub("", text).translate(_LIGATURES | _SYMBOLS)
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", text))


def one_line(text: str) -> str:
    """Return a name or value with its white space collapsed, as it is stored and shown.

    A line that breaks between two Chinese or Japanese characters leaves no space, which these scripts do not use.
    """
    return " ".join(_CJK_BREAK.sub("", text).split())


def clean_json(value: _T) -> _T:
    """Apply `clean_text` to every string in a decoded JSON value, including the names of fields.

    Raises:
        RecursionError: the value is nested deeper than Python allows.
    """
    if isinstance(value, str):
        return clean_text(value)  # type: ignore[return-value]
    if isinstance(value, list):
        return [clean_json(item) for item in value]  # type: ignore[return-value]
    if isinstance(value, dict):
        return {clean_json(name): clean_json(item) for name, item in value.items()}  # type: ignore[return-value]
    return value
