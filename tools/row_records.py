"""The records that one row of a query's result rests on, where those of the whole result do not name it."""

from collections.abc import Sequence
from typing import Any

import sqlglot
from sqlglot import exp

_OF_RESULT = ("group", "having", "qualify", "windows", "distinct", "order", "limit", "offset")
"""The clauses that make rows of a result of the records."""


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
    conditions = [condition for projection, value in zip(tree.expressions, values, strict=True)
                  if (condition := _condition(projection.unalias(), value)) is not None]
    if not conditions:
        return None
    for clause in _OF_RESULT:
        tree.set(clause, None)
    tree.set("expressions", [exp.Star()])
    return tree.where(*conditions).sql(dialect="duckdb")


def _condition(projection: exp.Expr, value: Any) -> exp.Expr | None:
    """Return the condition that a projection has a value; None if it is computed over records or not exact."""
    is_computed = projection.find(exp.AggFunc, exp.Window, exp.Query, exp.Star) is not None
    if is_computed or projection.find(exp.Column) is None or isinstance(value, float | list | dict):
        return None
    if value is None:
        return projection.copy().is_(exp.null())
    return projection.copy().eq(exp.convert(value))
