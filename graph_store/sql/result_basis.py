"""What is said of a result beside its values and records: units, and what is not certain."""

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from ...schemas.records import ColumnInfo, TableInfo
from .sql_errors import SqlError

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
