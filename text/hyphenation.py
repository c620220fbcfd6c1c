"""Joining words that a printed text breaks at the ends of its lines."""

import re
from collections import Counter
from collections.abc import Sequence

from .scripts import CJK

CELL_BREAK = "-\xad"
"""Marks a break where lines of a cell were joined."""
_LETTER = rf"[^\W\d_{CJK}]"
_BREAK = re.compile(rf"(?<={_LETTER})(?:{CELL_BREAK}|[-\u2010\u2011][^\S\n]*\n[^\S\n]*)(?={_LETTER})(\S+)([ ]?)")
_WORD = re.compile(r"[^\W_]+(?:[-'’\u2010\u2011][^\W_]+)*")
_LAST_LETTERS = re.compile(r"(?<![^\W\d_])[^\W\d_]+\Z")
_FIRST_LETTERS = re.compile(r"[^\W\d_]+")
_LONGEST = 60
_AFTER_SUSPENDED = frozenset({"and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "o", "e", "en", "of"})
"""Words that follow a hyphen which stands for the rest of a word: "pre- and post-war"."""
_SHORTEST_PART = 4
"""The fewest letters of each part of a compound, such as "long-term", for the parts to be recognised as words."""


def join_broken_words(pages: Sequence[str]) -> list[str]:
    """Join words that are broken at the ends of lines; the line break moves behind the whole word.

    If the text has the whole word elsewhere, with or without a hyphen, its more frequent spelling is used. Otherwise
    the hyphen stays if both parts are words of the text, or if the second part begins with a capital ("Anglo-Saxon").
    """
    if not any(map(_BREAK.search, pages)):
        return list(pages)
    known = _count_words(pages)

    def join(match: "re.Match[str]") -> str:
        """Return the rest of a broken word, which replaces the break and the rest; see `_BREAK`."""
        rest, space = match.groups()
        left = _last_letters(match)
        right = _FIRST_LETTERS.match(rest)
        if right is None or right[0].casefold() in _AFTER_SUSPENDED:
            return match[0]
        hyphen = "-" if _has_hyphen(left, right[0], known) else ""
        is_line_end = CELL_BREAK not in match[0]
        return hyphen + rest + ("\n" if is_line_end and space else space)

    return [_BREAK.sub(join, page) for page in pages]


def _count_words(pages: Sequence[str]) -> Counter[str]:
    """Count the words of pages in lower case; the two parts of a broken word are not counted."""
    known = Counter(word.casefold() for page in pages for word in _WORD.findall(page))
    for page in pages:
        for match in _BREAK.finditer(page):
            right = _FIRST_LETTERS.match(match[1])
            known.subtract(part.casefold() for part in (_last_letters(match), right[0] if right else "") if part)
    return known


def _last_letters(match: "re.Match[str]") -> str:
    """Return the letters before the hyphen, or ""."""
    letters = _LAST_LETTERS.search(match.string[max(0, match.start() - _LONGEST):match.start()])
    return letters[0] if letters else ""


def _has_hyphen(left: str, right: str, known: Counter[str]) -> bool:
    """Return True if the two parts of a broken word are joined with a hyphen."""
    first, second = left.casefold(), right.casefold()
    whole_count, hyphenated_count = known[first + second], known[f"{first}-{second}"]
    if whole_count or hyphenated_count:  # the text has the whole word elsewhere
        return hyphenated_count > whole_count
    if not right[0].islower():  # "Anglo-Saxon"
        return True
    are_long = min(len(first), len(second)) >= _SHORTEST_PART
    return are_long and known[first] > 0 and known[second] > 0  # "long-term": both parts are words
