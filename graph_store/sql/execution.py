"""Run a checked query: with exact sums, its first rows as JSON values, and a note if a limit chose among equal rows."""

import datetime
import math
from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any

import duckdb
from sqlglot import exp

from ...schemas.records import ColumnKind, SqlResult
from .checking import DIALECT, check_as_read, text_of
from .sql_errors import SqlError

MOST_CELLS = 100_000
"""The most values of a result that are returned."""
_DIGITS = 15
"""Significant digits of a number: those that a float has for certain."""
_OTHER_TYPES = ("VARCHAR", "STRUCT", "INTERVAL", "TIME", "BLOB", "UUID", "MAP", "JSON", '"NULL"')
_MAKING_ROWS = (exp.Unnest, exp.Explode)
_TIED = "the limit chose among rows with the same {keys}: there are more of them"


def execute(connection: duckdb.DuckDBPyConnection, sql: str, query: exp.Query, most_rows: int,
            fractions: Collection[str]) -> SqlResult:
    """Run a query with full names, and return its first rows and how many there are.

    `fractions` are the names of the columns whose numbers are not whole.
    """
    query = _with_exact_sums(_with_names(query), fractions)
    own = _own_limit(query)
    text = text_of(query.limit(min(most_rows + 1, most_rows if own is None else own) + 1))
    check_as_read(connection, text)
    found = connection.execute(text)
    described = found.description or []
    shown = min(most_rows, MOST_CELLS // len(described))
    rows = found.fetchmany(shown + 2)
    columns = tuple(str(column[0]) for column in described)
    notes = () if own is None else tuple(_ties(query, columns, rows, own))
    rows = rows if own is None else rows[:own]
    return SqlResult(
        sql=sql, columns=columns, units=("",) * len(described), kinds=tuple(_kind_of(str(one[1])) for one in described),
        rows=tuple(tuple(map(plain, row)) for row in rows[:shown]), records=None, notes=notes,
        total=len(rows) if len(rows) <= shown else _count(connection, query))


def plain(value: Any) -> Any:
    """Return a value as JSON has it; numbers without the digits in which floats differ, None if they are not finite."""
    if isinstance(value, float | Decimal):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _kind_of(sql_type: str) -> ColumnKind:
    """Return the kind of a column of a result by its type in DuckDB."""
    if sql_type.endswith("]") or sql_type == "list":
        return "list"
    if sql_type.startswith(("DATE", "TIMESTAMP")):
        return "date"
    if sql_type == "BOOLEAN":
        return "boolean"
    return "text" if sql_type.startswith(_OTHER_TYPES) else "number"


def _count(connection: duckdb.DuckDBPyConnection, query: exp.Query) -> int:
    counted = exp.select(exp.Count(this=exp.Star())).from_(query.subquery("counted"))
    return int(connection.execute(text_of(counted)).fetchall()[0][0])


def _own_limit(query: exp.Query) -> int | None:
    """Return the limit that a query has, None if it has none."""
    own = query.args.get("limit")
    if own is None:
        return None
    count = own.args.get("expression")
    if not isinstance(count, exp.Literal) or count.is_string or not count.name.isdecimal():
        raise SqlError("LIMIT needs a number")
    return int(count.name)


def _with_names(query: exp.Query) -> exp.Query:
    """Return a query whose computed columns are named as they are written."""
    if isinstance(query, exp.Select):
        query = query.copy()
        for part in query.expressions:
            if not isinstance(part, exp.Column | exp.Alias) and not part.is_star and not part.find(*_MAKING_ROWS):
                name = part.sql(dialect=DIALECT, normalize_functions="lower", comments=False)
                part.replace(exp.alias_(part.copy(), name, quoted=True))
    return query


def _with_exact_sums(query: exp.Query, fractions: Collection[str]) -> exp.Query:
    """Return a query that adds numbers with fractions so that the sum has no error of floats (Kahan's sum)."""
    query = query.copy()
    for call in list(query.find_all(exp.Sum, exp.Avg)):
        if any(column.name.lower() in fractions for column in call.find_all(exp.Column)):
            name = "fsum" if isinstance(call, exp.Sum) else "favg"
            call.replace(exp.Anonymous(this=name, expressions=[call.this.copy()]))
    return query


def _ties(query: exp.Query, columns: Sequence[str], rows: Sequence[Sequence[Any]], limit: int) -> Sequence[str]:
    """Return a note if the first row behind a limit has the same values in what rows are ordered by."""
    order = query.args.get("order")
    if order is None or not 0 < limit < len(rows) or not isinstance(query, exp.Select):
        return ()
    places = [_place(ordered.this, query, columns) for ordered in order.expressions]
    if None in places or any(rows[limit - 1][place] != rows[limit][place] for place in places if place is not None):
        return ()
    return (_TIED.format(keys=" and ".join(columns[place] for place in places if place is not None)),)


def _place(key: exp.Expr, query: exp.Select, columns: Sequence[str]) -> int | None:
    """Return the position of the column by which rows are ordered, None if it is not among the columns."""
    if isinstance(key, exp.Literal):
        return int(key.name) - 1 if key.name.isdecimal() and 0 < int(key.name) <= len(columns) else None
    folded = [column.lower() for column in columns]
    if isinstance(key, exp.Column) and key.name.lower() in folded:
        return folded.index(key.name.lower())
    if len(query.expressions) == len(columns):
        return next((place for place, part in enumerate(query.expressions) if part.unalias() == key), None)
    return None
