"""Stems of words by Snowball."""

from functools import cache, lru_cache
from threading import Lock

import snowballstemmer

_WORKING = Lock()
"""A stemmer keeps the word that it works on."""


@lru_cache(maxsize=65_536)
def stem_word(word: str, language: str = "english") -> str:
    """Return a folded word without its ending, so that its inflections are one.

    Args:
        word: one word in lower case.
        language: a language of Snowball's by its English name.
    """
    with _WORKING:
        return str(_stemmer(language).stemWord(word))


@cache
def _stemmer(language: str) -> "snowballstemmer.stemmer":
    return snowballstemmer.stemmer(language)
