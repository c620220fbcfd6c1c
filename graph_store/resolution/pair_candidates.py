"""Choose the pairs of entities to compare, and find the aliases that texts state.

Entities are paired that share a key. Keys that many share are left out, so the number of pairs grows almost linearly.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations, product
from typing import NamedTuple

from ...schemas.naming import label_key
from ...schemas.resolution import Pair, pair_of
from ...text.lexicon import read_patterns
from ..bounding.words import is_inside_word
from .name_comparison import FoldedName, fold, initials_of, is_acronym_of_other

_MOST_SHARED = 40  # the most entities with one key whose pairs (780) are compared: what more share identifies nothing
_PERSON_WORDS = range(1, 6)  # the number of words of most persons' names
# Prefixes of keys that are not a form of a name. Forms never begin with white space, so the two cannot be confused.
_DATE, _WORDS, _PERSON = " date:", " words:", " person:"

_FORMS = read_patterns("entity_names.toml")
_MARKER, _ALIAS_RELATIONS = re.compile(_FORMS["alias_marker"], re.IGNORECASE), frozenset(_FORMS["alias_relations"])
_BEFORE = " \t\n,，(（[“\"‘'「:：;；—–-"  # may stand between a name and a marker after it
_AFTER = " \t\n“\"‘'「:：为是"  # may stand between a marker and the name after it
_PARENTHESIS = re.compile(r"[(（](?P<content>[^()（）]{2,80})[)）]")


def candidate_pairs(names: Iterable[tuple[str, FoldedName]]) -> set[Pair]:
    """Return the pairs of entities to compare because their names share a key, or one is the other's initials."""
    by_key, by_acronym, by_initials = (defaultdict[str, list[str]](list) for _ in range(3))
    for entity, folded in names:
        for key in _comparison_keys(folded):
            by_key[key].append(entity)
        for letters in initials_of(folded.words):
            by_initials[letters].append(entity)
        if folded.is_acronym:
            by_acronym[folded.key].append(entity)
    pairs = set[Pair]()
    for entities in by_key.values():
        if len(entities) <= _MOST_SHARED:
            pairs.update(pair_of(*pair) for pair in combinations(entities, 2))
    for letters in by_acronym.keys() & by_initials.keys():  # no entity is in both: only names of several words have any
        if len(by_acronym[letters]) + len(by_initials[letters]) <= _MOST_SHARED:
            pairs.update(pair_of(*pair) for pair in product(by_acronym[letters], by_initials[letters]))
    return pairs


def _comparison_keys(folded: FoldedName) -> set[str]:
    """Return the keys of a name: it is compared with the names that share one. A name without any word has no keys."""
    if not folded.key:
        return set()
    if folded.date:  # it matches only the same date, however that is written
        return {f"{_DATE}{folded.date}"}
    # All forms of a whole name are keys of one kind, so a form of one entity matches any form of another.
    keys = {folded.key, folded.without_legal_form[0], folded.without_title[0], folded.without_spaces(),
            folded.spelled_umlauts(), folded.singular()} - {""}
    if "," in folded.name:
        keys.add(fold(folded.name.split(",", maxsplit=1)[0]).key)  # "Austin" in "Austin, Texas"
    if "/" in folded.name:
        keys.add(fold(folded.name.rpartition("/")[2]).key)  # "specs" in "ethereum/specs"
    keys.add(f"{_WORDS}{folded.numerals}")
    if len(folded.words) in _PERSON_WORDS and folded.name[0].isupper():  # it may be a person's: "Lee" and "Ann Lee"
        first_name, family_name = folded.words[0], folded.words[-1]
        keys |= {f"{_PERSON}{family_name}", f"{_PERSON}{first_name[0]} {family_name}"}
    return keys


class Statement(NamedTuple):
    """Two names that a chunk's text says are of the same thing, and where it does (offsets in the chunk)."""

    first: str
    second: str
    start: int
    end: int


def is_alias_relation(relation: str) -> bool:
    """Return True if a relation's name means that its head and tail are the same thing."""
    return label_key(relation) in _ALIAS_RELATIONS


def statements(text: str, names: Iterable[str]) -> list[Statement]:
    """Return the places of a chunk's text that say that two of the names are of the same thing, sorted by position."""
    longest_first = sorted(set(names) - {""}, key=lambda name: (-len(name), name))

    def name_before(end: int) -> str:
        """Return the longest name that ends at a place of the text, or ""."""
        return next((name for name in longest_first if text.endswith(name, 0, end)
                     and not is_inside_word(text, end - len(name))), "")

    found = set[Statement]()
    for marker in _MARKER.finditer(text):  # such as "also known as" between two names
        end = len(text[:marker.start()].rstrip(_BEFORE))
        start = len(text) - len(text[marker.end():].lstrip(_AFTER))
        first, second = name_before(end), next((name for name in longest_first if text.startswith(name, start)
                                                and not is_inside_word(text, start + len(name))), "")
        if first and second:
            found.add(Statement(first, second, end - len(first), start + len(second)))
    for aside in _PARENTHESIS.finditer(text):  # an acronym behind its name, or a name behind its acronym
        second, end = aside["content"].strip(_BEFORE + "”’」"), len(text[:aside.start()].rstrip())
        first = name_before(end) if second in longest_first else ""  # else it is a year or a remark
        if first and is_acronym_of_other(fold(first), fold(second)):
            found.add(Statement(first, second, end - len(first), aside.end()))
    return sorted((one for one in found if one.first != one.second), key=lambda one: (one.start, one))
