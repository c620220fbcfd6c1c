"""Words that a printed text breaks at the ends of its lines, put together again."""

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
_SUSPENDED = frozenset({"and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "o", "e", "en", "of"})
"""Words after a hyphen that stands for the rest of a word: "pre- and post-war"."""
_OWN_WORD = 4
"""The shortest parts of a compound that are recognised as words of their own."""


def join_broken_words(pages: Sequence[str]) -> list[str]:
    """Join words that are broken at the ends of lines; the line then ends after the whole word.

    The hyphen stays if the text writes the word with it elsewhere, if both parts are words of the text, or if the
    second part begins with a capital ("Anglo-Saxon"); the text's own spelling of the whole word decides first.

    Args:
        pages: the texts of a printed work, because a word is often whole on another page.
    """
    if not any(map(_BREAK.search, pages)):
        return list(pages)
    known = _count_words(pages)

    def join(match: "re.Match[str]") -> str:
        token, space = match.groups()
        left = _last_letters(match)
        right = _FIRST_LETTERS.match(token)
        if right is None or right[0].casefold() in _SUSPENDED:
            return match[0]
        end = "" if CELL_BREAK in match[0] else "\n" if space else ""
        return ("-" if _has_hyphen(left, right[0], known) else "") + token + (end or space)

    return [_BREAK.sub(join, page) for page in pages]


def _count_words(pages: Sequence[str]) -> Counter[str]:
    """Count the words of pages, without the parts of broken ones."""
    known = Counter(word.casefold() for page in pages for word in _WORD.findall(page))
    for page in pages:
        for match in _BREAK.finditer(page):
            right = _FIRST_LETTERS.match(match[1])
            known.subtract(part.casefold() for part in (_last_letters(match), right[0] if right else "") if part)
    return known


def _last_letters(match: "re.Match[str]") -> str:
    found = _LAST_LETTERS.search(match.string[max(0, match.start() - _LONGEST):match.start()])
    return found[0] if found else ""


def _has_hyphen(left: str, right: str, known: Counter[str]) -> bool:
    first, second = left.casefold(), right.casefold()
    whole, hyphenated = known[first + second], known[f"{first}-{second}"]
    if whole or hyphenated:
        return hyphenated > whole
    return not right[0].islower() or (min(len(first), len(second)) >= _OWN_WORD and known[first] > 0 < known[second])
