"""Trace a result to the records that it rests on.

Each select of a statement gets one more column: a list of the rows of tables that each of its rows is made of. A select
that groups collects the lists of its groups. So DuckDB itself says on which records a row of the result rests.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, count
from typing import Any, NamedTuple

import duckdb
import orjson
import sqlglot
from sqlglot import exp

from ...schemas.documents import Citation
from ...schemas.records import ColumnInfo, LeftOut, SqlResult, TableInfo
from ..ledger.document_rows import SourceDocuments, joined_id
from .checking import DIALECT, find_cte, full_text, named_source, stored_table, table_source, visible_ctes
from .logical_tables import HIDDEN, Place, to_json_value
from .table_file import base_of

MOST_CITED = 10
MOST_PLACES, _ROWS_CITED = 3, 20  # how many records one row of a result cites, and how many rows have their own
_MOST_READ = 200  # the first rows of a result, and of the records of each, that are looked through for records to cite
_LONGEST_HEAD = 300  # characters of a document's beginning that are cited for the document as a whole
_TABLE_STEP = 1 << 40  # a row's number is DuckDB's rowid plus this for each table before its own
_ROWS = "_rows"  # the column of the whole statement that lists rows
_EXTREMES = (exp.Max, exp.Min, exp.ArgMax, exp.ArgMin)
_CLAUSES_BEHIND_WHERE = ("group", "having", "qualify", "order", "limit", "offset", "distinct", "windows")


class Untraceable(Exception):
    """The records that a statement's result rests on cannot be determined; the message says why."""


class _Source(NamedTuple):
    """What a select reads, with the column that lists the rows there; `info` if it is a table."""

    alias: str
    column: str
    info: TableInfo | None = None


class _Lineage:
    """Adds columns that list rows to the selects of a statement; each gets a name of its own, as * may select it."""

    def __init__(self, tables: Mapping[str, TableInfo]) -> None:
        self._tables = tables
        self._names = map(f"{_ROWS}{{}}".format, count(1))  # new names for columns and subqueries, without end
        self._column_of: dict[int, str] = {}  # by the identity of a common table expression: its column that lists rows
        self.stored: list[tuple[str, str]] = []  # the tables that are read, each as its database and name there
        # Columns whose values are aggregated, each with the query that finds the rows without one.
        self.gaps: list[tuple[ColumnInfo, exp.Select]] = []

    def add(self, query: exp.Expr, column: str) -> None:
        """Add a column to a query that lists the rows of tables on which each of its rows rests."""
        query = query.unnest()
        with_clause = query.args.get("with_")
        if with_clause is not None and with_clause.args.get("recursive"):
            raise Untraceable("it is recursive")
        for cte in query.ctes if isinstance(query, exp.Query) else ():
            self._column_of[id(cte)] = next(self._names)
            self.add(cte.this, self._column_of[id(cte)])
        if isinstance(query, exp.Union):
            query.set("distinct", False)  # two equal rows rest on different ones
            self.add(query.left, column)
            self.add(query.right, column)
        elif isinstance(query, exp.Select):
            self._add_to_select(query, column)
        else:
            raise Untraceable("it combines sets of rows")

    def _add_to_select(self, select: exp.Select, column: str) -> None:
        """Add a column to a select: it lists the rows of its sources, and for a group those of all its rows."""
        sources = list(self._read_sources(select))
        _hide_from_stars(select, sources)
        lists: list[exp.Expr] = [exp.column(source.column, source.alias, quoted=True) for source in sources]
        if not select.args.get("from_"):  # SELECT (SELECT count(*) FROM a) + 1
            lists = list(self._read_subqueries(select))
        rows: exp.Expr = _call("flatten", _call("list_value", *lists)) if lists else exp.null()
        self._note_gaps(select, sources)
        distinct = select.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is None:  # DISTINCT ON keeps a row as it is
            # The lists would keep equal rows apart: grouping by all columns merges these and their lists.
            select.set("distinct", None)
            if not _aggregates(select):
                select.set("group", exp.Group(all=True))
        if _aggregates(select):
            # With an order, the first records are those of the largest or smallest value, if that is asked for.
            ordered = _order_by_extreme(select.expressions)
            rows = exp.Order(this=rows, expressions=[ordered]) if ordered is not None else rows
            rows = _call("flatten", _call("list", rows))
        select.append("expressions", exp.alias_(exp.cast(rows, "BIGINT[]", dialect=DIALECT), column, quoted=True))

    def _read_sources(self, select: exp.Select) -> Iterator[_Source]:
        """Yield what a select reads, after adding the column that lists rows to each; what has no rows is left out."""
        parts = (select.args.get("from_"), *(select.args.get("joins") or ()))
        for node in [part.this for part in parts if part is not None]:
            if any(node.args.get(part) for part in ("joins", "laterals", "pivots")):
                raise Untraceable("it turns rows into columns, or nests its joins")
            if isinstance(node, exp.Subquery):
                source = _Source(node.alias or next(self._names), next(self._names))
                node.set("alias", node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(source.alias)))
                self.add(node, source.column)
                yield source
            # A table's full name, as `table_source` writes it, is no name to look up.
            elif isinstance(node, exp.Table) and not node.args.get("db"):
                if (cte := find_cte(node)) is not None:
                    yield _Source(node.alias or node.name, self._column_of[id(cte)])
                elif node.name.lower() in self._tables:
                    yield self._read_table(node, self._tables[node.name.lower()])

    def _read_table(self, node: exp.Table, info: TableInfo) -> _Source:
        """Put a table with the numbers of its rows in the place of a table's name."""
        source = _Source(node.alias or node.name, next(self._names), info)
        self.stored.append(stored_table(info))
        first = self.stored.index(stored_table(info)) * _TABLE_STEP  # the same each time that the table is read
        rows = exp.alias_(sqlglot.parse_one(f"[rowid + {first}]", dialect=DIALECT), source.column, quoted=True)
        node.replace(named_source(node, table_source(info, rows)))
        return source

    def _read_subqueries(self, select: exp.Select) -> Iterator[exp.Expr]:
        """Yield the rows of the subqueries of a select that reads nothing itself."""
        for inner in list(select.find_all(exp.Subquery)):
            if inner.find_ancestor(exp.Select, exp.Subquery) is select:
                column, traced = next(self._names), inner.this.copy()
                traced.parent = inner  # so that its names are looked up where it stands
                self.add(traced, column)
                if isinstance(traced, exp.Select) and not traced.args.get("from_"):
                    traced.set("expressions", traced.expressions[-1:])  # else each level would double the statement
                rows = _call("flatten", _call("list", exp.column(column, quoted=True)))
                yield exp.select(rows).from_(traced.subquery(next(self._names))).subquery()

    def _note_gaps(self, select: exp.Select, sources: Sequence[_Source]) -> None:
        """Note the columns of tables that a select aggregates, and of which some cells have no value."""
        calls = (call for projection in select.expressions for call in projection.find_all(exp.AggFunc))
        for column in dict.fromkeys(column for call in calls for column in call.find_all(exp.Column)):
            known = [(source, info) for source in sources if column.table.lower() in {"", source.alias.lower()}
                     for info in (source.info.columns if source.info else ()) if info.name == column.name.lower()]
            for source, info in known[:1]:  # tables that are joined by the column all have it
                if info.empty or info.untyped:
                    self.gaps.append((info, _rows_with_cells(select, source, info)))


def _call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=[*arguments])


def _hide_from_stars(select: exp.Select, sources: Sequence[_Source]) -> None:
    """Leave the columns that list rows out of what * selects."""
    for projection in select.expressions:
        star = projection.this if isinstance(projection, exp.Column) else projection
        if isinstance(star, exp.Star):
            table = projection.table.lower() if isinstance(projection, exp.Column) else ""
            hidden = dict.fromkeys(one.column for one in sources if table in {"", one.alias.lower()})
            left_out = [exp.to_identifier(name, quoted=True) for name in hidden]
            star.set("except_", [*(star.args.get("except_") or ()), *left_out])


def _rows_with_cells(select: exp.Select, source: _Source, info: ColumnInfo) -> exp.Select:
    """Return the query for the rows that a select groups, with the id and the cell of one column for each."""
    # Besides what the select itself names, it has `_id`, `_value`, and in `_text` what a cell says that has no value.
    rows = select.copy()
    for clause in _CLAUSES_BEHIND_WHERE:  # they change which rows there are, or group them
        rows.set(clause, None)
    value = exp.column(info.name, source.alias, quoted=True)
    text = exp.column(f"{info.name}_text", source.alias, quoted=True) if info.untyped else exp.null()
    cells = {"_id": exp.column(source.column, source.alias, quoted=True), "_value": value, "_text": text}
    named = [part for part in rows.expressions if part.find(exp.AggFunc) is None]  # WHERE may use their names
    rows.set("expressions", [*named, *(exp.alias_(cell, name, quoted=True) for name, cell in cells.items())])
    # It runs alone, so it takes along the WITH clauses around it; those that others may use come first.
    if visible := [*reversed([*visible_ctes(select)]), *select.ctes]:
        rows.set("with_", exp.With(expressions=[cte.copy() for cte in visible]))
    return rows


def _aggregates(select: exp.Select) -> bool:
    """Return True if a select makes one row of several."""
    if select.args.get("group") or select.args.get("having"):
        return True
    return any(isinstance(node, exp.AggFunc) and node.find_ancestor(exp.Window, exp.Select) is select
               for projection in select.expressions for node in projection.find_all(exp.AggFunc))


def _order_by_extreme(projections: Sequence[exp.Expr]) -> exp.Ordered | None:
    """Return an order that begins with the rows of the largest or smallest value, if that is asked for."""
    for projection in projections:
        if (extreme := projection.find(*_EXTREMES)) is not None:
            by = extreme.expression if isinstance(extreme, exp.ArgMax | exp.ArgMin) else extreme.this
            if by is not None and not isinstance(by, exp.Distinct):
                return exp.Ordered(this=by.copy(), desc=isinstance(extreme, exp.Max | exp.ArgMax), nulls_first=False)
    return None


class RecordTracer:
    """Finds the records that the results of a connection's statements rest on, and cites the first ones."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, tables: Mapping[str, TableInfo],
                 documents: SourceDocuments, most_cited: int = MOST_CITED) -> None:
        self._connection, self._tables, self._most_cited = connection, tables, most_cited
        self._text, self._metadata, self._page = cache(documents.text), cache(documents.metadata), documents.page

    def trace(self, query: exp.Query, result: SqlResult) -> SqlResult:
        """Return a result with what it rests on; raise Untraceable if a statement is recursive, pivots or intersects.

        Of several tables, `records` is the number of rows of the one with most.
        """
        lineage, traced = _Lineage(self._tables), query.copy()
        lineage.add(traced, _ROWS)
        if not lineage.stored:  # it reads no table, as SELECT 1 + 1
            return result.model_copy(update={"records": 0})
        most_read = max(_MOST_READ, self._most_cited)
        # Only the beginning of each list of rows is read: that of a group may have millions.
        first = self._read(f'SELECT * REPLACE ("{_ROWS}"[:{most_read}] AS "{_ROWS}") '  # noqa: S608
                           f"FROM ({full_text(traced, self._tables)}) LIMIT {most_read}")
        is_list = (isinstance(query, exp.Select) and not _aggregates(query) and not query.args.get("distinct")
                   and all(len(records) == 1 for *_, records in first))  # each row shows one record
        of_rows = _find_records_of_rows(first, result.rows[:max(self._most_cited, _ROWS_CITED)], with_floats=is_list)
        listed = of_rows[:self._most_cited] if is_list else []
        found = dict.fromkeys(record for *_, records in first for record in records or ())
        shown = [*chain.from_iterable(listed)] or list(found)[:self._most_cited]
        cited = self._cite_rows(lineage.stored, [*shown, *(record for records in of_rows for record in records)])
        return result.model_copy(update={
            "records": self._count_records(traced), "left_out": tuple(self._count_left_out(lineage.gaps)),
            "citations": tuple({cited[record].id: cited[record] for record in shown}.values()),
            "row_citations": tuple(cited[records[0]].id if records else None for records in listed),
            "row_records": tuple(tuple({cited[record].id: cited[record] for record in records}.values())
                                 for records in of_rows[:_ROWS_CITED])})

    def _read(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(text, values).fetchall()

    def _count_records(self, traced: exp.Query) -> int:
        """Return how many rows a traced query finds, of the table with most; those that a limit hides count, too."""
        for clause in ("order", "limit", "offset"):
            traced.set(clause, None)
        rows = f'SELECT DISTINCT unnest("{_ROWS}") AS id FROM ({full_text(traced, self._tables)})'  # noqa: S608
        by_table = f"SELECT count(*) AS size FROM ({rows}) GROUP BY id // {_TABLE_STEP}"  # noqa: S608
        ((largest,),) = self._read(f"SELECT coalesce(max(size), 0) FROM ({by_table})")  # noqa: S608
        return int(largest)

    def _count_left_out(self, gaps: Iterable[tuple[ColumnInfo, exp.Select]]) -> Iterator[LeftOut]:
        """Yield how many rows have no value in an aggregated column, of columns where some have none."""
        for column, query in gaps:
            ((empty, untyped),) = self._read(
                "SELECT count(DISTINCT _id) FILTER (WHERE _text IS NULL), "  # noqa: S608
                "count(DISTINCT _id) FILTER (WHERE _text IS NOT NULL) "
                f"FROM ({full_text(query, self._tables)}) WHERE _value IS NULL")
            if empty or untyped:
                yield LeftOut(column=column.name, empty=empty, untyped=untyped)

    def _cite_rows(self, stored: Sequence[tuple[str, str]], rows: Sequence[int]) -> dict[int, Citation]:
        """Return the citation of each row, given by its number; rows at one place share it."""
        places: dict[int, Place] = {}
        for table in {row // _TABLE_STEP for row in rows}:
            database, name = stored[table]
            wanted = [row % _TABLE_STEP for row in rows if row // _TABLE_STEP == table]
            for number, document, start, end in self._read(
                    f'SELECT rowid, {", ".join(HIDDEN)} FROM "{database}".main."{name}" '  # noqa: S608
                    "WHERE rowid IN (SELECT unnest(?))", wanted):
                # A stranger's backup may say anything of places.
                place = Place(joined_id(base_of(database), document), max(start, 0), max(end, 0))
                places[table * _TABLE_STEP + number] = place
        citations: dict[Place, Citation] = {}
        for number, place in enumerate(dict.fromkeys(places[row] for row in rows), 1):
            document, start, end = place
            text = self._text(document)
            end = end or len(text[:_LONGEST_HEAD].split("\n\n", 1)[0])  # 0: the place is the document as a whole
            citations[place] = Citation(id=number, document=document, start=start, end=end, quote=text[start:end],
                                        metadata=self._metadata(document), page=self._page(document, start))
        return {row: citations[places[row]] for row in rows}


def _find_records_of_rows(traced: Sequence[Sequence[Any]], rows: Sequence[Sequence[Any]], *, with_floats: bool,
                          ) -> list[Sequence[int]]:
    """Return the first records that each of some rows rests on, from rows that end with these; none if that is unsure.

    Sums may differ in their last digits, so computed rows are told apart by their other values.
    """
    def key_of(row: Iterable[Any]) -> bytes:
        values = map(to_json_value, row)
        return orjson.dumps([value for value in values if with_floats or not isinstance(value, float)])

    # By the values that they show: rows that an ORDER BY takes for equal may come in another order the next time.
    records = defaultdict[bytes, deque[Sequence[int]]](deque)
    for *values, found in traced:
        records[key_of(values)].append((found or ())[:MOST_PLACES])
    return [same.popleft() if (same := records.get(key_of(row))) else () for row in rows]
