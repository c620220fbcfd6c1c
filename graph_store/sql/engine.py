"""Run SQL over the tables of a knowledge base."""

import threading
from collections.abc import Collection, Mapping
from functools import cached_property

import duckdb
from sqlglot import exp

from ...schemas.records import ColumnInfo, SqlResult, TableInfo
from ..ledger.document_rows import Documents
from .checking import read_statement, with_full_names
from .execution import execute
from .result_units import check_units, doubts_of, units_of
from .sql_errors import SqlError, refused
from .table_file import MAIN, read_catalogue
from .traced_records import MOST_CITED, RecordTracer, Rest
from .tracing import Untraceable
from .value_words import FoundValue, find_values, read_titles

_MOST_FIELDS = 100_000
"""How many relations and attributes of types of entities are read."""


class SqlEngine:
    """The tables of one state of a knowledge base, for questions in SQL. Safe for many threads."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, documents: Documents) -> None:
        """Use a connection that can only read (see `TableStore.open`), and the documents that rows are from."""
        self._connection = connection
        self._documents = documents

    @cached_property
    def _tables(self) -> dict[str, TableInfo]:
        return {table.name: table for table in read_catalogue(self._connection.cursor())}

    @cached_property
    def _fractions(self) -> frozenset[str]:
        """The names of the columns whose numbers are not whole."""
        return frozenset(name for (name,) in self._connection.cursor().execute(
            "SELECT DISTINCT column_name FROM duckdb_columns() WHERE data_type = 'DOUBLE'").fetchall())

    def tables(self) -> tuple[TableInfo, ...]:
        """Return all tables: those of records, then `documents`, the graph's, and one for each of its relations."""
        return tuple(self._tables.values())

    @cached_property
    def titles(self) -> Mapping[str, tuple[str, ...]]:
        """For each table the names and titles of its documents, if it has few."""
        return read_titles(self._connection.cursor(), MAIN)

    @cached_property
    def entity_types(self) -> tuple[TableInfo, ...]:
        """Each type of entities as a table, whose columns are its relations and attributes."""
        views = {view.title: view.name for view in self.tables() if view.kind == "relation"}
        found = self.run(
            "SELECT head_type AS type, relation AS field, 0 AS numbers, 0 AS dates, count(*) AS filled FROM facts "
            "GROUP BY ALL UNION ALL SELECT type, attribute, count(number), count(date), count(*) FROM attribute_values "
            "GROUP BY ALL ORDER BY ALL", most_rows=_MOST_FIELDS)
        columns: dict[str, list[ColumnInfo]] = {}
        for name, field, numbers, dates, filled in found.rows:
            if field in views:
                kind = "number" if 2 * numbers > filled else "date" if 2 * dates > filled else "text"
                columns.setdefault(name, []).append(ColumnInfo.model_validate(
                    {"name": views[field], "title": field.replace("_", " "), "kind": kind}))
        return tuple(TableInfo(name=name, title=name, kind="entities", rows=1, columns=tuple(fields))
                     for name, fields in columns.items())

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
            result = execute(connection, sql, full, most_rows, self._fractions)
            units = units_of(query, self._tables, result.columns)
            notes = (*result.notes, *doubts_of(query, self._tables))
            result = result.model_copy(update={"units": units, "notes": notes})
            return self._with_records(connection, query, result, most_cited)
        except duckdb.InterruptException as error:
            raise SqlError(f"the statement takes longer than {seconds:g} s; ask for less at once") from error
        except duckdb.Error as error:
            raise refused(error, used, self.tables()) from error
        finally:
            timer.cancel()
            connection.close()

    def _with_records(self, connection: duckdb.DuckDBPyConnection, query: exp.Query, result: SqlResult,
                      most_cited: int) -> SqlResult:
        """Return a result with the records that it rests on, or with a note that says why they cannot be told."""
        tracer = RecordTracer(self._tables, self._documents, most_cited)
        try:
            rest: Rest = tracer.read(connection, query, result.rows)
        except Untraceable as error:
            cause = str(error)
        except (duckdb.InterruptException, duckdb.OutOfMemoryException):
            cause = "that takes too much time or memory"
        except duckdb.Error as error:
            cause = f"the query for them cannot be run ({str(error).splitlines()[0]})"
        else:
            return result.model_copy(update=rest._asdict())
        note = f"the records that it rests on cannot be told: {cause}"
        return result.model_copy(update={"notes": (*result.notes, note)})
