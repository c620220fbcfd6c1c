"""Trace a statement: make of it queries for the rows that its result rests on, each known by DuckDB's rowid.

The queries have the statement's FROM and WHERE. Subqueries that only select are followed; those that group are traced
on their own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple, TypeAlias

from sqlglot import exp

from ...schemas.records import ColumnInfo, TableInfo
from .checking import stored_table, table_source

_CLAUSES_OF_GROUPS = ("group", "having", "qualify", "order", "limit", "offset", "distinct", "windows")
_EXTREMES = (exp.Max, exp.Min, exp.ArgMax, exp.ArgMin)
Table: TypeAlias = tuple[str, str]
"""The database of a table and its name there."""


class Untraceable(Exception):
    """A statement's rows cannot be told; the message says why."""


class RowIds(NamedTuple):
    """A column of a query that has the numbers of a table's rows (DuckDB's rowid)."""

    column: str
    table: Table


class UsedColumn(NamedTuple):
    """A column whose values are aggregated: where a row has none, it is not in the result."""

    info: ColumnInfo
    alias: str
    """The name by which the query has the column's table."""
    id_column: str
    """The column with the ids of the table's rows there."""


@dataclass
class TracedQuery:
    """A query for the rows on which a part of a statement rests."""

    query: exp.Select
    ids: list[RowIds]
    is_joined: bool = False
    """True if a row can come several times."""
    used: list[UsedColumn] = field(default_factory=list)


class _Source(NamedTuple):
    """A table that a query reads, and the column with the numbers of its rows."""

    info: TableInfo
    id_column: str


class _Derived(NamedTuple):
    """A common table expression, with those that it can see."""

    query: exp.Query
    visible: "Mapping[str, _Derived]"


def trace_statement(query: exp.Query, tables: Mapping[str, TableInfo]) -> list[TracedQuery]:
    """Return queries for the rows that a statement's result rests on, without full names, or raise Untraceable."""
    with_clause = query.args.get("with_")
    if with_clause is not None and with_clause.args.get("recursive"):
        raise Untraceable("it is recursive")
    traced = list(_Tracer(tables).trace_parts(query, {}))
    for part in traced:
        if with_clause is not None and part.query.args.get("with_") is None:
            part.query.set("with_", with_clause.copy())
    return traced


class _Tracer:
    """Traces the parts of one statement. Each column of row numbers gets a name of its own: `_row1`, `_row2`."""

    def __init__(self, tables: Mapping[str, TableInfo]) -> None:
        self._tables = tables
        self._names = map("_row{}".format, count(1))

    def trace_parts(self, query: exp.Expr, visible: Mapping[str, _Derived]) -> Iterator[TracedQuery]:
        """Yield a query for each part of a statement that is traced on its own."""
        query = query.unnest()
        if isinstance(query, exp.Union):
            inner = _see_own_ctes(query, visible)
            yield from self.trace_parts(query.left, inner)
            yield from self.trace_parts(query.right, inner)
        elif isinstance(query, exp.Select):
            own, others = self._trace_select(query, visible)
            if own.ids:
                yield own
            yield from others
        else:
            raise Untraceable("it combines sets of rows")

    def _trace_select(self, select: exp.Select, visible: Mapping[str, _Derived],
                      ) -> tuple[TracedQuery, list[TracedQuery]]:
        """Return the query for the rows of a select, and those for the parts of it that group."""
        visible = _see_own_ctes(select, visible)
        traced, others = TracedQuery(select.copy(), []), list[TracedQuery]()
        sources = dict[str, _Source]()
        joins = traced.query.args.get("joins") or ()
        nodes = [part.this for part in (traced.query.args.get("from_"), *joins) if part is not None]
        for node in nodes:
            if isinstance(node, exp.Subquery):
                if not isinstance(node.unnest(), exp.Query):
                    raise Untraceable("it has joins in brackets")
                self._trace_subquery(node, _Derived(node, visible), traced, others)
            elif isinstance(node, exp.Table) and not node.args.get("db") and node.name.lower() in visible:
                self._trace_subquery(node, visible[node.name.lower()], traced, others)
            elif isinstance(node, exp.Table) and node.name.lower() in self._tables:
                alias = node.alias or node.name
                sources[alias.lower()] = self._trace_table(node, alias, traced)
        traced.is_joined |= len(nodes) > 1
        if not nodes:  # SELECT (SELECT count(*) FROM a) + 1
            for inner in traced.query.find_all(exp.Subquery):
                if inner.find_ancestor(exp.Select, exp.Subquery) is traced.query:
                    others += self.trace_parts(inner, visible)
        traced.used = list(_find_aggregated(select, sources))
        if is_grouped(select):
            _ungroup(traced)
        return traced, others

    def _trace_table(self, node: exp.Table, alias: str, traced: TracedQuery) -> _Source:
        """Select a table's row numbers in a traced query, too."""
        info = self._tables[node.name.lower()]
        ids = RowIds(next(self._names), stored_table(info))
        rowid = exp.alias_(exp.column("rowid", quoted=True), ids.column, quoted=True)
        _put_in_place(node, table_source(info, rowid), alias)
        self._select_ids(alias, ids, traced)
        return _Source(info, ids.column)

    def _trace_subquery(self, node: exp.Expr, derived: _Derived, traced: TracedQuery, others: list[TracedQuery],
                        ) -> None:
        """Trace a subquery or common table expression: with its rows if it only selects, else on its own."""
        inner = derived.query.unnest()
        if not isinstance(inner, exp.Select) or is_grouped(inner):
            others += self.trace_parts(derived.query, derived.visible)
            return
        own, further = self._trace_select(inner, derived.visible)
        others += further
        alias = node.alias or node.name or next(self._names)
        if own.ids:
            _put_in_place(node, own.query.subquery(), alias)
        traced.is_joined |= own.is_joined
        for ids in own.ids:
            self._select_ids(alias, ids, traced)

    def _select_ids(self, alias: str, ids: RowIds, traced: TracedQuery) -> None:
        """Select a source's row numbers under a new name, as * may select them under the old one."""
        renamed = RowIds(next(self._names), ids.table)
        column = exp.column(ids.column, alias, quoted=True)
        traced.query.append("expressions", exp.alias_(column, renamed.column, quoted=True))
        traced.ids.append(renamed)


def is_grouped(select: exp.Select) -> bool:
    """Return True if a select's rows are not those of its tables."""
    if any(select.args.get(clause) for clause in ("group", "having", "distinct")):
        return True
    return any(isinstance(node, exp.AggFunc) and node.find_ancestor(exp.Window, exp.Select) is select
               for projection in select.expressions for node in projection.find_all(exp.AggFunc))


def _see_own_ctes(query: exp.Query, visible: Mapping[str, _Derived]) -> Mapping[str, _Derived]:
    """Return the common table expressions that a query can see, with its own."""
    for cte in query.ctes:
        visible = {**visible, cte.alias.lower(): _Derived(cte.this, visible)}
    return visible


def _put_in_place(node: exp.Expr, source: exp.Expr, alias: str) -> None:
    named = node.args.get("alias")
    source.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True),
                                       columns=named.args.get("columns") if named else None))
    for part in ("joins", "laterals", "pivots"):
        if node.args.get(part):
            raise Untraceable("it turns rows into columns")
    node.replace(source)


def _ungroup(traced: TracedQuery) -> None:
    """Make of a query for groups the query for the rows of those groups that HAVING admits; only row numbers stay."""
    query = traced.query
    projections = query.expressions[:len(query.expressions) - len(traced.ids)]
    for clause in ("where", "group", "having"):
        _inline_aliases(query.args.get(clause), projections)
    condition, ordered = _make_group_condition(query, projections), _order_by_extreme(projections)
    for clause in _CLAUSES_OF_GROUPS:
        query.set(clause, None)
    query.set("expressions", query.expressions[len(projections):])
    if isinstance(condition, exp.Qualify):
        query.set("qualify", condition)
    elif condition is not None:
        query.where(condition, copy=False)
    if ordered is not None:
        query.order_by(ordered, copy=False)


def _make_group_condition(query: exp.Select, projections: list[exp.Expr]) -> exp.Expr | None:
    """Return HAVING as a condition on single rows; None without HAVING, or if the groups cannot be told.

    Without groups, an aggregate becomes a window over all rows of its group. Only QUALIFY may compare windows; a HAVING
    that aggregates nothing is a condition for WHERE.
    """
    having, keys = query.args.get("having"), _find_group_keys(query.args.get("group"), projections)
    if having is None or keys is None:
        return None
    condition = exp.Qualify(this=exp.Paren(this=having.this.copy()))
    # The aggregates of a subquery within HAVING have a SELECT above them, and are its own.
    aggregates = [call for call in condition.find_all(exp.AggFunc) if call.find_ancestor(exp.Select) is None]
    for aggregate in aggregates:
        # FILTER (WHERE ...) and WITHIN GROUP stand around the aggregate in the tree, and belong into the window.
        whole = aggregate.parent if isinstance(aggregate.parent, exp.Filter | exp.WithinGroup) else aggregate
        whole.replace(exp.Window(this=whole.copy(), partition_by=[key.copy() for key in keys]))
    return condition if aggregates else condition.this


def _find_group_keys(group: exp.Group | None, projections: list[exp.Expr]) -> list[exp.Expr] | None:
    """Return what rows are grouped by; None if they are grouped in several ways, or by a column of *."""
    if group is None:
        return []
    if group.args.get("all"):
        return [part.unalias() for part in projections if part.find(exp.AggFunc) is None]
    has_star = any(part.is_star for part in projections)
    keys = list[exp.Expr]()
    for key in group.expressions:
        if isinstance(key, exp.Rollup | exp.Cube | exp.GroupingSets) or (isinstance(key, exp.Literal) and has_star):
            return None
        keys.append(projections[int(key.name) - 1].unalias() if isinstance(key, exp.Literal) and not key.is_string
                    else key)
    return keys


def _order_by_extreme(projections: list[exp.Expr]) -> exp.Ordered | None:
    """Return an order that begins with the rows of the largest or smallest value, if that is what is asked for."""
    for projection in projections:
        found = projection.find(*_EXTREMES)
        if found is not None and found.find_ancestor(exp.Window, exp.Select) is not None:
            by = found.expression if isinstance(found, exp.ArgMax | exp.ArgMin) else found.this
            if by is not None and not isinstance(by, exp.Distinct):
                return exp.Ordered(this=by.copy(), desc=isinstance(found, exp.Max | exp.ArgMax), nulls_first=False)
    return None


def _inline_aliases(clause: exp.Expr | None, projections: list[exp.Expr]) -> None:
    """Put expressions in the place of their names in a clause, where DuckDB knows the names of selected expressions."""
    named = {part.alias.lower(): part.this for part in projections if isinstance(part, exp.Alias)}
    for column in list(clause.find_all(exp.Column)) if clause is not None else ():
        meant = named.get(column.name.lower())
        if not column.table and meant is not None and not (
                isinstance(meant, exp.Column) and meant.name.lower() == column.name.lower()):
            column.replace(exp.Paren(this=meant.copy()))


def _find_aggregated(select: exp.Select, sources: Mapping[str, _Source]) -> Iterator[UsedColumn]:
    """Yield each column whose values a query aggregates, with the table that it is of. Sources are by alias."""
    seen = set[tuple[str, str]]()
    columns = (column for projection in select.expressions for call in projection.find_all(exp.AggFunc)
               for column in call.find_all(exp.Column))
    for column in columns:
        name, table = column.name.lower(), column.table.lower()
        for alias, source in sources.items():
            info = next((info for info in source.info.columns if info.name == name), None)
            if info is not None and table in ("", alias):
                if (alias, name) not in seen:
                    seen.add((alias, name))
                    yield UsedColumn(info, alias, source.id_column)
                break
