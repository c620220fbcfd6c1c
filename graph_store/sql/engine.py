"""Run SQL over the tables of a knowledge base."""

import datetime
import threading
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from functools import cached_property
from typing import Any

import duckdb
from sqlglot import exp

from ...schemas.documents import Document
from ...schemas.records import ColumnKind, SqlResult, TableInfo
from .checking import Statement, check_as_read, read_statement, text_of
from .sql_errors import SqlError, refused
from .table_file import read_catalogue

_DIGITS = 15
"""Significant digits of a number: those that a float has for certain."""


class SqlEngine:
    """The tables of one state of a knowledge base, for questions in SQL. Safe for many threads."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, document: Callable[[str], Document]) -> None:
        """Use a connection that can only read (see `TableStore.open`), and a function that returns a document."""
        self._connection = connection
        self._document = document

    @cached_property
    def _tables(self) -> dict[str, TableInfo]:
        return {table.name: table for table in read_catalogue(self._connection.cursor())}

    def tables(self) -> tuple[TableInfo, ...]:
        """Return all tables: those of records, then `documents`, the graph's, and one for each of its relations."""
        return tuple(self._tables.values())

    def run(self, sql: str, *, most_rows: int = 1000, seconds: float = 10) -> SqlResult:
        """Run one SELECT.

        Args:
            sql: the statement; its tables are those of `tables`.
            most_rows: the most rows to return.
            seconds: the most time that it may take.

        Raises:
            SqlError: it is no SELECT over these tables, cannot be run, or takes longer.
        """
        statement = read_statement(sql, self._tables)
        limited = _limit(statement.query, most_rows + 1)
        connection = self._connection.cursor()
        timer = threading.Timer(seconds, connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            check_as_read(connection, text_of(limited))
            return self._run(connection, sql, statement, limited, most_rows)
        except duckdb.InterruptException as error:
            raise SqlError(f"the statement takes longer than {seconds:g} s; ask for less at once") from error
        except duckdb.Error as error:
            raise refused(error, statement.tables) from error
        finally:
            timer.cancel()
            connection.close()

    def _run(self, connection: duckdb.DuckDBPyConnection, sql: str, statement: Statement, limited: exp.Query,
             most_rows: int) -> SqlResult:
        found = connection.execute(text_of(limited))
        described = found.description or []
        rows = found.fetchmany(most_rows + 1)
        total = len(rows)
        if total > most_rows:
            counted = exp.select(exp.Count(this=exp.Star())).from_(statement.query.subquery("counted"))
            total = int(connection.execute(text_of(counted)).fetchall()[0][0])
        return SqlResult(
            sql=sql, columns=tuple(str(column[0]) for column in described), units=("",) * len(described),
            kinds=tuple(_kind(str(column[1])) for column in described),
            rows=tuple(tuple(map(_plain, row)) for row in rows[:most_rows]), total=total, records=None)


def _limit(query: exp.Query, most: int) -> exp.Query:
    """Return a query with at most so many rows."""
    own = query.args.get("limit")
    if own is None:
        return query.limit(most)
    with suppress(ValueError, AttributeError):
        return query if int(own.expression.name) <= most else query.limit(most)
    raise SqlError("LIMIT needs a number")


def _kind(sql_type: str) -> ColumnKind:
    if sql_type.endswith("]") or sql_type == "list":
        return "list"
    if sql_type.startswith(("DATE", "TIMESTAMP")):
        return "date"
    if sql_type == "BOOLEAN":
        return "boolean"
    return "text" if sql_type.startswith(("VARCHAR", "STRUCT", "INTERVAL", "TIME", "BLOB", "\"NULL\"")) else "number"


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, float | Decimal):
        return _number(float(value))
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _number(value: float) -> float | None:
    """Return a number without the digits in which floats differ; None if it is not finite, as JSON has none."""
    return float(f"{value:.{_DIGITS}g}") if abs(value) < float("inf") else None
