"""A knowledge graph as columns of numbers: tables of arrays, in which each distinct text is stored once.

Texts, entities and triples are numbered in the order of texts, ids and keys: sorting numbers sorts these, and equal
graphs have equal columns. Made of the ledger's rows, each name and type is an entity of its own (see `resolved_graph`).
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...schemas.naming import entity_id
from ..ledger.extractions import AdmittedRows
from ..store_errors import LedgerDamagedError

Numbers = NDArray[np.int32]
Rows = NDArray[np.intp]
_AT_ONCE = 10_000
# For each column of the tables: t is a text, i an integer, f a float; - is not part of the graph.
_MENTION_COLUMNS = "t-ttii"
_FACT_COLUMNS = "t-ttttttiif"
_VALUE_COLUMNS = "t-tttt-tii-"


class Lists:
    """A list of numbers for each row, in one array of numbers and one of where each list begins."""

    def __init__(self, values: NDArray[Any], starts: NDArray[Any]) -> None:
        self.values, self.starts = values, starts

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> NDArray[Any]:
        return self.values[self.starts[row]:self.starts[row + 1]]

    def unite(self, rows: Iterable[int]) -> Rows:
        """Return the distinct numbers of several rows, ascending."""
        wanted = np.fromiter(rows, np.intp)
        counts = self.starts[wanted + 1] - self.starts[wanted]
        # The place of each number in `values`: where its row begins, plus how many numbers of the row precede it.
        places = np.repeat(self.starts[wanted] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        return sort_distinct(self.values[places]).astype(np.intp)


def sort_distinct(numbers: NDArray[Any]) -> NDArray[Any]:
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
        return {name: find_starts(getattr(self, name)[0], counts[table._fields[0]]) for name, table in TABLES.items()}

    @cached_property
    def by_chunk(self) -> Lists:
        """The rows of `mentions` by the number of the chunk's id among the texts."""
        order = np.argsort(self.mentions.chunk, kind="stable")
        return Lists(order, find_starts(self.mentions.chunk[order], len(self.texts)))

    @cached_property
    def outgoing(self) -> Rows:
        """Where the triples with each entity as head begin."""
        return find_starts(self.triples[:, 0], len(self.ids))

    @cached_property
    def incident(self) -> Lists:
        """For each entity the rows of the triples in which it is head or tail, ascending."""
        heads = self.triples[:, 0]
        tails = self.triples[:, 2]
        rows = np.arange(len(self.triples))
        other_tails = heads != tails
        entities = np.concatenate([heads, tails[other_tails]])
        triples = np.concatenate([rows, rows[other_tails]])
        order = sort_rows(entities, triples)
        return Lists(triples[order], find_starts(entities[order], len(self.ids)))

    @cached_property
    def adjacent(self) -> Lists:
        """For each entity the other entities with which it shares a triple, ascending."""
        is_loop = self.triples[:, 0] == self.triples[:, 2]
        pairs = self.triples[~is_loop][:, [0, 2]]
        entities, neighbours = np.concatenate([pairs, pairs[:, ::-1]]).T
        order = sort_rows(entities, neighbours)
        order = order[find_firsts(entities[order], neighbours[order])]
        return Lists(neighbours[order], find_starts(entities[order], len(self.ids)))

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
        tables = {name: table._replace(**{column: number[getattr(table, column)] for column in table._fields
                                          if column in TEXT_COLUMNS})
                  for name in TABLES for table in [getattr(self, name)]}
        return replace(self, texts=texts, types=number[self.types], names=number[self.names], triples=triples, **tables)


@dataclass(frozen=True)
class LaterDates:
    """The dates from which a later fact replaces a fact, sorted: by a triple's row, or by an attribute value."""

    triples: dict[int, Sequence[str]] = field(default_factory=dict)
    values: dict[ValueKey, Sequence[str]] = field(default_factory=dict)


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


def distinct_rows(table: _Table, keys: int) -> _Table:
    """Sort a table by all columns, and keep one row, the first, for each combination of its first `keys` columns."""
    rows = sort_rows(*table)
    table = select_rows(table, rows)
    return select_rows(table, find_firsts(*table[:keys]))


def keep_surest_rows(support: SupportTable) -> SupportTable:
    """Sort the support of triples, and keep for each triple and chunk the surest row; of equals, the first place."""
    rows = sort_rows(support.triple, support.chunk, -support.confidence, support.start, support.end)
    support = select_rows(support, rows)
    return select_rows(support, find_firsts(support.triple, support.chunk))


def find_starts(owners: NDArray[Any], count: int) -> Rows:
    """Return where the rows of the owners 0 to `count` - 1, and the end, are in a sorted column, shape (count + 1,)."""
    return np.searchsorted(owners, np.arange(count + 1, dtype=owners.dtype))


class _TextNumbers(dict[str, int]):
    """Numbers of texts; a new text gets the next one."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number


def read_columns(rows: AdmittedRows) -> GraphColumns:
    """Return the graph of the ledger's rows, read once; LedgerDamagedError if an entity of a fact is not mentioned."""
    known = _TextNumbers()
    # First number the texts as they come, and then again in sorted order.
    mentions = _read_table(rows.mentions, _MENTION_COLUMNS, known)
    facts = _read_table(rows.facts, _FACT_COLUMNS, known)
    values = _read_table(rows.values, _VALUE_COLUMNS, known)
    empty, listed = known[""], list(known)  # "" are the words of the time of a fact that has none
    order = np.array(sorted(range(len(listed)), key=listed.__getitem__), np.intp)
    number = np.empty(len(listed), np.int32)
    number[order] = np.arange(len(listed), dtype=np.int32)
    texts = [listed[row] for row in order.tolist()]
    mentioned_in, name, kind, *places = _number_texts(mentions, _MENTION_COLUMNS, number)
    stated_in, head, head_kind, relation, tail, tail_kind, fact_time, start, end, confidence = _number_texts(
        facts, _FACT_COLUMNS, number)
    valued_in, owner, owner_kind, attribute, value, value_time, *value_places = _number_texts(
        values, _VALUE_COLUMNS, number)
    ids, types, (entities, heads, tails, owners) = _number_entities(
        texts, [(name, kind), (head, head_kind), (tail, tail_kind), (owner, owner_kind)])
    table = distinct_rows(MentionTable(entities, name, mentioned_in, *places), 3)
    # Each entity's name is the one that most chunks use; of equally frequent ones, the first alphabetically.
    starts = np.flatnonzero(find_firsts(table.entity, table.name))
    counts = np.diff(starts, append=len(table.entity))
    commonest = starts[sort_rows(table.entity[starts], -counts, table.name[starts])]
    names = table.name[commonest[find_starts(table.entity[commonest], len(ids))[:-1]]]
    triples, triple = distinct_triples(heads, relation, tails)
    return GraphColumns(
        texts=texts, ids=ids, types=types, names=names, triples=triples, mentions=table,
        support=keep_surest_rows(SupportTable(triple, stated_in, start, end, confidence)),
        triple_times=distinct_rows(
            select_rows(TripleTimeTable(triple, fact_time, stated_in, start, end), fact_time != number[empty]), 3),
        values=distinct_rows(ValueTable(owners, attribute, value, valued_in, *value_places), 4),
        value_times=distinct_rows(
            select_rows(ValueTimeTable(owners, attribute, value, value_time, valued_in, *value_places),
                        value_time != number[empty]), 5))


def _read_table(rows: Iterable[Sequence[Any]], kinds: str, known: _TextNumbers) -> list[NDArray[Any]]:
    """Return the columns of some rows whose `kinds` are no "-", page by page; texts become their numbers in `known`."""
    read_kinds = kinds.replace("-", "")
    columns: list[list[NDArray[Any]]] = [[] for _ in read_kinds]
    remaining = iter(rows)
    while page := list(islice(remaining, _AT_ONCE)):
        cells = (column for column, kind in zip(zip(*page, strict=True), kinds, strict=True) if kind != "-")
        for column, kind, parts in zip(cells, read_kinds, columns, strict=True):
            parts.append(np.fromiter(map(known.__getitem__, column), np.int32, len(page)) if kind == "t"
                         else np.array(column, np.float64 if kind == "f" else np.int32))
    return [np.concatenate([np.zeros(0, np.float64 if kind == "f" else np.int32), *parts])
            for kind, parts in zip(read_kinds, columns, strict=True)]


def _number_texts(columns: Sequence[NDArray[Any]], kinds: str, number: Numbers) -> list[NDArray[Any]]:
    return [number[column] if kind == "t" else column
            for column, kind in zip(columns, kinds.replace("-", ""), strict=True)]


def _number_entities(texts: Sequence[str], named: Sequence[tuple[Numbers, Numbers]],
                     ) -> tuple[list[str], Numbers, list[Numbers]]:
    """Return the entities' ids, sorted, and types, and for each pair of columns (names, types) the entities' rows."""
    # One number for each pair of a name and a type.
    keys = [name.astype(np.int64) * len(texts) + kind for name, kind in named]
    pairs = np.unique(np.concatenate(keys))
    names, kinds = np.divmod(pairs, max(len(texts), 1))
    # Several spellings of a name can have the same id.
    pair_ids = [entity_id(texts[name], texts[kind]) for name, kind in zip(names.tolist(), kinds.tolist(), strict=True)]
    ids = sorted(set(pair_ids))
    row_of = {entity: row for row, entity in enumerate(ids)}
    rows = np.array([row_of[entity] for entity in pair_ids], np.int32)
    by_table = [rows[np.searchsorted(pairs, table_keys)] for table_keys in keys]
    if len(np.unique(by_table[0])) != len(ids):
        raise LedgerDamagedError("a fact in the ledger is about an entity that no chunk mentions")
    types = np.empty(len(ids), np.int32)
    types[rows] = kinds
    return ids, types, by_table


def distinct_triples(heads: Numbers, relations: Numbers, tails: Numbers) -> tuple[Numbers, Numbers]:
    """Return the distinct triples of some facts, shape (triples, 3), sorted, and the row of each fact's triple."""
    order = sort_rows(heads, relations, tails)
    is_first = find_firsts(heads[order], relations[order], tails[order])
    rows = np.empty(len(order), np.int32)
    rows[order] = np.cumsum(is_first, dtype=np.int32) - 1
    return np.stack([heads, relations, tails], axis=1)[order[is_first]], rows
