"""Repairing a query by the names and kinds of the tables, where a weak model got it wrong, without a further call."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import sqlglot
from rapidfuzz import fuzz, process
from sqlglot import exp

from ..graph_store.sql.checking import DIALECT, join_names
from ..graph_store.sql.sql_errors import SqlError
from ..schemas.naming import label_key
from ..schemas.records import ColumnInfo, TableInfo

_NEAR, _LEAD = 80, 8
"""The least likeness (0 to 100) of the name that a wrong one may mean, and how much less like it the next one is."""


class Repaired(NamedTuple):
    """A query that was put right, and what was changed, in words."""

    sql: str
    changes: tuple[str, ...]


class WantedValue(NamedTuple):
    """A text that a query compares a column of texts with: `column = 'text'`."""

    table: str
    column: str
    text: str


def repair_query(sql: str, tables: Sequence[TableInfo]) -> Repaired | None:
    """Return a query with its names put right; None if nothing can be put right without guessing.

    A table or column takes the name that differs in case, spaces and signs alone, or the only one of similar spelling.
    A name that is compared with a column and is like no column's becomes a text, and `=` on a column of lists becomes
    `list_contains`.
    """
    bare = sql.strip("`; \n\t").removeprefix("sql\n").strip()
    if (tree := _parse_query(bare)) is None:
        return None
    repair = _Repair({table.name.casefold(): table for table in tables})
    repair.apply(tree)
    if not repair.changes:
        return Repaired(bare, ("what stands around the query is left out",)) if bare != sql.strip() else None
    return Repaired(tree.sql(dialect=DIALECT), tuple(dict.fromkeys(repair.changes)))


def wanted_values(sql: str, tables: Sequence[TableInfo]) -> list[WantedValue]:
    """Return the texts that a query compares columns of texts with by `=`, `<>` or `IN`, each once."""
    tree = _parse_query(sql)
    return list(dict.fromkeys(value for value, _ in _compared_texts(tree, tables))) if tree else []


def replace_values(sql: str, tables: Sequence[TableInfo], meant: Mapping[WantedValue, str]) -> str:
    """Return a query that compares columns with other texts: for each of some, the one that is meant."""
    if (tree := _parse_query(sql)) is None:
        return sql
    for value, literal in list(_compared_texts(tree, tables)):
        if value in meant:
            literal.replace(exp.Literal.string(meant[value]))
    return tree.sql(dialect=DIALECT)


def tells_case(sql: str) -> bool:
    """Return True if a query compares texts with a pattern by `LIKE`, which tells capitals apart."""
    tree = _parse_query(sql)
    return tree is not None and tree.find(exp.Like) is not None


def _compared_texts(tree: exp.Expr, tables: Sequence[TableInfo]) -> Iterator[tuple[WantedValue, exp.Literal]]:
    """Yield the texts that a query compares columns of texts with, and where they stand in its tree."""
    repair = _Repair({table.name.casefold(): table for table in tables})
    repair.read_tables(tree)
    for comparison in tree.find_all(exp.EQ, exp.NEQ, exp.In):
        column = comparison.this
        literals = comparison.expressions if isinstance(comparison, exp.In) else [comparison.expression]
        found = repair.owner_of(column) if isinstance(column, exp.Column) else None
        if found is not None and found[1].kind == "text":
            for literal in literals:
                if isinstance(literal, exp.Literal) and literal.is_string:
                    yield WantedValue(found[0].name, found[1].name, literal.this), literal


def tables_of(sql: str, tables: Sequence[TableInfo]) -> list[TableInfo]:
    """Return the tables that a query reads, in its order."""
    tree = _parse_query(sql)
    known = {table.name.casefold(): table for table in tables}
    names = dict.fromkeys(one.name.casefold() for one in tree.find_all(exp.Table)) if tree else {}
    return [known[name] for name in names if name in known]


def _parse_query(sql: str) -> exp.Expr | None:
    """Return a query as a tree; None if it is not one statement that can be read."""
    try:
        tree: exp.Expr = sqlglot.parse_one(sql, dialect=DIALECT)
        join_names(tree)
    except (sqlglot.errors.SqlglotError, SqlError):
        return None
    return tree


@dataclass
class _Repair:
    """The changes to one query. `tables` are those that there are, by their folded name."""

    tables: Mapping[str, TableInfo]
    changes: list[str] = field(default_factory=list)
    _aliases: dict[str, TableInfo] = field(default_factory=dict)
    _made: set[str] = field(default_factory=set)
    """The names that the query makes itself: of CTEs, subqueries and results."""

    def apply(self, tree: exp.Expr) -> None:
        """Put the names of tables right, then those of columns, then comparisons with lists."""
        self._made = {one.alias.casefold() for one in tree.find_all(exp.CTE, exp.Subquery, exp.Alias) if one.alias}
        for table in tree.find_all(exp.Table):
            self._put_right(table, self.tables.values(), "table")
        self.read_tables(tree)
        for column in list(tree.find_all(exp.Column)):
            self._put_column_right(column)
        for comparison in list(tree.find_all(exp.EQ, exp.NEQ)):
            column, literal = comparison.this, comparison.expression
            found = self.owner_of(column) if isinstance(column, exp.Column) else None
            if found and found[1].kind == "list" and isinstance(literal, exp.Literal):
                contains: exp.Expr = exp.Anonymous(this="list_contains", expressions=[column.copy(), literal.copy()])
                comparison.replace(exp.not_(contains) if isinstance(comparison, exp.NEQ) else contains)
                self.changes.append(f"{found[1].name} is a list, so = reads list_contains")

    def read_tables(self, tree: exp.Expr) -> None:
        """Note which tables the query reads, by their aliases and names."""
        for table in tree.find_all(exp.Table):
            if info := self.tables.get(table.name.casefold()):
                self._aliases[table.alias_or_name.casefold()] = info

    def owner_of(self, column: exp.Column) -> tuple[TableInfo, ColumnInfo] | None:
        """Return the table and column that a column of the query is; None if it is none of theirs."""
        named = [self._aliases.get(column.table.casefold())] if column.table else [*self._aliases.values()]
        return next(((table, info) for table in named if table for info in table.columns
                     if info.name.casefold() == column.name.casefold()), None)

    def _put_column_right(self, column: exp.Column) -> None:
        """Give a column the name that exists, or make it a text if a column is compared with it."""
        if column.name.casefold() in self._made or self.owner_of(column) or isinstance(column.this, exp.Star):
            return
        qualifier = column.table.casefold()
        if qualifier and qualifier not in self._aliases:
            return
        named = [self._aliases[qualifier]] if qualifier else [*self._aliases.values()]
        if self._put_right(column, [info for table in named for info in table.columns], "column") or qualifier:
            return
        if isinstance(column.parent, exp.EQ | exp.NEQ | exp.Like | exp.ILike | exp.In) and column.arg_key != "this":
            self.changes.append(f"{column.name} read as the text '{column.name}'")
            column.replace(exp.Literal.string(column.name))

    def _put_right(self, node: exp.Table | exp.Column, known: Iterable[TableInfo | ColumnInfo], kind: str) -> bool:
        """Give a table or column the name of a known one that it means; return False if it means none."""
        names = [one.name for one in known]
        name = node.name
        if name.casefold() in {*map(str.casefold, names), *self._made}:
            return True
        if meant := _nearest_known(name, names):
            if isinstance(node, exp.Table) and not node.alias:  # columns may be called by the wrong name of their table
                node.set("alias", exp.TableAlias(this=node.this.copy()))
            node.set("this", exp.to_identifier(meant, quoted=True))
            self.changes.append(f"{kind} {name} read as {meant}")
        return bool(meant)


def _nearest_known(name: str, known: Sequence[str]) -> str:
    """Return the known name that a wrong one means; "" if none or several may be meant."""
    fold: Callable[[str], str] = lambda text: label_key(text).replace(" ", "").replace("_", "")  # noqa: E731
    # The tables of several knowledge bases are called BASE.TABLE, and a query may leave out the base.
    equal = {one for one in known if fold(name) in {fold(one), fold(one.rpartition(".")[2])}}
    if equal:
        return equal.pop() if len(equal) == 1 else ""
    near = process.extract(name, list(dict.fromkeys(known)), scorer=fuzz.ratio, processor=fold, limit=2)
    scores = [score for _, score, _ in near]
    is_clear = scores and scores[0] >= _NEAR and scores[0] - (scores[1:] or [0])[0] >= _LEAD
    return near[0][0] if is_clear else ""
