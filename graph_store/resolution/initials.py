"""Initials in names of persons: as one abbreviation, and before the family name."""

import re
from collections.abc import Sequence

_INVERTED = re.compile(r"[^\W\d_][\w'’-]+,? (?:[^\W\d_]\.[ -]?){1,4}")
"""A family name before initials, as indexes have it: "Bach C.P.E."."""


def join_letters(parts: list[str]) -> list[str]:
    """Join adjacent single letters into one abbreviation: "j. r. r. tolkien" becomes "jrr tolkien"."""
    joined: list[str] = []
    follows_letter = False
    for part in parts:
        is_letter = len(part) == 1 and part.isalpha() and part.isascii()
        if is_letter and follows_letter:
            joined[-1] += part
        else:
            joined.append(part)
        follows_letter = is_letter
    return joined


def is_inverted(name: str) -> bool:
    """Return True for a family name before initials: "Bach C.P.E."."""
    return _INVERTED.fullmatch(name) is not None


def words_of_person(name: str, words: Sequence[str]) -> tuple[str, ...]:
    """Return the folded words of a name with initials before the family name: "cpe bach" for "Bach C.P.E."."""
    return (*words[1:], words[0]) if is_inverted(name) else tuple(words)
