"""Whether texts are English, by their script and their function words."""

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from .scripts import CJK, script_of

_WORD = re.compile(r"[^\W\d_]+")
_WIDE = re.compile(f"[{CJK}]")
_WIDTH = 3
"""A letter of Chinese, Japanese or Korean says about as much as three Latin ones."""
_FEWEST_WORDS = 8
"""A shorter text in Latin script may be a name, which says nothing about the language."""
_SHARE = 0.1
"""Of the words of prose more are function words of its language; of tables and lists fewer."""
_FOREIGN_SHARE = 0.1
"""From this share of letters in other languages on, an English model would leave too much unread."""


@cache
def _function_words() -> tuple[frozenset[str], frozenset[str]]:
    """Those of English, and those of other languages in Latin script."""
    listed: dict[str, str] = json.loads(Path(__file__).with_name("function_words.json").read_text("utf-8"))
    english = frozenset(listed.pop("en").split())
    return english, frozenset(word for words in listed.values() for word in words.split()) - english


def is_english(text: str) -> bool | None:
    """Return True for an English text, False for one in another language, None where it cannot be determined."""
    script = script_of(text)
    if script != "latin":
        return False if script else None
    words = _WORD.findall(text.lower())
    if len(words) < _FEWEST_WORDS:
        return None
    english, foreign = (sum(word in known for word in words) / len(words) for known in _function_words())
    if max(english, foreign) < _SHARE:
        return None
    return english > foreign


def are_english(texts: Iterable[str]) -> bool:
    """Return True unless a tenth or more of what texts say is in other languages.

    Args:
        texts: in any order, which changes nothing; those whose language cannot be determined do not count.
    """
    letters = {True: 0, False: 0}
    for text in texts:
        english = is_english(text)
        if english is not None:
            letters[english] += sum(map(len, _WORD.findall(text))) + (_WIDTH - 1) * len(_WIDE.findall(text))
    return letters[False] < _FOREIGN_SHARE * sum(letters.values()) or not letters[False]
