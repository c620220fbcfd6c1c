"""What the columns of a table are to a question, and how many fit."""

from collections.abc import Callable, Sequence

from ..schemas.records import ColumnInfo, ColumnKind, TableInfo
from .question_words import keys_of, label_variants


class UnclearError(Exception):
    """A question does not say one thing in a table: any step of reading it may raise this, and there is no query."""


def only(columns: Sequence[ColumnInfo], what: object) -> ColumnInfo:
    """Return the only one of some columns; raise UnclearError about `what` if there are several or none."""
    if len(columns) != 1:
        raise UnclearError(what)
    return columns[0]


def is_year(column: ColumnInfo) -> bool:
    """Return True for a column of numbers that are years by its label."""
    return is_number(column) and keys_of(column.title)[-1:] in {*label_variants("year")}


def years_of(table: TableInfo) -> list[ColumnInfo]:
    """Return the columns of a table that are years."""
    return list(filter(is_year, table.columns))


def is_ordered(column: ColumnInfo) -> bool:
    """Return True for a column of numbers or dates."""
    return is_number(column) or is_date(column)


def tells_when(column: ColumnInfo) -> bool:
    """Return True for a column of dates or years."""
    return is_date(column) or is_year(column)


def _of_kind(kind: ColumnKind) -> Callable[[ColumnInfo], bool]:
    return lambda column: column.kind == kind


is_number, is_date, is_list, is_text = _of_kind("number"), _of_kind("date"), _of_kind("list"), _of_kind("text")
