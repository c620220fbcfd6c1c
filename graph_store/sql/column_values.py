"""Values of a table's columns: decide what the cells of a column are, and read them.

A column has one kind: number, date, boolean, list or text. It is decided from all cells, so that "1.250" means the same
in each of them. Cells that are not of the kind have no value; they are counted, and keep their text elsewhere.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, TypeVar

from ...schemas.naming import label_key
from ...schemas.records import ColumnKind
from ...text.date_cells import Precision, are_dates_in_figures, date_column, read_date_or_year
from ...text.lexicon import WORDS, read_json, read_patterns, word_set
from ...text.number_cells import DecimalMark, canonical_unit_of, is_currency, number_column, read_number, split_unit

Value = float | date | datetime | bool | list[str] | str | None
_Read = TypeVar("_Read")

_DASHES = frozenset({"", "-", "–", "—", "−", "--", "---", "‐", "‑", "――"})
_NOTHING = WORDS["cells without a value"]  # only in a column of numbers, dates or truth values: in one of texts, a name
_MAY_DIFFER = 0.1
"""The share of cells that may differ from a column's kind. A remark in one of ten cells says nothing about the other
nine; with more, sums would leave out too much of the column to be called its sum."""
_SHORT_COLUMN = 5  # in a column of this many cells, one may differ, although it is more than one of ten
_SEPARATORS = ("\n", ";", "；", "|", "、", ",", "，")  # commas last: items of the others may have commas in them
_FORMS = {name: re.compile(form) for name, form in read_patterns("cells.toml")["columns"].items()}
_LONGEST_ITEM = 80  # characters
_MOST_WORDS, _MOST_WORDS_AT_COMMAS = 10, 5  # of an item; sentences have commas, too, and between them more words
_NEARLY_ALL = 0.9  # the share of a column's items that must look like items
_MANY_LENGTHS = 2  # places have few lengths, too, but their parts are single words
_ENOUGH = 0.05  # the share of cells that must have a separator, unless all items stand alone; else it is part of words
_MOST_ALONE = 0.5  # the share of parts that must stand alone if few cells have a separator that names hardly have
_MIXING = 0.3  # the share of first items that are also later ones or alone, and of later ones that are first or alone
_OF_WORDS, _RECURRING = 0.8, 0.1  # in lists of names: the shares of names of several words, and of repetitions
_TRUTHS = [(word_set(true), word_set(false)) for true, false in read_json("truth_values.json")]
_LETTERS = frozenset("ynx")  # a column of one of these alone may have any code
_LEAST_TICKED = 0.05  # the share of cells with a tick; fewer are a field that is that of few documents: "winner: X"
_MOST_SPELLINGS = 12  # the most ways in which a column writes two truth values ("Yes", "YES ", "yes")
_TICKS = frozenset({"x", "✓", "✔", "✔️", "☑", "✅", "•", "●"})  # they say yes in a column of empty cells


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """What the cells of a column are."""

    kind: ColumnKind
    values: list[Value]  # the value of each cell; None where it is empty or not of the kind
    unit: str = ""  # the unit or currency of all numbers, "" if they have none or several
    units: list[str | None] | None = None  # the unit of each number if they have several
    empty: int = 0
    untyped: int = 0
    integers: bool = False  # True if all numbers are whole
    precision: Precision = ""  # how exact dates are: dates of months are the months' first days
    note: str = ""  # what was decided without proof, time zones, months; "" if nothing
    decimal: DecimalMark = ""  # the decimal mark that the cells show; "" if they show none
    day_first: bool | None = None  # whether the cells show that the day is before the month; None: they show neither
    is_ambiguous: bool = False  # True if other columns of the table may decide what the cells mean
    lasts: list[Value] = field(default_factory=list)
    """If some dates say a month or a year alone: the last day that each cell may mean, its value being the first."""


def type_columns(columns: Sequence[Sequence[str]], headers: Sequence[str]) -> list[TypedColumn]:
    """Return what the columns of a table are; others decide ambiguous ones: "1.120" is a thousand beside "12,5"."""
    typed = [type_column(cells, header) for cells, header in zip(columns, headers, strict=True)]
    shown_marks: set[DecimalMark] = {column.decimal for column in typed if column.decimal}
    shown_orders = {column.day_first for column in typed if column.day_first is not None}
    # Columns that contradict each other decide nothing.
    decimal: DecimalMark = shown_marks.pop() if len(shown_marks) == 1 else ""
    day_first = shown_orders.pop() if len(shown_orders) == 1 else None
    return [type_column(cells, header, decimal, day_first) if column.is_ambiguous else column
            for cells, header, column in zip(columns, headers, typed, strict=True)]


def type_column(cells: Sequence[str], header: str = "", decimal: DecimalMark = "",
                day_first: bool | None = None) -> TypedColumn:
    """Return what the cells of a column are, and their values.

    The header may state the unit. `decimal` and `day_first` are the decimal mark of the rest of the table, and whether
    it has the day before the month, for a column that does not show them; "" and None if these do not show it either.
    """
    written = {cell: number for cell, number in Counter(cells).items() if cell.strip() not in _DASHES}
    stated = {cell: number for cell, number in written.items() if cell.strip().lower() not in _NOTHING}
    empty, without_value = len(cells) - sum(written.values()), len(cells) - sum(stated.values())
    # "No" says that there is no value in a column of numbers, but is one beside "Yes"; so all words are tried first.
    typed = (_truth_column(cells, written, empty) or _truth_column(cells, stated, without_value)
             or _number_column(cells, stated, header, decimal) or _date_column(cells, stated, day_first))
    if typed is not None:
        return typed
    if written and (lists := _read_lists(written, is_plural=_FORMS["plural"].search(header) is not None)) is not None:
        if not WORDS["fields of people"].isdisjoint(label_key(header).split()):
            lists = _without_notes(lists)
        return TypedColumn("list", [lists.get(cell) for cell in cells], empty=empty)
    return TypedColumn("text", [cell if cell in written else None for cell in cells], empty=empty)


def _truth_column(cells: Sequence[str], stated: Mapping[str, int], empty: int) -> TypedColumn | None:
    """Return the truth values of a column, or None if it has any other cells."""
    if not 0 < len(stated) <= _MOST_SPELLINGS:
        return None
    folded = {cell: cell.strip().lower() for cell in stated}
    values = set(folded.values())
    # Marks that say yes, where all other cells are empty and say no; a dash may say no, or that nobody knows.
    are_ticks = values <= _TICKS and empty and sum(stated.values()) >= _LEAST_TICKED * len(cells)
    if are_ticks and all(cell in stated or not cell.strip() for cell in cells):
        return TypedColumn("boolean", [cell in stated for cell in cells])
    may_be_codes = values <= _LETTERS and values != {"y", "n"}
    for true, false in _TRUTHS:
        if values <= true | false and not may_be_codes:
            return TypedColumn("boolean", [folded[cell] in true if cell in stated else None for cell in cells],
                               empty=empty)
    return None


def _number_column(cells: Sequence[str], stated: Mapping[str, int], header: str,
                   decimal: DecimalMark) -> TypedColumn | None:
    """Return the numbers of a column with their units; None if they are few, codes, dates in figures or lists."""
    if _FORMS["codes"].search(label_key(header)) or are_dates_in_figures(stated):
        return None
    read = number_column(_read_most(stated, read_number), stated, decimal)
    if not read.values or any(cell not in read.values and _FORMS["number_list"].fullmatch(cell) for cell in stated):
        return None
    # The unit of a cell is its own, or that of the header, or that of the others where they say it once: in accounts
    # only some cells have the currency, and 0 has no unit to state.
    cell_units = set(read.units.values()) - {""}
    header_unit = canonical_unit_of(split_unit(header)[1])
    common_unit = cell_units.pop() if len(cell_units) == 1 else ""
    units = {cell: unit or header_unit or (common_unit if is_currency(common_unit) or read.values[cell] == 0 else "")
             for cell, unit in read.units.items()}
    distinct = set(units.values())
    has_one_unit = len(distinct) == 1
    return _column_of_kind(
        "number", cells, stated, read.values, unit=distinct.pop() if has_one_unit else "", decimal=read.decimal,
        units=None if has_one_unit else [units.get(cell) for cell in cells], note=read.note,
        integers=all(value.is_integer() for value in read.values.values()), is_ambiguous=read.is_ambiguous)


def _date_column(cells: Sequence[str], stated: Mapping[str, int], day_first: bool | None) -> TypedColumn | None:
    """Return the dates of a column, or None if it has few."""
    read = date_column(_read_most(stated, read_date_or_year), stated, day_first)
    return _column_of_kind("date", cells, stated, read.values, precision=read.precision, note=read.note,
                           day_first=read.day_first, is_ambiguous=read.is_ambiguous,
                           lasts=[read.lasts.get(cell) for cell in cells] if read.lasts else [])


def _column_of_kind(kind: ColumnKind, cells: Sequence[str], stated: Mapping[str, int], values: Mapping[str, Value],
                    **rest: Any) -> TypedColumn | None:
    """Return a column of a kind, or None if too few cells have a value; `rest` are further fields of `TypedColumn`."""
    total, typed = sum(stated.values()), sum(stated[cell] for cell in values)
    if not typed or total - typed > _most_that_differ(total):
        return None
    return TypedColumn(kind, [values.get(cell) for cell in cells], empty=len(cells) - total, untyped=total - typed,
                       **rest)


def _read_most(cells: Mapping[str, int], read: Callable[[str], _Read | None]) -> dict[str, _Read]:
    """Read the distinct cells of a column, each with how often it occurs; none if `read` gives None for too many."""
    may_differ, differ = _most_that_differ(sum(cells.values())), 0
    results: dict[str, _Read] = {}
    for cell, number in cells.items():
        result = read(cell)
        if result is not None:
            results[cell] = result
        elif (differ := differ + number) > may_differ:
            return {}
    return results


def _most_that_differ(cells: int) -> int:
    """Return how many cells of a column, of all that are not empty, may be of another kind than the column."""
    return max(int(cells * _MAY_DIFFER), 1 if cells >= _SHORT_COLUMN else 0)


def _read_lists(cells: Mapping[str, int], *, is_plural: bool = False) -> dict[str, list[str]] | None:
    """Return the items of each cell, or None if they are no lists; `is_plural`: their header is, such as "Tags"."""
    for separator in _SEPARATORS:
        is_comma = separator in {",", "，"}
        split = {cell: items for cell in cells if len(items := _split_cell(cell, separator)) > 1}
        if not split or not _are_lists(split, cells, is_comma=is_comma, is_plural=is_plural):
            continue
        lists = {cell: split.get(cell) or [_clean_item(cell)] for cell in cells}
        if not is_comma:  # the items may be lists with commas: some cells repeat a field, others have commas in it
            count_of_item = Counter[str]()
            for cell, items in lists.items():
                count_of_item.update(dict.fromkeys(items, cells[cell]))
            parts_of_item = _read_lists(count_of_item) or {}
            lists = {cell: [part for item in items for part in parts_of_item.get(item, [item])]
                     for cell, items in lists.items()}
        return _with_last_items(lists)
    return None


def _are_lists(split: Mapping[str, Sequence[str]], cells: Mapping[str, int], *, is_comma: bool,
               is_plural: bool) -> bool:
    """Return True if the parts of the cells that have a separator are items of lists: short, and no sentences."""
    parts = [part for items in split.values() for part in items]
    are_many = sum(map(cells.__getitem__, split)) >= _ENOUGH * sum(cells.values())
    alone = sum(part in cells for part in parts)  # "Law, Tax" is a list beside "Law" and "Tax"
    if not are_many and alone < (1 if is_comma else _MOST_ALONE) * len(parts):
        return False
    most_words = _MOST_WORDS_AT_COMMAS if is_comma else _MOST_WORDS
    like_items = sum(len(part) <= _LONGEST_ITEM and len(part.split()) <= most_words
                     and not _FORMS["sentence"].search(part) for part in parts)
    return like_items >= _NEARLY_ALL * len(parts) and (
        not is_comma or _are_alike(split, parts, cells, is_plural=is_plural))


def _split_cell(cell: str, separator: str) -> list[str]:
    """Return the items of a cell; a separator within brackets or quotes separates nothing."""
    if separator not in cell:
        return [cell]
    if separator != "\n":  # a line ends also within a bracket that is left open
        cell = _FORMS["bracketed"].sub(lambda group: group[0].replace(separator, "\0"), cell)
    return [item for part in cell.split(separator) if (item := _clean_item(part.replace("\0", separator)))]


def _clean_item(part: str) -> str:
    """Return an item without its bullet, and without the brackets of a link whose address stands elsewhere."""
    item = _FORMS["bullet"].sub("", " ".join(part.split()))
    return item[1:-1] if item[:1] == "[" and item.find("]") == len(item) - 1 else item


def _are_alike(split: Mapping[str, Sequence[str]], parts: Sequence[str], cells: Iterable[str], *,
               is_plural: bool) -> bool:
    """Return True if what commas separate are things of one kind, and not the parts of one name or place.

    `split` has the items of each cell that has several, `parts` all of these items, and `cells` all cells.
    """
    # Handles and mail addresses have no commas of their own.
    if sum(_FORMS["address"].search(item) is not None for item in parts) >= _NEARLY_ALL * len(parts):
        return True
    if all(_FORMS["figures"].fullmatch(item) for item in parts):
        return not all(map(read_number, split))  # "1,234" is one number
    # The same items are first, later and alone: "Berlin, Germany" has cities before countries.
    plain = {item: _clean_item(_FORMS["bracketed"].sub("", item)) for item in (*cells, *parts)}
    alone = [plain[cell] for cell in cells if cell not in split]
    firsts = [plain[items[0]] for items in split.values()]
    laters = [plain[item] for items in split.values() for item in items[1:]]
    are_firsts_mixed = sum(item in {*laters, *alone} for item in firsts) >= _MIXING * len(firsts)
    are_laters_mixed = sum(item in {*firsts, *alone} for item in laters) >= _MIXING * len(laters)
    # Under a plural it is enough that first items stand alone as well: all tags may begin with "feature".
    if are_firsts_mixed and (are_laters_mixed or is_plural):
        return True
    # Names of several words that hardly recur, in lists of many lengths.
    have_many_lengths = len(set(map(len, split.values()))) >= _MANY_LENGTHS
    hardly_recur = len(parts) - len(set(parts)) <= _RECURRING * len(parts)
    are_of_words = sum(" " in item for item in parts) >= _OF_WORDS * len(parts)
    return have_many_lengths and hardly_recur and are_of_words and not any(map(str.isdigit, "".join(parts)))


def _without_notes(lists: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return lists of people without the notes behind names that others have alone: "Ann Lee (guest)"."""
    known = {item for items in lists.values() for item in items}
    plain = {item: _FORMS["note"].sub("", item) for item in known}
    return {cell: [plain[item] if plain[item] in known else item for item in items] for cell, items in lists.items()}


def _with_last_items(lists: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return lists with two items for a last part such as "plums and apples", if others have both."""
    known = {item for items in lists.values() for item in items}
    complete: dict[str, list[str]] = {}
    for cell, items in lists.items():
        last = _FORMS["and_before"].sub("", items[-1])
        parts = _FORMS["and"].split(last)
        complete[cell] = [*items[:-1], *(parts if known.issuperset(parts) else [last])]
    return complete
