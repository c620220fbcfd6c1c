"""Finding entities, relations and attributes of the graph by the names that people and models use for them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import NamedTuple

from rapidfuzz import fuzz, process

from ..graph_store.bounding.words import words
from ..graph_store.graph_index import GraphIndex
from ..schemas.documents import Chunk
from ..schemas.graph_schema import GraphSchema
from ..schemas.naming import canonical_name, has_any_name, label_key, normalise
from ..text.content_words import content_words
from ..text.sentences import split_sentences
from ..text.table_rows import SET_APART

_NEAR, _SHOWN = 60, 8  # the least likeness (0 to 100) of names that are shown for an unknown one, and how many are


class Term(NamedTuple):
    """A relation or attribute with its number of rows: triples of the relation, or entities with the attribute."""

    name: str
    rows: int
    is_attribute: bool


class FoundTerm(NamedTuple):
    """The terms that a label names; if there are none, `near` has the names of others, the likeliest first."""

    terms: tuple[Term, ...]
    near: tuple[str, ...] = ()


def terms_of(index: GraphIndex) -> list[Term]:
    """Return the relations of the graph, then its attributes, each with the most rows first.

    A relation and an attribute of the same name are one term, a relation with the rows of both.
    """
    triples, values = index.relation_counts, index.attribute_counts
    terms = [Term(name, triples.get(name, 0) + values.get(name, 0), is_attribute=name not in triples)
             for name in {**triples, **values}]
    return sorted(terms, key=lambda term: (term.is_attribute, -term.rows, term.name))


class LabelledTerms:
    """The terms of a graph, to be found in lookups and questions by the names and labels that a schema gives them."""

    def __init__(self, index: GraphIndex, schema: GraphSchema) -> None:
        self.schema, self.terms = schema, terms_of(index)
        self._by_name: dict[str, list[int]] = {}
        self._labels = list[tuple[int, frozenset[str], str]]()  # a term's number, the stems of a label, and the label
        for number, term in enumerate(self.terms):
            for label in dict.fromkeys(names_of(schema, term)):
                self._by_name.setdefault(label, []).append(number)
                if words := frozenset(content_words(label)):
                    self._labels.append((number, words, label))

    def find(self, label: str) -> FoundTerm:
        """Return the terms that a label names; else `near` has similar names, then, for synonyms, the largest."""
        if numbers := self._by_name.get(label_key(label)):
            return FoundTerm(tuple(self.terms[number] for number in numbers))
        similar = process.extract(label, [term.name for term in self.terms], scorer=fuzz.WRatio, processor=label_key,
                                  score_cutoff=_NEAR, limit=_SHOWN)
        near = dict.fromkeys([*(name for name, _, _ in similar), *(term.name for term in self.terms)])
        return FoundTerm((), tuple(near)[:_SHOWN])

    def named(self, question: str) -> list[str]:
        """Return the names of the terms that a question names, in the order of `terms`.

        A question names a term if it has the stems of all words of one of the term's labels, in any order. A label that
        is not in ASCII may also occur as it is, because some scripts have no spaces between words.
        """
        question_words, folded = frozenset(content_words(question)), normalise(question)
        named = {number for number, words, label in self._labels
                 if words <= question_words or (not label.isascii() and label in folded)}
        return list(dict.fromkeys(self.terms[number].name for number in sorted(named)))


def names_of(schema: GraphSchema, term: Term) -> Iterator[str]:
    """Yield the schema's names and labels of a term in the form of `label_key`; the term's own name if it has none."""
    relation = None if term.is_attribute else schema.relation_type(term.name)
    elements = [element for element in (relation, schema.attribute_type(term.name)) if element]
    yield from map(label_key, [name for element in elements for name in element.all_names()] or [term.name])


def find_type(index: GraphIndex, schema: GraphSchema, name: str) -> str:
    """Return the entity type that has a name, label or alias; "" if there is none."""
    wanted = label_key(name)
    for type_name in index.types:
        element = schema.entity_type(type_name)
        if wanted in map(label_key, element.all_names() if element else (type_name,)):
            return type_name
    return ""


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

    A pair is left out if a fact connects it, or if both entities already have `_LINKS_EACH` links. Entities are ids.
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
