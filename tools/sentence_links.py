"""Linking entities that the same sentence names and that no fact connects."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from ..graph_store.graph_index import GraphIndex
from ..schemas.documents import Chunk
from ..schemas.naming import has_any_name
from ..text.sentences import split_sentences
from ..text.table_rows import SET_APART

_MAX_CHUNKS = 200
"""How many chunks are read for the links among some entities: those that mention most of the entities."""
_MAX_CHUNKS_OF_NAME = 8
"""How many chunks are searched for one name."""
_LINKS_EACH = 2
"""How many links each entity gets; it may have more because of entities that have fewer."""


class SentenceLink(NamedTuple):
    """The ids of two entities, in the order of their rows, and how many sentences name both."""

    one: str
    other: str
    sentences: int


def link_by_sentences(index: GraphIndex, entities: Sequence[str]) -> list[SentenceLink]:
    """Return links among some entities: pairs that the same sentence names, those of most sentences first.

    A pair is left out if a fact connects it, or if both entities already have `_LINKS_EACH` links.
    """
    rows = [row for row in map(index.entity_at, entities) if row is not None]
    entities_of_chunk: dict[int, list[int]] = {}
    for row in rows:
        for chunk_row in index.mentioning[row].tolist():
            entities_of_chunk.setdefault(chunk_row, []).append(row)
    shared_chunks = sorted((chunk_row for chunk_row, mentioned in entities_of_chunk.items() if len(mentioned) > 1),
                           key=lambda chunk_row: (-len(entities_of_chunk[chunk_row]), chunk_row))[:_MAX_CHUNKS]
    names = {}
    for row in rows:
        name, _, *other_names = index.about(row)  # the second one is the entity's type
        names[row] = [name, *other_names]
    sentence_counts: Counter[tuple[int, int]] = Counter()
    for chunk_row in shared_chunks:
        chunk = index.chunks[chunk_row]
        for start, end in prose_sentences(chunk):
            sentence = chunk.text[start:end]
            named = sorted(row for row in entities_of_chunk[chunk_row] if has_any_name(sentence, names[row]))
            sentence_counts.update(combinations(named, 2))
    ends = index.triples[index.columns.incident.of(rows)][:, [0, 2]]
    pairs_with_facts = {(min(pair), max(pair)) for pair in ends.tolist()}
    link_counts, links = Counter[int](), list[SentenceLink]()
    for (one, other), count in sorted(sentence_counts.items(), key=lambda item: (-item[1], item[0])):
        if (one, other) not in pairs_with_facts and min(link_counts[one], link_counts[other]) < _LINKS_EACH:
            link_counts.update((one, other))
            links.append(SentenceLink(index.entity_row.at(one), index.entity_row.at(other), count))
    return links


def prose_sentences(chunk: Chunk) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each sentence of a chunk, in characters, except rows of tables and items of lists."""
    for start, end in split_sentences(chunk.text):
        if not SET_APART.match(chunk.text, start):
            yield start, end


def is_named_in_text(index: GraphIndex, row: int) -> bool:
    """Return True if running text contains the name of the entity of a row exactly as it is written.

    Rows of tables are no running text. At the beginning of a line, any word has a capital, so a single word there is
    not taken for a name.
    """
    name = index.about(row)[0]
    is_single_word = " " not in name and name.isascii()
    for chunk_row in index.mentioning[row][:_MAX_CHUNKS_OF_NAME].tolist():
        for line in index.chunks[chunk_row].text.splitlines():
            position = line.find(name)
            is_table_row = line.lstrip().startswith("|")
            if position >= 0 and not is_table_row and (position > 0 or not is_single_word):
                return True
    return False
