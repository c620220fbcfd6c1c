"""Repair the names of a query that a model got wrong, without a further call."""

from collections.abc import Iterable, Sequence

import sqlglot
from rapidfuzz import fuzz, process
from sqlglot import exp

from ..graph_store.sql.checking import DIALECT, SqlError, join_names
from ..schemas.naming import label_key
from ..schemas.records import ColumnInfo, TableInfo

_NEAR, _LEAD = 80, 8
"""The least likeness (0 to 100) of the name that a wrong one may mean, and how much less like it the next one is."""


def parse_query(sql: str) -> exp.Expr | None:
    """Return a query as a tree; None if it is not one statement that can be read."""
    try:
        tree: exp.Expr = sqlglot.parse_one(sql, dialect=DIALECT)
        join_names(tree)
    except (sqlglot.errors.SqlglotError, SqlError):
        return None
    return tree


def tables_read(tree: exp.Expr, tables: Iterable[TableInfo]) -> dict[str, TableInfo]:
    """Return the tables that a query reads, by the folded names by which it calls them."""
    known = {table.name.casefold(): table for table in tables}
    return {node.alias_or_name.casefold(): known[node.name.casefold()] for node in tree.find_all(exp.Table)
            if node.name.casefold() in known}


def column_of(column: exp.Column, read: dict[str, TableInfo]) -> tuple[TableInfo, ColumnInfo] | None:
    """Return the table and column that a column of a query is, by the tables that it reads; None if it is none."""
    owners = [read.get(column.table.casefold())] if column.table else [*read.values()]
    for table in filter(None, owners):
        for info in table.columns:
            if info.name.casefold() == column.name.casefold():
                return table, info
    return None


def repair_names(tree: exp.Expr, tables: Sequence[TableInfo]) -> list[str]:
    """Put the names in a query's tree right, and return what was changed, in words.

    A table or column takes the name that differs in case, spaces and signs alone, or the only one of similar spelling.
    A name that is compared with a column and is like no column's becomes a text, and `=` on a column of lists becomes
    `list_contains`.
    """
    aliases = {node.alias.casefold() for node in tree.find_all(exp.CTE, exp.Subquery, exp.Alias) if node.alias}
    changes = [_rename(table, tables, aliases) for table in tree.find_all(exp.Table)]
    read = tables_read(tree, tables)
    for column in list(tree.find_all(exp.Column)):
        is_known = column.name.casefold() in aliases or column_of(column, read) or isinstance(column.this, exp.Star)
        if is_known or (column.table and column.table.casefold() not in read):
            continue
        owners = [read[column.table.casefold()]] if column.table else [*read.values()]
        change = _rename(column, [info for table in owners for info in table.columns], aliases)
        is_compared_with = isinstance(column.parent, exp.Binary | exp.In) and column.arg_key != "this"  # on the right
        if not change and is_compared_with and not column.table:
            change = f"{column.name} read as the text '{column.name}'"
            column.replace(exp.Literal.string(column.name))
        changes.append(change)
    return [*dict.fromkeys(filter(None, changes)), *_compare_lists(tree, read)]


def _compare_lists(tree: exp.Expr, read: dict[str, TableInfo]) -> list[str]:
    """Write `list_contains` for `=` on a column of lists, and return what was changed."""
    changes = dict[str, None]()
    for comparison in list(tree.find_all(exp.EQ, exp.NEQ)):
        column, text = comparison.this, comparison.expression
        found = column_of(column, read) if isinstance(column, exp.Column) else None
        if found and found[1].kind == "list" and isinstance(text, exp.Literal):
            contains: exp.Expr = exp.Anonymous(this="list_contains", expressions=[column.copy(), text.copy()])
            comparison.replace(exp.not_(contains) if isinstance(comparison, exp.NEQ) else contains)
            changes[f"{found[1].name} is a list, so = reads list_contains"] = None
    return list(changes)


def _rename(node: exp.Table | exp.Column, known: Sequence[TableInfo | ColumnInfo], aliases: set[str]) -> str:
    """Give a table or column the name of the known one that it means, and say so; "" if nothing is changed."""
    names = list(dict.fromkeys(one.name for one in known))
    name = node.name
    if name.casefold() in {*map(str.casefold, names), *aliases} or not (meant := _nearest(name, names)):
        return ""
    if isinstance(node, exp.Table) and not node.alias:  # columns may be called by the wrong name of their table
        node.set("alias", exp.TableAlias(this=node.this.copy()))
    node.set("this", exp.to_identifier(meant, quoted=True))
    return f"{name} read as {meant}"


def _nearest(name: str, names: Sequence[str]) -> str:
    """Return the name that a wrong one means; "" if none or several may be meant."""
    # The tables of several knowledge bases are called BASE.TABLE, and a query may leave out the base.
    equal = [one for one in names if _folded(name) in {_folded(one), _folded(one.rpartition(".")[2])}]
    if equal:
        return equal[0] if len(equal) == 1 else ""
    nearest = process.extract(name, names, scorer=fuzz.ratio, processor=_folded, limit=2)
    (best, score, _), (_, next_score, _) = [*nearest, ("", 0.0, 0), ("", 0.0, 0)][:2]  # there may be fewer names
    return best if score >= _NEAR and score - next_score >= _LEAD else ""


def _folded(name: str) -> str:
    return label_key(name).replace(" ", "").replace("_", "")
