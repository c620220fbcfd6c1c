"""Stem the words of labels, so two inflections of one label can be recognised."""

import re

from ...schemas.naming import cached_if_short, label_key
from ...text.content_words import stem_word
from ...text.scripts import CJK

_AUXILIARIES = frozenset({"is", "are", "was", "were", "be", "been"})
_AGENTS = ("er", "or", "ee", "ion", "ment")
"""Noun endings that are not stemmed: stemming would make "employer", "employee" and "employ" one word."""
_CJK_WORD = re.compile(f"[{CJK}]+")


@cached_if_short(65536)
def stems(label: str) -> tuple[str, ...]:
    """Return a label's words, folded, without number, person, tense and the auxiliary of a passive.

    Nouns for agents ("employer") keep their ending, because the employer is not the one who is employed. Words of
    other languages than English are unchanged.
    """
    words = label_key(label).split()
    while len(words) > 1 and words[0] in _AUXILIARIES:
        words = words[1:]
    return tuple(_stem(word) for word in words)


def _stem(word: str) -> str:
    if not (word.isascii() and word.isalpha()):
        return word
    singular = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
    if singular.endswith(_AGENTS):
        return singular
    return stem_word(word)


def without_voice(stemmed: tuple[str, ...]) -> tuple[str, ...]:
    """Return stems without the "by" of a passive; the result no longer shows the relation's direction."""
    return stemmed[:-1] if len(stemmed) > 1 and stemmed[-1] == "by" else stemmed


def head_endings(label: str) -> list[tuple[str, ...]]:
    """Return the stems of a label's proper suffixes, longest first.

    A suffix consists of whole words, and in Chinese, Japanese and Korean of any characters:
    "historical film" ends in "film", "历史电影" in "史电影", "电影" and "影".
    """
    stemmed = stems(label)
    endings = [stemmed[at:] for at in range(1, len(stemmed))]
    last = stemmed[-1] if stemmed else ""
    if _CJK_WORD.fullmatch(last):
        endings += [(last[at:],) for at in range(1, len(last))]
    return endings
