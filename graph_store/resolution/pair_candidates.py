"""Choose the entities to compare: those that share a key, or whose names' vectors are near.

Each key is a function of one entity alone, so the pairs are a function of the set of entities, and their number grows
almost linearly. Keys that many entities share say little and are left out.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations, repeat

import numpy as np
import xxhash

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
    ids, keys, acronyms, initials = list[str](), _KeyedRows(), _KeyedRows(), _KeyedRows()
    for row, (entity, folded) in enumerate(names):
        ids.append(entity)
        keys.add(row, _keys(folded))
        acronyms.add(row, {folded.key} if folded.acronym else ())
        initials.add(row, initials_of(folded))
    pairs = {pair_of(ids[first], ids[second]) for block in keys.blocks() for first, second in combinations(block, 2)}
    short, long = acronyms.among(initials), initials.among(acronyms)
    for letters in short.keys() & long.keys():
        if len(short[letters]) + len(long[letters]) <= _MOST_SHARED:
            pairs.update(pair_of(ids[first], ids[second]) for first in short[letters] for second in long[letters]
                         if first != second)
    return pairs


class _KeyedRows:
    """Rows by their keys, of which only hashes of 64 bits are in memory: a million names have five million keys."""

    def __init__(self) -> None:
        self.hashes, self.rows = array("Q"), array("i")

    def add(self, row: int, keys: Collection[str]) -> None:
        """Add a row with its distinct keys."""
        self.hashes.extend(xxhash.xxh3_64_intdigest(key.encode("utf-8", "surrogatepass")) for key in keys)
        self.rows.extend(repeat(row, len(keys)))

    def blocks(self) -> Iterator[list[int]]:
        """Yield the rows of each key that several have, but not too many."""
        hashes, rows = np.frombuffer(self.hashes, np.uint64), np.frombuffer(self.rows, np.int32)
        order = np.argsort(hashes, kind="stable")
        starts = np.flatnonzero(np.diff(hashes[order], prepend=hashes[order][:1] - 1))
        sizes = np.diff(starts, append=len(order))
        for start, size in zip(starts[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
            if size <= _MOST_SHARED:
                yield rows[order[start:start + size]].tolist()

    def among(self, others: "_KeyedRows") -> dict[int, list[int]]:
        """Return the rows of each key that others have, too, by its hash."""
        hashes = np.frombuffer(self.hashes, np.uint64)
        found: dict[int, list[int]] = {}
        for place in np.flatnonzero(np.isin(hashes, np.frombuffer(others.hashes, np.uint64))).tolist():
            found.setdefault(self.hashes[place], []).append(self.rows[place])
        return found


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
