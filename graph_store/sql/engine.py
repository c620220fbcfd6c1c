"""Run SQL over the tables of a knowledge base: with exact sums, units, and notes on what is not certain."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import duckdb
from sqlglot import exp

from ...schemas.records import ColumnKind, SqlResult, TableInfo
from ..ledger.document_rows import SourceDocuments
from . import checking
from .logical_tables import MAIN, to_json_value
from .table_file import TITLES, VALUES, FoundValue, read_catalogue
from .tracing import MOST_CITED, RecordTracer, Untraceable

MOST_CELLS = 100_000  # the most values of a result that are returned
_MOST_VALUES = 5000  # how many values are read for one question; words of more values say little of any
_NOT_NUMBERS = ("VARCHAR", "STRUCT", "INTERVAL", "TIME", "BLOB", "UUID", "MAP", "JSON", '"NULL"')
"""How the names of DuckDB's types begin whose values are shown as texts."""
_MAKING_ROWS = (exp.Unnest, exp.Explode)  # functions that make several rows of one
_TIED = "the limit chose among rows with the same {keys}: there are more of them"
_KEEPING_UNIT = (
    exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Mode, exp.Quantile, exp.PercentileCont, exp.PercentileDisc,
    exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.First, exp.Last, exp.AnyValue, exp.ArgMax, exp.ArgMin, exp.Abs,
    exp.Round, exp.Ceil, exp.Floor, exp.Neg, exp.Paren, exp.Cast, exp.Alias, exp.Window, exp.Filter, exp.Coalesce,
    exp.Trunc, exp.Distinct, exp.IgnoreNulls)  # functions whose result has the unit of their first argument
_FITTING_NULL = (exp.Is, exp.Coalesce, exp.NullSafeEQ, exp.NullSafeNEQ, exp.If, exp.Case)
"""Conditions that fit cells without a value, or that take a column's cells for another value."""
_MOST_LISTED = 10  # attributes that a message names


class SqlEngine:
    """The tables of one state of a knowledge base, for questions in SQL. Safe for many threads."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, documents: SourceDocuments,
                 count_unread_files: Callable[[], int] = lambda: 0, bases: Iterable[str] = ("",)) -> None:
        """Use a connection that can only read (see `open_tables`), and the documents that rows are from."""
        self._connection, self._documents, self._bases = connection, documents, bases
        self.count_unread_files = count_unread_files  # how many files could not be read, so that no row is from them

    @cached_property
    def _tables(self) -> dict[str, TableInfo]:
        """All tables by their names in small letters; those of several bases are called BASE.TABLE."""
        return {table.name.lower(): table for base in self._bases
                for table in read_catalogue(self._connection.cursor(), base)}

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
        """What tables are called: those of few documents by these, that of all documents by their common names."""
        rows = self._connection.cursor().execute(
            f"SELECT source, list(title ORDER BY title) FROM {MAIN}.{TITLES} GROUP BY ALL ORDER BY ALL")  # noqa: S608
        return {table: tuple(titles) for table, titles in rows.fetchall()}

    def find_values(self, words: Collection[str]) -> list[FoundValue]:
        """Return the values of columns that have one of some words, which are in lower case and without accents."""
        if not words:
            return []
        marks = ", ".join("?" * len(words))  # with a list of constants DuckDB reads only the parts with these words
        rows = self._connection.cursor().execute(
            f"SELECT DISTINCT source, field, value FROM {MAIN}.{VALUES} WHERE word IN ({marks}) "  # noqa: S608
            f"ORDER BY ALL LIMIT {_MOST_VALUES}", sorted(words))
        return [FoundValue(*row) for row in rows.fetchall()]

    def run(self, sql: str, *, most_rows: int = 1000, seconds: float = 10, most_cited: int = MOST_CITED) -> SqlResult:
        """Run one SELECT over `tables`, or raise SqlError if it is none, cannot be run, or takes more than `seconds`.

        Returns at most `most_rows` rows and cites `most_cited` records; of a list of rows, each row is a record, in the
        same order. With 0 they are not looked for, which takes longer than most statements.
        """
        query = checking.read_statement(sql)
        full_query, used = checking.with_full_names(query, self._tables)
        _check_units(query, self._tables)
        connection = self._connection.cursor()
        timer = threading.Timer(seconds, connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            result = _execute_query(connection, sql, full_query, most_rows, self._fractions)
            units = _find_units(query, self._tables, result.columns)
            notes = (*result.notes, *_list_doubts(query, self._tables))
            # A table of one document lacks nothing because other files could not be read.
            reads_several = any(table.documents > 1 for table in _iterate_tables(query, self._tables))
            result = result.model_copy(update={"units": units, "notes": notes,
                                               "unread_files": self.count_unread_files() if reads_several else 0})
            return self._with_records(connection, query, result, most_cited) if most_cited else result
        except duckdb.InterruptException as error:
            raise checking.SqlError(f"the statement takes longer than {seconds:g} s; ask for less at once") from error
        except duckdb.Error as error:
            raise checking.explain_error(error, used) from error
        finally:
            timer.cancel()
            connection.close()

    def _with_records(self, connection: duckdb.DuckDBPyConnection, query: exp.Query, result: SqlResult,
                      most_cited: int) -> SqlResult:
        """Return a result with the records that it rests on, or with a note that says why they are not known."""
        try:
            return RecordTracer(connection, self._tables, self._documents, most_cited).trace(query, result)
        except Untraceable as error:
            cause = str(error)
        except (duckdb.InterruptException, duckdb.OutOfMemoryException):
            cause = "that takes too much time or memory"
        except duckdb.Error as error:
            cause = f"the query for them cannot be run ({str(error).splitlines()[0]})"
        note = f"the records that it rests on cannot be told: {cause}"
        return result.model_copy(update={"notes": (*result.notes, note)})


def _execute_query(connection: duckdb.DuckDBPyConnection, sql: str, query: exp.Query, most_rows: int,
                   fractions: Collection[str]) -> SqlResult:
    """Run a query with full names; `fractions` are the names of the columns whose numbers are not whole."""
    query = _name_columns(query)
    # Numbers with fractions are added by Kahan's sum, which hardly depends on their order.
    for call in list(query.find_all(exp.Sum, exp.Avg)):
        if any(column.name.lower() in fractions for column in call.find_all(exp.Column)):
            name = "fsum" if isinstance(call, exp.Sum) else "favg"
            call.replace(exp.Anonymous(this=name, expressions=[call.this.copy()]))
    own_limit = None
    if limit := query.args.get("limit"):
        given = limit.args.get("expression")
        if not isinstance(given, exp.Literal) or given.is_string or not given.name.isdecimal():
            raise checking.SqlError("LIMIT needs a number")
        own_limit = int(given.name)
    # One row more than may be shown tells whether there are more; one more than the statement's own limit, whether the
    # limit chose among equal rows (`_note_ties`).
    most_read = most_rows + 1 if own_limit is None else min(most_rows + 1, own_limit) + 1
    text = checking.text_of(query.limit(most_read))
    checking.check_as_read(connection, text)  # raises SqlError for anything that is not allowed
    found = connection.execute(text)
    described = found.description or []
    most_shown = min(most_rows, MOST_CELLS // len(described))
    rows = found.fetchmany(most_shown + 2)
    columns = tuple(str(column[0]) for column in described)
    notes = () if own_limit is None else _note_ties(query, columns, rows, own_limit)
    total = len(rows[:own_limit])
    if total > most_shown:  # not all rows were read
        counted = exp.select(exp.Count(this=exp.Star())).from_(query.subquery("counted"))
        ((total,),) = connection.execute(checking.text_of(counted)).fetchall()
    return SqlResult(
        sql=sql, columns=columns, units=("",) * len(columns), records=None, notes=notes, total=total,
        kinds=tuple(_column_kind(str(column[1])) for column in described),
        rows=tuple(tuple(map(to_json_value, row)) for row in rows[:own_limit][:most_shown]))


def _column_kind(sql_type: str) -> ColumnKind:
    """Return the kind of values that a column of one of DuckDB's types has."""
    if sql_type.endswith("]") or sql_type == "list":
        return "list"
    if sql_type.startswith(("DATE", "TIMESTAMP")):
        return "date"
    if sql_type == "BOOLEAN":
        return "boolean"
    return "text" if sql_type.startswith(_NOT_NUMBERS) else "number"


def _name_columns(query: exp.Query) -> exp.Query:
    """Return a copy of a query whose computed columns are named as they are written, not as DuckDB rewrites them."""
    query = query.copy()
    for part in query.expressions if isinstance(query, exp.Select) else ():
        has_name = isinstance(part, exp.Column | exp.Alias)
        if not has_name and not part.is_star and not part.find(*_MAKING_ROWS):
            name = part.sql(dialect=checking.DIALECT, normalize_functions="lower", comments=False)
            part.replace(exp.alias_(part.copy(), name, quoted=True))
    return query


def _note_ties(query: exp.Query, columns: Sequence[str], rows: Sequence[Sequence[Any]], limit: int) -> tuple[str, ...]:
    """Return a note if the first row behind a limit has the same values in what rows are ordered by."""
    order = query.args.get("order")
    has_row_behind = 0 < limit < len(rows)
    if order is None or not has_row_behind or not isinstance(query, exp.Select):
        return ()
    places = [_find_position(ordered.this, query, columns) for ordered in order.expressions]
    shown = [place for place in places if place is not None]
    # Rows may differ in what they are ordered by if that is not shown.
    if len(shown) < len(places) or any(rows[limit - 1][place] != rows[limit][place] for place in shown):
        return ()
    return (_TIED.format(keys=" and ".join(columns[place] for place in shown)),)


def _find_position(key: exp.Expr, query: exp.Select, columns: Sequence[str]) -> int | None:
    """Return the position of the column by which rows are ordered, None if it is not among the columns."""
    folded = [column.lower() for column in columns]
    if isinstance(key, exp.Literal):  # ORDER BY 2
        return int(key.name) - 1 if key.name.isdecimal() and 0 < int(key.name) <= len(columns) else None
    if isinstance(key, exp.Column) and key.name.lower() in folded:
        return folded.index(key.name.lower())
    # With a * there are more columns than expressions, and no position is known.
    written = query.expressions if len(query.expressions) == len(columns) else ()
    return next((place for place, part in enumerate(written) if part.unalias() == key), None)


def _find_units(query: exp.Query, tables: Mapping[str, TableInfo], names: Sequence[str]) -> tuple[str, ...]:
    """Return the unit of each column of a result, given by `names`; "" where it has none or is not known."""
    units = dict[str, str]()  # by the name of a column
    for column in (column for info in _iterate_tables(query, tables) for column in info.columns):
        if units.setdefault(column.name, column.unit) != column.unit:
            units[column.name] = ""  # the tables differ
    computed = [part for part in query.find_all(exp.Alias) if part.alias.lower() not in units]
    for alias in reversed(computed):  # the innermost ones come last
        units[alias.alias.lower()] = _find_unit(alias.this, units)
    select = query
    while isinstance(select, exp.Subquery | exp.SetOperation):
        select = select.this  # the first select of a set operation names its columns
    parts = select.expressions
    if len(parts) != len(names) or any(part.is_star for part in parts):  # a * selects several columns
        parts = [exp.column(name) for name in names]
    return tuple(_find_unit(part, units) for part in parts)


def _find_unit(part: exp.Expr, units: Mapping[str, str]) -> str:
    """Return the unit of an expression's numbers, by those of columns; "" if they have none, or it is not known."""
    if isinstance(part, exp.Column):
        return units.get(part.name.lower(), "")
    if isinstance(part, exp.Add | exp.Sub | exp.Mul | exp.Div):
        sides = [side for side in (part.left, part.right) if not isinstance(side, exp.Literal)]
        is_inverse = isinstance(part, exp.Div) and sides[:1] == [part.right]
        is_product_of_columns = isinstance(part, exp.Mul | exp.Div) and len(sides) > 1
        units_of_sides = {_find_unit(side, units) for side in sides}
        return "" if is_product_of_columns or is_inverse or len(units_of_sides) != 1 else units_of_sides.pop()
    if isinstance(part, _KEEPING_UNIT) and isinstance(part.this, exp.Expr):
        return _find_unit(part.this, units)
    return ""


def _check_units(query: exp.Query, tables: Mapping[str, TableInfo]) -> None:
    used = {column.name.lower() for column in query.find_all(exp.Column)}
    for info in _iterate_tables(query, tables):
        own_names = {column.name for column in info.columns}
        for column in info.columns:
            number, unit = f"{column.name}_number", f"{column.name}_unit"
            if info.kind == "relation":
                number, unit = "number", "unit"
            tells_apart = unit in used or column.name in used - {number}  # the column's own texts have their units
            if column.units and number in used & own_names and not tells_apart:
                raise checking.MixedUnitsError(
                    f"the numbers of {number} have several units ({', '.join(column.units)}), which cannot be added or "
                    f"compared: group by {unit}, or limit it with WHERE {unit} = ...")
        if info.kind != "values" or "number" not in used or "unit" in used:
            continue
        # Of the attributes that a statement over all values names, each must have numbers of one unit.
        has_several_units = {
            table.title: any(column.units for column in table.columns if column.name == "number")
            for table in tables.values() if table.kind == "relation" and table.columns[0].name == "entity"}
        named = [literal.name for literal in query.find_all(exp.Literal) if literal.name in has_several_units]
        if mixed := sorted(attribute for attribute in named or has_several_units if has_several_units[attribute]):
            listed = ", ".join(mixed[:_MOST_LISTED])
            raise checking.MixedUnitsError(f"the numbers of {listed} have several units, which cannot be added or "
                                           "compared: group by unit, or limit it with WHERE unit = ...")


def _list_doubts(query: exp.Query, tables: Mapping[str, TableInfo]) -> Iterator[str]:
    """Yield the notes on columns that a statement names, and how many records its conditions pass over for no value."""
    used = {column.name.lower() for column in query.find_all(exp.Column)}
    names_of = {table.alias_or_name.lower(): table.name.lower() for table in query.find_all(exp.Table)}
    conditioned = [column for where in query.find_all(exp.Where) for column in where.find_all(exp.Column)]
    fits_null = {column.name.lower() for column in conditioned if column.find_ancestor(*_FITTING_NULL)}
    passed_over = {(names_of.get(column.table.lower(), ""), column.name.lower()) for column in conditioned
                   if column.name.lower() not in fits_null}
    infos = list(_iterate_tables(query, tables))
    named = [column for info in infos for column in info.columns if column.name in used]
    yield from (f"{column.name}: {column.note}" for column in named if column.note)
    for info in [info for info in infos if info.kind in {"records", "documents"}]:
        for column in info.columns:
            missing = column.empty + column.untyped
            # A column without its table's name is in one table alone: SQL refuses it where two have it.
            if missing and not passed_over.isdisjoint({(info.name, column.name), ("", column.name)}):
                yield f"{missing:,} of {info.rows:,} in {info.name} have no {column.name}: no condition on it fits them"


def _iterate_tables(query: exp.Query, tables: Mapping[str, TableInfo]) -> Iterator[TableInfo]:
    """Yield each table that a query reads, once."""
    names = dict.fromkeys(table.name.lower() for table in query.find_all(exp.Table))
    return (tables[name] for name in names if name in tables)
