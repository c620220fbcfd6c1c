"""Facts that serve a sub-query, as a model is shown them: triples and attribute values, each with what supports it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ..graph_store.bounding.grounding import words
from ..models.rules.question import analyse
from .index import Dated, RetrievalIndex
from .query import Query
from .retriever import Retriever
from .statements import Statement, supported
from .value_groups import value_groups

FLOOR = 0.5
"""The least score of a fact that is shown.

Chosen by reading the facts for our own questions (benchmarks/questions, benchmarks/newcomer): from 0.5 on 19 of 36
bear on their question, from 0.45 on 42 of 87 (benchmarks/README.md)."""
_ASKED_SHARE = 1 / 2
_LEAST_NEAR = 0.5
"""The cosine of a fact below which what it tells is not compared."""
_TRIPLES, _ENTITIES, _VALUES = 20, 5, 40
"""Of a sub-query: triples considered, entities whose attributes are, and values of these."""
_TO_RANGE = 1 / (1 + _ASKED_SHARE)


_Line: TypeAlias = tuple[str, str, int, int]
"""A line, and the characters of a chunk that support it."""


class _Candidate(NamedTuple):
    """A fact about an entity that a sub-query names, or those of all entities that have a value which it names."""

    about: str
    """The entity that the sub-query names, or the attribute of the value that it names."""
    relation: str
    """The relation or attribute."""
    nearness: float
    told: str
    """What it tells of the entity: the relation or attribute and its other end; of a value its attribute."""
    spans: Sequence[_Line]
    """Its line, and where a chunk supports that."""


def near_facts(retriever: Retriever, queries: Sequence[Query], floor: float = FLOOR) -> list[Statement]:
    """Return the facts that serve a sub-query, best first.

    A fact serves a sub-query if it is about an entity that this names, and if what it tells of the entity is near to
    what is asked of it. Nearness alone does not do: most of the words that a fact shares with a question are the name.
    Of what is known of an entity only the nearest relation or attribute is shown, as a sub-query asks for one, and
    where it asks for a person, a place, a number or the like, no triple whose other end it names as well.
    Of a value that it names, all entities that have it are shown, or none.

    Args:
        retriever: the knowledge base.
        queries: the sub-queries that the facts are to serve.
        floor: the least score.

    Returns:
        A statement for each place that supports a fact. Its score, 0 to 1, is the cosine of the fact to the sub-query
        and, weighing half as much, that of what it tells to the sub-query without names, times the trust in vectors.
    """
    best: dict[tuple[str, str], Statement] = {}
    for query in queries:
        for item in _serving(retriever, query, floor):
            key = item.line, item.chunk_id
            if key not in best or item.score > best[key].score:
                best[key] = item
    return sorted(best.values(), key=lambda item: (-item.score, item.line, item.chunk_id))


def _serving(retriever: Retriever, query: Query, floor: float) -> Iterator[Statement]:
    named = dict.fromkeys(entity for name in query.meaning.names for entity in name.entities)
    about = (*_triples(retriever, query, named), *_values(retriever, query, list(named)[:_ENTITIES]),
             *_groups(retriever, query))
    found = [item for item in about if item.nearness >= _LEAST_NEAR]
    if not found:
        return
    asked, *told = retriever.embed([_without_names(query), *(item.told for item in found)])
    scores = [_TO_RANGE * (item.nearness + _ASKED_SHARE * float(np.dot(vector, asked))) * query.trust
              for item, vector in zip(found, told, strict=True)]
    ranked = sorted(zip(scores, found, strict=True), key=lambda scored: (-scored[0], scored[1].relation))
    nearest: dict[str, str] = {}
    for score, item in ranked:
        if nearest.setdefault(item.about, item.relation) == item.relation and score >= floor:
            yield from (Statement(*line, min(1.0, score)) for line in item.spans)


def _without_names(query: Query) -> str:
    """Return the text of a sub-query without the names and values in it."""
    text, before = query.text, len(query.text)
    for name in sorted([*query.meaning.names, *query.meaning.values], key=lambda name: -name.start):
        text, before = f"{text[:name.start]} {text[max(name.start, min(name.end, before)):]}", name.start
    return " ".join(text.split())


def _triples(retriever: Retriever, query: Query, named: Mapping[str, None]) -> Iterator[_Candidate]:
    index = retriever.index
    given = f" {' '.join(words(query.text))} " if analyse(query.text).has_form else ""
    for row, cosine in zip(*query.meaning.triples.best(_TRIPLES, index.rows_of(named)), strict=True):
        said = index.said(int(row))
        head, tail = index.ends(int(row))
        about, other = (head, said[2]) if head in named else (tail, said[0])
        if f" {' '.join(words(other))} " not in given:
            yield _Candidate(about, said[1], float(cosine), f"{said[1]} {other}", [
                (item.line, item.chunk_id, item.start, item.end) for item in supported(index, int(row), 0.0)])


def _values(retriever: Retriever, query: Query, named: Sequence[str]) -> Iterator[_Candidate]:
    """Yield the attribute values of the entities that a sub-query names."""
    index = retriever.index
    found = [(entity, attribute, value) for entity in named
             for attribute, values in index.attributes(entity).items() for value in values][:_VALUES]
    told = [f"{attribute.replace('_', ' ')} {value}" for _, attribute, value in found]
    vectors = retriever.embed([f"{index.name(one[0])} {text}" for one, text in zip(found, told, strict=True)])
    for (entity, attribute, value), text, vector in zip(found, told, vectors, strict=True):
        support = index.attributes(entity)[attribute][value]
        spans = [(chunk, start, end) for chunk, (start, end) in support.items()]
        yield _Candidate(entity, attribute, float(np.dot(vector, query.vector)), text,
                         _lines(index, entity, attribute, value, spans))


def _groups(retriever: Retriever, query: Query) -> Iterator[_Candidate]:
    """Yield the groups of entities that have a value which a sub-query names."""
    groups = value_groups(retriever.index, query)
    told = [group.attribute.replace("_", " ") for group in groups]
    vectors = retriever.embed([f"{text} {group.members[0].value}" for text, group in zip(told, groups, strict=True)])
    for group, text, vector in zip(groups, told, vectors, strict=True):
        yield _Candidate(group.attribute, group.attribute, float(np.dot(vector, query.vector)), text, [
            line for entity, value, chunk, start, end in group.members
            for line in _lines(retriever.index, entity, group.attribute, value, [(chunk, start, end)])])


def _lines(index: RetrievalIndex, entity: str, attribute: str, value: str, spans: Sequence[tuple[str, int, int]],
           ) -> list[_Line]:
    """Return a value as a line with its time, for each span that states it with that time."""
    dated = index.dated_values(entity).get((attribute, value), Dated())
    line = dated.validity.line(index.name(entity), attribute.replace("_", " "), value)
    return [(line, *span) for span in spans if dated.is_of(span[0])]
