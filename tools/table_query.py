"""Looking up what SQL computes over the tables: a query is run, repaired once if it has to be, and its result cited."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import sqlglot
from sqlglot import exp

from ..graph_store.sql.engine import SqlEngine
from ..graph_store.sql.sql_errors import SqlError
from ..schemas.documents import Citation
from ..schemas.inquiry import Block
from ..schemas.lookups import TableQuery
from ..schemas.naming import label_key
from ..schemas.records import SqlResult, TableInfo
from .query_results import result_block
from .sql_repair import (
    WantedValue,
    repair_query,
    replace_values,
    tables_of,
    tells_case,
    wanted_values,
)

_OF_RESULT = ("group", "having", "qualify", "windows", "distinct", "order", "limit", "offset")
"""The clauses that make rows of a result of the records."""
_MOST_CHECKED = 8
"""How many texts of a query are looked for in their columns."""
_MOST_TRACED = 20
"""How many rows of a result are looked up by queries of their own to cite their records."""
_MOST_NEAR = 5
"""How many values that there are a note names."""


def look_up_query(engine: SqlEngine, lookup: TableQuery, tokens: int) -> list[Block]:
    """Return the result of a query as a block of citable rows.

    A query that fails is run once more if its names can be put right (`sql_repair`), and so is one that compares a
    column with a text that it does not have. The note says what was changed. A query that still fails is no error: the
    note says why, with the names that there are.
    """
    tables = engine.tables()
    try:
        result, notes = _run_or_repair(engine, lookup.sql, tables)
    except SqlError as error:
        return [Block(title=" ".join(lookup.sql.split()), note=str(error))]
    try:
        result, found_notes = _with_known_values(engine, result, tables)
        notes += found_notes
    except SqlError as error:
        notes.append(f"its texts were not looked for in their columns: {error}")
    if result.records == 0 and tells_case(result.sql):
        notes.append("LIKE tells capitals apart, ILIKE does not")
    return [block_of(engine, result, tokens, notes)]


def _run_or_repair(engine: SqlEngine, sql: str, tables: Sequence[TableInfo]) -> tuple[SqlResult, list[str]]:
    """Return the result of a query, or of the repaired one with what was changed; raise SqlError if both fail."""
    try:
        return engine.run(sql), []
    except SqlError:
        repaired = repair_query(sql, tables)
        if repaired is None:
            raise
    try:
        return engine.run(repaired.sql), [*repaired.changes]
    except SqlError as error:
        raise SqlError("; ".join([*repaired.changes, str(error)])) from error


def block_of(engine: SqlEngine, result: SqlResult, tokens: int, notes: Sequence[str] = (), understood: str = "",
             ) -> Block:
    """Return a result as a block of citable rows, with the first record of its table cited if it rests on none.

    `understood` says in words how a question was read as this query.
    """
    plain = {column.name for table in engine.tables() for column in table.columns}
    return result_block(result, tokens, notes=notes, plain=plain,
                        find_records=partial(_records_of_row, engine, result), understood=understood)


def _records_of_row(engine: SqlEngine, result: SqlResult, number: int) -> tuple[Citation, ...]:
    """Return records of a row of a result, or the first that its query looked at: a count of none rests on them."""
    own = query_of_row(result.sql, result.rows[number]) if result.citations and number < _MOST_TRACED else None
    if own:
        with suppress(SqlError):  # then the row cites the first records of the result
            return engine.run(own, most_rows=1).citations
    if result.citations:
        return ()
    return tuple(citation for table in tables_of(result.sql, engine.tables())
                 for citation in engine.run(f'SELECT * FROM "{table.name}"', most_rows=1).citations[:1])  # noqa: S608


def _with_known_values(engine: SqlEngine, result: SqlResult, tables: Sequence[TableInfo],
                       ) -> tuple[SqlResult, list[str]]:
    """Return a query's result with its texts written as the documents have them, and notes on these."""
    # A count of no rows is easily taken for an answer, so a note says which values there are.
    meant, notes = dict[WantedValue, str](), list[str]()
    for wanted in list(wanted_values(result.sql, tables))[:_MOST_CHECKED]:
        text = wanted.text.replace("'", "''")
        found = engine.run(f'SELECT {wanted.column}, count(*) AS number FROM "{wanted.table}" '  # noqa: S608
                           f"WHERE contains(lower({wanted.column}), lower('{text}')) OR {wanted.column} = '{text}' "
                           f"GROUP BY {wanted.column} ORDER BY number DESC, {wanted.column}", most_rows=50)
        values = [str(row[0]) for row in found.rows]
        if wanted.text in values:
            continue
        equal = [value for value in values if label_key(value) == label_key(wanted.text)] or values
        if len(equal) == 1:
            meant[wanted] = equal[0]
            notes.append(f"{wanted.column} '{wanted.text}' read as '{equal[0]}'")
        else:
            known = list(values) or [value for table in tables if table.name == wanted.table for column in table.columns
                                     if column.name == wanted.column for value, _ in column.frequent]
            more = ", …" if len(known) > _MOST_NEAR else ""
            notes.append(f"no {wanted.column} is '{wanted.text}'; there are: {', '.join(known[:_MOST_NEAR])}{more}")
    return (engine.run(replace_values(result.sql, tables, meant)) if meant else result), notes


def query_of_row(sql: str, values: Sequence[Any]) -> str | None:
    """Return the query for the records of the row of a result that has some values, one for each of its columns.

    None if the row cannot be told from others: if all of its values are computed over several records.
    """
    try:
        tree = sqlglot.parse_one(sql, dialect="duckdb")
    except sqlglot.errors.SqlglotError:
        return None
    if not isinstance(tree, exp.Select) or len(tree.expressions) != len(values) or tree.args.get("from_") is None:
        return None
    conditions = list[exp.Expr]()
    for part, value in zip((projection.unalias() for projection in tree.expressions), values, strict=True):
        is_computed = part.find(exp.AggFunc, exp.Window, exp.Query, exp.Star) is not None
        if not (is_computed or part.find(exp.Column) is None or isinstance(value, float | list | dict)):
            conditions.append(part.copy().is_(exp.null()) if value is None else part.copy().eq(exp.convert(value)))
    if not conditions:
        return None
    for clause in _OF_RESULT:
        tree.set(clause, None)
    tree.set("expressions", [exp.Star()])
    return tree.where(*conditions).sql(dialect="duckdb")
