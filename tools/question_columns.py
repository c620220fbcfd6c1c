"""What the columns of a table hold for a question: by their kinds, labels, units and values."""

from collections.abc import Sequence
from typing import Literal

from ..models.rules.likeness import may_be
from ..schemas.records import ColumnInfo, ColumnKind, TableInfo
from .question_words import Mention, bare_name, convert, keys_of, label_variants, lexicon, unit_of

AskedKind = ColumnKind | Literal["year", "time", "author", "made", "quantity", "kind", "owner", "person", "consumed"]
"""What a question may ask of a column: what its cells are, or what its label says of them."""
_FIRST_YEAR, _LAST_YEAR = 1000, 2100  # as numbers of four digits are read, and a few plans ahead


class UnclearError(Exception):
    """A question does not say one thing in a table: any step of reading it may raise this, and there is no query."""


def only(columns: Sequence[ColumnInfo], what: object) -> ColumnInfo:
    """Return the only one of some columns; raise UnclearError about `what` if there are several or none."""
    if len(columns) != 1:
        raise UnclearError(what)
    return columns[0]


def fits(column: ColumnInfo, kind: AskedKind) -> bool:
    """Return True for a column of a kind: by its cells, by its label, or of persons also by its frequent values."""
    keys, labels = keys_of(column.title), lexicon().labels
    match kind:
        case "year":
            is_last = keys[-1:] in label_variants("year")
            is_first = keys[:1] in label_variants("year")  # "Year Built"
            return column.kind == "number" and (is_last or (is_first and _are_years(column)))
        case "time":
            return column.kind == "date" or fits(column, "year")
        case "author" | "made" | "quantity" | "kind" | "consumed":
            return keys in labels[kind]
        case "owner":
            return not labels["owner"].isdisjoint((key,) for key in keys)
        case "person":
            values = [bare_name(value) for value, _ in column.frequent]
            are_people = bool(values) and all(
                value[:1] == "@" or ("://" not in value and may_be("person", value)) for value in values)
            return keys in labels["owner"] | labels["person"] or are_people
        case _:
            return column.kind == kind


def _are_years(column: ColumnInfo) -> bool:
    """Return True for a column of numbers that may be years, unlike those of "Year To Date"."""
    return bool(column.smallest) and float(column.smallest) >= _FIRST_YEAR and float(column.largest) <= _LAST_YEAR


def has_own_counts(table: TableInfo) -> bool:
    """Return True for records that count themselves: by a column such as "cases", or if all is by date."""
    if table.kind == "documents":
        return False
    texts = [column for column in table.columns if column.kind != "number" and column.name != "document"]
    return (len(texts) == 1 and texts[0].kind == "date") or any(
        column.kind == "number" and fits(column, "quantity") for column in table.columns)


def column_unit(column: ColumnInfo) -> str:
    """Return the unit of a column, which may be the last word of its label: "Running Time min"."""
    return column.unit or unit_of(column.title.replace("_", " ").rpartition(" ")[2])


def columns_of_measure(table: TableInfo, name: str) -> list[ColumnInfo]:
    """Return the columns of numbers that hold a measure such as mass, by their labels or else by their units."""
    measure = lexicon().measures[name]
    labels = [f" {' '.join(keys_of(label))} " for label in measure["labels"].split(", ")]
    numbers = [column for column in table.columns if column.kind == "number"]
    # The words of a label as a run of whole words.
    named = [column for column in numbers if any(label in f" {' '.join(keys_of(column.title))} " for label in labels)]
    return named or [column for column in numbers if column.unit and column.unit in measure["units"]]


def columns_in_unit(table: TableInfo, unit: str) -> list[ColumnInfo]:
    """Return the columns of numbers that hold what a unit measures."""
    found = [column for name, measure in lexicon().measures.items() if unit in measure["units"]
             for column in columns_of_measure(table, name)]
    return list({column.name: column for column in found}.values())


def figure_in(column: ColumnInfo, number: Mention) -> str:
    """Return a number that a question says, in the unit of a column; raise UnclearError if it cannot be in that."""
    figure, _, unit = number.name.partition(" ")
    if keys_of(unit) and set(keys_of(unit)) <= set(keys_of(column.title)):
        unit = ""  # "more than 3 years" of years of service
    # In a column without a unit, two hours are not "2", but two of what is no measure's unit are.
    is_measured = any(unit in measure["units"] for measure in lexicon().measures.values())
    needs_no_unit = not column_unit(column) and not is_measured
    converted = float(figure) if needs_no_unit else convert(float(figure), unit, column_unit(column))
    if converted is None:
        raise UnclearError(number)
    return f"{converted:.10g}"


def written_column(table: TableInfo, column: ColumnInfo) -> str:
    """Return the column NAME_text with a column's cells as written if that lacks some or completes dates; else it."""
    name = f"{column.name}_text"
    is_partial = column.untyped or column.last
    return name if is_partial and any(other.name == name for other in table.columns) else column.name
