"""The language of a text, by its script and its function words."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from .patterns import read_json
from .scripts import CJK, KANA, script_of

Language = Literal["en", "zh"]  # the languages of Banyan's own phrases

_LISTED: dict[str, str] = read_json("function_words.json")
FUNCTION_WORDS = {language: frozenset(words.split()) for language, words in _LISTED.items()}
"""The most common function words of languages, in lower case."""
_WORD = re.compile(r"[^\W\d_]+")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_WIDE, _KANA, _HANGUL = re.compile(f"[{CJK}]"), re.compile(f"[{KANA}]"), re.compile("[\uac00-\ud7a3]")
_KANA_SHARE = 0.1  # the share of kana among the letters of Japanese; a Chinese text may have a Japanese name in it
_WIDTH = 3  # a letter of Chinese, Japanese or Korean says about as much as three Latin ones
_FEWEST_WORDS = 8  # words of the shortest Latin text whose language is determined: a shorter one may be a name
_FEWEST_FOREIGN = 2  # different function words of another language: one, such as "fast" or "Li", may be in English
_SHARE, _PROSE_SHARE = 0.1, 0.12
"""The least share of a text's words that are function words, in prose of any language, and to call it not English, as
those of other languages are also names. Tables and lists have fewer, and so no language."""
_ACCENTED_SHARE = 0.2  # from this share of words with letters that English does not have, a text is not English
_FOREIGN_SHARE = 0.1  # from this share of letters in other languages, an English model would leave too much unread
_SCRIPTS = {"cyrillic": "ru", "devanagari": "hi", "bengali": "bn", "arabic": "ar", "thai": "th", "hangul": "ko"}
"""The most common language of a script that several languages use."""


@lru_cache(maxsize=4096)
def language_of(text: str) -> str:
    """Return the ISO 639-1 code of a text's language, or "" if it cannot be determined.

    In Latin script it is the language with the most function words, in most others the most common one that uses it.
    """
    script = script_of(text)
    if script == "cjk":
        letters = len(_WIDE.findall(text))
        if len(_HANGUL.findall(text)) > letters / 2:
            return "ko"
        return "ja" if len(_KANA.findall(text)) >= _KANA_SHARE * letters else "zh"
    if script != "latin":
        return _SCRIPTS.get(script, "")
    words = _latin_words(text)
    counts = {language: sum(map(listed.__contains__, words)) for language, listed in FUNCTION_WORDS.items()}
    best = max(counts, key=counts.__getitem__)  # of languages with equal counts, the first one listed
    return best if counts[best] else ""


def phrase_language(text: str) -> Language:
    """Return the language of Banyan's own phrases about a text: Chinese if it has Han letters and is not Japanese."""
    return "zh" if _HAN.search(text) and language_of(text) != "ja" else "en"


def _latin_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without those of addresses: "auer.com/de" has no French word."""
    return _WORD.findall(_ADDRESS.sub(" ", text.lower()))


def is_english(text: str) -> bool | None:
    """Return True for an English text, False for one in another language, None where it cannot be determined."""
    script = script_of(text)
    if script != "latin":
        return False if script else None
    language, words = language_of(text), _latin_words(text)
    listed = FUNCTION_WORDS.get(language, frozenset())
    share = sum(map(listed.__contains__, words)) / max(len(words), 1)  # of the text's own language
    if len(words) < _FEWEST_WORDS or share < _SHARE:
        return None
    if sum(not word.isascii() for word in words) >= _ACCENTED_SHARE * len(words):
        return False
    if language == "en":
        return True
    # "Ali" and "Sig" are also names: a language shows by several of its own words, and by more of them than of English.
    own_words = listed.intersection(_WORD.findall(_ADDRESS.sub(" ", text)))  # without those that a capital begins
    english_words = FUNCTION_WORDS["en"].intersection(words)
    has_own_words = len(own_words - english_words) >= _FEWEST_FOREIGN and len(own_words) > len(english_words)
    return False if has_own_words and share >= _PROSE_SHARE else None


def are_english(texts: Iterable[str]) -> bool:
    """Return False if a tenth of the letters of those texts whose language is known are in others than English."""
    letter_counts = {True: 0, False: 0}  # of English texts, and of others
    for text in texts:
        english = is_english(text)
        if english is not None:
            wide_count = len(_WIDE.findall(text))
            letter_counts[english] += sum(map(len, _WORD.findall(text))) + (_WIDTH - 1) * wide_count
    foreign_count = letter_counts[False]
    return foreign_count == 0 or foreign_count < _FOREIGN_SHARE * sum(letter_counts.values())
