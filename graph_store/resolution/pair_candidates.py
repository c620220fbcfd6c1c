"""Choose the entities to compare: those that share a key, or whose names' vectors are near.

Each key is a function of one entity alone, so the pairs are a function of the set of entities, and their number grows
almost linearly. Keys that many entities share say little and are left out.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from ...models.embedding.embedder import Vectors
from ...schemas.resolution import Pair, pair_of
from .name_comparison import FoldedName, fold, initials_of

_MOST_SHARED = 40
"""The maximum number of entities with the same key whose pairs (780) are compared."""
_PERSON_WORDS = range(2, 6)
# Prefixes of other kinds of keys than a name's forms, which never begin with white space.
_DATE, _WORDS, _PERSON = " date:", " words:", " person:"

_ROWS = 512
"""Vectors that are compared with all others at once."""


def candidate_pairs(names: Iterable[tuple[str, FoldedName]]) -> set[Pair]:
    """Return the pairs of entities to compare because of their names, given as (id, name)."""
    keys, acronyms, initials = (defaultdict[str, list[str]](list) for _ in range(3))
    for entity, folded in names:
        for key in _keys(folded):
            keys[key].append(entity)
        for letters in initials_of(folded):
            initials[letters].append(entity)
        if folded.acronym:
            acronyms[folded.key].append(entity)
    pairs = {pair_of(first, second) for block in keys.values() if len(block) <= _MOST_SHARED
             for first, second in combinations(block, 2)}
    for letters in acronyms.keys() & initials.keys():
        short, long = acronyms[letters], initials[letters]
        if len(short) + len(long) <= _MOST_SHARED:
            pairs.update(pair_of(first, second) for first in short for second in long if first != second)
    return pairs


def _keys(folded: FoldedName) -> set[str]:
    if not folded.key:
        return set()
    if folded.date:
        return {f"{_DATE}{folded.date}"}
    # All forms of a whole name are keys of one kind, so a form of one entity matches any form of another.
    keys = {folded.key, folded.base, folded.company[0], folded.titled[0], folded.unspaced}
    if len(folded.words) > 1 and folded.key.endswith("s"):
        keys.add(folded.key[:-1])
    keys.discard("")
    if folded.qualifier:
        keys.add(fold(folded.qualifier).key)
    if "," in folded.name:
        keys.add(fold(folded.name.split(",", maxsplit=1)[0]).key)
    keys.add(f"{_WORDS}{folded.numerals}")
    if len(folded.words) in _PERSON_WORDS and folded.name[0].isupper():
        keys.add(f"{_PERSON}{folded.words[0][0]} {folded.words[-1]}")
    return keys


def near_pairs(ids: Sequence[str], vectors: Vectors, least: float) -> list[tuple[Pair, float]]:
    """Find the pairs of distinct ids whose names' unit vectors, shape (n, d), have at least some cosine.

    Returns:
        (pair, cosine rounded to 4 digits), sorted by pair.
    """
    pairs: list[tuple[Pair, float]] = []
    for start in range(0, len(ids), _ROWS):
        cosines = np.triu(vectors[start:start + _ROWS] @ vectors[start:].T, 1)
        for first, second in start + np.argwhere(cosines >= least):
            pairs.append((pair_of(ids[first], ids[second]), round(float(vectors[first] @ vectors[second]), 4)))
    return sorted(pairs)
