"""A knowledge graph as columns of numbers: tables of arrays, in which each distinct text is stored once.

Texts, entities and triples are numbered in the order of texts, ids and keys: sorting numbers sorts these, and equal
graphs have equal columns. Made of the ledger's rows, each name and type is an entity of its own (see `resolved_graph`).
"""

from bisect import bisect_left
from collections import defaultdict, namedtuple
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...schemas.naming import entity_id
from ..ledger.extractions import AdmittedRows
from ..store_errors import LedgerDamagedError

Numbers = NDArray[np.int32]
Rows = NDArray[np.intp]
_ROWS_AT_ONCE = 10_000
# For each column of the ledger's tables: t is a text, i an integer, f a float; - is not part of the graph.
_MENTION_COLUMNS = "t-ttii"
_FACT_COLUMNS = "t-ttttttiif"
_VALUE_COLUMNS = "t-tttt-tii-"
_NUMBER_TYPES = {"t": np.int32, "i": np.int32, "f": np.float64}


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
        parts = [self[row] for row in rows]
        return np.unique(np.concatenate(parts)).astype(np.intp) if parts else np.zeros(0, np.intp)


# What chunks state: a column of numbers each. Rows are sorted by the columns up to the chunk, and differ in these.
MentionTable = namedtuple("MentionTable", "entity name chunk start end")  # where chunks name entities
SupportTable = namedtuple("SupportTable", "triple chunk start end confidence")  # where chunks state triples
TripleTimeTable = namedtuple("TripleTimeTable", "triple words chunk start end")  # when triples hold; `words` say it
ValueTable = namedtuple("ValueTable", "entity attribute value chunk start end")  # where chunks state attribute values
ValueTimeTable = namedtuple("ValueTimeTable", "entity attribute value words chunk start end")  # when values hold
_Table = TypeVar("_Table", MentionTable, SupportTable, TripleTimeTable, ValueTable, ValueTimeTable)
TABLES: dict[str, Any] = {"mentions": MentionTable, "support": SupportTable, "triple_times": TripleTimeTable,
                          "values": ValueTable, "value_times": ValueTimeTable}
TEXT_COLUMNS = frozenset({"name", "chunk", "words", "attribute", "value"})
ValueKey = tuple[int, int, int]  # an entity's row, and the numbers of an attribute and a value


@dataclass(frozen=True, eq=False)
class GraphColumns:
    """A graph of n entities and m triples."""

    texts: Sequence[str]  # all texts, sorted; other columns have their numbers
    ids: Sequence[str]  # the entities' ids, sorted
    types: Numbers  # the type of each entity, shape (n,)
    names: Numbers  # the name that most chunks use for each entity (the first in order of equals), shape (n,)
    triples: Numbers  # head's row, relation, tail's row, shape (m, 3), sorted
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
        counts = {"entity": len(self.ids), "triple": len(self.triples)}  # by what the rows of a table are about
        return {name: find_starts(getattr(self, name)[0], counts[table._fields[0]]) for name, table in TABLES.items()}

    @cached_property
    def by_chunk(self) -> Lists:
        """The rows of `mentions` by the number of the chunk's id among the texts."""
        order = np.argsort(self.mentions.chunk, kind="stable")
        return Lists(order, find_starts(self.mentions.chunk[order], len(self.texts)))

    @cached_property
    def incident(self) -> Lists:
        """For each entity the rows of the triples in which it is head or tail, ascending."""
        heads, tails = self.triples[:, 0], self.triples[:, 2]
        rows = np.arange(len(self.triples))
        has_other_tail = heads != tails  # a triple that joins an entity to itself is listed once
        entities = np.concatenate([heads, tails[has_other_tail]])
        triples = np.concatenate([rows, rows[has_other_tail]])
        order = sort_rows(entities, triples)
        return Lists(triples[order], find_starts(entities[order], len(self.ids)))

    def adjacent_to(self, row: int) -> Rows:
        """Return the other entities with which the entity in a row shares a triple, ascending."""
        ends = self.triples[self.incident[row]][:, [0, 2]]
        return np.unique(ends[ends != row]).astype(np.intp)

    def with_texts(self, further: Iterable[str]) -> "GraphColumns":
        """Return the same graph with further texts in `texts`, which shifts the numbers of the old ones."""
        added = {text for text in further if self.number_of(text) < 0}
        if not added:
            return self
        texts = sorted((*self.texts, *added))
        numbers_of_added = [number for number, text in enumerate(texts) if text in added]
        new_number = np.delete(np.arange(len(texts), dtype=np.int32), numbers_of_added)  # by the old number of a text
        triples = self.triples.copy()
        triples[:, 1] = new_number[triples[:, 1]]
        tables: dict[str, Any] = {}
        for name in TABLES:
            table = getattr(self, name)
            text_columns = TEXT_COLUMNS.intersection(table._fields)
            tables[name] = table._replace(**{column: new_number[getattr(table, column)] for column in text_columns})
        return replace(self, texts=texts, types=new_number[self.types], names=new_number[self.names], triples=triples,
                       **tables)


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
    is_first[:1] = True  # a slice, as there may be no row
    for column in columns:
        is_first[1:] |= column[1:] != column[:-1]
    return is_first


def select_rows(table: _Table, rows: Rows | NDArray[np.bool_]) -> _Table:
    """Return some rows of a table."""
    columns: Iterable[Any] = (column[rows] for column in table)
    return type(table)(*columns)


def distinct_rows(table: _Table) -> _Table:
    """Sort a table by all columns, and keep the first of the rows that differ in their place in a chunk alone."""
    table = select_rows(table, sort_rows(*table))
    return select_rows(table, find_firsts(*table[:table._fields.index("start")]))


def keep_surest_rows(support: SupportTable) -> SupportTable:
    """Sort the support of triples, and keep for each triple and chunk the surest row; of equals, the first place."""
    rows = sort_rows(support.triple, support.chunk, -support.confidence, support.start, support.end)
    support = select_rows(support, rows)
    return select_rows(support, find_firsts(support.triple, support.chunk))


def find_starts(owners: NDArray[Any], count: int) -> Rows:
    """Return where the rows of the owners 0 to `count` - 1, and the end, are in a sorted column, shape (count + 1,)."""
    return np.searchsorted(owners, np.arange(count + 1, dtype=owners.dtype))


def read_columns(rows: AdmittedRows) -> GraphColumns:
    """Return the graph of the ledger's rows; LedgerDamagedError if a fact is about an entity that no chunk mentions."""
    # Texts are first numbered as they come; `sorted_number` has by this number the one in sorted order.
    known = defaultdict[str, int]()
    known.default_factory = known.__len__  # a new text gets the next number
    no_time = known[""]
    sources = ((rows.mentions, _MENTION_COLUMNS), (rows.facts, _FACT_COLUMNS), (rows.values, _VALUE_COLUMNS))
    tables = [_read_table(table, kinds, known) for table, kinds in sources]
    texts = sorted(known)
    sorted_number = np.empty(len(texts), np.int32)
    sorted_number[[known[text] for text in texts]] = np.arange(len(texts), dtype=np.int32)
    for columns, (_, kinds) in zip(tables, sources, strict=True):
        for place, kind in enumerate(kinds.replace("-", "")):
            if kind == "t":
                columns[place] = sorted_number[columns[place]]
    (mention_chunk, name, name_type, *mention_place), facts, values = tables
    fact_chunk, head, head_type, relation, tail, tail_type, fact_time, start, end, confidence = facts
    value_chunk, owner, owner_type, attribute, value, value_time, *value_place = values
    ids, types, (entity, heads, tails, owners) = _number_entities(
        texts, [(name, name_type), (head, head_type), (tail, tail_type), (owner, owner_type)])
    mention_table = distinct_rows(MentionTable(entity, name, mention_chunk, *mention_place))
    triples, triple = distinct_triples(heads, relation, tails)
    triple_times = TripleTimeTable(triple, fact_time, fact_chunk, start, end)
    value_times = ValueTimeTable(owners, attribute, value, value_time, value_chunk, *value_place)
    return GraphColumns(
        texts=texts, ids=ids, types=types, names=_choose_names(mention_table, len(ids)), triples=triples,
        mentions=mention_table, support=keep_surest_rows(SupportTable(triple, fact_chunk, start, end, confidence)),
        triple_times=distinct_rows(select_rows(triple_times, fact_time != sorted_number[no_time])),
        values=distinct_rows(ValueTable(owners, attribute, value, value_chunk, *value_place)),
        value_times=distinct_rows(select_rows(value_times, value_time != sorted_number[no_time])))


def _read_table(rows: Iterable[Sequence[Any]], kinds: str, known: defaultdict[str, int]) -> list[NDArray[Any]]:
    """Return the columns of some rows whose `kinds` are no "-"; texts become their numbers in `known`."""
    # In pages, because as Python objects all rows would take much memory.
    pages: list[list[NDArray[Any]]] = [[np.zeros(0, _NUMBER_TYPES[kind]) for kind in kinds if kind != "-"]]
    remaining = iter(rows)
    while page := list(islice(remaining, _ROWS_AT_ONCE)):
        arrays = []
        for cells, kind in zip(zip(*page, strict=True), kinds, strict=True):
            if kind != "-":
                numbers = [known[text] for text in cells] if kind == "t" else cells
                arrays.append(np.array(numbers, _NUMBER_TYPES[kind]))
        pages.append(arrays)
    return [np.concatenate(parts) for parts in zip(*pages, strict=True)]


def _choose_names(mentions: MentionTable, count: int) -> Numbers:
    """Return for each of `count` entities the name that most chunks use; of equally frequent ones, the first."""
    starts = np.flatnonzero(find_firsts(mentions.entity, mentions.name))  # where the rows of each spelling begin
    counts = np.diff(starts, append=len(mentions.entity))
    # Sort the spellings so that each entity's most frequent one comes first, and take these.
    by_frequency = starts[sort_rows(mentions.entity[starts], -counts, mentions.name[starts])]
    most_frequent = by_frequency[find_starts(mentions.entity[by_frequency], count)[:-1]]
    names: Numbers = mentions.name[most_frequent]
    return names


def _number_entities(texts: Sequence[str], named: Sequence[tuple[Numbers, Numbers]],
                     ) -> tuple[list[str], Numbers, list[Numbers]]:
    """Return the entities' ids, sorted, and types, and for each pair of columns (names, types) the entities' rows."""
    # One number for each pair of a name and a type.
    keys = [name.astype(np.int64) * len(texts) + kind for name, kind in named]
    pairs = np.unique(np.concatenate(keys))
    names, kinds = np.divmod(pairs, len(texts))
    # Several spellings of a name can have the same id.
    pair_ids = [entity_id(texts[name], texts[kind]) for name, kind in zip(names.tolist(), kinds.tolist(), strict=True)]
    ids = sorted(set(pair_ids))
    row_of = {entity: row for row, entity in enumerate(ids)}
    rows = np.array([row_of[entity] for entity in pair_ids], np.int32)
    by_table = [rows[np.searchsorted(pairs, table_keys)] for table_keys in keys]
    mentioned = np.unique(by_table[0])  # the first pair of columns is that of the mentions
    if len(mentioned) != len(ids):
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
