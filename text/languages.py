"""The language of a text, by its script and its function words."""

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path

from .scripts import CJK, KANA, script_of

_WORD = re.compile(r"[^\W\d_]+")
_WIDE = re.compile(f"[{CJK}]")
_WIDTH = 3
"""A letter of Chinese, Japanese or Korean says about as much as three Latin ones."""
_FEWEST_WORDS = 8
"""A shorter text in Latin script may be a name, which says nothing about the language."""
_FEWEST_FOREIGN = 2
"""Different function words that tell another language: one, such as "fast" or "Li", may be in English notes."""
_LONG = 100
"""From this many words on, prose has several function words of its language."""
_SHARE = 0.1
"""Of the words of prose more are function words of its language; of tables and lists fewer."""
_FOREIGN_SHARE = 0.1
"""From this share of letters in other languages on, an English model would leave too much unread."""


_SCRIPTS = {"cyrillic": "ru", "devanagari": "hi", "bengali": "bn", "arabic": "ar", "thai": "th", "hangul": "ko"}
"""The most common language of a script that several languages use."""
_KANA = re.compile(f"[{KANA}]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_KANA_SHARE = 0.1
"""The share of kana among the letters of Japanese; a Chinese text may have a Japanese name in it."""


@cache
def _word_lists() -> dict[str, frozenset[str]]:
    listed: dict[str, str] = json.loads(Path(__file__).with_name("function_words.json").read_text("utf-8"))
    return {language: frozenset(words.split()) for language, words in listed.items()}


def function_words(language: str) -> frozenset[str]:
    """Return the most common function words of a language in lower case; empty if none are listed."""
    return _word_lists().get(language, frozenset())


@lru_cache(maxsize=4096)
def language_of(text: str) -> str:
    """Return the ISO 639-1 code of a text's language.

    Args:
        text: any text; one of a few words in Latin script has a language only if it has function words.

    Returns:
        "zh", "ja" or "ko" for these, the most common language of other scripts, the one with the most function words in
        Latin script, or "" if it cannot be determined.
    """
    script = script_of(text)
    if script == "cjk":
        letters = len(_WIDE.findall(text))
        if len(_HANGUL.findall(text)) > letters / 2:
            return "ko"
        return "ja" if len(_KANA.findall(text)) >= _KANA_SHARE * letters else "zh"
    if script != "latin":
        return _SCRIPTS.get(script, "")
    words = _WORD.findall(text.lower())
    counts = {language: sum(map(known.__contains__, words)) for language, known in _word_lists().items()}
    best = max(counts, key=counts.__getitem__)  # the first of equals, in the order of the list
    return best if counts[best] else ""


@cache
def _function_words() -> tuple[frozenset[str], frozenset[str]]:
    """Return the function words of English, and those of other languages."""
    english = function_words("en")
    return english, frozenset(word for words in _word_lists().values() for word in words) - english


def is_english(text: str) -> bool | None:
    """Return True for an English text, False for one in another language, None where it cannot be determined."""
    script = script_of(text)
    if script != "latin":
        return False if script else None
    words = _WORD.findall(text.lower())
    if len(words) < _FEWEST_WORDS:
        return None
    english, foreign = (sum(map(known.__contains__, words)) / len(words) for known in _function_words())
    is_foreign = foreign >= english and _is_of_another_language(words)
    if max(english, foreign) < _SHARE or (foreign >= english and not is_foreign):
        return None
    return not is_foreign


def _is_of_another_language(words: Sequence[str]) -> bool:
    """Return True if a text has function words of other languages; a long one more of one of these than of English.

    How often they occur tells less: a table repeats its header, such as "share non-white per 100k", in each row.
    """
    english, foreign = _function_words()
    present = frozenset(words)
    most = max(len(present & known) for known in _word_lists().values())
    return len(foreign & present) >= _FEWEST_FOREIGN and (len(words) < _LONG or most > len(present & english))


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
