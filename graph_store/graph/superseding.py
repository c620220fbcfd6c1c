"""Which facts a later one ends: of relations and attributes that have one value at a time.

What is derived here is distinct from what a source states: the dates at which another value took the place of one. It
is a function of the graph, in any order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from ...schemas.graph_schema import GraphSchema
from ...text.times import Validity, later_values
from .graph_columns import GraphColumns, Numbers, find_firsts

ValueKey = tuple[int, int, int]
"""An entity's row, and the numbers of an attribute and a value."""


@dataclass(frozen=True)
class LaterDates:
    """The dates at which facts are followed by a later one, sorted: by a triple's row, or by an attribute value."""

    triples: dict[int, Sequence[str]] = field(default_factory=dict)
    values: dict[ValueKey, Sequence[str]] = field(default_factory=dict)


def supersede(columns: GraphColumns, schema: GraphSchema) -> LaterDates:
    """Find out at which dates facts and values of a graph are followed by a later one."""
    relations, attributes = schema.one_at_a_time()
    triples: dict[tuple[int, int, bool], dict[int, Validity]] = {}
    for (row,), words in _group_words(columns, (columns.triple_times.triple,), columns.triple_times.words):
        head, relation, tail = columns.triples[row].tolist()
        of_head, of_tail = relations.get(columns.texts[relation], (False, False))
        if of_head:
            triples.setdefault((head, relation, True), {})[row] = Validity.of(words)
        if of_tail:
            triples.setdefault((tail, relation, False), {})[row] = Validity.of(words)
    values: dict[tuple[int, int], dict[ValueKey, Validity]] = {}
    times = columns.value_times
    for key, words in _group_words(columns, (times.entity, times.attribute, times.value), times.words):
        entity, attribute, value = key
        if columns.texts[attribute] in attributes:
            values.setdefault((entity, attribute), {})[entity, attribute, value] = Validity.of(words)
    found: dict[int, set[str]] = {}
    for of_subject in triples.values():
        for row, dates in later_values(of_subject).items():
            found.setdefault(row, set()).update(dates)
    return LaterDates({row: sorted(dates) for row, dates in found.items()},
                      {key: sorted(dates) for of_attribute in values.values()
                       for key, dates in later_values(of_attribute).items()})


def _group_words(columns: GraphColumns, keys: Sequence[Numbers], words: Numbers,
                 ) -> Iterator[tuple[Sequence[int], list[str]]]:
    """Yield the distinct keys of a sorted table of times, each with the words that say when it holds."""
    starts = np.flatnonzero(find_firsts(*keys)).tolist()
    for start, end in pairwise([*starts, len(words)]):
        yield [int(key[start]) for key in keys], [columns.texts[number] for number in words[start:end].tolist()]
