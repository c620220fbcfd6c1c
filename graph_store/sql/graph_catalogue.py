"""Describe the graph's tables, and each relation and each attribute as a table of its own."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import duckdb

from ...schemas.records import ColumnInfo, ColumnKind, TableInfo, TableKind
from .graph_tables import ENTITIES, FACTS, VALUES
from .logical_tables import HIDDEN
from .sql_names import NameSpace
from .typed_columns import LONGEST_SHOWN, MOST_FREQUENT, shown_value

_KINDS: Mapping[str, TableKind] = {ENTITIES: "entities", FACTS: "facts", VALUES: "values"}
_COLUMN_KINDS: Mapping[str, ColumnKind] = {"DOUBLE": "number", "INTEGER": "number", "DATE": "date", "VARCHAR[]": "list"}
_NO_UNIT = "none"
_WHEN = ("since", "until", "qualifiers", "documents")
_RELATION_COLUMNS = ("head", "tail", *_WHEN)
_ATTRIBUTE_COLUMNS = ("entity", "value", "number", "unit", "date", *_WHEN)
_MEMBERS = {FACTS: ("relation", "tail", _RELATION_COLUMNS), VALUES: ("attribute", "value", _ATTRIBUTE_COLUMNS)}
"""For each table of facts the column that names their relation, what its facts are counted by, and a view's columns."""


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
    by, counted, columns = _MEMBERS[table]
    rows = connection.execute(
        f"SELECT {by}, count(*), count(DISTINCT {HIDDEN[0]}) FROM main.{table} GROUP BY {by} ORDER BY {by}"  # noqa: S608
        ).fetchall()
    frequent: dict[str, list[tuple[Any, int]]] = {}
    for member, value, count in connection.execute(
            f"SELECT {by}, {counted}, count(*) AS n FROM main.{table} GROUP BY {by}, {counted} "  # noqa: S608
            f"QUALIFY row_number() OVER (PARTITION BY {by} ORDER BY n DESC, {counted}) <= {MOST_FREQUENT} "
            f"ORDER BY {by}, n DESC, {counted}").fetchall():
        frequent.setdefault(member, []).append((value, count))
    units = _units(connection) if table == VALUES else {}
    for member, count, documents in rows:
        own = units.get(member, ()) if table == VALUES else ()
        infos = [ColumnInfo(name=name, title=name, kind=_kind_of(name),
                            unit="".join(own).replace(_NO_UNIT, "") if name == "number" and len(own) == 1 else "",
                            units=own if name == "number" and len(own) > 1 else (),
                            frequent=_frequent(frequent[member]) if name == counted else ()) for name in columns]
        yield TableInfo(name=names.take(member, by), title=member, kind="relation", rows=count, documents=documents,
                        columns=tuple(infos))


def _units(connection: duckdb.DuckDBPyConnection) -> dict[str, tuple[str, ...]]:
    """Return the units of each attribute's numbers."""
    return {attribute: tuple(units) for attribute, units in connection.execute(
        f"SELECT attribute, list_sort(list(DISTINCT coalesce(unit, '{_NO_UNIT}'))) FROM main.{VALUES} "  # noqa: S608
        "WHERE number IS NOT NULL GROUP BY attribute").fetchall()}


def _kind_of(column: str) -> ColumnKind:
    return {"number": "number", "date": "date", "documents": "list"}.get(column, "text")  # type: ignore[return-value]


def _frequent(counts: Iterable[tuple[Any, int]]) -> tuple[tuple[str, int], ...]:
    found = tuple((shown_value(value)[:LONGEST_SHOWN], count) for value, count in counts)
    return found if found and found[0][1] > 1 else ()


def _row(connection: duckdb.DuckDBPyConnection, query: str) -> Sequence[Any]:
    return connection.execute(query).fetchall()[0]
