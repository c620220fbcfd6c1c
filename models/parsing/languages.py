"""Which language a text is in, among those that pipelines are installed for."""

import importlib
import re
from collections.abc import Iterable
from functools import cache

_WORD = re.compile(r"[^\W\d_]+")
_READ = 2000
"""Characters that are looked at."""


def language_of(text: str, languages: Iterable[str]) -> str:
    """The language whose function words a text uses most.

    Args:
        text: any text.
        languages: spaCy's codes to choose from.

    Returns:
        One of them; English where none has more of the words.
    """
    chosen = sorted(set(languages))
    if len(chosen) == 1:
        return chosen[0]
    words = [word.lower() for word in _WORD.findall(text[:_READ])]
    counts = {code: sum(map(_stop_words(code).__contains__, words)) for code in chosen}
    return max(chosen, key=lambda code: (counts[code], code == "en"))


@cache
def _stop_words(code: str) -> frozenset[str]:
    # Imported by code: spaCy has a module for each language, and one takes a while to load.
    return frozenset(importlib.import_module(f"spacy.lang.{code}.stop_words").STOP_WORDS)
