"""What the columns of a table are to a question, and how many fit."""

from collections.abc import Callable, Sequence

from ..models.rules.likeness import may_be
from ..schemas.records import ColumnInfo, ColumnKind, TableInfo
from .question_words import bare_name, keys_of, label_variants, lexicon

_LEAST_DISTINCT = 0.5
"""The share of different values from which a column of texts names rows."""
_NAMING = frozenset({("name",), ("titl",)})
"""The last stems of labels of columns that name rows."""
_FEW_EMPTY = 0.1
"""The share of rows up to which a column that lacks them says something of all."""


class UnclearError(Exception):
    """A question does not say one thing in a table: any step of reading it may raise this, and there is no query."""


def only(columns: Sequence[ColumnInfo], what: object) -> ColumnInfo:
    """Return the only one of some columns; raise UnclearError about `what` if there are several or none."""
    if len(columns) != 1:
        raise UnclearError(what)
    return columns[0]


def only_full(dates: Sequence[ColumnInfo], rows: int) -> ColumnInfo | None:
    """Return the only one of several columns of whole dates that nearly all rows have; None if there is none such."""
    full = [column for column in dates if column.empty <= _FEW_EMPTY * rows]
    return full[0] if len(dates) > len(full) == 1 and not any(column.last for column in dates) else None


def naming_texts(table: TableInfo) -> list[ColumnInfo]:
    """Return the first column of texts that names the rows of records, by its label or else by different values."""
    texts = [column for column in table.columns if column.kind == "text" and column.name != "document"]
    named = [column for column in texts if keys_of(column.title)[-1:] in _NAMING]
    if not (naming := named or [column for column in texts if column.distinct >= _LEAST_DISTINCT * table.rows]):
        raise UnclearError(table.name)
    return naming[:1]


def is_year(column: ColumnInfo) -> bool:
    """Return True for a column of numbers that are years by its label."""
    return is_number(column) and keys_of(column.title)[-1:] in {*label_variants("year")}


def years_of(table: TableInfo) -> list[ColumnInfo]:
    """Return the columns of a table that are years."""
    return list(filter(is_year, table.columns))


def is_of_persons(column: ColumnInfo) -> bool:
    """Return True for a column of persons, by its label or its values."""
    labels, values = lexicon().labels, [bare_name(value) for value, _ in column.frequent]
    is_labelled = keys_of(column.title) in labels["owner"] | labels["person"]
    return is_labelled or (bool(values) and all(
        value[:1] == "@" or ("://" not in value and may_be("person", value)) for value in values))


def has_own_counts(table: TableInfo) -> bool:
    """Return True for records that count themselves: by a column such as "cases", or if all is by date."""
    if table.kind == "documents":
        return False
    texts = [column for column in table.columns if column.kind != "number" and column.name != "document"]
    return (len(texts) == 1 and is_date(texts[0])) or any(
        is_number(column) and not column.unit and keys_of(column.title) in lexicon().labels["quantity"]
        for column in table.columns)


def columns_of_measure(table: TableInfo, name: str) -> list[ColumnInfo]:
    """Return the columns of numbers that hold a measure such as mass, by their labels or else by their units."""
    measure = lexicon().measures[name]
    labels = [keys_of(label) for label in measure["labels"].split(", ")]
    numbers = [column for column in table.columns if is_number(column)]
    named = [column for column in numbers if (keys := keys_of(column.title)) and any(
        keys[at:at + len(label)] == label for label in labels for at in range(len(keys)))]
    return named or [column for column in numbers if column.unit and column.unit in measure["units"]]


def columns_in_unit(table: TableInfo, unit: str) -> list[ColumnInfo]:
    """Return the columns of numbers that hold what a unit measures."""
    found = [column for name, measure in lexicon().measures.items() if unit in measure["units"]
             for column in columns_of_measure(table, name)]
    return list({column.name: column for column in found}.values())


def is_ordered(column: ColumnInfo) -> bool:
    """Return True for a column of numbers or dates."""
    return is_number(column) or is_date(column)


def tells_when(column: ColumnInfo) -> bool:
    """Return True for a column of dates or years."""
    return is_date(column) or is_year(column)


def _of_kind(kind: ColumnKind) -> Callable[[ColumnInfo], bool]:
    return lambda column: column.kind == kind


is_number, is_date, is_list, is_text = _of_kind("number"), _of_kind("date"), _of_kind("list"), _of_kind("text")
