"""Links between entities that one sentence names and that share no fact; they are shown as what they are."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..schemas.documents import Chunk
from ..schemas.naming import has_any_name
from ..text.sentences import split_sentences
from ..text.table_rows import SET_APART
from .index import RetrievalIndex

_READ = 200
"""The most chunks that are read for the links of some entities: those that mention most of them."""
_LOOKED_INTO = 8
"""The most chunks that are looked into for one name."""
_MOST = 2
"""Links of an entity besides those of entities with fewer."""


class SentenceLink(NamedTuple):
    """Two entities by their ids, in the order of the ids, and how many sentences name both."""

    one: str
    other: str
    sentences: int


def link_by_sentences(index: RetrievalIndex, entities: Sequence[str]) -> list[SentenceLink]:
    """Return the links by sentences among some entities, those of most sentences first, about two for an entity.

    Args:
        index: the knowledge base.
        entities: ids of the entities; links to others are left out.
    """
    rows = [row for row in map(index.entity_at, entities) if row is not None]
    mentioned: dict[int, list[int]] = {}
    for row in rows:
        for chunk in index.support[row].tolist():
            mentioned.setdefault(chunk, []).append(row)
    shared = sorted((chunk for chunk, of in mentioned.items() if len(of) > 1),
                    key=lambda chunk: (-len(mentioned[chunk]), chunk))[:_READ]
    names = {row: [name for place, name in enumerate(index.about(row)) if place != 1] for row in rows}
    found: Counter[tuple[int, int]] = Counter()
    for number in shared:
        chunk = index.chunks[number]
        for start, end in prose_sentences(chunk):
            named = sorted(row for row in mentioned[number] if has_any_name(chunk.text[start:end], names[row]))
            found.update(combinations(named, 2))
    known = _pairs_of_facts(index, rows)
    kept, links = Counter[int](), list[SentenceLink]()
    for (one, other), count in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        if (one, other) not in known and min(kept[one], kept[other]) < _MOST:
            kept.update((one, other))
            links.append(SentenceLink(index.entity_row.at(one), index.entity_row.at(other), count))
    return links


def prose_sentences(chunk: Chunk) -> Iterator[tuple[int, int]]:
    """Yield the places of a chunk's sentences; rows of tables and items of lists are none."""
    for start, end in split_sentences(chunk.text):
        if not SET_APART.match(chunk.text, start):
            yield start, end


def is_named_in_text(index: RetrievalIndex, row: int) -> bool:
    """Return True if text names an entity as its name is written; rows of tables and the beginnings of lines do not."""
    name = index.about(row)[0]
    for number in index.support[row][:_LOOKED_INTO].tolist():
        for line in index.chunks[number].text.splitlines():
            at = line.find(name)
            if at >= 0 and not line.lstrip().startswith("|") and (at > 0 or " " in name or not name.isascii()):
                return True
    return False


def _pairs_of_facts(index: RetrievalIndex, rows: Sequence[int]) -> set[tuple[int, int]]:
    ends = index.triples[index.incident_of(np.array(rows, np.intp))][:, [0, 2]]
    return {(min(pair), max(pair)) for pair in ends.tolist()}
