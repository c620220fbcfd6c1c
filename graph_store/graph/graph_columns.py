"""A knowledge graph as columns of numbers: tables of arrays, in which each distinct text is stored once.

Texts are numbered in their order, entities in the order of their ids, triples in the order of their keys. So sorting
numbers sorts texts, entities or triples, and equal graphs have equal columns.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int32]
Rows = NDArray[np.intp]


class Lists:
    """A list of numbers for each row, in one array of numbers and one of where each list begins."""

    def __init__(self, values: NDArray[Any], starts: NDArray[Any]) -> None:
        self.values, self.starts = values, starts

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> NDArray[Any]:
        return self.values[self.starts[row]:self.starts[row + 1]]

    def of(self, rows: Iterable[int]) -> Rows:
        """Return the distinct numbers of several rows, ascending."""
        wanted = np.fromiter(rows, np.intp)
        counts = self.starts[wanted + 1] - self.starts[wanted]
        # The place of each number in `values`: where its row begins, plus how many numbers of the row precede it.
        places = np.repeat(self.starts[wanted] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        return distinct(self.values[places]).astype(np.intp)


def distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values of an array, ascending; faster than np.unique, which hashes them."""
    ordered = np.sort(numbers)
    found: NDArray[Any] = ordered[find_firsts(ordered)]
    return found


class MentionTable(NamedTuple):
    """Where chunks name entities: one row for each entity, spelling and chunk, sorted by them."""

    entity: Numbers
    name: Numbers
    chunk: Numbers
    start: Numbers
    end: Numbers


class SupportTable(NamedTuple):
    """Where chunks state triples: one row for each triple and chunk, sorted by them."""

    triple: Numbers
    chunk: Numbers
    start: Numbers
    end: Numbers
    confidence: NDArray[np.float64]


class TripleTimeTable(NamedTuple):
    """When triples hold: one row for each triple, words that say when, and chunk, sorted by them."""

    triple: Numbers
    words: Numbers
    chunk: Numbers
    start: Numbers
    end: Numbers


class ValueTable(NamedTuple):
    """Where chunks state attribute values: one row for each entity, attribute, value and chunk, sorted by them."""

    entity: Numbers
    attribute: Numbers
    value: Numbers
    chunk: Numbers
    start: Numbers
    end: Numbers


class ValueTimeTable(NamedTuple):
    """When attribute values hold: one row for each entity, attribute, value, words and chunk, sorted by them."""

    entity: Numbers
    attribute: Numbers
    value: Numbers
    words: Numbers
    chunk: Numbers
    start: Numbers
    end: Numbers


_Table = TypeVar("_Table", MentionTable, SupportTable, TripleTimeTable, ValueTable, ValueTimeTable)
TABLES: dict[str, Any] = {"mentions": MentionTable, "support": SupportTable, "triple_times": TripleTimeTable,
                          "values": ValueTable, "value_times": ValueTimeTable}
TEXT_COLUMNS = frozenset({"name", "chunk", "words", "attribute", "value"})
ValueKey = tuple[int, int, int]
"""An entity's row, and the numbers of an attribute and a value."""


@dataclass(frozen=True, eq=False)
class GraphColumns:
    """A graph of n entities and m triples.

    Attributes:
        texts: all texts, sorted; other columns have their numbers.
        ids: the entities' ids, sorted.
        types: the type of each entity, shape (n,).
        names: the name that most chunks use for each entity (the first in order of equals), shape (n,).
        triples: head's row, relation, tail's row, shape (m, 3), sorted.
        mentions, support, triple_times, values, value_times: what chunks state.
    """

    texts: Sequence[str]
    ids: Sequence[str]
    types: Numbers
    names: Numbers
    triples: Numbers
    mentions: MentionTable
    support: SupportTable
    triple_times: TripleTimeTable
    values: ValueTable
    value_times: ValueTimeTable

    def number_of(self, text: str) -> int:
        """Return a text's number, or -1 if the graph does not have it."""
        place = bisect_left(self.texts, text)
        return place if place < len(self.texts) and self.texts[place] == text else -1

    @cached_property
    def starts(self) -> dict[str, Rows]:
        """For each table where the rows of each entity or triple begin, and where the last ones end."""
        counts = {"entity": len(self.ids), "triple": len(self.triples)}
        return {name: starts_of(getattr(self, name)[0], counts[table._fields[0]]) for name, table in TABLES.items()}

    @cached_property
    def by_chunk(self) -> Lists:
        """The rows of `mentions` by the number of the chunk's id among the texts."""
        order = np.argsort(self.mentions.chunk, kind="stable")
        return Lists(order, starts_of(self.mentions.chunk[order], len(self.texts)))

    @cached_property
    def outgoing(self) -> Rows:
        """Where the triples with each entity as head begin."""
        return starts_of(self.triples[:, 0], len(self.ids))

    @cached_property
    def incident(self) -> Lists:
        """For each entity the rows of the triples in which it is head or tail, ascending."""
        heads, tails, rows = self.triples[:, 0], self.triples[:, 2], np.arange(len(self.triples))
        other_tails = heads != tails
        entities = np.concatenate([heads, tails[other_tails]])
        triples = np.concatenate([rows, rows[other_tails]])
        order = sort_rows(entities, triples)
        return Lists(triples[order], starts_of(entities[order], len(self.ids)))

    @cached_property
    def adjacent(self) -> Lists:
        """For each entity the other entities with which it shares a triple, ascending."""
        is_loop = self.triples[:, 0] == self.triples[:, 2]
        pairs = self.triples[~is_loop][:, [0, 2]]
        entities, neighbours = np.concatenate([pairs, pairs[:, ::-1]]).T
        order = sort_rows(entities, neighbours)
        order = order[find_firsts(entities[order], neighbours[order])]
        return Lists(neighbours[order], starts_of(entities[order], len(self.ids)))

    def with_texts(self, further: Iterable[str]) -> "GraphColumns":
        """Return the same graph with further texts in `texts`, which shifts the numbers of the old ones."""
        added = {text for text in further if self.number_of(text) < 0}
        if not added:
            return self
        texts = sorted((*self.texts, *added))
        added_numbers = [number for number, text in enumerate(texts) if text in added]
        # The new number of each old text.
        number = np.delete(np.arange(len(texts), dtype=np.int32), added_numbers)
        triples = self.triples.copy()
        triples[:, 1] = number[triples[:, 1]]
        tables = {name: _renumber(getattr(self, name), number) for name in TABLES}
        return replace(self, texts=texts, types=number[self.types], names=number[self.names], triples=triples, **tables)


@dataclass(frozen=True)
class LaterDates:
    """The dates from which a later fact replaces a fact, sorted: by a triple's row, or by an attribute value."""

    triples: dict[int, Sequence[str]] = field(default_factory=dict)
    values: dict[ValueKey, Sequence[str]] = field(default_factory=dict)


def _renumber(table: _Table, number: Numbers) -> _Table:
    """Return a table with new numbers for its texts; `number` has the new one of each old one."""
    return table._replace(**{column: number[getattr(table, column)]
                             for column in table._fields if column in TEXT_COLUMNS})


def sort_rows(*columns: NDArray[Any]) -> Rows:
    """Return the row numbers in sorted order: by the first column, then by the second, and so on; stable."""
    return np.lexsort(columns[::-1])


def find_firsts(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the first of each run of equal rows in sorted columns, shape (rows,)."""
    is_first = np.zeros(len(columns[0]), bool)
    is_first[:1] = True
    for column in columns:
        is_first[1:] |= column[1:] != column[:-1]
    return is_first


def select_rows(table: _Table, rows: Rows | NDArray[np.bool_]) -> _Table:
    """Return some rows of a table."""
    columns: Iterable[Any] = (column[rows] for column in table)
    return type(table)(*columns)


def join_rows(table: _Table, further: _Table) -> _Table:
    """Return a table with the rows of one table, followed by those of another."""
    columns: Iterable[Any] = (np.concatenate([first, second]) for first, second in zip(table, further, strict=True))
    return type(table)(*columns)


def distinct_rows(table: _Table, keys: int) -> _Table:
    """Sort a table by all columns, and keep one row, the first, for each combination of its first `keys` columns."""
    rows = sort_rows(*table)
    table = select_rows(table, rows)
    return select_rows(table, find_firsts(*table[:keys]))


def surest_rows(support: SupportTable) -> SupportTable:
    """Sort the support of triples, and keep one row for each triple and chunk.

    It is the row of the highest confidence; if several have it, the one that starts first in the chunk.
    """
    rows = sort_rows(support.triple, support.chunk, -support.confidence, support.start, support.end)
    support = select_rows(support, rows)
    return select_rows(support, find_firsts(support.triple, support.chunk))


def starts_of(owners: NDArray[Any], count: int) -> Rows:
    """Return where each owner's rows begin in a sorted column of owners, shape (count + 1,).

    Owners are numbered from 0 to `count` - 1. Owner i has the rows from `starts[i]` to before `starts[i + 1]`.
    """
    return np.searchsorted(owners, np.arange(count + 1, dtype=owners.dtype))
