"""Find names that a text says are of the same thing: "World Health Organization (WHO)", "also known as", 以下简称."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from ...schemas.naming import label_key
from .name_comparison import fold, stand_for

_MARKER = re.compile(
    r"(?:\b(?:also|otherwise|better|commonly|formerly|previously) (?:known|called|named|referred to)(?: as)?"
    r"|\b(?:abbreviated|hereinafter|shortened)(?: (?:as|to|referred to as))?|\ba\.?k\.?a\.?(?=\W)"
    r"|以下简称为?|下称|简称为?|又称为?|又名|亦称|也称为?|别名为?|全称为?|曾用名为?|原名为?)", re.IGNORECASE)
_CUES = "known called named referred abbrev nafter shortened aka a.ka ak.a a.k.a 称 名".split()  # noqa: SIM905
"""Parts of every marker: searching for them first is faster, because most texts have none."""
_ALIAS_RELATIONS = frozenset("""
    also known as|is also known as|was also known as|aka|a.k.a.|alias|also called|is also called|abbreviated as
    is abbreviated as|abbreviation|short for|is short for|stands for|formerly known as|was formerly known as
    also named|same as|又称|又名|简称|别名|全称|也称|亦称|曾用名|原名""".replace("\n", "|").split("|"))
_ALIASES = frozenset(label.strip() for label in _ALIAS_RELATIONS if label.strip())
_BEFORE = " \t\n,，(（[“\"‘'「:：;；—–-"  # may stand between a name and a marker after it
_AFTER = " \t\n“\"‘'「:：为是"  # may stand between a marker and the name after it
_PREPOSITION = re.compile(r"\b(?:in|of|at|on|for|to|from|by|with|near|and|or|into|between)\s+(?:the\s+|an?\s+)?$",
                          re.IGNORECASE)
_PARENTHESIS = re.compile(r"[(（]([^()（）]{2,80})[)）]")


class Statement(NamedTuple):
    """Two names that a chunk's text says are of the same thing, and where it does (offsets in the chunk)."""

    first: str
    second: str
    start: int
    end: int


def is_alias_relation(relation: str) -> bool:
    """Return True if a relation's name means that its head and tail are the same thing."""
    return label_key(relation) in _ALIASES


def statements(text: str, names: Iterable[str]) -> list[Statement]:
    """Return the places of a chunk's text that say that two of the names are of the same thing, sorted by position."""
    known = set(names) - {""}
    statements_made = {*_find_marked(text, known), *_find_in_parentheses(text, known)} if len(known) > 1 else set()
    return sorted(statements_made, key=lambda statement: (statement.start, statement))


def _longest_first(names: Collection[str]) -> list[str]:
    return sorted(names, key=lambda name: (-len(name), name))


def _find_marked(text: str, known: Collection[str]) -> Iterator[Statement]:
    """Yield the pairs of known names that have a marker such as "also known as" between them."""
    folded = text.casefold()
    markers = list(_MARKER.finditer(text)) if any(cue in folded for cue in _CUES) else []
    names = _longest_first(known) if markers else []
    for marker in markers:
        left_end = len(text[:marker.start()].rstrip(_BEFORE))
        right_start = len(text) - len(text[marker.end():].lstrip(_AFTER))
        left = next((name for name in names if _ends(text, left_end, name)), "")
        right = next((name for name in names if _begins(text, right_start, name)), "")
        # In "a house in Rome, also known as the Nest" the other name is not Rome's.
        follows_preposition = _PREPOSITION.search(text[:left_end - len(left)])
        if left and right and left != right and not follows_preposition:
            yield Statement(left, right, left_end - len(left), right_start + len(right))


def _find_in_parentheses(text: str, known: Collection[str]) -> Iterator[Statement]:
    """Yield the pairs of a known name and the one in parentheses after it, if one is the other's acronym."""
    for aside in _PARENTHESIS.finditer(text):
        right = aside[1].strip(_BEFORE + "”’」")
        if right not in known:
            continue  # such as a year or a remark
        left_end = len(text[:aside.start()].rstrip())
        left = next((name for name in _longest_first(known) if _ends(text, left_end, name)), "")
        if left and left != right and stand_for(fold(left), fold(right)):
            yield Statement(left, right, left_end - len(left), aside.end())


def _ends(text: str, end: int, name: str) -> bool:
    start = end - len(name)
    return start >= 0 and text.startswith(name, start) and not _inside_word(text, start)


def _begins(text: str, start: int, name: str) -> bool:
    return text.startswith(name, start) and not _inside_word(text, start + len(name))


def _inside_word(text: str, place: int) -> bool:
    """Return True if a place is between two letters or digits of a script with spaces between words."""
    neighbours = text[max(place - 1, 0):place + 1]
    is_unspaced_script = any("\u3040" <= character <= "\u9fff" for character in neighbours)  # Japanese or Chinese
    return place > 0 and len(neighbours) > 1 and neighbours.isalnum() and not is_unspaced_script
