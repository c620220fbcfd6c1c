"""Find the entities that a reasoner compares for what surrounds them: names in two scripts, abbreviations, and parts.

"Suzhou" and "苏州" have no letter in common. What they share are neighbours, values and passages, and their meaning
where the embedding model knows both scripts. A reasoner decides; nothing is merged for these alone. Each entity is in
at most `_PARTNERS` pairs, so the number of questions grows with the entities that have a counterpart to look for.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log2

import numpy as np

from ...models.embedding.embedder import Vectors
from ...schemas.resolution import AliasRow, Pair, pair_of
from ...text.scripts import script_of
from .name_comparison import FoldedName
from .surroundings import Surroundings
from .word_lists import SMALL_WORDS

_LEAST = 0.3
"""The score from which a reasoner is asked: one neighbour that sixteen entities share."""
_PARTNERS = 2
_MOST_SHARED = 40
"""The maximum number of entities with one neighbour or passage whose pairs are looked at."""
_NEIGHBOUR, _PASSAGE, _ABBREVIATED, _CONTAINED = 0.5, 0.4, 0.3, 0.2
"""The share of the doubt removed by a neighbour of hardly anything else, a common passage, an abbreviation's form, and
by a name that is part of the other."""
_LEAST_MEANING = 0.2
"""The minimum that counts as the cosine of names in two scripts: many translations are no nearer than other names."""
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
    leaders = {entity: aliases[entity].canonical if entity in aliases else entity for entity in around.names}
    # A neighbour goes by the canonical name of its group, so one merge leads to the next.
    key_of = {around.keys[entity]: around.keys[leader]
              for entity, leader in leaders.items() if leader != entity}
    neighbours: dict[str, set[str]] = {}
    passages: dict[str, set[str]] = {}
    for entity, leader in leaders.items():
        neighbours.setdefault(leader, set()).update(key_of.get(key, key) for key in around.neighbours(entity))
        passages.setdefault(leader, set()).update(around.support(entity))
    having = _invert(neighbours)
    rows = {entity: row for row, entity in enumerate(trusted.ids)}
    pairs = set(_nearest_across_scripts(around, trusted))
    for block in (*having.values(), *_invert(passages).values()):
        pairs.update(_corresponding(around, block))
    scores: dict[Pair, float] = {}
    for pair in sorted(pairs):
        form = _form_of(around, pair)
        if form is None or not around.may_be_one(*pair):
            continue
        first, second = pair
        doubt = (1 - form) * (1 - max(_meaning(trusted, rows, pair), 0 if form else _LEAST_MEANING))
        doubt *= 1 if passages[first].isdisjoint(passages[second]) else 1 - _PASSAGE
        for key in sorted(neighbours[first] & neighbours[second]):
            doubt *= 1 - _NEIGHBOUR / log2(max(len(having[key]), 2))
        if (score := round(1 - doubt, _DIGITS)) >= _LEAST:
            scores[pair] = score
    return _mutually_best(scores)


def _invert(keys: Mapping[str, set[str]]) -> dict[str, list[str]]:
    """Return the entities that have each key."""
    having: dict[str, list[str]] = {}
    for entity, own in keys.items():
        for key in own:
            having.setdefault(key, []).append(entity)
    return having


def _corresponding(around: Surroundings, block: Sequence[str]) -> Iterator[Pair]:
    """Yield the pairs of a block in two scripts, and those that begin with one letter or end with one word.

    So do abbreviations and parts of names.
    """
    if len(block) <= _MOST_SHARED:
        ends = [(entity, script_of(key), key[:1], key.rpartition(" ")[2]) for entity in block
                if (key := around.keys[entity])]
        for (first, script, letter, word), (second, other_script, other_letter, other_word) in combinations(ends, 2):
            if script != other_script or letter == other_letter or word == other_word:
                yield pair_of(first, second)


def _mutually_best(scores: Mapping[Pair, float]) -> list[tuple[Pair, float]]:
    """Return the pairs that are among the best of both their entities."""
    best: dict[str, list[Pair]] = {}
    for pair in sorted(scores, key=lambda pair: (-scores[pair], pair)):
        for entity in pair:
            best.setdefault(entity, []).append(pair)
    return [(pair, scores[pair]) for pair in sorted(scores)
            if all(pair in best[entity][:_PARTNERS] for entity in pair)]


def _form_of(around: Surroundings, pair: Pair) -> float | None:
    """Return the share of the doubt that the form of two names removes, or None if they are not compared.

    It is 0 across scripts.
    """
    first, second = map(around.folded_name, pair)
    scripts = {script_of(folded.key) for folded in (first, second)}
    if first.date or second.date:
        return None
    if "" in scripts:  # numbers name little by themselves, but "3.9" may be Python 3.9
        is_version = any("." in folded.key and len(folded.words) == 1 for folded in (first, second))
        return _CONTAINED if is_version and (is_part_of(first, second) or is_part_of(second, first)) else None
    if len(scripts) > 1:
        return 0.0
    if is_short_for(first, second) or is_short_for(second, first):
        return _ABBREVIATED
    return _CONTAINED if is_part_of(first, second) or is_part_of(second, first) else None


def is_part_of(short: FoldedName, long: FoldedName) -> bool:
    """Return True if a name begins or ends with the words of another: "Mainnet" of "Ethereum Mainnet".

    What it adds is no number: that would tell one of several apart.
    """
    count = len(short.words)
    if not 0 < count < len(long.words):
        return False
    begins, ends = long.words[:count] == short.words, long.words[-count:] == short.words
    added = long.words[count:] if begins else long.words[:-count]
    return (begins or ends) and not any(character.isdigit() for word in added for character in word)


def is_short_for(short: FoldedName, long: FoldedName) -> bool:
    """Return True if a name has the form of another's abbreviation.

    It consists of the beginnings of the other's words, as "Interpol"; without spaces, of some of its signs in order,
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


def _meaning(trusted: TrustedVectors, rows: Mapping[str, int], pair: Pair) -> float:
    """Return the cosine of two names, weighted by the trust in it; 0 where it is not trusted."""
    if any(entity not in rows for entity in pair):
        return 0.0
    first, second = (trusted.vectors[rows[entity]] for entity in pair)
    return max(0.0, float(first @ second)) * min(trusted.trust[entity] for entity in pair)


def _nearest_across_scripts(around: Surroundings, trusted: TrustedVectors) -> Iterator[Pair]:
    """Yield, for each entity of a script other than the commonest, the nearest entities of the other scripts."""
    rows: dict[str, list[int]] = {}
    for row, entity in enumerate(trusted.ids):
        if script := script_of(around.keys[entity]):
            rows.setdefault(script, []).append(row)
    for script in sorted(rows, key=lambda script: (-len(rows[script]), script))[1:]:
        others = np.array([row for other in sorted(rows) if other != script for row in rows[other]])
        for start in range(0, len(rows[script]), _ROWS):
            some = rows[script][start:start + _ROWS]
            cosines = (trusted.vectors[some] @ trusted.vectors[others].T).round(_DIGITS)
            best = np.argsort(-cosines, axis=1, kind="stable")[:, :_PARTNERS]
            for place, row in enumerate(some):
                yield from (pair_of(trusted.ids[row], trusted.ids[int(others[other])])
                            for other in best[place].tolist() if cosines[place, other] >= _LEAST)
