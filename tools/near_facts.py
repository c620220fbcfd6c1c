"""Facts near to what is asked, as a model is shown them: triples and attribute values, each with what supports it."""

from collections.abc import Iterator, Sequence

import numpy as np

from .index import Dated
from .query import Query
from .retriever import Retriever
from .statements import Statement, supported

FLOOR = 0.55
"""The cosine to a sub-query from which a fact is shown.

Of the facts from there on 78 % are from a passage that the question of benchmarks/questions needs."""
_TRIPLES, _ENTITIES, _VALUES = 20, 5, 40
"""Of a sub-query: triples considered, entities whose attributes are, and values of these."""


def near_facts(retriever: Retriever, queries: Sequence[Query], floor: float = FLOOR) -> list[Statement]:
    """Return the facts that are near to a sub-query, nearest first.

    Args:
        retriever: the knowledge base.
        queries: the sub-queries that the facts are to serve.
        floor: the least nearness: cosine times the trust in vectors.

    Returns:
        A statement for each place that supports a fact, scored by nearness to the nearest sub-query.
    """
    best: dict[tuple[str, str], Statement] = {}
    for query in queries:
        for item in (*_triples(retriever, query), *_values(retriever, query)):
            key = item.line, item.chunk_id
            if item.score >= floor and (key not in best or item.score > best[key].score):
                best[key] = item
    return sorted(best.values(), key=lambda item: (-item.score, item.line, item.chunk_id))


def _triples(retriever: Retriever, query: Query) -> Iterator[Statement]:
    for row, cosine in zip(*query.meaning.triples.best(_TRIPLES), strict=True):
        yield from supported(retriever.index, int(row), min(1.0, float(cosine)) * query.trust)


def _values(retriever: Retriever, query: Query) -> Iterator[Statement]:
    """The attribute values of the entities that a sub-query names."""
    index, found = retriever.index, list[tuple[str, str, str, Dated, dict[str, list[int]]]]()
    named = dict.fromkeys(entity for name in query.meaning.names for entity in name.entities)
    for entity in list(named)[:_ENTITIES]:
        times = index.dated_values(entity)
        found.extend((index.name(entity), attribute.replace("_", " "), value,
                      times.get((attribute, value), Dated()), support)
                     for attribute, values in index.attributes(entity).items() for value, support in values.items())
    found = found[:_VALUES]
    vectors = retriever.embed([f"{name} {attribute} {value}" for name, attribute, value, *_ in found])
    for (name, attribute, value, dated, support), vector in zip(found, vectors, strict=True):
        near = float(np.dot(vector, query.vector)) * query.trust
        for chunk, (start, end) in support.items():
            if dated.is_of(chunk):
                yield Statement(dated.validity.line(name, attribute, value), chunk, start, end, near)
