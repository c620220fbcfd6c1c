"""Run SQL over the tables of a knowledge base: with exact sums, units, and notes on what is not certain."""

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import duckdb
from sqlglot import exp

from ...schemas.records import ColumnInfo, ColumnKind, SqlResult, TableInfo
from ..joined_documents import JoinedDocuments, SourceDocuments
from .checking import DIALECT, SqlError, check_as_read, explain_error, read_statement, text_of, with_full_names
from .logical_tables import to_json_value
from .table_file import MAIN, TableFile, open_tables, read_catalogue
from .tracing import MOST_CITED, RecordTracer, Untraceable
from .value_words import FoundValue, find_values, read_titles

MOST_CELLS = 100_000  # the most values of a result that are returned
_OTHER_TYPES = ("VARCHAR", "STRUCT", "INTERVAL", "TIME", "BLOB", "UUID", "MAP", "JSON", '"NULL"')
_MAKING_ROWS = (exp.Unnest, exp.Explode)
_TIED = "the limit chose among rows with the same {keys}: there are more of them"
_KEEPING = (
    exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Mode, exp.Quantile, exp.PercentileCont, exp.PercentileDisc,
    exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.First, exp.Last, exp.AnyValue, exp.ArgMax, exp.ArgMin, exp.Abs,
    exp.Round, exp.Ceil, exp.Floor, exp.Neg, exp.Paren, exp.Cast, exp.Alias, exp.Window, exp.Filter, exp.Coalesce,
    exp.Trunc, exp.Distinct)
"""Functions whose result has the unit of their first argument."""
_FITTING_NULL = (exp.Is, exp.Coalesce, exp.NullSafeEQ, exp.NullSafeNEQ, exp.If, exp.Case)
_LISTED = 10
_Columns = Mapping[str, ColumnInfo]


class SqlEngine:
    """The tables of one state of a knowledge base, for questions in SQL. Safe for many threads."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, documents: SourceDocuments) -> None:
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

    def find_values(self, words: Collection[str]) -> list[FoundValue]:
        """Return the values of columns that have one of some words (see `value_words.find_values`)."""
        return find_values(self._connection.cursor(), MAIN, words)

    def run(self, sql: str, *, most_rows: int = 1000, seconds: float = 10, most_cited: int = MOST_CITED) -> SqlResult:
        """Run one SELECT over `tables`, or raise SqlError if it is none, cannot be run, or takes longer.

        Args:
            sql: the statement.
            most_rows: the most rows to return.
            seconds: the most time that it may take.
            most_cited: the most records to cite; of a list of rows, each row is a record, in the same order. With 0
                they are not looked for, which takes longer than most statements.
        """
        query = read_statement(sql)
        full, used = with_full_names(query, self._tables)
        _check_units(query, self._tables)
        connection = self._connection.cursor()
        timer = threading.Timer(seconds, connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            result = _execute_query(connection, sql, full, most_rows, self._fractions)
            units = _find_units(query, self._tables, result.columns)
            notes = (*result.notes, *_list_doubts(query, self._tables))
            result = result.model_copy(update={"units": units, "notes": notes})
            return self._with_records(connection, query, result, most_cited) if most_cited else result
        except duckdb.InterruptException as error:
            raise SqlError(f"the statement takes longer than {seconds:g} s; ask for less at once") from error
        except duckdb.Error as error:
            raise explain_error(error, used) from error
        finally:
            timer.cancel()
            connection.close()

    def _with_records(self, connection: duckdb.DuckDBPyConnection, query: exp.Query, result: SqlResult,
                      most_cited: int) -> SqlResult:
        """Return a result with the records that it rests on, or with a note that says why they cannot be told."""
        tracer = RecordTracer(self._tables, self._documents, most_cited)
        try:
            return tracer.trace(connection, query, result)
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
    for call in list(query.find_all(exp.Sum, exp.Avg)):  # numbers with fractions are added by Kahan's sum
        if any(column.name.lower() in fractions for column in call.find_all(exp.Column)):
            name = "fsum" if isinstance(call, exp.Sum) else "favg"
            call.replace(exp.Anonymous(this=name, expressions=[call.this.copy()]))
    own = None
    if limit := query.args.get("limit"):
        most = limit.args.get("expression")
        if not isinstance(most, exp.Literal) or most.is_string or not most.name.isdecimal():
            raise SqlError("LIMIT needs a number")
        own = int(most.name)
    # One row more than may be shown tells whether there are more; one more than the statement's own limit, whether the
    # limit chose among equal rows (`_note_ties`).
    text = text_of(query.limit(min(most_rows + 1, most_rows if own is None else own) + 1))
    check_as_read(connection, text)
    found = connection.execute(text)
    described = found.description or []
    shown = min(most_rows, MOST_CELLS // len(described))
    rows = found.fetchmany(shown + 2)
    columns = tuple(str(column[0]) for column in described)
    notes = () if own is None else tuple(_note_ties(query, columns, rows, own))
    rows = rows if own is None else rows[:own]
    return SqlResult(
        sql=sql, columns=columns, units=("",) * len(described),
        kinds=tuple(_column_kind(str(one[1])) for one in described),
        rows=tuple(tuple(map(to_json_value, row)) for row in rows[:shown]), records=None, notes=notes,
        total=len(rows) if len(rows) <= shown else int(connection.execute(text_of(
            exp.select(exp.Count(this=exp.Star())).from_(query.subquery("counted")))).fetchall()[0][0]))


def _column_kind(sql_type: str) -> ColumnKind:
    if sql_type.endswith("]") or sql_type == "list":
        return "list"
    if sql_type.startswith(("DATE", "TIMESTAMP")):
        return "date"
    if sql_type == "BOOLEAN":
        return "boolean"
    return "text" if sql_type.startswith(_OTHER_TYPES) else "number"


def _name_columns(query: exp.Query) -> exp.Query:
    """Return a copy of a query whose computed columns are named as they are written."""
    query = query.copy()
    if isinstance(query, exp.Select):
        for part in query.expressions:
            if not isinstance(part, exp.Column | exp.Alias) and not part.is_star and not part.find(*_MAKING_ROWS):
                name = part.sql(dialect=DIALECT, normalize_functions="lower", comments=False)
                part.replace(exp.alias_(part.copy(), name, quoted=True))
    return query


def _note_ties(query: exp.Query, columns: Sequence[str], rows: Sequence[Sequence[Any]], limit: int) -> Sequence[str]:
    """Return a note if the first row behind a limit has the same values in what rows are ordered by."""
    order = query.args.get("order")
    if order is None or not 0 < limit < len(rows) or not isinstance(query, exp.Select):
        return ()
    places = [_find_position(ordered.this, query, columns) for ordered in order.expressions]
    if None in places or any(rows[limit - 1][place] != rows[limit][place] for place in places if place is not None):
        return ()
    return (_TIED.format(keys=" and ".join(columns[place] for place in places if place is not None)),)


def _find_position(key: exp.Expr, query: exp.Select, columns: Sequence[str]) -> int | None:
    """Return the position of the column by which rows are ordered, None if it is not among the columns."""
    if isinstance(key, exp.Literal):
        return int(key.name) - 1 if key.name.isdecimal() and 0 < int(key.name) <= len(columns) else None
    folded = [column.lower() for column in columns]
    if isinstance(key, exp.Column) and key.name.lower() in folded:
        return folded.index(key.name.lower())
    if len(query.expressions) == len(columns):
        return next((place for place, part in enumerate(query.expressions) if part.unalias() == key), None)
    return None


def _find_units(query: exp.Query, tables: Mapping[str, TableInfo], names: Sequence[str]) -> tuple[str, ...]:
    """Return the unit of each column of a result, "" where it has none or it cannot be told.

    `names` are the names of the result's columns.
    """
    select = query
    while isinstance(select, exp.Subquery | exp.SetOperation):
        select = select.this
    known = _columns_by_name(query, tables)
    if not isinstance(select, exp.Select):
        return ("",) * len(names)
    projections = select.expressions
    if len(projections) != len(names) or any(part.is_star for part in projections):
        return tuple(known[name.lower()].unit if name.lower() in known else "" for name in names)
    return tuple(_find_unit(part, known) for part in projections)


def _check_units(query: exp.Query, tables: Mapping[str, TableInfo]) -> None:
    """Raise SqlError if a statement computes with numbers of several units without telling the units apart."""
    used = {column.name.lower() for column in query.find_all(exp.Column)}
    for info in _iterate_tables(query, tables):
        for column in info.columns:
            number, unit = f"{column.name}_number", f"{column.name}_unit"
            if info.kind == "relation":
                number, unit = "number", "unit"
            elif number not in {known.name for known in info.columns}:
                number = ""
            if column.units and number in used and unit not in used and column.name not in used - {number}:
                raise SqlError(f"the numbers of {number} have several units ({', '.join(column.units)}), which cannot "
                               f"be added or compared: group by {unit}, or limit it with WHERE {unit} = ...")
        if info.kind != "values" or "number" not in used or "unit" in used:
            continue
        # Of the attributes that a statement over all values names, each must have numbers of one unit.
        several = {table.title: bool(table.columns[2].units) for table in tables.values()
                   if table.kind == "relation" and table.columns[0].name == "entity"}
        named = [literal.name for literal in query.find_all(exp.Literal) if literal.name in several]
        if mixed := sorted(attribute for attribute in named or several if several[attribute]):
            raise SqlError(f"the numbers of {', '.join(mixed[:_LISTED])} have several units, which cannot be added or "
                           "compared: group by unit, or limit it with WHERE unit = ...")


def _list_doubts(query: exp.Query, tables: Mapping[str, TableInfo]) -> tuple[str, ...]:
    """Return what was decided without proof about the columns that a statement names, and what conditions pass over."""
    used = {column.name.lower() for column in query.find_all(exp.Column)}
    notes = (f"{column.name}: {column.note}" for info in _iterate_tables(query, tables) for column in info.columns
             if column.note and column.name in used)
    return (*notes, *_note_passed_over(query, tables))


def _note_passed_over(query: exp.Query, tables: Mapping[str, TableInfo]) -> Iterator[str]:
    """Yield how many records no condition can fit, because they have no value of the column's kind."""
    names_of = {table.alias_or_name.lower(): table.name.lower() for table in query.find_all(exp.Table)}
    conditioned = [column for where in query.find_all(exp.Where) for column in where.find_all(exp.Column)]
    # "IS NULL" fits cells without a value, and so may what takes the column's cells for one.
    fitted = {column.name.lower() for column in conditioned if column.find_ancestor(*_FITTING_NULL)}
    asked = {(names_of.get(column.table.lower(), ""), column.name.lower()) for column in conditioned
             if column.name.lower() not in fitted}
    for info in _iterate_tables(query, tables):
        for column in info.columns if info.kind in {"records", "documents"} else ():
            missing = column.empty + column.untyped
            # A column without its table's name is in one table alone: SQL refuses it where two have it.
            if missing and not asked.isdisjoint({(info.name, column.name), ("", column.name)}):
                yield f"{missing:,} of {info.rows:,} in {info.name} have no {column.name}: no condition on it fits them"


def _iterate_tables(query: exp.Query, tables: Mapping[str, TableInfo]) -> Iterator[TableInfo]:
    names = dict.fromkeys(table.name.lower() for table in query.find_all(exp.Table))
    return (tables[name] for name in names if name in tables)


def _columns_by_name(query: exp.Query, tables: Mapping[str, TableInfo]) -> _Columns:
    """Return the columns of a statement's tables by name, and those that it computes; without ambiguous names."""
    known: dict[str, ColumnInfo] = {}
    for info in _iterate_tables(query, tables):
        for column in info.columns:
            same = known.setdefault(column.name, column)
            if same.unit != column.unit:
                known[column.name] = same.model_copy(update={"unit": ""})
    inner = [part for part in query.find_all(exp.Alias) if part.alias and part.alias.lower() not in known]
    for alias in reversed(inner):  # the innermost ones come last
        if unit := _find_unit(alias.this, known):
            known[alias.alias.lower()] = ColumnInfo(name=alias.alias, title=alias.alias, kind="number", unit=unit)
    return known


def _find_unit(part: exp.Expr, known: _Columns) -> str:
    if isinstance(part, exp.Column):
        found = known.get(part.name.lower())
        return found.unit if found else ""
    if isinstance(part, exp.Add | exp.Sub):
        units = {_find_unit(side, known) for side in (part.left, part.right) if not isinstance(side, exp.Literal)}
        return units.pop() if len(units) == 1 else ""
    if isinstance(part, exp.Mul | exp.Div):
        if isinstance(part.right, exp.Literal):
            return _find_unit(part.left, known)
        return _find_unit(part.right, known) if isinstance(part, exp.Mul) and isinstance(part.left, exp.Literal) else ""
    return _find_unit(part.this, known) if isinstance(part, _KEEPING) and isinstance(part.this, exp.Expr) else ""


class JoinedEngine(SqlEngine):
    """The tables of several knowledge bases, each called BASE.TABLE; opened anew for each use, and to be closed."""

    def __init__(self, files: Mapping[str, TableFile], documents: JoinedDocuments) -> None:
        """Attach the tables of each base to one connection that can only read."""
        super().__init__(open_tables(files), documents)
        self._bases = tuple(files)

    @cached_property
    def _tables(self) -> dict[str, TableInfo]:
        infos = [info.model_copy(update={"name": f"{base}.{info.name}"})
                 for base in self._bases for info in read_catalogue(self._connection.cursor(), base)]
        return {info.name.lower(): info for info in infos}

    def run(self, sql: str, *, most_rows: int = 1000, seconds: float = 10, most_cited: int = MOST_CITED) -> SqlResult:
        """Run one SELECT; see `SqlEngine.run`. An error about the name of a base with a sign says how to write it."""
        try:
            return super().run(sql, most_rows=most_rows, seconds=seconds, most_cited=most_cited)
        except SqlError as error:
            if unquoted := next((base for base in self._bases if "-" in base and base in sql.replace('"', "")), None):
                raise SqlError(f'{error}; a name with "-" needs quotation marks: write "{unquoted}".TABLE') from error
            raise

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
