"""Character classes of scripts, for splitting into sentences and tokens."""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

CJK = ("\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3040-\u30fa\u30fc-\u318f\u31a0-\u31ff"
       "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
       "\U00020000-\U0003ffff")
"""Han, Kana, Bopomofo and Hangul letters, for use in a regular expression's character class."""

KANA = "\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
"""Hiragana and katakana."""

UNSPACED = f"{CJK}\u0e00-\u0eff\u1000-\u109f\u1780-\u17d3"
"""Letters and vowel signs of scripts without spaces between words: those of `CJK`, Thai, Lao, Burmese and Khmer."""
MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0971-\u0dff\u200c\u200d"
"""Vowel signs, accents and joiners (with the letters of their blocks) that are parts of words, but not of `\\w`."""

_CJK = re.compile(f"[{CJK}]")


_OTHER_DIGIT = re.compile(r"[^\D0-9]")


def with_ascii_digits(text: str) -> str:
    """Return a text of the same length with the digits of all scripts as 0 to 9."""
    return text if text.isascii() else _OTHER_DIGIT.sub(lambda digit: str(int(digit[0])), text)


def is_han(character: str) -> bool:
    """Return True for a letter of a script that `CJK` lists."""
    return _CJK.match(character) is not None


def has_han(text: str) -> bool:
    """Return True for a text with a letter of a script that `CJK` lists."""
    return not text.isascii() and _CJK.search(text) is not None


@lru_cache(maxsize=8192)
def _script_of_letter(letter: str) -> str:
    """Return the script of a letter: "cjk", or the first word of its Unicode name in lower case."""
    return "cjk" if _CJK.match(letter) else unicodedata.name(letter, "unnamed").split(" ")[0].lower()


def script_of(text: str) -> str:
    """Return the script of most letters of a text: "cjk", "latin", "cyrillic", ...; "" for a text without letters."""
    if text.isascii():  # a fast path for most texts in Latin script
        return "latin" if any(map(str.isalpha, text)) else ""
    counts = Counter(map(_script_of_letter, filter(str.isalpha, text)))
    # Of scripts with equal counts, the first by name.
    return min(counts, key=lambda script: (-counts[script], script), default="")
