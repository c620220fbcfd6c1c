"""Facts that serve a sub-query, as a model is shown them: triples and attribute values, each with what supports it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .query import Query
from .retriever import Retriever
from .statements import Statement

FLOOR = 0.42
"""The least score of a fact that is shown.

Of the facts from there on that a small context for benchmarks/questions lacks three in five bear, judged by reading."""
_ASKED_SHARE = 1 / 2
_LEAST_NEAR = 0.5
"""The cosine of a fact below which what it tells is not compared."""
_TRIPLES, _ENTITIES, _VALUES = 20, 5, 40
"""Of a sub-query: triples considered, entities whose attributes are, and values of these."""
_TO_RANGE = 1 / (1 + _ASKED_SHARE)


class _Candidate(NamedTuple):
    """A fact about an entity that a sub-query names."""

    line: str
    nearness: float
    told: str
    """What it tells of the entity: the relation or attribute and its other end."""
    spans: Sequence[tuple[str, int, int]]


def near_facts(retriever: Retriever, queries: Sequence[Query], floor: float = FLOOR) -> list[Statement]:
    """Return the facts that serve a sub-query, best first.

    A fact serves a sub-query if it is about an entity that this names, and if what it tells of the entity is near to
    what is asked of it. Nearness alone does not do: most of the words that a fact shares with a question are the name.

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
    about = *_triples(retriever, query, named), *_values(retriever, query, list(named)[:_ENTITIES])
    found = [item for item in about if item.nearness >= _LEAST_NEAR]
    if not found:
        return
    asked, *told = retriever.embed([_without_names(query), *(item.told for item in found)])
    for item, vector in zip(found, told, strict=True):
        score = _TO_RANGE * (item.nearness + _ASKED_SHARE * float(np.dot(vector, asked))) * query.trust
        for chunk, start, end in item.spans if score >= floor else ():
            yield Statement(item.line, chunk, start, end, min(1.0, score))


def _without_names(query: Query) -> str:
    """Return what a sub-query asks, without the names of what it asks about."""
    text = query.text
    for name in reversed(query.meaning.names):
        text = f"{text[:name.start]} {text[name.end:]}"
    return " ".join(text.split())


def _triples(retriever: Retriever, query: Query, named: Mapping[str, None]) -> Iterator[_Candidate]:
    index = retriever.index
    for row, cosine in zip(*query.meaning.triples.best(_TRIPLES, index.rows_of(named)), strict=True):
        said, spans = index.said(int(row)), [*index.spans(int(row))]
        other = said[2] if index.ends(int(row))[0] in named else said[0]
        yield _Candidate(" | ".join(said), float(cosine), f"{said[1]} {other}", spans)


def _values(retriever: Retriever, query: Query, named: Sequence[str]) -> Iterator[_Candidate]:
    """Yield the attribute values of the entities that a sub-query names."""
    index = retriever.index
    found = [(index.name(entity), attribute.replace("_", " "), value, support) for entity in named
             for attribute, values in index.attributes(entity).items() for value, support in values.items()][:_VALUES]
    vectors = retriever.embed([" ".join(said) for *said, _ in found])
    for (name, attribute, value, support), vector in zip(found, vectors, strict=True):
        yield _Candidate(f"{name} | {attribute} | {value}", float(np.dot(vector, query.vector)), f"{attribute} {value}",
                         [(chunk, start, end) for chunk, (start, end) in support.items()])
