"""What the columns of a table hold for a question: by their kinds, labels, units and values."""

from collections.abc import Callable, Sequence

from ..models.rules.likeness import may_be
from ..schemas.records import ColumnInfo, ColumnKind, TableInfo
from .question_words import Mention, bare_name, convert, keys_of, label_variants, lexicon, unit_of


class UnclearError(Exception):
    """A question does not say one thing in a table: any step of reading it may raise this, and there is no query."""


def only(columns: Sequence[ColumnInfo], what: object) -> ColumnInfo:
    """Return the only one of some columns; raise UnclearError about `what` if there are several or none."""
    if len(columns) != 1:
        raise UnclearError(what)
    return columns[0]


def _of_kind(kind: ColumnKind) -> Callable[[ColumnInfo], bool]:
    return lambda column: column.kind == kind


is_number, is_date, is_list = _of_kind("number"), _of_kind("date"), _of_kind("list")
is_text, is_truth = _of_kind("text"), _of_kind("boolean")


def is_labelled(column: ColumnInfo, kind: str) -> bool:
    """Return True for a column of which the label says a kind of thing, such as an author."""
    return keys_of(column.title) in lexicon().labels[kind]


def is_author(column: ColumnInfo) -> bool:
    """Return True for a column of authors, by its label."""
    return is_labelled(column, "author")


def is_year(column: ColumnInfo) -> bool:
    """Return True for a column of numbers that are years by its label."""
    return is_number(column) and keys_of(column.title)[-1:] in {*label_variants("year")}


def tells_when(column: ColumnInfo) -> bool:
    """Return True for a column of dates or years."""
    return is_date(column) or is_year(column)


def says_owner(column: ColumnInfo) -> bool:
    """Return True for a column of which the label has a word for makers or owners, such as publishers."""
    return not lexicon().labels["owner"].isdisjoint((key,) for key in keys_of(column.title))


def is_of_persons(column: ColumnInfo) -> bool:
    """Return True for a column of persons, by its label or its values."""
    values = [bare_name(value) for value, _ in column.frequent]
    return is_labelled(column, "owner") or is_labelled(column, "person") or (bool(values) and all(
        value[:1] == "@" or ("://" not in value and may_be("person", value)) for value in values))


def has_own_counts(table: TableInfo) -> bool:
    """Return True for records that count themselves: by a column such as "cases", or if all is by date."""
    if table.kind == "documents":
        return False
    texts = [column for column in table.columns if column.kind != "number" and column.name != "document"]
    return (len(texts) == 1 and is_date(texts[0])) or any(
        is_number(column) and is_labelled(column, "quantity") for column in table.columns)


def unit_of_column(column: ColumnInfo) -> str:
    """Return the unit of a column, which may be the last word of its label: "Running Time min"."""
    return column.unit or unit_of(column.title.replace("_", " ").rpartition(" ")[2])


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


def figure_in(column: ColumnInfo, number: Mention) -> str:
    """Return a number that a question says in the unit of a column."""
    figure, _, unit = number.name.partition(" ")
    if keys_of(unit) and set(keys_of(unit)) <= set(keys_of(column.title)):
        unit = ""  # "more than 3 years" of years of service
    # A number without a unit is of none that has others: two hours are not "2" in a column of durations.
    is_bare = not unit_of_column(column) and all(unit not in units for units in lexicon().units.values())
    converted = float(figure) if is_bare else convert(float(figure), unit, unit_of_column(column))
    if converted is None:
        raise UnclearError(number)
    return f"{converted:.10g}"


def written_column(table: TableInfo, column: ColumnInfo) -> str:
    """Return the column with the cells of one as written, where it lacks some or has only their days."""
    name = f"{column.name}_text"
    is_partial = column.untyped or column.last
    return name if is_partial and any(other.name == name for other in table.columns) else column.name
