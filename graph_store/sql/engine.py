"""Run SQL over the tables of a knowledge base."""

import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cached_property

import duckdb
from sqlglot import exp

from ...schemas.records import SqlResult, TableInfo
from ..ledger.document_rows import Documents
from .checking import check_as_read, read_statement, text_of, with_full_names
from .result_units import check_units, doubts_of, units_of
from .result_values import kind_of, plain
from .sql_errors import SqlError, refused
from .table_file import MAIN, read_catalogue
from .traced_records import MOST_CITED, RecordTracer, Rest
from .tracing import Untraceable
from .value_words import FoundValue, find_values, read_titles

MOST_CELLS = 100_000
"""The most values of a result that are returned."""


class SqlEngine:
    """The tables of one state of a knowledge base, for questions in SQL. Safe for many threads."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, documents: Documents) -> None:
        """Use a connection that can only read (see `TableStore.open`), and the documents that rows are from."""
        self._connection = connection
        self._documents = documents

    @cached_property
    def _tables(self) -> dict[str, TableInfo]:
        return {table.name: table for table in read_catalogue(self._connection.cursor())}

    def tables(self) -> tuple[TableInfo, ...]:
        """Return all tables: those of records, then `documents`, the graph's, and one for each of its relations."""
        return tuple(self._tables.values())

    @cached_property
    def titles(self) -> Mapping[str, tuple[str, ...]]:
        """For each table the names and titles of its documents, if it has few."""
        return read_titles(self._connection.cursor(), MAIN)

    def find_values(self, words: Collection[str]) -> list[FoundValue]:
        """Return the values of columns that have one of some words (see `value_words.find_values`)."""
        return find_values(self._connection.cursor(), MAIN, words)

    def run(self, sql: str, *, most_rows: int = 1000, seconds: float = 10, most_cited: int = MOST_CITED) -> SqlResult:
        """Run one SELECT.

        Args:
            sql: the statement; its tables are those of `tables`.
            most_rows: the most rows to return.
            seconds: the most time that it may take.
            most_cited: the most records to cite; of a list of rows, each row is a record, in the same order.

        Raises:
            SqlError: it is no SELECT over these tables, cannot be run, or takes longer.
        """
        query = read_statement(sql)
        full, used = with_full_names(query, self._tables)
        check_units(query, self._tables)
        connection = self._connection.cursor()
        timer = threading.Timer(seconds, connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            result = _execute(connection, sql, full, most_rows)
            units = units_of(query, self._tables, result.columns)
            result = result.model_copy(update={"units": units, "notes": doubts_of(query, self._tables)})
            return self._with_records(connection, query, result, most_cited)
        except duckdb.InterruptException as error:
            raise SqlError(f"the statement takes longer than {seconds:g} s; ask for less at once") from error
        except duckdb.Error as error:
            raise refused(error, used) from error
        finally:
            timer.cancel()
            connection.close()

    def _with_records(self, connection: duckdb.DuckDBPyConnection, query: exp.Query, result: SqlResult,
                      most_cited: int) -> SqlResult:
        """Return a result with the records that it rests on, or with a note that says why they cannot be told."""
        tracer = RecordTracer(self._tables, self._documents, most_cited)
        try:
            rest: Rest = tracer.read(connection, query, result.rows)
        except (Untraceable, duckdb.Error) as error:
            cause = str(error) if isinstance(error, Untraceable) else "that takes too much time or memory"
            note = f"the records that it rests on cannot be told: {cause}"
            return result.model_copy(update={"notes": (*result.notes, note)})
        return result.model_copy(update=rest._asdict())


def _execute(connection: duckdb.DuckDBPyConnection, sql: str, query: exp.Query, most_rows: int) -> SqlResult:
    """Run a query with full names, and return its first rows and how many there are."""
    text = text_of(_limit(query, most_rows + 1))
    check_as_read(connection, text)
    found = connection.execute(text)
    described = found.description or []
    most_rows = min(most_rows, MOST_CELLS // len(described))
    rows = found.fetchmany(most_rows + 1)
    total = len(rows)
    if total > most_rows:
        counted = exp.select(exp.Count(this=exp.Star())).from_(query.subquery("counted"))
        total = int(connection.execute(text_of(counted)).fetchall()[0][0])
    return SqlResult(
        sql=sql, columns=tuple(str(column[0]).replace("count_star()", "count(*)") for column in described),
        units=("",) * len(described),
        kinds=tuple(kind_of(str(column[1])) for column in described),
        rows=tuple(tuple(map(plain, row)) for row in rows[:most_rows]), total=total, records=None)


def _limit(query: exp.Query, most: int) -> exp.Query:
    """Return a query with at most so many rows."""
    own = query.args.get("limit")
    if own is None:
        return query.limit(most)
    with suppress(ValueError, AttributeError):
        return query if int(own.expression.name) <= most else query.limit(most)
    raise SqlError("LIMIT needs a number")
