"""Find pairs of entities that may be the same although their names differ, by their neighbours and passages.

The names are in two scripts, or one is an abbreviation or a part of the other. "Suzhou" and "苏州" have no letter in
common, but they share neighbours, values and passages. Their vectors are near if the embedding model knows both
scripts. A reasoner is asked about these pairs; they are never merged without its answer. Each entity is in at most
`_PARTNERS` pairs, so the number of questions grows with the number of entities, and not with its square.
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
"""The score from which a reasoner is asked. One common neighbour that sixteen entities have is enough."""
_PARTNERS = 2
"""The maximum number of pairs that an entity is in."""
_MOST_SHARED = 40
"""Entities with a common neighbour or passage are paired only if at most this many have it."""
_NEIGHBOUR, _PASSAGE, _ABBREVIATED, _CONTAINED = 0.5, 0.4, 0.3, 0.2
"""How much of the doubt is removed: by a common neighbour that only these two have, by a common passage, if one name
looks like an abbreviation of the other, and if one name is part of the other."""
_LEAST_MEANING = 0.2
"""The least cosine assumed for names in two scripts, because many translations are no nearer than unrelated names."""
_LEAST_SHORT, _MOST_SHORT = 2, 0.7
"""The minimum length of an abbreviation, and its maximum length as a share of the full name's."""
_ROWS = 512
_DIGITS = 3


@dataclass(frozen=True)
class TrustedVectors:
    """The vectors of entities whose script the embedding model knows.

    `vectors[i]` is the vector of `ids[i]`; `trust` is how far an entity's vector can be trusted, 0 to 1.
    """

    ids: Sequence[str]
    vectors: Vectors
    trust: Mapping[str, float]


def counterparts(around: Surroundings, aliases: Mapping[str, AliasRow], trusted: TrustedVectors,
                 ) -> list[tuple[Pair, float]]:
    """Return the pairs of entities that may be the same by their neighbours and passages, with scores from 0.3 to 1.

    Only the canonical entity of a group of aliases is paired. It has the neighbours and passages of the whole group.

    Args:
        around: the graph of mentions.
        aliases: the aliases found so far, by entity.
        trusted: the vectors of canonical entities.
    """
    canonical_of = {entity: aliases[entity].canonical if entity in aliases else entity for entity in around.names}
    # A neighbour counts as its canonical entity, so one merge can reveal the next.
    canonical_key = {around.keys[entity]: around.keys[canonical]
                     for entity, canonical in canonical_of.items() if canonical != entity}
    neighbours: dict[str, set[str]] = {}
    passages: dict[str, set[str]] = {}
    for entity, canonical in canonical_of.items():
        neighbours.setdefault(canonical, set()).update(canonical_key.get(key, key) for key in around.neighbours(entity))
        passages.setdefault(canonical, set()).update(around.support(entity))
    entities_beside = _invert(neighbours)
    rows = {entity: row for row, entity in enumerate(trusted.ids)}
    pairs = set(_nearest_across_scripts(around, trusted))
    for entities in (*entities_beside.values(), *_invert(passages).values()):
        pairs.update(_plausible_pairs(around, entities))
    scores: dict[Pair, float] = {}
    for pair in sorted(pairs):
        form = _weigh_form(around, pair)
        if form is None or not around.may_be_one(*pair):
            continue
        first, second = pair
        # `form` is 0 for names in two scripts, whose cosine counts as at least `_LEAST_MEANING`.
        doubt = (1 - form) * (1 - max(_meaning(trusted, rows, pair), 0 if form else _LEAST_MEANING))
        doubt *= 1 if passages[first].isdisjoint(passages[second]) else 1 - _PASSAGE
        for key in sorted(neighbours[first] & neighbours[second]):
            doubt *= 1 - _NEIGHBOUR / log2(max(len(entities_beside[key]), 2))
        if (score := round(1 - doubt, _DIGITS)) >= _LEAST:
            scores[pair] = score
    return _mutually_best(scores)


def _invert(keys_of: Mapping[str, set[str]]) -> dict[str, list[str]]:
    """Turn a map from entities to keys into a map from each key to the entities that have it."""
    entities_with: dict[str, list[str]] = {}
    for entity, keys in keys_of.items():
        for key in keys:
            entities_with.setdefault(key, []).append(entity)
    return entities_with


def _plausible_pairs(around: Surroundings, entities: Sequence[str]) -> Iterator[Pair]:
    """Yield the pairs of entities whose names may belong to one thing; none if there are too many entities."""
    if len(entities) <= _MOST_SHARED:
        names = [(entity, script_of(key), key[:1], key.rpartition(" ")[2]) for entity in entities
                 if (key := around.keys[entity])]
        for (first, script, letter, word), (second, other_script, other_letter, other_word) in combinations(names, 2):
            if script != other_script or letter == other_letter or word == other_word:
                yield pair_of(first, second)


def _mutually_best(scores: Mapping[Pair, float]) -> list[tuple[Pair, float]]:
    """Return the pairs that are among the `_PARTNERS` best pairs of both their entities, with scores, sorted."""
    pairs_of: dict[str, list[Pair]] = {}
    for pair in sorted(scores, key=lambda pair: (-scores[pair], pair)):
        for entity in pair:
            pairs_of.setdefault(entity, []).append(pair)
    return [(pair, scores[pair]) for pair in sorted(scores)
            if all(pair in pairs_of[entity][:_PARTNERS] for entity in pair)]


def _weigh_form(around: Surroundings, pair: Pair) -> float | None:
    """Return how much of the doubt is removed because one name looks like a short form of the other, 0 to 1."""
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
    """Return True if the long name begins or ends with all words of the short one: "Ethereum Mainnet" with "Mainnet".

    The words it adds must not have a digit, because a number tells things of one name apart.
    """
    count = len(short.words)
    if not 0 < count < len(long.words):
        return False
    is_beginning, is_end = long.words[:count] == short.words, long.words[-count:] == short.words
    added_words = long.words[count:] if is_beginning else long.words[:-count]
    has_digit = any(character.isdigit() for word in added_words for character in word)
    return (is_beginning or is_end) and not has_digit


def is_short_for(short: FoldedName, long: FoldedName) -> bool:
    """Return True if the short name looks like an abbreviation of the long one.

    A name of several words is abbreviated to the beginnings of all its words ("Interpol" for "International Police").
    A CJK name is abbreviated to its first character and some of the others, in order (北大 for 北京大学).
    """
    if len(short.words) != 1 or len(short.key) < _LEAST_SHORT or len(short.key) > _MOST_SHORT * len(long.key):
        return False
    if len(long.words) > 1:
        return _consists_of_beginnings(short.key, [word for word in long.words if word not in SMALL_WORDS])
    if script_of(long.key) != "cjk" or short.key in long.key or short.key[0] != long.key[0]:
        return False
    remaining = iter(long.key)
    return all(character in remaining for character in short.key)  # "in" moves the iterator on: order counts


def _consists_of_beginnings(letters: str, words: Sequence[str]) -> bool:
    """Return True if letters can be cut into one beginning of each word, in the words' order."""
    if not words or not letters:
        return not words and not letters
    word = words[0]
    return any(_consists_of_beginnings(letters[length:], words[1:])
               for length in range(1, min(len(word), len(letters)) + 1) if word.startswith(letters[:length]))


def _meaning(trusted: TrustedVectors, rows: Mapping[str, int], pair: Pair) -> float:
    """Return the cosine of two names, weighted by the trust in their vectors; 0 if one has no trusted vector."""
    if any(entity not in rows for entity in pair):
        return 0.0
    first, second = (trusted.vectors[rows[entity]] for entity in pair)
    return max(0.0, float(first @ second)) * min(trusted.trust[entity] for entity in pair)


def _nearest_across_scripts(around: Surroundings, trusted: TrustedVectors) -> Iterator[Pair]:
    """Yield each entity of a script other than the commonest with the nearest entities of the other scripts."""
    rows_by_script: dict[str, list[int]] = {}
    for row, entity in enumerate(trusted.ids):
        if script := script_of(around.keys[entity]):
            rows_by_script.setdefault(script, []).append(row)
    commonest_first = sorted(rows_by_script, key=lambda script: (-len(rows_by_script[script]), script))
    for script in commonest_first[1:]:
        other_rows = np.array([row for other in sorted(rows_by_script) if other != script
                               for row in rows_by_script[other]])
        for start in range(0, len(rows_by_script[script]), _ROWS):
            block = rows_by_script[script][start:start + _ROWS]
            cosines = (trusted.vectors[block] @ trusted.vectors[other_rows].T).round(_DIGITS)
            nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :_PARTNERS]
            for index, row in enumerate(block):
                yield from (pair_of(trusted.ids[row], trusted.ids[int(other_rows[column])])
                            for column in nearest[index].tolist() if cosines[index, column] >= _LEAST)
