"""Write the graph as tables: entities, facts and attribute values, each fact with its time and its documents.

They are described in the catalogue, and each relation and each attribute as a table of its own.

A fact that holds at several times, or with several qualifiers, is one row for each.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from ...schemas.documents import Chunk
from ...schemas.records import ColumnInfo, ColumnKind, TableInfo, TableKind
from ...text.column_values import TypedColumn, type_column
from ...text.times import read_time
from ..graph.graph_columns import find_firsts
from ..graph.knowledge_graph import KnowledgeGraph
from .logical_tables import HIDDEN, NameSpace
from .typed_columns import LONGEST_SHOWN, MOST_FREQUENT, shown_value

ENTITIES, FACTS, VALUES = GRAPH_TABLES = ("entities", "facts", "attribute_values")
_STATED = """
CREATE TEMP TABLE {name} AS
WITH timed AS (SELECT {key}, since, until, is_open, qualifiers, chunk, start, "end"
               FROM {times} t JOIN given_words w ON w.number = t.words),
     untimed AS (SELECT {key}, chunk, start, "end" FROM {support} ANTI JOIN timed USING ({key}, chunk)),
     stated AS (SELECT * FROM timed UNION ALL
                SELECT {key}, since, until, is_open, qualifiers, s.chunk, s.start, s."end" FROM untimed s
                LEFT JOIN (SELECT DISTINCT {key}, since, until, is_open, qualifiers FROM timed) k USING ({key})),
     placed AS (SELECT s.*, c.document, c.start AS begin FROM stated s JOIN given_chunks c ON c.number = s.chunk)
SELECT {key}, since,
       CASE WHEN is_open THEN (SELECT min(date) FROM {later} l WHERE {same_key} AND l.date > p.since) ELSE until END
           AS until,
       qualifiers, list_sort(list(DISTINCT document)) AS documents,
       min({{'document': document, 'start': begin + start, 'end': begin + "end"}}) AS place
FROM placed p GROUP BY {key}, since, until, is_open, qualifiers
ORDER BY {key}, since NULLS FIRST, until NULLS FIRST, qualifiers NULLS FIRST
"""
"""Makes one row for each fact and time: what a chunk states without a time holds at all of the fact's times."""
_TEXTS = "WITH texts AS (SELECT number, text::VARCHAR AS text FROM given_texts)"
_TABLES = {
    ENTITIES: """
SELECT n.text AS entity, t.text AS type, f.documents::INTEGER AS documents,
       f.place.document AS _document, f.place.start AS _start, f.place."end" AS _end
FROM given_entities e JOIN texts n ON n.number = e.name JOIN texts t ON t.number = e.type
     LEFT JOIN (SELECT m.entity, count(DISTINCT c.document) AS documents,
                       min({'document': c.document, 'start': c.start + m.start, 'end': c.start + m."end"}) AS place
                FROM given_mentions m JOIN given_chunks c ON c.number = m.chunk GROUP BY m.entity) f ON f.entity = e.row
ORDER BY e.row""",
    FACTS: """
SELECT hn.text AS head, ht.text AS head_type, r.text AS relation, tn.text AS tail, tt.text AS tail_type,
       f.since::VARCHAR AS since, f.until::VARCHAR AS until, f.qualifiers::VARCHAR AS qualifiers,
       f.documents::VARCHAR[] AS documents,
       f.place.document AS _document, f.place.start AS _start, f.place."end" AS _end
FROM stated_facts f JOIN given_triples k ON k.row = f.triple
     JOIN given_entities h ON h.row = k.head JOIN given_entities t ON t.row = k.tail
     JOIN texts hn ON hn.number = h.name JOIN texts ht ON ht.number = h.type
     JOIN texts tn ON tn.number = t.name JOIN texts tt ON tt.number = t.type
     JOIN texts r ON r.number = k.relation
ORDER BY f.triple, f.since NULLS FIRST, f.until NULLS FIRST, f.qualifiers NULLS FIRST""",
    VALUES: """
SELECT n.text AS entity, t.text AS type, a.text AS attribute, v.text AS value, y.figure AS number,
       y.unit::VARCHAR AS unit,
       y.date::DATE AS date, f.since::VARCHAR AS since, f.until::VARCHAR AS until, f.qualifiers::VARCHAR AS qualifiers,
       f.documents::VARCHAR[] AS documents,
       f.place.document AS _document, f.place.start AS _start, f.place."end" AS _end
FROM stated_values f JOIN given_entities e ON e.row = f.entity
     JOIN texts n ON n.number = e.name JOIN texts t ON t.number = e.type
     JOIN texts a ON a.number = f.attribute JOIN texts v ON v.number = f.value
     JOIN given_typed y ON y.attribute = f.attribute AND y.value = f.value
ORDER BY f.attribute, f.entity, f.value, f.since NULLS FIRST, f.until NULLS FIRST, f.qualifiers NULLS FIRST"""}
_KINDS: Mapping[str, TableKind] = {ENTITIES: "entities", FACTS: "facts", VALUES: "values"}
_COLUMN_KINDS: Mapping[str, ColumnKind] = {"DOUBLE": "number", "INTEGER": "number", "DATE": "date", "VARCHAR[]": "list"}
_NO_UNIT = "none"
_WHEN = ("since", "until", "qualifiers", "documents")
_RELATION_COLUMNS = ("head", "tail", *_WHEN)
_ATTRIBUTE_COLUMNS = ("entity", "value", "number", "unit", "date", *_WHEN)
_UNITS = f"list_sort(list(DISTINCT coalesce(unit, '{_NO_UNIT}')) FILTER (WHERE number IS NOT NULL))"
_MEMBERS = {FACTS: ("relation", "tail", "NULL", _RELATION_COLUMNS),
            VALUES: ("attribute", "value", _UNITS, _ATTRIBUTE_COLUMNS)}
"""For each table of facts: the column that names their relation, what is counted, the units, and a view's columns."""
_MEMBER_KINDS: Mapping[str, ColumnKind] = {"number": "number", "date": "date", "documents": "list"}


def write_graph(connection: duckdb.DuckDBPyConnection, graph: KnowledgeGraph, chunks: Sequence[Chunk]) -> None:
    """Write the tables of the graph to the database that a connection uses."""
    given = {"given_texts": _texts(graph), "given_chunks": _chunks(graph, chunks), "given_words": _times(graph),
             "given_typed": _typed_values(graph), **_numbers(graph), **_later_dates(graph)}
    for name, arrays in given.items():
        connection.register(name, arrays)
    connection.execute(_STATED.format(
        name="stated_facts", key="triple", support="given_support", times="given_triple_times",
        later="given_later_triples", same_key="l.triple = p.triple"))
    connection.execute(_STATED.format(
        name="stated_values", key="entity, attribute, value", support="given_values", times="given_value_times",
        later="given_later_values",
        same_key="l.entity = p.entity AND l.attribute = p.attribute AND l.value = p.value"))
    for name, query in _TABLES.items():
        connection.execute(f"CREATE TABLE main.{name} AS {_TEXTS} {query}")
    connection.execute("DROP TABLE stated_facts; DROP TABLE stated_values")
    for name in given:
        connection.unregister(name)


def _texts(graph: KnowledgeGraph) -> dict[str, NDArray[Any]]:
    columns = graph.columns
    used = np.unique(np.concatenate([columns.types, columns.names, columns.triples[:, 1], columns.values.attribute,
                                     columns.values.value]))
    return {"number": used, "text": _objects([columns.texts[number] for number in used.tolist()])}


def _chunks(graph: KnowledgeGraph, chunks: Sequence[Chunk]) -> dict[str, NDArray[Any]]:
    """Return the document and the start of each chunk that the graph has, by the number of its id."""
    numbers = [graph.columns.number_of(chunk.id) for chunk in chunks]
    found = [(number, chunk) for number, chunk in zip(numbers, chunks, strict=True) if number >= 0]
    return {"number": np.array([number for number, _ in found], np.int32),
            "document": _objects([chunk.document_id for _, chunk in found]),
            "start": np.array([chunk.start for _, chunk in found], np.int32)}


def _times(graph: KnowledgeGraph) -> dict[str, NDArray[Any]]:
    """Return when the words that say when facts hold say so, by their number; other words are left out."""
    columns = graph.columns
    used = np.unique(np.concatenate([columns.triple_times.words, columns.value_times.words]))
    read = [(number, time) for number in used.tolist() if (time := read_time(columns.texts[number])) is not None]
    qualifiers = [(time.kind if time.kind in ("planned", "former") else "", time.qualifiers) for _, time in read]
    return {"number": np.array([number for number, _ in read], np.int32),
            "since": _objects([time.start or None for _, time in read]),
            # What held at a date did not end then.
            "until": _objects([None if time.kind == "at" else time.end or None for _, time in read]),
            "is_open": np.array([time.kind in ("at", "from") for _, time in read], bool),
            "qualifiers": _objects(["; ".join(filter(None, parts)) or None for parts in qualifiers])}


def _typed_values(graph: KnowledgeGraph) -> dict[str, NDArray[Any]]:
    """Return the number with its unit, or the date, that each distinct value of an attribute is."""
    columns, values = graph.columns, graph.columns.values
    order = np.lexsort((values.value, values.attribute))
    firsts = order[find_firsts(values.attribute[order], values.value[order])]
    attributes, numbers = values.attribute[firsts], values.value[firsts]
    figures, units, dates = list[Any](), list[Any](), list[Any]()
    for attribute in np.unique(attributes).tolist():
        cells = [columns.texts[number] for number in numbers[attributes == attribute].tolist()]
        typed = type_column(cells, columns.texts[attribute])
        figures += typed.values if typed.kind == "number" else [None] * len(cells)
        dates += typed.values if typed.kind == "date" else [None] * len(cells)
        units += _units(typed)
    figure = np.array([np.nan if value is None else value for value in figures], np.float64)
    days = np.array([np.datetime64("NaT") if date is None else np.datetime64(date, "us") for date in dates],
                    "datetime64[us]")
    return {"attribute": attributes, "value": numbers, "figure": np.ma.masked_array(figure, np.isnan(figure)),
            "unit": _objects(units), "date": days}


def _units(typed: TypedColumn) -> list[str | None]:
    """Return the unit of each number of a column; None where there is none."""
    if typed.kind != "number":
        return [None] * len(typed.values)
    units = typed.units or [typed.unit] * len(typed.values)
    return [unit or None if value is not None else None for unit, value in zip(units, typed.values, strict=True)]


def _numbers(graph: KnowledgeGraph) -> dict[str, dict[str, NDArray[Any]]]:
    columns, triples = graph.columns, graph.columns.triples
    tables = {f"given_{name}": dict(getattr(columns, name)._asdict())
              for name in ("mentions", "support", "triple_times", "values", "value_times")}
    return {**tables,
            "given_entities": {"row": np.arange(len(columns.ids)), "name": columns.names, "type": columns.types},
            "given_triples": {"row": np.arange(len(triples)), "head": triples[:, 0].copy(),
                              "relation": triples[:, 1].copy(), "tail": triples[:, 2].copy()}}


def _later_dates(graph: KnowledgeGraph) -> dict[str, dict[str, NDArray[Any]]]:
    triples = [(row, date) for row, dates in graph.later.triples.items() for date in dates]
    values = [(*key, date) for key, dates in graph.later.values.items() for date in dates]
    keys = np.array([row[:3] for row in values], np.int32).reshape(-1, 3)
    return {"given_later_triples": {"triple": np.array([row for row, _ in triples], np.int32),
                                    "date": _objects([date for _, date in triples])},
            "given_later_values": {"entity": keys[:, 0].copy(), "attribute": keys[:, 1].copy(),
                                   "value": keys[:, 2].copy(), "date": _objects([row[3] for row in values])}}


def _objects(items: Sequence[Any]) -> NDArray[Any]:
    array = np.empty(len(items), object)
    array[:] = items
    return array


def graph_infos(connection: duckdb.DuckDBPyConnection, names: NameSpace) -> Iterator[TableInfo]:
    """Yield what is said of the graph's tables, and of its relations and attributes, which get names in SQL."""
    for table in _KINDS:
        yield _table_info(connection, table)
    for table in (FACTS, VALUES):
        yield from _member_infos(connection, table, names)


def _table_info(connection: duckdb.DuckDBPyConnection, table: str) -> TableInfo:
    described = connection.execute(f"DESCRIBE main.{table}").fetchall()
    rows, documents = _row(connection, f"SELECT count(*), count(DISTINCT {HIDDEN[0]}) FROM main.{table}")  # noqa: S608
    columns = [_column_info(connection, table, name, _COLUMN_KINDS.get(sql_type, "text"), rows)
               for name, sql_type, *_ in described if name not in HIDDEN]
    return TableInfo(name=table, title=table.replace("_", " "), kind=_KINDS[table], rows=rows, documents=documents,
                     columns=tuple(columns))


def _column_info(connection: duckdb.DuckDBPyConnection, table: str, column: str, kind: ColumnKind, rows: int,
                 ) -> ColumnInfo:
    value = f'unnest("{column}")' if kind == "list" else f'"{column}"'
    values = f'SELECT {value} AS value FROM main.{table} WHERE "{column}" IS NOT NULL'  # noqa: S608
    counts = connection.execute(f"SELECT value, count(*) AS n FROM ({values}) GROUP BY ALL "  # noqa: S608
                                f"ORDER BY n DESC, value LIMIT {MOST_FREQUENT}").fetchall()
    filled, distinct, least, most = _row(
        connection, f'SELECT count("{column}"), count(DISTINCT "{column}"), min("{column}"), max("{column}") '  # noqa: S608
                    f"FROM main.{table}")
    has_ends = kind in ("number", "date") and filled
    return ColumnInfo(name=column, title=column, kind=kind, distinct=distinct, empty=rows - filled,
                      frequent=_frequent(counts), smallest=shown_value(least) if has_ends else "",
                      largest=shown_value(most) if has_ends else "")


def _member_infos(connection: duckdb.DuckDBPyConnection, table: str, names: NameSpace) -> Iterator[TableInfo]:
    """Yield a table for each relation or attribute; a number is added to a name that another table has."""
    by, counted, units, columns = _MEMBERS[table]
    frequent: dict[str, list[tuple[Any, int]]] = {}
    for member, value, count in connection.execute(
            f"SELECT {by}, {counted}, count(*) AS n FROM main.{table} GROUP BY {by}, {counted} "  # noqa: S608
            f"QUALIFY row_number() OVER (PARTITION BY {by} ORDER BY n DESC, {counted}) <= {MOST_FREQUENT} "
            f"ORDER BY {by}, n DESC, {counted}").fetchall():
        frequent.setdefault(member, []).append((value, count))
    for member, count, documents, own in connection.execute(
            f"SELECT {by}, count(*), count(DISTINCT {HIDDEN[0]}), {units} FROM main.{table} "  # noqa: S608
            f"GROUP BY {by} ORDER BY {by}").fetchall():
        infos = [ColumnInfo(name=name, title=name, kind=_MEMBER_KINDS.get(name, "text"),
                            unit=own[0].replace(_NO_UNIT, "") if name == "number" and len(own or ()) == 1 else "",
                            units=own if name == "number" and len(own or ()) > 1 else (),
                            frequent=_frequent(frequent[member]) if name == counted else ()) for name in columns]
        yield TableInfo(name=names.take(member, by), title=member, kind="relation", rows=count, documents=documents,
                        columns=tuple(infos))


def _frequent(counts: Iterable[tuple[Any, int]]) -> tuple[tuple[str, int], ...]:
    found = tuple((shown_value(value)[:LONGEST_SHOWN], count) for value, count in counts)
    return found if found and found[0][1] > 1 else ()


def _row(connection: duckdb.DuckDBPyConnection, query: str) -> Sequence[Any]:
    return connection.execute(query).fetchall()[0]
