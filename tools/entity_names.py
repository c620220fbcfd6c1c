"""Finding entities by a name that a question or a model writes, and linking those that the same sentence names."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import NamedTuple

from ..graph_store.bounding.words import words
from ..graph_store.graph_index import GraphIndex
from ..schemas.documents import Chunk
from ..schemas.naming import canonical_name, has_any_name
from ..text.sentences import split_sentences
from ..text.table_rows import SET_APART

_ARTICLE = re.compile(r"^(?:the|an?) ")
_MAX_SIMILAR = 5  # names of similar spelling that are read for a part, and shown for an unknown name
_MAX_PARTIAL = 3  # a part of a name means the entities that have it only if they are at most this many
_MAX_CHUNKS = 200  # how many chunks are read for the links among some entities: those that mention most of them
_LINKS_EACH = 2  # how many links each entity gets; it may have more because of entities that have fewer


class FoundEntities(NamedTuple):
    """The entities that have a name, sorted by id; if there are none, `near` has names of similar spelling."""

    entities: tuple[str, ...]
    near: tuple[str, ...] = ()


def find_entities(index: GraphIndex, name: str) -> FoundEntities:
    """Return the entities that have a name.

    If none has it, they are those with it as whole words in their name, if few; else only names of similar spelling.
    """
    wanted = " ".join(words(name))
    entities = set(index.by_alias.get(canonical_name(name), ()))
    for occurrence in index.name_trie.find(name):  # it finds the names within a text: only the whole one is meant
        if occurrence.name in (wanted, _ARTICLE.sub("", wanted)):
            entities.update(occurrence.entities)
    if entities:
        return FoundEntities(tuple(sorted(entities)))
    similar_names = index.similar_names(name, _MAX_SIMILAR)
    entities_with_part = set[str]()
    for other in similar_names:
        if wanted and f" {wanted} " in f" {' '.join(words(other))} ":
            for occurrence in index.name_trie.find(other):
                entities_with_part.update(occurrence.entities)
    if 0 < len(entities_with_part) <= _MAX_PARTIAL:
        return FoundEntities(tuple(sorted(entities_with_part)))
    return FoundEntities((), similar_names)


def unknown_name(name: str, found: FoundEntities) -> str:
    """Return a note that no entity has a name, with names of similar spelling."""
    near = f"; names like it: {'; '.join(found.near)}" if found.near else "; no name is like it"
    return f"no entity has the name {name!r}{near}"


def named_entities(index: GraphIndex, question: str) -> dict[str, str]:
    """Return the entities that a question names, each with the words of the question that name it.

    An entity may be named by any of its names, or by a value that is also a name of it. They are in the order of the
    question; one that it names several times has the last of these words, as any of them name it.
    """
    spans = [(occurrence.start, occurrence.end, entity)
             for occurrence in index.name_trie.find(question) for entity in occurrence.entities]
    spans += [(occurrence.start, occurrence.end, entity) for occurrence in index.value_trie.find(question)
              for entity in index.by_alias.get(canonical_name(question[occurrence.start:occurrence.end]), ())]
    return {entity: question[start:end] for start, end, entity in sorted(spans)}


def unknown_names_near(indexes: Sequence[GraphIndex], names: Sequence[str], limit: int) -> list[str]:
    """Return names that are spelt like the unknown ones of `names`, which no knowledge base has, nearest first."""
    unknown = [name for name in names if not any(index.name_trie.find(name) for index in indexes)]
    similar = (index.similar_names(name, limit) for name in unknown for index in indexes)
    return list(dict.fromkeys(chain.from_iterable(similar)))[:limit]


def link_by_sentences(index: GraphIndex, entities: Sequence[str]) -> list[tuple[str, str, int]]:
    """Return pairs of entities that the same sentence names, each with the number of such sentences, most first.

    A pair is left out if a fact connects it, or if both entities already have `_LINKS_EACH` links. The entities of a
    link are ids.
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
        name, _, other_names = index.labels_of(row)
        names[row] = [name, *other_names]
    sentence_counts: Counter[tuple[int, int]] = Counter()
    for chunk_row in shared_chunks:
        chunk = index.chunks[chunk_row]
        for start, end in prose_sentences(chunk):
            sentence = chunk.text[start:end]
            named = sorted(row for row in entities_of_chunk[chunk_row] if has_any_name(sentence, names[row]))
            sentence_counts.update(combinations(named, 2))
    ends = index.triples[index.columns.incident.unite(rows)][:, [0, 2]]  # the heads and tails of all their facts
    pairs_with_facts = {(min(pair), max(pair)) for pair in ends.tolist()}
    link_counts, links = Counter[int](), list[tuple[str, str, int]]()
    for (one, other), count in sorted(sentence_counts.items(), key=lambda item: (-item[1], item[0])):
        has_room = min(link_counts[one], link_counts[other]) < _LINKS_EACH
        if (one, other) not in pairs_with_facts and has_room:
            link_counts.update((one, other))
            links.append((index.entity_row.at(one), index.entity_row.at(other), count))
    return links


def prose_sentences(chunk: Chunk) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each sentence of a chunk, in characters, except rows of tables and items of lists."""
    for start, end in split_sentences(chunk.text):
        if not SET_APART.match(chunk.text, start):
            yield start, end
