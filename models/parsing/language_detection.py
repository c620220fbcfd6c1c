"""Detection of a text's language among those with installed pipelines."""

import importlib
import re
from collections.abc import Iterable
from functools import cache

_WORD = re.compile(r"[^\W\d_]+")
_READ = 2000
"""The number of characters to read."""


def language_of(text: str, languages: Iterable[str]) -> str:
    """Return the language whose function words are most common in a text.

    Args:
        text: any text.
        languages: spaCy's codes of the languages to choose from.

    Returns:
        One of them; English if no language has more such words.
    """
    chosen = sorted(set(languages))
    if len(chosen) == 1:
        return chosen[0]
    words = [word.lower() for word in _WORD.findall(text[:_READ])]
    counts = {code: sum(map(_stop_words(code).__contains__, words)) for code in chosen}
    return max(chosen, key=lambda code: (counts[code], code == "en"))


@cache
def _stop_words(code: str) -> frozenset[str]:
    # Imported by code: spaCy has a module for each language, and each takes a while to load.
    return frozenset(importlib.import_module(f"spacy.lang.{code}.stop_words").STOP_WORDS)
