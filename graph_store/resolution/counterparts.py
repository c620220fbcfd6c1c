"""Which entities a reasoner compares for what surrounds them: names in two scripts, and abbreviations.

"Suzhou" and "苏州" have no letter in common. What they share are neighbours, values and documents, and their meaning
where the embedding model knows both scripts. A reasoner decides; nothing is merged for these alone. Each entity is in
at most `_PARTNERS` pairs, so the number of questions grows with the entities that have a counterpart to look for.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import log2

import numpy as np

from ...models.embedding.embedder import Vectors
from ...schemas.resolution import AliasRow, Pair, pair_of
from ...text.scripts import script_of
from .lexicon import SMALL_WORDS
from .names import FoldedName
from .surroundings import Surroundings

_LEAST = 0.3
"""Score from which a pair is put to a reasoner: one neighbour that sixteen share."""
_PARTNERS = 2
_MOST_SHARED = 40
"""Entities that may share a neighbour or a document for all their pairs to be looked at."""
_NEIGHBOUR, _DOCUMENT, _ABBREVIATED = 0.5, 0.4, 0.3
"""How much of the doubt a neighbour of hardly anything else, a common document, an abbreviation's form take away."""
_LEAST_MEANING = 0.2
"""What counts at least as the cosine of names in two scripts: many translations are no nearer than other names."""
_LEAST_SHORT, _MOST_SHORT = 2, 0.7
_ROWS = 512
_DIGITS = 3


@dataclass(frozen=True)
class TrustedVectors:
    """The vectors of entities whose script the embedding model knows: `vectors[i]` is of `ids[i]`."""

    ids: Sequence[str]
    vectors: Vectors
    trust: Mapping[str, float]


def counterparts(around: Surroundings, aliases: Mapping[str, AliasRow], trusted: TrustedVectors,
                 ) -> list[tuple[Pair, float]]:
    """Return the pairs that may be one entity by what surrounds them, with their scores from 0.3 to 1, by pair.

    A group of aliases counts as its canonical entity, also as a neighbour; vectors are of canonical entities.
    """
    shared = _Shared(around, aliases)
    cosines = _Cosines(around, trusted)
    scores: dict[Pair, float] = {}
    pairs = {*shared.pairs(), *cosines.nearest_across_scripts()}
    forms = ((pair, _form_of(around, pair)) for pair in sorted(pairs))
    for pair, form in forms:
        if form is not None and around.may_be_one(*pair):
            meaning = max(cosines.meaning(pair), 0 if form else _LEAST_MEANING)
            score = round(1 - (1 - form) * shared.doubt(pair) * (1 - meaning), _DIGITS)
            if score >= _LEAST:
                scores[pair] = score
    return _mutually_best(scores)


def _mutually_best(scores: Mapping[Pair, float]) -> list[tuple[Pair, float]]:
    """Return the pairs that are among the best of both their entities."""
    taken: dict[str, list[Pair]] = {}
    for pair in sorted(scores, key=lambda pair: (-scores[pair], pair)):
        for entity in pair:
            taken.setdefault(entity, []).append(pair)
    best = {entity: set(pairs[:_PARTNERS]) for entity, pairs in taken.items()}
    return [(pair, scores[pair]) for pair in sorted(scores) if all(pair in best[entity] for entity in pair)]


def _form_of(around: Surroundings, pair: Pair) -> float | None:
    """Return what the form of two names takes of the doubt: 0 across scripts; None where they are not compared."""
    first, second = (around.folded[entity] for entity in pair)
    scripts = {script_of(folded.key) for folded in (first, second)}
    if "" in scripts or first.date or second.date:
        return None
    if len(scripts) > 1:
        return 0.0
    return _ABBREVIATED if is_short_for(first, second) or is_short_for(second, first) else None


def is_short_for(short: FoldedName, long: FoldedName) -> bool:
    """Return True if a name has the form of another's abbreviation.

    It is made of the beginnings of the other's words, as "Interpol"; without spaces, of some of its signs in order,
    as 北大 of 北京大学.
    """
    if len(short.words) != 1 or len(short.key) < _LEAST_SHORT or len(short.key) > _MOST_SHORT * len(long.key):
        return False
    if len(long.words) > 1:
        return _is_of_beginnings(short.key, [word for word in long.words if word not in SMALL_WORDS])
    if script_of(long.key) != "cjk" or short.key in long.key or short.key[0] != long.key[0]:
        return False
    signs = iter(long.key)
    return all(sign in signs for sign in short.key)


def _is_of_beginnings(letters: str, words: Sequence[str]) -> bool:
    """Return True if letters are beginnings of all the words, in order."""
    if not words or not letters:
        return not words and not letters
    word = words[0]
    return any(_is_of_beginnings(letters[length:], words[1:])
               for length in range(1, min(len(word), len(letters)) + 1) if word.startswith(letters[:length]))


class _Shared:
    """What entities have in common: neighbours, values, documents."""

    def __init__(self, around: Surroundings, aliases: Mapping[str, AliasRow]) -> None:
        self._around = around
        canonical = {entity: aliases[entity].canonical if entity in aliases else entity for entity in around.names}
        # A neighbour goes by the canonical name of its group, so one merge leads to the next.
        key_of: dict[str, str] = {}
        for entity, leader in canonical.items():
            if leader != entity:
                key_of[around.folded[entity].key] = around.folded[leader].key
        self._keys: dict[str, set[str]] = {}
        self._documents: dict[str, frozenset[str]] = {}
        passages: dict[str, set[str]] = {}
        for entity, leader in canonical.items():
            self._keys.setdefault(leader, set()).update(key_of.get(key, key) for key in around.neighbours(entity))
            chunks = around.support(entity)
            self._documents[leader] = self._documents.get(leader, frozenset()) | around.documents(chunks)
            passages.setdefault(leader, set()).update(chunks)
        self._having = _having(self._keys)
        self._blocks = [*self._having.values(), *_having(self._documents).values(), *_having(passages).values()]

    def pairs(self) -> Iterator[Pair]:
        """Yield the pairs that have something in common which not many have."""
        for block in self._blocks:
            if 1 < len(block) <= _MOST_SHARED:
                yield from self._within(block)

    def _within(self, block: Sequence[str]) -> Iterator[Pair]:
        """Yield the pairs of a block in two scripts, and those that begin with one letter, as an abbreviation does."""
        begins: dict[str, dict[str, list[str]]] = {}
        for entity in block:
            key = self._around.folded[entity].key
            begins.setdefault(script_of(key), {}).setdefault(key[:1], []).append(entity)
        for own in begins.values():
            for alike in own.values():
                yield from (pair_of(first, second) for first, second in combinations(alike, 2))
        for one, other in combinations(begins.values(), 2):
            yield from (pair_of(first, second) for first in chain(*one.values()) for second in chain(*other.values()))

    def doubt(self, pair: Pair) -> float:
        """Return how much doubt is left by what two entities have in common; rare neighbours say more."""
        first, second = pair
        doubt = 1.0 if self._documents[first].isdisjoint(self._documents[second]) else 1 - _DOCUMENT
        for key in sorted(self._keys[first] & self._keys[second]):
            doubt *= 1 - _NEIGHBOUR / log2(max(len(self._having[key]), 2))
        return doubt


def _having(keys: Mapping[str, set[str] | frozenset[str]]) -> dict[str, list[str]]:
    having: dict[str, list[str]] = {}
    for entity, own in keys.items():
        for key in own:
            having.setdefault(key, []).append(entity)
    return having


class _Cosines:
    """How near the meanings of two entities' names are."""

    def __init__(self, around: Surroundings, trusted: TrustedVectors) -> None:
        self._around = around
        self._trusted = trusted
        self._row = {entity: row for row, entity in enumerate(trusted.ids)}

    def meaning(self, pair: Pair) -> float:
        """Return the cosine of two names, weighted by the trust in it; 0 where it is not trusted."""
        if any(entity not in self._row for entity in pair):
            return 0.0
        first, second = (self._row[entity] for entity in pair)
        cosine = float(self._trusted.vectors[first] @ self._trusted.vectors[second])
        return max(0.0, cosine) * min(self._trusted.trust[entity] for entity in pair)

    def nearest_across_scripts(self) -> Iterator[Pair]:
        """Find, for each entity of a script but the one that most are of, the nearest of the others."""
        rows: dict[str, list[int]] = {}
        for row, entity in enumerate(self._trusted.ids):
            rows.setdefault(script_of(self._around.folded[entity].key), []).append(row)
        rows.pop("", None)
        if not rows:
            return
        most = max(sorted(rows), key=lambda script: len(rows[script]))
        for script in sorted(rows.keys() - {most}):
            others = np.array([row for other in sorted(rows.keys() - {script}) for row in rows[other]])
            for start in range(0, len(rows[script]), _ROWS):
                yield from self._nearest(np.array(rows[script][start:start + _ROWS]), others)

    def _nearest(self, rows: np.ndarray, others: np.ndarray) -> Iterator[Pair]:
        cosines = (self._trusted.vectors[rows] @ self._trusted.vectors[others].T).round(_DIGITS)
        best = np.argsort(-cosines, axis=1, kind="stable")[:, :_PARTNERS]
        for place, row in enumerate(rows.tolist()):
            for other in best[place].tolist():
                if cosines[place, other] >= _LEAST:
                    yield pair_of(self._trusted.ids[row], self._trusted.ids[int(others[other])])
