"""Write the graph as tables: entities, facts and attribute values, each fact with its time and its documents.

They are described in the catalogue, and each relation and each attribute as a table of its own.

A fact that holds at several times, or with several qualifiers, is one row for each. What a chunk states without a time
holds at all of the fact's times.
"""

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
from numpy.typing import NDArray

from ...schemas.documents import Chunk
from ...schemas.records import ColumnInfo, ColumnKind, TableInfo
from ...text.times import read_time
from ..graph.graph_columns import Numbers, distinct_triples
from ..graph.knowledge_graph import KnowledgeGraph
from .column_values import type_column
from .logical_tables import NameSpace, Place, SqlColumn, find_frequent, make_column, make_text_column, write_table

ENTITIES, FACTS, VALUES = GRAPH_TABLES = ("entities", "facts", "attribute_values")
_NO_UNIT = "none"  # what the units of an attribute list for numbers without one
_WHEN = ("since", "until", "qualifiers")
_RELATION_COLUMNS = ("head", "tail", *_WHEN, "documents")
_ATTRIBUTE_COLUMNS = ("entity", "value", "number", "unit", "date", *_WHEN, "documents")
_MEMBER_KINDS: Mapping[str, ColumnKind] = {"number": "number", "date": "date", "documents": "list"}
_PLACE_FACTS = Path(__file__).with_name("place_facts.sql").read_text("utf-8")


class _PlacedFact(NamedTuple):
    """A fact at one of its times, with its documents and its first place; `is_open` until a later fact replaces it."""

    fact: int
    since: str | None
    until: str | None
    qualifiers: str | None
    is_open: bool | None
    documents: list[str]
    place: Place


def write_graph(connection: duckdb.DuckDBPyConnection, graph: KnowledgeGraph, chunks: Sequence[Chunk],
                names: NameSpace) -> list[TableInfo]:
    """Write the tables of the graph; return their descriptions, and of a table for each relation and attribute."""
    columns = graph.columns
    # The graph has no number for a chunk that mentions nothing.
    numbered = [(number, chunk) for chunk in chunks if (number := columns.number_of(chunk.id)) >= 0]
    connection.register("chunks", {"chunk": np.array([number for number, _ in numbered], np.int32),
                                   "document": _texts([chunk.document_id for _, chunk in numbered]),
                                   "begin": np.array([chunk.start for _, chunk in numbered], np.int32)})
    words = np.unique(np.concatenate([columns.triple_times.words, columns.value_times.words])).tolist()
    whens = [(number, *when) for number in words if (when := _read_when(columns.texts[number])) is not None]
    read, since, until, qualifiers, is_open = [*zip(*whens, strict=True)] or [()] * 5  # without times, empty columns
    connection.register("times", {
        "words": np.array(read, np.int32), "since": _texts(since), "until": _texts(until),
        "qualifiers": _texts(qualifiers), "is_open": np.array(is_open, bool)})
    facts, *relations = _write_facts(connection, graph, names)
    values, *attributes = _write_values(connection, graph, names)
    infos = [_write_entities(connection, graph), facts, values, *relations, *attributes]
    for name in ("chunks", "times", "stated", "timed"):
        connection.unregister(name)
    return infos


def _texts(texts: Sequence[str | None]) -> NDArray[Any]:
    """Return texts as DuckDB reads them; None is NULL."""
    return np.array([*texts, ""], object)[:-1]  # an array of objects even if it is empty


def _read_when(words: str) -> tuple[str | None, str | None, str | None, bool] | None:
    """Return since, until, the qualifiers, and whether a later fact ends it; None if the words say none of them."""
    if (time := read_time(words)) is None:
        return None
    kind = time.kind if time.kind in ("planned", "former") else ""
    qualifiers = "; ".join(filter(None, (kind, time.qualifiers)))
    until = "" if time.kind == "at" else time.end  # what held at a date did not end then
    is_open = time.kind in ("at", "from")
    when = time.start or None, until or None, qualifiers or None, is_open
    return when if any(when) else None


def _place_facts(connection: duckdb.DuckDBPyConnection, stated: Sequence[Numbers], timed: Sequence[Numbers] = (),
                 later: Callable[[int], Iterable[str]] = lambda _: ()) -> list[_PlacedFact]:
    """Return a row for each fact and time, sorted; the connection has the tables of chunks and of times.

    `stated` has the facts, chunks, starts and ends of what is stated, `timed` the facts, words, chunks, starts and ends
    of what says when facts hold; `later` returns the dates from which later facts replace a fact.
    """
    timed = timed or (np.zeros(0, np.int32),) * 5
    connection.register("stated", dict(zip(("fact", "chunk", "first", "last"), stated, strict=True)))
    connection.register("timed", dict(zip(("fact", "words", "chunk", "first", "last"), timed, strict=True)))
    placed = []
    for *values, place in connection.execute(_PLACE_FACTS).fetchall():
        row = _PlacedFact._make([*values, Place(**place)])
        if row.is_open:  # it holds until the first later fact
            since = row.since
            row = row._replace(until=min((date for date in later(row.fact) if since and date > since), default=None))
        placed.append(row)
    return placed


def _write_entities(connection: duckdb.DuckDBPyConnection, graph: KnowledgeGraph) -> TableInfo:
    columns, mentions = graph.columns, graph.columns.mentions
    rows = _place_facts(connection, (mentions.entity, mentions.chunk, mentions.start, mentions.end))
    # Entities that only a person's edit has are mentioned nowhere.
    counts: list[int | None] = [None] * len(columns.ids)
    places: list[Place | None] = [None] * len(columns.ids)
    for row in rows:
        counts[row.fact], places[row.fact] = len(row.documents), row.place
    shown = [make_text_column("entity", _read_texts(graph, columns.names)),
             make_text_column("type", _read_texts(graph, columns.types)),
             make_column("documents", "documents", "number", counts, integers=True, empty=counts.count(None))]
    return write_table(connection, ENTITIES, ENTITIES, "entities", shown, places)


def _write_facts(connection: duckdb.DuckDBPyConnection, graph: KnowledgeGraph, names: NameSpace) -> Iterator[TableInfo]:
    """Write the table of facts; yield it and the tables of its relations."""
    columns, support = graph.columns, graph.columns.support
    rows = _place_facts(connection, (support.triple, support.chunk, support.start, support.end), columns.triple_times,
                        lambda fact: graph.later.triples.get(fact, ()))
    head, relation, tail = columns.triples[[row.fact for row in rows]].T
    ends = {"head": columns.names[head], "head_type": columns.types[head], "relation": relation,
            "tail": columns.names[tail], "tail_type": columns.types[tail]}
    shown = [make_text_column(name, _read_texts(graph, numbers)) for name, numbers in ends.items()]
    shown += _time_columns(rows)
    yield write_table(connection, FACTS, FACTS, "facts", shown, [row.place for row in rows])
    yield from _describe_members(shown, rows, names, "relation", "tail", _RELATION_COLUMNS)


def _write_values(connection: duckdb.DuckDBPyConnection, graph: KnowledgeGraph, names: NameSpace,
                  ) -> Iterator[TableInfo]:
    """Write the table of attribute values; yield it and the tables of its attributes."""
    columns, values, timed = graph.columns, graph.columns.values, graph.columns.value_times
    # Values and their times, both by an entity, an attribute and a value (`keys`).
    keys, facts = distinct_triples(*map(np.concatenate, zip(values[:3], timed[:3], strict=True)))
    stated, stated_at_times = np.split(facts, [len(values.entity)])
    later = graph.later.values
    rows = _place_facts(connection, (stated, values.chunk, values.start, values.end), (stated_at_times, *timed[3:]),
                        lambda fact: later.get(tuple(keys[fact].tolist()), ()) if later else ())
    rows.sort(key=lambda row: (int(keys[row.fact, 1]), row.fact))  # for readers, by attribute; times stay in order
    entity, attribute, value = keys[[row.fact for row in rows]].T
    texts = {"entity": columns.names[entity], "type": columns.types[entity], "attribute": attribute, "value": value}
    shown = [make_text_column(name, _read_texts(graph, numbers)) for name, numbers in texts.items()]
    typed = _type_values(graph, keys)
    of_rows = [typed[pair] for pair in zip(attribute.tolist(), value.tolist(), strict=True)]
    numbers, units, dates = [*map(list, zip(*of_rows, strict=True))] or [[], [], []]
    shown += [make_column("number", "number", "number", numbers, empty=numbers.count(None)),
              make_text_column("unit", units),
              make_column("date", "date", "date", dates, empty=dates.count(None)), *_time_columns(rows)]
    yield write_table(connection, VALUES, VALUES.replace("_", " "), "values", shown, [row.place for row in rows])
    yield from _describe_members(shown, rows, names, "attribute", "value", _ATTRIBUTE_COLUMNS)


def _type_values(graph: KnowledgeGraph, keys: Numbers) -> dict[tuple[int, int], tuple[Any, str | None, Any]]:
    """Return by attribute and value the number with its unit, and the date, that the value is; None if it is none."""
    texts = graph.columns.texts
    found: dict[tuple[int, int], tuple[Any, str | None, Any]] = {}
    for attribute in np.unique(keys[:, 1]).tolist():
        values = np.unique(keys[keys[:, 1] == attribute, 2]).tolist()
        typed = type_column([texts[number] for number in values], texts[attribute])
        for number, value, unit in zip(values, typed.values, typed.units or repeat(typed.unit)):  # noqa: B905 - endless
            is_number = typed.kind == "number" and value is not None
            date = value.date() if isinstance(value, datetime.datetime) else value
            found[attribute, number] = (
                value if is_number else None, unit or None if is_number else None,
                date if isinstance(date, datetime.date) else None)
    return found


def _time_columns(rows: Sequence[_PlacedFact]) -> list[SqlColumn]:
    """Return the columns that say when each fact holds, and which documents state it."""
    times = [make_text_column(part, [getattr(row, part) for row in rows]) for part in _WHEN]
    return [*times, make_column("documents", "documents", "list", [row.documents for row in rows])]


def _read_texts(graph: KnowledgeGraph, numbers: Numbers) -> list[str]:
    """Return the texts of a column of their numbers, each decoded once."""
    text_of = {number: graph.columns.texts[number] for number in np.unique(numbers).tolist()}
    return [text_of[number] for number in numbers.tolist()]


def _describe_members(columns: Sequence[SqlColumn], placed: Sequence[_PlacedFact], names: NameSpace, by: str,
                      counted: str, shown: Sequence[str]) -> Iterator[TableInfo]:
    """Yield a table for each relation or attribute; a number is added to a name that another table has.

    `by` is the column with their names, `shown` are the columns of the tables, `counted` the one with frequent values.
    """
    values_of = {column.info.name: list(column.values.tolist()) for column in columns}
    rows_of: dict[str, list[int]] = {}
    for row, member in enumerate(values_of[by]):
        rows_of.setdefault(member, []).append(row)
    for member, rows in sorted(rows_of.items()):
        frequent = find_frequent(values_of[counted][row] for row in rows)
        numeric_rows = [row for row in rows if "number" in shown and values_of["number"][row] is not None]
        units = tuple(sorted({values_of["unit"][row] or _NO_UNIT for row in numeric_rows}))
        of_number: dict[str, Any] = {"unit": units[0].replace(_NO_UNIT, "")} if len(units) == 1 else {"units": units}
        infos = [ColumnInfo(name=name, title=name, kind=_MEMBER_KINDS.get(name, "text"),
                            frequent=frequent if name == counted else (), **(of_number if name == "number" else {}))
                 for name in shown]
        yield TableInfo(name=names.take(member, by), title=member, kind="relation", rows=len(rows),
                        documents=len({placed[row].place.document for row in rows}), columns=tuple(infos))
