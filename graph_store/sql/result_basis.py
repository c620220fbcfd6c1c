"""What is said of a result beside its values: units, what is not certain, and the records that it rests on."""

import re
import sys
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import duckdb
import orjson
from sqlglot import exp

from ...schemas.documents import Citation
from ...schemas.records import ColumnInfo, LeftOut, SqlResult, TableInfo
from ..joined_documents import SourceDocuments, joined_id
from .checking import text_of, with_full_names
from .logical_tables import HIDDEN, Place, to_json_value
from .sql_errors import SqlError
from .table_file import base_of
from .tracing import Table, TracedQuery, UsedColumn, is_grouped, trace_statement

MOST_CITED = 10
_MOST_READ = 200
"""The first rows of a statement that are looked through for rows to cite."""
_LONGEST_HEAD = 300
"""Characters of a document's beginning that are cited for the document as a whole."""
_TRACED = re.compile(r"_row\d+")
"""The columns with which a traced query has the ids of rows."""
_TableRow: TypeAlias = tuple[Table, int]
"""A table and the number of one of its rows."""
_KEEPING = (
    exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Mode, exp.Quantile, exp.PercentileCont, exp.PercentileDisc,
    exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.First, exp.Last, exp.AnyValue, exp.ArgMax, exp.ArgMin, exp.Abs,
    exp.Round, exp.Ceil, exp.Floor, exp.Neg, exp.Paren, exp.Cast, exp.Alias, exp.Window, exp.Filter, exp.Coalesce,
    exp.Trunc, exp.Distinct)
"""Functions whose result has the unit of their first argument."""
_FITTING_NULL = (exp.Is, exp.Coalesce, exp.NullSafeEQ, exp.NullSafeNEQ, exp.If, exp.Case)
_LISTED = 10
_Columns = Mapping[str, ColumnInfo]


def find_units(query: exp.Query, tables: Mapping[str, TableInfo], names: Sequence[str]) -> tuple[str, ...]:
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


def check_units(query: exp.Query, tables: Mapping[str, TableInfo]) -> None:
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


def list_doubts(query: exp.Query, tables: Mapping[str, TableInfo]) -> tuple[str, ...]:
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


class RecordTracer:
    """Reads the rows of traced statements."""

    def __init__(self, tables: Mapping[str, TableInfo], documents: SourceDocuments,
                 most_cited: int = MOST_CITED) -> None:
        self._tables = tables
        self._documents = documents
        self._most_cited = most_cited
        self._text, self._metadata = cache(documents.text), cache(documents.metadata)
        # The pages stand behind a document's text in the ledger: to read them takes as long as to read the text.
        self._has_pages = cache(lambda document: documents.page(document, sys.maxsize) is not None)

    def trace(self, connection: duckdb.DuckDBPyConnection, query: exp.Query, result: SqlResult) -> SqlResult:
        """Return a result with what it rests on; of several tables, `records` is the number of rows of the largest.

        Raises:
            Untraceable: that cannot be told.
        """
        parts = trace_statement(query, self._tables)
        texts = [(part, self._text_with_full_names(part.query)) for part in parts]
        unlimited = list[tuple[TracedQuery, str]]()
        for part in parts:  # rows that the limit hides fit the conditions as well
            whole = part.query.copy()
            for clause in ("order", "limit", "offset"):
                whole.set(clause, None)
            unlimited.append((part, self._text_with_full_names(whole)))
        tables = dict.fromkeys(ids.table for part in parts for ids in part.ids)
        records = max((_count_records(connection, table, unlimited) for table in tables), default=0)
        left_out = [missing for part in parts for column in part.used
                    if (missing := self._count_left_out(connection, part, column)) is not None]
        of_rows: list[_TableRow | None] = []
        is_one_part = len(parts) == 1 and len(parts[0].ids) == 1 and not parts[0].is_joined
        if is_one_part and isinstance(query, exp.Select) and not is_grouped(query):  # each row shows one record
            (part, text), = texts
            of_rows = [None if number is None else (part.ids[0].table, number)
                       for number in _find_records_of_rows(connection, part, text, result.rows[:self._most_cited])]
        cited = self._cite_rows(connection, [row for row in of_rows if row] or self._find_first_rows(connection, texts))
        citations = {citation.id: citation for citation in cited.values()}
        return result.model_copy(update={
            "records": records, "left_out": tuple(left_out), "citations": tuple(citations.values()),
            "row_citations": tuple(cited[row].id if row else None for row in of_rows)})

    def _text_with_full_names(self, query: exp.Query) -> str:
        return text_of(with_full_names(query, self._tables)[0])

    def _find_first_rows(self, connection: duckdb.DuckDBPyConnection, texts: Sequence[tuple[TracedQuery, str]],
                         ) -> list[_TableRow]:
        found: dict[_TableRow, None] = {}
        for part, text in texts:
            columns, most = ", ".join(f'"{ids.column}"' for ids in part.ids), max(_MOST_READ, self._most_cited)
            for row in connection.execute(f"SELECT {columns} FROM ({text}) LIMIT {most}").fetchall():  # noqa: S608
                found.update({(ids.table, number): None for ids, number in zip(part.ids, row, strict=True)
                              if number is not None})
        return list(found)[:self._most_cited]

    def _cite_rows(self, connection: duckdb.DuckDBPyConnection, rows: Sequence[_TableRow]) -> dict[_TableRow, Citation]:
        """Return the citation of each row of a table; rows at one place share it."""
        places: dict[_TableRow, Place] = {}
        for table in {table for table, _ in rows}:
            wanted = [number for of, number in rows if of == table]
            database, name = table
            places.update({(table, number): Place(joined_id(base_of(database), document), start, end)
                           for number, document, start, end in connection.execute(
                f'SELECT rowid, {", ".join(HIDDEN)} FROM "{database}".main."{name}" '  # noqa: S608
                "WHERE rowid IN (SELECT unnest(?))", [wanted]).fetchall()})
        numbers = {place: number for number, place in enumerate(dict.fromkeys(places[row] for row in rows), 1)}
        citations = {place: self._make_citation(number, place) for place, number in numbers.items()}
        return {row: citations[places[row]] for row in rows}

    def _make_citation(self, number: int, place: Place) -> Citation:
        document, start, end = place[0], max(place[1], 0), max(place[2], 0)  # a stranger's backup may say anything
        text = self._text(document)
        if not end:
            end = len(text[:_LONGEST_HEAD].split("\n\n", 1)[0])
        return Citation(id=number, document=document, start=start, end=end, quote=text[start:end],
                        metadata=self._metadata(document),
                        page=self._documents.page(document, start) if self._has_pages(document) else None)

    def _count_left_out(self, connection: duckdb.DuckDBPyConnection, part: TracedQuery,
                        column: UsedColumn) -> LeftOut | None:
        """Return how many rows have no value in an aggregated column; None if all have one."""
        if not column.info.empty and not column.info.untyped:
            return None
        value = exp.column(column.info.name, column.alias, quoted=True)
        text = exp.column(f"{column.info.name}_text", column.alias, quoted=True) if column.info.untyped else exp.null()
        rows = part.query.copy()
        rows.set("order", None)
        rows.set("expressions", [exp.alias_(exp.column(column.id_column, column.alias, quoted=True), "id", quoted=True),
                                 exp.alias_(value, "value", quoted=True), exp.alias_(text, "text", quoted=True)])
        empty, untyped = connection.execute(
            "SELECT count(DISTINCT id) FILTER (WHERE text IS NULL), count(DISTINCT id) FILTER (WHERE text IS NOT NULL) "  # noqa: S608
            f"FROM ({self._text_with_full_names(rows)}) WHERE value IS NULL").fetchall()[0]
        return LeftOut(column=column.info.name, empty=empty, untyped=untyped) if empty or untyped else None


def _count_records(connection: duckdb.DuckDBPyConnection, table: Table,
                   texts: Sequence[tuple[TracedQuery, str]]) -> int:
    """Return how many rows of a table the traced queries (each with its text) find together."""
    selected = [(part, ids.column, text) for part, text in texts for ids in part.ids if ids.table == table]
    if len(selected) == 1 and not selected[0][0].is_joined:  # no row comes twice
        query = f"SELECT count(*) FROM ({selected[0][2]})"  # noqa: S608
    else:
        union = " UNION ".join(f'SELECT "{column}" AS id FROM ({text})' for _, column, text in selected)  # noqa: S608
        query = f"SELECT count(id) FROM ({union})"  # noqa: S608
    return int(connection.execute(query).fetchall()[0][0])


def _find_records_of_rows(connection: duckdb.DuckDBPyConnection, part: TracedQuery, text: str,
                    rows: Sequence[Sequence[Any]]) -> list[int | None]:
    """Return the id of the record that each of the first rows of a list shows; None where that is not certain.

    Rows with equal values for an ORDER BY may come in another order when the query runs again, so records are found
    by the values that they show. `text` is that of the traced `part`, which selects the ids of rows as well.
    """
    found = connection.execute(f"SELECT * FROM ({text}) LIMIT {len(rows)}")  # noqa: S608
    names = [str(column[0]) for column in found.description or []]
    shown = [place for place, name in enumerate(names) if not _TRACED.fullmatch(name)]
    record = names.index(part.ids[0].column)
    records = defaultdict[bytes, deque[int]](deque)
    for row in found.fetchall():
        records[orjson.dumps([to_json_value(row[place]) for place in shown])].append(row[record])
    return [same.popleft() if (same := records.get(orjson.dumps(list(row)))) else None for row in rows]
