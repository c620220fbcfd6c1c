"""Facts of the graph as lines that a reasoner reads and cites: the nearest to a question in the ranked chunks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..schemas.graph_schema import AttributeType
from ..schemas.naming import normalise
from .index import Dated, RetrievalIndex
from .query import Query

# How near a fact is counts fully, how high its chunk ranks by its square root: the walk's weights fall steeply.
_RANK_POWER = 0.5
# An attribute has no vector: it is as near as its entity, and counts fully only where a sub-query asks for it by name.
_ATTRIBUTE_NEARNESS = 0.6
# The longest word of a cue that can tell of an attribute: "was a" and the like tell nothing.
_TELLING_WORD = 4


@dataclass(frozen=True)
class Statement:
    """A fact with the words that support it, which are characters `start` to `end` of a chunk."""

    line: str
    chunk_id: str
    start: int
    end: int
    score: float


def statements(index: RetrievalIndex, queries: Sequence[Query], weights: Mapping[str, float],
               entities: Mapping[str, float], paths: Mapping[str, float]) -> list[Statement]:
    """Return the facts that ranked chunks state, by nearness to the question and by their chunk's rank.

    Args:
        index: the knowledge base in memory.
        queries: the question and its sub-queries.
        weights: of the ranked chunks, by id.
        entities: how near each entity that the routes found is to the question, 0 to 1: attributes of others are
            left out.
        paths: how well each fact that is on a path leads to an answer, 0 to 1, by its text: a later step of a
            chain is rarely near to the words of the question.

    Returns:
        One line for each triple and attribute value, with the best of its chunks; the best first.
    """
    best = max(weights.values(), default=0.0)
    if not queries or best <= 0:
        return []
    found = [*_triples(index, queries, weights, paths), *_attributes(index, queries, weights, entities)]
    ranked: dict[str, Statement] = {}
    for item in sorted(found, key=lambda item: (-item.score, item.line, item.chunk_id)):
        ranked.setdefault(item.line, item)
    return list(ranked.values())


def of_entities(index: RetrievalIndex, query: Query, entities: Sequence[str], limit: int) -> list[Statement]:
    """Return the triples of some entities that are nearest to a question.

    Args:
        index: the knowledge base in memory.
        query: the question.
        entities: ids.
        limit: how many at most.
    """
    best = zip(*query.meaning.triples.best(limit, index.rows_of(entities)), strict=True)
    found = (next(supported(index, int(row), float(cosine)), None) for row, cosine in best)
    return [item for item in found if item is not None]


def supported(index: RetrievalIndex, row: int, score: float) -> Iterator[Statement]:
    """Yield a triple with each of the chunks that support it; one with a time with those that say it."""
    dated = index.dated(row)
    line = dated.validity.line(*index.said(row))
    for chunk, start, end in index.spans(row):
        if dated.is_of(chunk):
            yield Statement(line, chunk, start, end, score)


def _triples(index: RetrievalIndex, queries: Sequence[Query], weights: Mapping[str, float],
             paths: Mapping[str, float]) -> Iterator[Statement]:
    best = max(weights.values())
    rows = index.chunk_triples(weights)
    nearness = np.max([query.meaning.triples.at(rows) * query.trust for query in queries], axis=0)
    for row, nearest in zip(rows.tolist(), nearness.tolist(), strict=True):
        near = max(nearest, paths.get(index.text(row), 0.0))
        for item in supported(index, row, near) if near > 0 else ():
            if item.chunk_id in weights:
                yield replace(item, score=near * (weights[item.chunk_id] / best) ** _RANK_POWER)


def _attributes(index: RetrievalIndex, queries: Sequence[Query], weights: Mapping[str, float],
                entities: Mapping[str, float]) -> Iterator[Statement]:
    best = max(weights.values())
    named = {name for query in queries for name in query.sub_query.attributes}
    asked = {word for query in queries for word in normalise(query.text).split()}
    attributes = {attribute.name: attribute for attribute in index.store.schemas.current().attribute_types}
    for entity in sorted(key for key in entities if key in index.entity_row):
        times = index.dated_values(entity)
        for name, values in index.attributes(entity).items():
            known = attributes.get(name) or AttributeType(name=name)
            near = entities[entity] * (1.0 if name in named else _ATTRIBUTE_NEARNESS * _asked_for(known, asked))
            for value, support in values.items():
                dated = times.get((name, value), Dated())
                line = dated.validity.line(index.name(entity), name.replace("_", " "), value)
                for chunk, (start, end) in support.items():
                    if chunk in weights and near > 0 and dated.is_of(chunk):
                        yield Statement(line, chunk, start, end, near * (weights[chunk] / best) ** _RANK_POWER)


def _asked_for(attribute: AttributeType, asked: set[str]) -> float:
    """1 where the question has all words of one of the attribute's names or cues, else 0."""
    joined = " ".join(sorted(asked))
    for text in (*attribute.all_names(), *attribute.rules.all_cues()):
        words = normalise(text.replace("_", " ")).split()
        han = [word for word in words if not word.isascii()]
        if han and all(len(word) > 1 and word in joined for word in han):
            return 1.0
        if words and not han and len(max(words, key=len)) >= _TELLING_WORD and asked.issuperset(words):
            return 1.0
    return 0.0
