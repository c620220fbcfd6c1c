"""The words of labels, with their inflection taken off: when two labels are one label, inflected otherwise."""

import re
from threading import Lock

import snowballstemmer

from ...schemas.caching import cached_if_short
from ...schemas.naming import label_key
from ...text.scripts import CJK

_AUXILIARIES = frozenset({"is", "are", "was", "were", "be", "been"})
_AGENTS = ("er", "or", "ee", "ion", "ment")
"""Endings of nouns made of verbs: stemming makes an employer, an employee and to employ one word."""
_CJK_WORD = re.compile(f"[{CJK}]+")
_STEMMER = snowballstemmer.stemmer("english")
_STEMMING = Lock()  # a stemmer keeps the word it works on


@cached_if_short(65536)
def stems(label: str) -> tuple[str, ...]:
    """A label's words without English inflection; words of other languages as they are.

    Args:
        label: "works for", "was_founded_by", "电影".

    Returns:
        Folded words: number, person and tense taken off, and the auxiliary of a passive. Agents
        ("employer") keep their ending: who employs is not what was employed.
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
    with _STEMMING:
        return str(_STEMMER.stemWord(word))


def without_voice(stemmed: tuple[str, ...]) -> tuple[str, ...]:
    """Stems without the "by" of a passive: what is left says nothing of who did it to whom."""
    return stemmed[:-1] if len(stemmed) > 1 and stemmed[-1] == "by" else stemmed


def head_endings(label: str) -> list[tuple[str, ...]]:
    """The stems of what a label ends in, longest first, without the label itself.

    In Chinese, Japanese and Korean any characters, else whole words: "historical film" ends in "film",
    "历史电影" in "史电影", "电影" and "影".
    """
    stemmed = stems(label)
    endings = [stemmed[at:] for at in range(1, len(stemmed))]
    last = stemmed[-1] if stemmed else ""
    if _CJK_WORD.fullmatch(last):
        endings += [(last[at:],) for at in range(1, len(last))]
    return endings
