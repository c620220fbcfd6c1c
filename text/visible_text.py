"""Making text safe to show and to export.

`visible` shows characters that are invisible, reorder others or look like others with their code points. `printable`
removes what XML forbids, and `json_text` writes JSON.
"""

import re
from typing import Any

import orjson

from ..schemas.naming import UNSEEN

_SEPARATORS = "\x0b-\x1f\x85\u2028\u2029"
_SURROGATES = "\ud800-\udfff"
# Joiners have a meaning only between letters of other scripts.
_JOINERS = "(?<![^\x00-\u024f])[\u200c\u200d]"
ACTING = re.compile(f"{UNSEEN.pattern}|[{_SEPARATORS}{_SURROGATES}]|{_JOINERS}")
"""Invisible and control characters, including those that move, hide or reorder other characters."""
_LONGEST_CODE_POINT = len("‹U+000000›")
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[A-Za-z]")
_LOOKALIKE = re.compile("[\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf"
                    "\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c-\u041e\u0420-\u0422\u0425\u0430\u0435\u043e"
                    "\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0501\u051b\u051d]")
"""Greek and Cyrillic letters that most fonts draw like a Latin one."""


def visible(text: str) -> str:
    """Return the text in a form that is safe to show, on a terminal as elsewhere.

    Returns:
        The text, with each control or invisible character except tab and line feed as ‹U+001B›, and each Greek or
        Cyrillic letter that looks like a Latin one followed by its code point if its word has Latin letters.
    """
    if text.isascii() and text.isprintable():
        return text
    return _WORD.sub(_mark_lookalikes, ACTING.sub(lambda match: code_point(match[0]), text))


def _mark_lookalikes(word: re.Match[str]) -> str:
    """Return a word with a code point after each letter that looks Latin but is not, if it also has Latin letters."""
    letters = word[0]
    if letters.isascii() or not _LATIN.search(letters):
        return letters
    marked = _LOOKALIKE.sub(lambda letter: letter[0] + code_point(letter[0]), letters)
    # A text may be marked twice, first alone and then as a part of another. A marked letter ends its word, because a
    # code point is no letter, so only the word's last letter may have its code point already.
    last_code_point = code_point(letters[-1])
    text_after = word.string[word.end():word.end() + _LONGEST_CODE_POINT]
    is_marked = _LOOKALIKE.match(letters[-1]) and text_after.startswith(last_code_point)
    return marked[:-len(last_code_point)] if is_marked else marked


def code_point(character: str) -> str:
    """Return a character's code point as it is shown in place of the character: "‹U+001B›"."""
    return f"‹U+{ord(character):04X}›"


# All characters that XML 1.0 allows, which HTML can show too; others would break a file or be invisible.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACEMENT = "\ufffd"


def printable(text: str) -> str:
    """Replace each character that XML forbids, such as control characters, with a replacement mark."""
    return _UNPRINTABLE.sub(_REPLACEMENT, text)


def json_text(value: Any) -> str:
    """Return a value as JSON on one line."""
    return orjson.dumps(value).decode()
