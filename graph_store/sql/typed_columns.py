"""The columns of a logical table as typed columns of SQL."""

import datetime
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from heapq import nsmallest
from typing import Any, NamedTuple

import duckdb
import numpy as np
from numpy.typing import NDArray

from ...schemas.records import ColumnInfo, ColumnKind
from ...text.column_values import TypedColumn, type_columns
from .logical_tables import NameSpace, SourceColumn

MOST_FREQUENT, LONGEST_SHOWN = 8, 60
"""How many of a column's most frequent values are listed, and how many characters of each."""
_SQL_TYPES = {"list": "VARCHAR[]", "boolean": "BOOLEAN"}
_DIGITS = 15
"""Significant digits of a number: those that a float has for certain."""
_LARGEST_INTEGER = 2**53
"""Numbers up to this are exact as floats, in which they are read."""


class SqlColumn(NamedTuple):
    """A column as it is stored: its values, with None where it has none, and what `banyan tables` says of it."""

    sql_type: str
    values: NDArray[Any]
    info: ColumnInfo


def make_typed_columns(columns: Sequence[SourceColumn], names: NameSpace) -> Iterator[SqlColumn]:
    """Yield the columns of a table as they are typed, and the columns beside them.

    Numbers of several units are text, with NAME_number and NAME_unit. Cells that are not of the column's kind have
    their text in NAME_text.
    """
    all_typed = type_columns([column.cells for column in columns], [column.title for column in columns])
    for column, typed in zip(columns, all_typed, strict=True):
        yield from _type_column(column, typed, names)


def _type_column(column: SourceColumn, typed: TypedColumn, names: NameSpace) -> Iterator[SqlColumn]:
    texts = [cell if cell.strip() else None for cell in column.cells]
    if typed.units is not None:
        units = tuple(sorted({unit for unit in typed.units if unit}))
        yield make_column(column.name, column.title, "text", texts, empty=typed.empty, units=units)
        yield _make_typed_numbers(names.take(f"{column.name}_number", ""), column.title, typed)
        yield make_column(names.take(f"{column.name}_unit", ""), column.title, "text", typed.units, empty=typed.empty)
        return
    if typed.kind == "number":
        yield _make_typed_numbers(column.name, column.title, typed)
    else:
        yield make_column(column.name, column.title, typed.kind, typed.values, empty=typed.empty, untyped=typed.untyped,
                      note=typed.note)
    if typed.untyped:
        yield make_column(names.take(f"{column.name}_text", ""), column.title, "text", texts, empty=typed.empty)


def make_text_column(name: str, title: str, texts: Sequence[str | None]) -> SqlColumn:
    """Return a column of texts that are taken as they are."""
    return make_column(name, title, "text", texts, empty=sum(not text for text in texts))


def make_number_column(name: str, title: str, numbers: Sequence[float | None], *, integers: bool = False) -> SqlColumn:
    """Return a column of numbers that are taken as they are."""
    typed = TypedColumn("number", list(numbers), empty=sum(number is None for number in numbers), integers=integers)
    return _make_typed_numbers(name, title, typed)


def _make_typed_numbers(name: str, title: str, typed: TypedColumn) -> SqlColumn:
    """Return a column of numbers; BIGINT if all are integers, otherwise DOUBLE."""
    values = np.array([np.nan if value is None else value for value in typed.values], np.float64)
    missing = np.isnan(values)
    numbers = np.ma.masked_array(values, missing)
    is_integer = typed.integers and bool((np.abs(values[~missing]) <= _LARGEST_INTEGER).all())
    if is_integer:
        numbers = np.ma.masked_array(np.where(missing, 0, values).astype(np.int64), missing)
    shown = [int(value) if is_integer else value for value in values[~missing].tolist()]
    info = _describe_values(name, title, "number", shown, [show_value(value) for value in shown])
    return SqlColumn("BIGINT" if is_integer else "DOUBLE", numbers, info.model_copy(update={
        "unit": typed.unit, "empty": typed.empty, "untyped": typed.untyped, "note": typed.note}))


def make_column(name: str, title: str, kind: ColumnKind, values: Sequence[Any], *, empty: int = 0, untyped: int = 0,
                units: tuple[str, ...] = (), note: str = "") -> SqlColumn:
    """Return a column of values that are typed already; None stands for no value."""
    filled = [value for value in values if value is not None]
    sql_type = _SQL_TYPES.get(kind, "VARCHAR")
    if kind == "date":
        has_times = any(_to_comparable(value).time() != datetime.time() for value in filled)
        sql_type = "TIMESTAMP" if has_times else "DATE"
    items = [item for value in filled for item in value] if kind == "list" else filled
    shown = [str(item) for item in items]
    if kind == "date":
        moments = [_to_comparable(item) for item in items]
        shown = [str(moment if sql_type == "TIMESTAMP" else moment.date()) for moment in moments]
        array = np.array([np.datetime64("NaT", "us") if value is None else np.datetime64(_to_comparable(value), "us")
                          for value in values], "datetime64[us]")
    else:
        array = np.empty(len(values), object)
        for row, value in enumerate(values):
            array[row] = list(value) if kind == "list" and value is not None else value
    info = _describe_values(name, title, kind, items, shown)
    return SqlColumn(sql_type, array, info.model_copy(update={
        "empty": empty, "untyped": untyped, "units": units, "note": note}))


def _describe_values(name: str, title: str, kind: ColumnKind, items: Sequence[Any], shown: Sequence[str]) -> ColumnInfo:
    """Return what is said of a column's values, or of the members of its lists."""
    counts = Counter(text[:LONGEST_SHOWN] for text in shown)
    most = nsmallest(MOST_FREQUENT, counts.items(), key=lambda item: (-item[1], item[0]))
    ends = ("", "")
    if kind in ("number", "date") and items:
        comparable = items if kind == "number" else list(map(_to_comparable, items))
        ends = (shown[comparable.index(min(comparable))], shown[comparable.index(max(comparable))])
    return ColumnInfo(name=name, title=title, kind=kind, distinct=len(set(shown)), smallest=ends[0], largest=ends[1],
                      frequent=tuple(most) if most and most[0][1] > 1 else ())


def _to_comparable(value: Any) -> Any:
    """Return a date as a time of that day, so that dates and times can be compared."""
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return datetime.datetime(value.year, value.month, value.day)  # noqa: DTZ001
    return value


def show_value(value: Any) -> str:
    """Return a value as text; numbers without the digits in which floats differ."""
    return f"{value:.{_DIGITS}g}" if isinstance(value, float) else str(value)


def to_json_value(value: Any) -> Any:
    """Return a value as JSON has it; numbers without the digits in which floats differ, None if they are not finite."""
    if isinstance(value, float | Decimal):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [to_json_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): to_json_value(item) for key, item in value.items()}
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def create_table(connection: duckdb.DuckDBPyConnection, table: str,
                 columns: Mapping[str, tuple[str, NDArray[Any]]]) -> None:
    """Create a table of arrays; the names are made by `NameSpace`, so they have no quotation marks."""
    connection.register("given", {f"c{number}": values for number, (_, values) in enumerate(columns.values())})
    selected = ", ".join(f'CAST(c{number} AS {sql_type}) AS "{name}"'
                         for number, (name, (sql_type, _)) in enumerate(columns.items()))
    connection.execute(f"CREATE TABLE {table} AS SELECT {selected} FROM given")  # noqa: S608
    connection.unregister("given")
