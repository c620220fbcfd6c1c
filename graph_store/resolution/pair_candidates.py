"""Choose the pairs of entities to compare, and find the aliases that texts state.

Entities are paired that share a key, or that are each other's nearest in another script. Keys that many share are left
out, so the number of pairs grows almost linearly.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ...models.embedding.embedder import Vectors
from ...schemas.naming import label_key
from ...schemas.resolution import Pair, pair_of
from .initials import words_of_person
from .name_comparison import FoldedName, fold, in_singular, initials_of, stand_for, with_spelled_umlauts

_MOST_SHARED = 40
"""The maximum number of entities with the same key whose pairs (780) are compared."""
_PERSON_WORDS = range(2, 6)
# Prefixes of keys that are not a form of a name. Forms never begin with white space, so the two cannot be confused.
_DATE, _WORDS, _PERSON = " date:", " words:", " person:"

_LEAST_ACROSS = 0.3
"""The least cosine of names in two scripts, of which many translations are no nearer than unrelated names."""
_PARTNERS = 2
"""The maximum number of pairs in two scripts that an entity is in."""
_ROWS = 512
_DIGITS = 4
_MARKER = re.compile(
    r"(?:\b(?:also|otherwise|better|commonly|formerly|previously) (?:known|called|named|referred to)(?: as)?"
    r"|\b(?:abbreviated|hereinafter|shortened)(?: (?:as|to|referred to as))?|\ba\.?k\.?a\.?(?=\W)"
    r"|以下简称为?|下称|简称为?|又称为?|又名|亦称|也称为?|别名为?|全称为?|曾用名为?|原名为?)", re.IGNORECASE)
_CUES = "known called named referred abbrev nafter shortened aka a.ka ak.a a.k.a 称 名".split()  # noqa: SIM905
"""Parts of every marker: searching for them first is faster, because most texts have none."""
_ALIAS_RELATIONS = frozenset(label.strip() for label in """
    also known as|is also known as|was also known as|aka|a.k.a.|alias|also called|is also called|abbreviated as
    is abbreviated as|abbreviation|short for|is short for|stands for|formerly known as|was formerly known as
    also named|same as|又称|又名|简称|别名|全称|也称|亦称|曾用名|原名""".replace("\n", "|").split("|") if label.strip())
_BEFORE = " \t\n,，(（[“\"‘'「:：;；—–-"  # may stand between a name and a marker after it
_AFTER = " \t\n“\"‘'「:：为是"  # may stand between a marker and the name after it
_PREPOSITION = re.compile(r"\b(?:in|of|at|on|for|to|from|by|with|near|and|or|into|between)\s+(?:the\s+|an?\s+)?$",
                          re.IGNORECASE)
_JOINED = re.compile(r"[^\W\d_]{3,20}[/-][^\W\d_]{3,20}")
"""A name made of two names."""
_PARENTHESIS = re.compile(r"[(（]([^()（）]{2,80})[)）]")


def candidate_pairs(names: Iterable[tuple[str, FoldedName]]) -> set[Pair]:
    """Return the pairs of entities to compare because their names share a key, or one is the other's initials."""
    by_key, by_acronym, by_initials = (defaultdict[str, list[str]](list) for _ in range(3))
    for entity, folded in names:
        for key in _keys(folded):
            by_key[key].append(entity)
        for letters in initials_of(folded):
            by_initials[letters].append(entity)
        if folded.acronym:
            by_acronym[folded.key].append(entity)
    pairs = {pair_of(first, second) for entities in by_key.values() if len(entities) <= _MOST_SHARED
             for first, second in combinations(entities, 2)}
    for letters in by_acronym.keys() & by_initials.keys():
        acronyms, full_names = by_acronym[letters], by_initials[letters]
        if len(acronyms) + len(full_names) <= _MOST_SHARED:
            pairs.update(pair_of(first, second) for first in acronyms for second in full_names if first != second)
    return pairs


def _keys(folded: FoldedName) -> set[str]:
    if not folded.key:
        return set()
    if folded.date:
        return {f"{_DATE}{folded.date}"}
    # All forms of a whole name are keys of one kind, so a form of one entity matches any form of another.
    keys = {folded.key, folded.base, folded.company[0], folded.titled[0], folded.key.replace(" ", ""),
            with_spelled_umlauts(folded), in_singular(folded)}
    keys.discard("")
    if folded.qualifier:
        keys.add(fold(folded.qualifier).key)  # "WHO" in "World Health Organization (WHO)"
    if "," in folded.name:
        keys.add(fold(folded.name.split(",", maxsplit=1)[0]).key)  # "Austin" in "Austin, Texas"
    keys.add(f"{_WORDS}{folded.numerals}")
    if len(folded.words) in _PERSON_WORDS and folded.name[0].isupper():
        given, *_, family = words_of_person(folded.name, folded.words)
        keys.add(f"{_PERSON}{given[0]} {family}")
    return keys


def nearest_across_scripts(ids: Sequence[str], vectors: Vectors, scripts: Sequence[str]) -> list[tuple[Pair, float]]:
    """Pair entities of the rarer scripts with those of other scripts, if each is among the other's nearest.

    Returns pairs with their cosines, sorted. Names with the script "" are left out.
    """
    rows_by_script: dict[str, list[int]] = defaultdict(list)
    for row, script in enumerate(scripts):
        if script:
            rows_by_script[script].append(row)
    cosine_of: dict[Pair, float] = {}
    commonest_first = sorted(rows_by_script, key=lambda script: (-len(rows_by_script[script]), script))
    for script in commonest_first[1:]:
        others = np.array([row for other in sorted(rows_by_script) if other != script for row in rows_by_script[other]])
        for start in range(0, len(rows_by_script[script]), _ROWS):
            block = rows_by_script[script][start:start + _ROWS]
            cosines = (vectors[block] @ vectors[others].T).round(_DIGITS)
            for row, cosine in zip(block, cosines, strict=True):
                for column in np.argsort(-cosine, kind="stable")[:_PARTNERS].tolist():
                    if cosine[column] >= _LEAST_ACROSS:
                        cosine_of[pair_of(ids[row], ids[int(others[column])])] = round(float(cosine[column]), _DIGITS)
    pairs_of: dict[str, list[Pair]] = defaultdict(list)
    for pair in sorted(cosine_of, key=lambda pair: (-cosine_of[pair], pair)):
        for entity in pair:
            pairs_of[entity].append(pair)
    return [(pair, cosine_of[pair]) for pair in sorted(cosine_of)
            if all(pair in pairs_of[entity][:_PARTNERS] for entity in pair)]


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
        right = next((name for name in names if text.startswith(name, right_start)
                      and not _inside_word(text, right_start + len(name))), "")
        # In "a house in Rome, also known as the Nest" the other name is not Rome's.
        if left and right and left != right and not _PREPOSITION.search(text[:left_end - len(left)]):
            yield Statement(left, right, left_end - len(left), right_start + len(right))


def _find_in_parentheses(text: str, known: Collection[str]) -> Iterator[Statement]:
    """Yield the pairs of a known name and the one in parentheses after it, if one is an acronym or two names."""
    for aside in _PARENTHESIS.finditer(text):
        right = aside[1].strip(_BEFORE + "”’」")
        if right not in known:
            continue  # such as a year or a remark
        left_end = len(text[:aside.start()].rstrip())
        left = next((name for name in _longest_first(known) if _ends(text, left_end, name)), "")
        is_joined = any(_JOINED.fullmatch(name) for name in (left, right))
        if left and left != right and (is_joined or stand_for(fold(left), fold(right))):
            yield Statement(left, right, left_end - len(left), aside.end())


def _ends(text: str, end: int, name: str) -> bool:
    start = end - len(name)
    return start >= 0 and text.startswith(name, start) and not _inside_word(text, start)


def _inside_word(text: str, place: int) -> bool:
    """Return True if a place is between two letters or digits of a script with spaces between words."""
    neighbours = text[max(place - 1, 0):place + 1]
    is_unspaced_script = any("\u3040" <= character <= "\u9fff" for character in neighbours)  # Japanese or Chinese
    return place > 0 and len(neighbours) > 1 and neighbours.isalnum() and not is_unspaced_script
