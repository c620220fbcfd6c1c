"""Write the graph as tables: entities, facts and attribute values, each fact with its time and its documents.

They are described in the catalogue, and each relation and each attribute as a table of its own.

A fact that holds at several times, or with several qualifiers, is one row for each. What a chunk states without a time
holds at all of the fact's times.
"""

import datetime
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import pairwise, repeat
from typing import Any, NamedTuple

import duckdb
import numpy as np

from ...schemas.documents import Chunk
from ...schemas.records import ColumnInfo, ColumnKind, TableInfo, TableKind
from ...text.column_values import type_column
from ...text.times import read_time
from ..graph.graph_columns import Numbers, find_firsts, sort_rows
from ..graph.knowledge_graph import KnowledgeGraph
from .logical_tables import (
    HIDDEN,
    LONGEST_SHOWN,
    MOST_FREQUENT,
    NameSpace,
    SqlColumn,
    create_table,
    make_column,
    make_number_column,
    make_text_column,
    show_value,
)


class When(NamedTuple):
    """When a fact holds; `is_open` if it holds until a later fact replaces it."""

    since: str | None = None
    until: str | None = None
    qualifiers: str | None = None
    is_open: bool = False


class ChunkPlaces:
    """The document and the start of each chunk of a graph, by the number of the chunk's id among the graph's texts."""

    def __init__(self, graph: KnowledgeGraph, chunks: Iterable[Chunk]) -> None:
        known = [(number, chunk) for chunk in chunks if (number := graph.columns.number_of(chunk.id)) >= 0]
        self.documents = sorted({chunk.document_id for _, chunk in known})
        number_of = {document: number for number, document in enumerate(self.documents)}
        self.document = np.full(len(graph.columns.texts), -1, np.int32)
        self.start = np.zeros(len(graph.columns.texts), np.int32)
        for number, chunk in known:
            self.document[number], self.start[number] = number_of[chunk.document_id], chunk.start


class Statements(NamedTuple):
    """Places that state facts, one a row; `when` is 0 where nothing is said of a time."""

    fact: Numbers
    when: Numbers
    chunk: Numbers
    start: Numbers
    end: Numbers


class PlacedRows(NamedTuple):
    """Facts with all of their documents and the first place, sorted by fact and time."""

    fact: Numbers
    when: Numbers
    documents: list[list[str]]
    starts: Numbers
    ends: Numbers


def place_rows(stated: Statements, places: ChunkPlaces) -> PlacedRows:
    """Return a row for each fact and time; statements of chunks that are not known are left out."""
    stated = Statements(*(column[places.document[stated.chunk] >= 0] for column in stated))
    document, begin = places.document[stated.chunk], places.start[stated.chunk]
    rows = sort_rows(stated.fact, stated.when, document, begin + stated.start, begin + stated.end)
    fact, when, document, begin = stated.fact[rows], stated.when[rows], document[rows], begin[rows]
    firsts = find_firsts(fact, when)
    documents = find_firsts(fact, when, document)  # each document of a row once
    named = [places.documents[number] for number in document[documents].tolist()]
    bounds = [*np.flatnonzero(firsts[documents]).tolist(), len(named)]
    return PlacedRows(fact[firsts], when[firsts], [named[start:end] for start, end in pairwise(bounds)],
                      (begin + stated.start[rows])[firsts], (begin + stated.end[rows])[firsts])


class Times:
    """When the words of a graph say that facts hold, numbered from 1 in the order of the times; 0 is no time."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        columns = graph.columns
        used = np.unique(np.concatenate([columns.triple_times.words, columns.value_times.words]))
        read = {number: when for number in used.tolist() if (when := _read_when(columns.texts[number])) is not None}
        ordered = sorted(set(read.values()), key=lambda when: [part or "" for part in when[:3]] + [str(when.is_open)])
        self.whens: Sequence[When] = (When(), *ordered)
        number_of = {when: number for number, when in enumerate(self.whens)}
        self._numbers = np.zeros(len(columns.texts), np.int32)
        for words, when in read.items():
            self._numbers[words] = number_of.get(when, 0)

    def combine_statements(self, untimed: Statements, words: Numbers, timed: Statements) -> Statements:
        """Return all statements of facts: those of `timed` have a time in `words` if it can be read."""
        timed = timed._replace(when=self._numbers[words])
        timed = Statements(*(column[timed.when > 0] for column in timed))
        # One number for each pair of a fact and a chunk.
        pairs, timed_pairs = (stated.fact.astype(np.int64) * len(self._numbers) + stated.chunk
                              for stated in (untimed, timed))
        is_timed = np.isin(pairs, timed_pairs)
        untimed = _repeat_for_all_times(Statements(*(column[~is_timed] for column in untimed)), timed)
        return Statements(*map(np.concatenate, zip(timed, untimed, strict=True)))

    def find_times(self, rows: PlacedRows, later: Callable[[int], Sequence[str]]) -> list[When]:
        """Return when each row holds; `later` returns the dates from which later facts replace a fact."""
        found = []
        for fact, when in zip(rows.fact.tolist(), map(self.whens.__getitem__, rows.when.tolist()), strict=True):
            since = when.since
            dates = [date for date in later(fact) if since and date > since] if when.is_open else []
            found.append(when._replace(until=min(dates, default=None)) if when.is_open else when)
        return found


def _read_when(words: str) -> When | None:
    if (time := read_time(words)) is None:
        return None
    qualifiers = (time.kind if time.kind in ("planned", "former") else "", time.qualifiers)
    # What held at a date did not end then.
    return When(time.start or None, None if time.kind == "at" else time.end or None,
                "; ".join(filter(None, qualifiers)) or None, time.kind in ("at", "from"))


def _repeat_for_all_times(untimed: Statements, timed: Statements) -> Statements:
    """Repeat statements without a time for each time of their fact."""
    rows = sort_rows(timed.fact, timed.when)
    fact, when = timed.fact[rows], timed.when[rows]
    firsts = find_firsts(fact, when)
    fact, when = fact[firsts], np.append(when[firsts], 0)
    starts, ends = (np.searchsorted(fact, untimed.fact, side) for side in ("left", "right"))
    counts = np.maximum(ends - starts, 1)  # a statement of a fact without any time stays one row, with time 0
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)  # 0, 1, ... for each statement
    places = np.where(np.repeat(ends > starts, counts), np.repeat(starts, counts) + within, len(fact))
    return Statements(*(np.repeat(column, counts) for column in untimed))._replace(when=when[places])


ENTITIES, FACTS, VALUES = GRAPH_TABLES = ("entities", "facts", "attribute_values")
_KINDS: Mapping[str, TableKind] = {ENTITIES: "entities", FACTS: "facts", VALUES: "values"}
_NO_UNIT = "none"
_WHEN = ("since", "until", "qualifiers")
_RELATION_COLUMNS = ("head", "tail", *_WHEN, "documents")
_ATTRIBUTE_COLUMNS = ("entity", "value", "number", "unit", "date", *_WHEN, "documents")
_MEMBERS = {FACTS: ("relation", "tail", _RELATION_COLUMNS), VALUES: ("attribute", "value", _ATTRIBUTE_COLUMNS)}
"""For each table of facts: the column that names their relation, what is counted, and a view's columns."""
_MEMBER_KINDS: Mapping[str, ColumnKind] = {"number": "number", "date": "date", "documents": "list"}


class _Table(NamedTuple):
    name: str
    columns: Sequence[SqlColumn]
    hidden: tuple[list[Any], list[Any], list[Any]]
    """The document, start and end of each row; None where nothing mentions it."""

    def values(self, column: str) -> list[Any]:
        return next(list(one.values.tolist()) for one in self.columns if one.info.name == column)


def write_graph(connection: duckdb.DuckDBPyConnection, graph: KnowledgeGraph, chunks: Sequence[Chunk],
                names: NameSpace) -> list[TableInfo]:
    """Write the tables of the graph to the database that a connection uses.

    Returns:
        What is said of them, and of its relations and attributes, which get names in SQL.
    """
    places, times = ChunkPlaces(graph, chunks), Times(graph)
    entities = _make_entities(graph, places)
    facts = [_make_facts(graph, places, times), _make_values(graph, places, times)]
    for table in (entities, *facts):
        stored = {column.info.name: (column.sql_type, column.values) for column in table.columns}
        for name, sql_type, values in zip(HIDDEN, ("VARCHAR", "INTEGER", "INTEGER"), table.hidden, strict=True):
            array = np.empty(len(values), object)
            array[:] = values
            stored[name] = sql_type, array
        create_table(connection, f"main.{table.name}", stored)
    infos = [TableInfo(name=table.name, title=table.name.replace("_", " "), kind=_KINDS[table.name],
                       rows=len(table.hidden[0]), documents=len({*table.hidden[0]} - {None}),
                       columns=tuple(column.info for column in table.columns)) for table in (entities, *facts)]
    return infos + [info for table in facts for info in _describe_members(table, names)]


def _make_entities(graph: KnowledgeGraph, places: ChunkPlaces) -> _Table:
    columns, mentions = graph.columns, graph.columns.mentions
    no_time = np.zeros_like(mentions.entity)
    rows = place_rows(Statements(mentions.entity, no_time, mentions.chunk, mentions.start, mentions.end), places)
    # Entities that only a person's edit has are mentioned nowhere.
    size = len(columns.ids)
    counts: list[int | None] = [None] * size
    hidden: tuple[list[Any], list[Any], list[Any]] = [None] * size, [None] * size, [None] * size
    for entity, documents, start, end in zip(
            rows.fact.tolist(), rows.documents, rows.starts.tolist(), rows.ends.tolist(), strict=True):
        counts[entity] = len(documents)
        hidden[0][entity], hidden[1][entity], hidden[2][entity] = documents[0], start, end
    shown = [make_text_column("entity", "entity", _read_texts(graph, columns.names)),
             make_text_column("type", "type", _read_texts(graph, columns.types)),
             make_number_column("documents", "documents", counts, integers=True)]
    return _Table(ENTITIES, shown, hidden)


def _make_facts(graph: KnowledgeGraph, places: ChunkPlaces, times: Times) -> _Table:
    columns, support, timed = graph.columns, graph.columns.support, graph.columns.triple_times
    rows = place_rows(times.combine_statements(
        Statements(support.triple, np.zeros_like(support.triple), support.chunk, support.start, support.end),
        timed.words, Statements(timed.triple, timed.triple, timed.chunk, timed.start, timed.end)), places)
    head, relation, tail = columns.triples[rows.fact].T
    ends = {"head": columns.names[head], "head_type": columns.types[head], "relation": relation,
            "tail": columns.names[tail], "tail_type": columns.types[tail]}
    shown = [make_text_column(name, name, _read_texts(graph, numbers)) for name, numbers in ends.items()]
    return _make_table(FACTS, shown, times.find_times(rows, lambda fact: graph.later.triples.get(fact, ())), rows)


def _make_values(graph: KnowledgeGraph, places: ChunkPlaces, times: Times) -> _Table:
    columns, values, timed = graph.columns, graph.columns.values, graph.columns.value_times
    keys, facts = _number_values(graph)
    untimed_facts, timed_facts = facts[:len(values.entity)], facts[len(values.entity):]
    untimed = Statements(untimed_facts, when=np.zeros_like(untimed_facts), chunk=values.chunk, start=values.start,
                         end=values.end)
    # `combine_statements` puts the number of the words for `when`; what stands there before is not read.
    stated_with_time = Statements(timed_facts, when=timed_facts, chunk=timed.chunk, start=timed.start, end=timed.end)
    rows = place_rows(times.combine_statements(untimed, timed.words, stated_with_time), places)
    attribute, entity, value = keys[rows.fact].T
    texts = {"entity": columns.names[entity], "type": columns.types[entity], "attribute": attribute, "value": value}
    shown = [make_text_column(name, name, _read_texts(graph, numbers)) for name, numbers in texts.items()]
    typed = _typed_values(graph)
    of_rows = [typed[pair] for pair in zip(attribute.tolist(), value.tolist(), strict=True)]
    dates = [one.date for one in of_rows]
    shown += [make_number_column("number", "number", [one.number for one in of_rows]),
              make_text_column("unit", "unit", [one.unit for one in of_rows]),
              make_column("date", "date", "date", dates, empty=dates.count(None))]
    stated_values = [(entity, attribute, value) for attribute, entity, value in keys.tolist()]
    whens = times.find_times(rows, lambda fact: graph.later.values.get(stated_values[fact], ()))
    return _make_table(VALUES, shown, whens, rows)


def _number_values(graph: KnowledgeGraph) -> tuple[Numbers, Numbers]:
    """Return the distinct (attribute, entity, value), sorted, and the number of that of each value and timed value."""
    both = zip(graph.columns.values[:3], graph.columns.value_times[:3], strict=True)
    entity, attribute, value = (np.concatenate(pair) for pair in both)
    rows = sort_rows(attribute, entity, value)
    keys = np.stack([attribute, entity, value], axis=1)[rows]
    firsts = find_firsts(*keys.T)
    facts = np.empty(len(rows), np.int32)
    facts[rows] = np.cumsum(firsts) - 1
    return keys[firsts], facts


class _TypedValue(NamedTuple):
    number: Any = None
    unit: str | None = None
    date: datetime.date | None = None


def _typed_values(graph: KnowledgeGraph) -> dict[tuple[int, int], _TypedValue]:
    """Return the number with its unit, or the date, that each distinct value of an attribute is."""
    texts = graph.columns.texts
    both = np.concatenate([np.stack(table[1:3], axis=1) for table in (graph.columns.values, graph.columns.value_times)])
    found: dict[tuple[int, int], _TypedValue] = {}
    for attribute in np.unique(both[:, 0]).tolist():
        values = np.unique(both[both[:, 0] == attribute, 1]).tolist()
        typed = type_column([texts[number] for number in values], texts[attribute])
        for number, value, unit in zip(values, typed.values, typed.units or repeat(typed.unit)):  # noqa: B905 - endless
            found[attribute, number] = _TypedValue()
            if typed.kind == "number" and value is not None:
                found[attribute, number] = _TypedValue(number=value, unit=unit or None)
            elif isinstance(value, datetime.date):
                day = value.date() if isinstance(value, datetime.datetime) else value
                found[attribute, number] = _TypedValue(date=day)
    return found


def _make_table(name: str, columns: Sequence[SqlColumn], whens: Sequence[When], rows: PlacedRows) -> _Table:
    """Return a table of facts: its columns, when each row holds, and its documents."""
    times = [make_text_column(part, part, [getattr(when, part) for when in whens]) for part in _WHEN]
    documents = make_column("documents", "documents", "list", rows.documents)
    hidden = [named[0] for named in rows.documents], rows.starts.tolist(), rows.ends.tolist()
    return _Table(name, [*columns, *times, documents], hidden)


def _read_texts(graph: KnowledgeGraph, numbers: Numbers) -> list[str]:
    text_of = {number: graph.columns.texts[number] for number in np.unique(numbers).tolist()}
    return [text_of[number] for number in numbers.tolist()]


def _describe_members(table: _Table, names: NameSpace) -> Iterator[TableInfo]:
    """Yield a table for each relation or attribute; a number is added to a name that another table has."""
    by, counted, columns = _MEMBERS[table.name]
    rows_of: dict[str, list[int]] = {}
    for row, member in enumerate(table.values(by)):
        rows_of.setdefault(member, []).append(row)
    values = table.values(counted)
    numbers, units = (table.values(name) if name in columns else [] for name in ("number", "unit"))
    for member, rows in sorted(rows_of.items()):
        counts = Counter(values[row] for row in rows)
        most = nsmallest(MOST_FREQUENT, counts.items(), key=lambda item: (-item[1], item[0]))
        frequent = tuple((show_value(value)[:LONGEST_SHOWN], count) for value, count in most if most[0][1] > 1)
        own = tuple(sorted({units[row] or _NO_UNIT for row in rows if numbers and numbers[row] is not None}))
        infos = [ColumnInfo(name=name, title=name, kind=_MEMBER_KINDS.get(name, "text"),
                            unit=own[0].replace(_NO_UNIT, "") if name == "number" and len(own) == 1 else "",
                            units=own if name == "number" and len(own) > 1 else (),
                            frequent=frequent if name == counted else ()) for name in columns]
        yield TableInfo(name=names.take(member, by), title=member, kind="relation", rows=len(rows),
                        documents=len({table.hidden[0][row] for row in rows}), columns=tuple(infos))
