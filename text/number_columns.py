"""Numbers of a column: decide from all its cells what points and commas mean and which cells are codes."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Literal, NamedTuple

from .cells import read_most
from .number_cells import NumberCell, has_minus_behind, read_number

DecimalMark = Literal["", ".", ","]

_PLAIN = re.compile(r"(?:-?(?:0|[1-9]\d{0,14})(?:\.\d{1,17})?\n)++")  # numbers, one a line, whose only mark is a point
_DOUBTFUL_POINT = re.compile(r"^-?[1-9]\d{0,2}\.\d{3}$", re.MULTILINE)
_DECIMAL_COMMA_UNITS = frozenset({"EUR", "kr", "PLN", "CZK", "HUF", "RUB", "BRL", "TRY", "VND", "IDR"})
"""Currencies that, written behind the number, are those of people who write a decimal comma."""
_MARKS: dict[str, tuple[DecimalMark, DecimalMark]] = {"point_or_group": (".", ","), "comma_or_group": (",", ".")}
"""The forms of figures with one mark before three figures: the decimal mark if it is one, and if it ends a group."""
_EXACT_FIGURES = 15  # the most figures of a whole number that a float keeps; longer ones are identifiers
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_GROUP = 3
_CLEAR_MAJORITY = 9  # how many times as many cells as the other mark has must show a mark to be the column's
_MOST_CODES = 0.01  # the share of numbers that may begin with 0; with more, they are codes, such as those of places
_MUCH_CLOSER = 10  # how many times as close to whole numbers a column's groups must be as its decimals would be
_MIXED = "decimal points and decimal commas are mixed: numbers such as {} are left out"


class NumberColumn(NamedTuple):
    """The numbers of a column."""

    values: Mapping[str, float]  # the value of each distinct cell that is a number
    units: Mapping[str, str]
    """Its unit, "" if the cell states none."""
    decimal: DecimalMark
    """The decimal mark that the cells show; "" if they show none."""
    is_ambiguous: bool = False  # True if the decimal mark was decided without proof
    note: str = ""


class _Decision(NamedTuple):
    """The decimal mark of numbers such as "1.250"; "" if they mean nothing certain."""

    decimal: DecimalMark
    is_sure: bool = True
    note: str = ""


def read_numbers(cells: Mapping[str, int], hint: DecimalMark = "") -> NumberColumn:
    """Read the cells of a column that are numbers, with one decimal mark for all; none if too few are.

    Args:
        cells: the distinct cells that are not empty, each with how often it occurs.
        hint: the decimal mark of the other columns of the table, "" if they show none.
    """
    lines = "\n".join([*cells, ""])
    if _PLAIN.fullmatch(lines) and not _DOUBTFUL_POINT.search(lines):  # a shortcut with the same result
        values = {cell: float(cell) for cell in cells}
        return NumberColumn(values, dict.fromkeys(cells, ""), "." if "." in lines else "")
    read = _without_codes(read_most(cells, read_number), cells)
    decision = _decide_mark(read, cells, hint)
    values = {cell: value for cell, number in read.items()
              if (value := _number_value(number, decision.decimal)) is not None}
    forms = {number.form for number in read.values()}
    shown: DecimalMark = ""
    if ("point" in forms) != ("comma" in forms):  # cells that show both marks show none to be the column's
        shown = "." if "point" in forms else ","
    return NumberColumn(values, {cell: read[cell].unit for cell in values}, shown, not decision.is_sure, decision.note)


def _without_codes(read: Mapping[str, NumberCell], cells: Mapping[str, int]) -> dict[str, NumberCell]:
    """Leave out numbers that the column shows to be codes, and words behind numbers that it shows to be no unit."""
    code_count = sum(cells[cell] for cell, number in read.items() if number.form == "code")  # figures such as "007"
    # "(1)" is a negative number only beside other numbers.
    are_numbering = all(number.is_bracketed and number.form == "plain" and len(number.figures) <= _GROUP
                        and not number.unit for number in read.values())
    if code_count > _MOST_CODES * sum(map(cells.__getitem__, read)) or are_numbering:
        return {}
    codes, units = _cells_with_codes(read), _units_of_column(read, cells)
    numbers = {cell: number if number.is_known_unit else number._replace(unit=units.get(_singular(number.unit), ""))
               for cell, number in read.items() if cell not in codes}
    # The unit of a number without words behind it is known, too: it is "".
    return {cell: number for cell, number in numbers.items() if number.is_known_unit or number.unit}


def _units_of_column(read: Mapping[str, NumberCell], cells: Mapping[str, int]) -> dict[str, str]:
    """Return the unknown word that stands behind most numbers, such as "guests", by its singular: it is their unit."""
    unknown = {cell: number.unit for cell, number in read.items() if not number.is_known_unit}
    weights = Counter[str]()
    for cell, unit in unknown.items():
        weights[_singular(unit)] += cells[cell]
    least = max(2, sum(map(cells.__getitem__, read)) / 2)  # of one cell alone, a word may be anything
    # Of several spellings, the first one of the column.
    return {_singular(unit): unit for unit in reversed(unknown.values()) if weights[_singular(unit)] >= least}


def _singular(word: str) -> str:
    """Return the form in which "file" and "files" are one unit."""
    return word.casefold().removesuffix("s")


def _cells_with_codes(read: Mapping[str, NumberCell]) -> set[str]:
    """Return the cells that are codes in a column of numbers: identifiers, open years and seats."""
    codes = {cell for cell, number in read.items()
             if number.form == "code" or (number.form == "plain" and len(number.figures) > _EXACT_FIGURES)}
    # "1990–" has no end yet, unless other numbers have their minus behind them.
    with_minus_behind = [cell for cell in read if has_minus_behind(cell)]
    if all(_YEAR.fullmatch(read[cell].figures) for cell in with_minus_behind):
        codes.update(with_minus_behind)
    # Cells such as "12A" with several letters are seats or houses, and not volts or amperes.
    seats = {cell: number.unit for cell, number in read.items()
             if len(number.unit) == 1 and number.unit.isupper() and cell.rstrip()[-2:-1].isdigit()}
    return codes.union(seats) if len(set(seats.values())) > 1 else codes


def _decide_mark(read: Mapping[str, NumberCell], cells: Mapping[str, int], hint: DecimalMark) -> _Decision:
    """Decide what the mark of numbers such as "1.250" and "1,250" is, from all numbers of the column."""
    weights = Counter[str]()
    for cell, number in read.items():
        weights[number.form] += cells[cell]
    doubtful = [form for form in _MARKS if weights[form]]
    if not doubtful:
        return _Decision(".")
    mixed = _MIXED.format(next(number.figures for number in read.values() if number.form in _MARKS))
    point, comma = weights["point"], weights["comma"]
    if point or comma:
        if max(point, comma) > _CLEAR_MAJORITY * min(point, comma):
            return _Decision("." if point > comma else ",")
        return _Decision("", note=mixed)
    if len(doubtful) > 1:
        return _Decision(hint) if hint else _Decision("", is_sure=False, note=mixed)
    if weights["spaced"]:  # the groups have a mark of their own
        as_decimal, _ = _MARKS[doubtful[0]]
        return _Decision(as_decimal)
    return _decide_groups(doubtful[0], list(read.values()), hint)


def _decide_groups(form: str, numbers: Iterable[NumberCell], hint: DecimalMark) -> _Decision:
    """Decide what the only mark of a column means, which has three figures behind it wherever it occurs.

    `form` is that of the numbers with the mark, a key of `_MARKS`; `hint` the mark of the table's other columns.
    """
    as_decimal, as_group = _MARKS[form]
    doubtful = [number for number in numbers if number.form == form]
    whole = [number.figures for number in numbers if number.form == "plain" and number.figures != "0"]
    # A whole number of four figures without a mark shows that the column does not mark groups.
    are_whole_short = bool(whole) and max(map(len, whole)) <= _GROUP
    round_count = sum(number.figures.endswith("0") for number in doubtful)
    example = doubtful[0].figures
    # In "3.000" beside "980" decimals would all end in zeros ("980.000") or none ("3").
    if are_whole_short and round_count:
        return _doubt(example, as_group) if hint == as_decimal else _Decision(as_group)
    if hint:
        return _Decision(hint)
    # A currency behind the number, as in "1.250 EUR", is written by people who write a decimal comma.
    suggests_comma = any(number.unit in _DECIMAL_COMMA_UNITS and not number.has_sign_before for number in doubtful)
    if as_decimal == ",":
        # Groups are far more frequent than three decimals; the note says so if nothing else speaks for them.
        are_round = round_count == len(doubtful) > 1
        suggests_groups = are_round or any(number.has_sign_before for number in doubtful)
        return _Decision(".", is_sure=False) if suggests_groups and not suggests_comma else _doubt(example, ".")
    if suggests_comma:
        return _Decision(",")
    # Decimals, unless the other numbers of the column are much closer to those without the point.
    is_closer = are_whole_short and (_MUCH_CLOSER * _spread(doubtful, whole, "") < _spread(doubtful, whole, "."))
    return _doubt(example, "," if is_closer else ".")


def _spread(doubtful: Iterable[NumberCell], whole: Iterable[str], mark: str) -> float:
    """Return the ratio of the largest to the smallest number if `mark` stands for a point."""
    values = [*(float(number.figures.replace(".", mark)) for number in doubtful), *map(float, whole)]
    return max(values) / min(values)


def _doubt(figures: str, decimal: DecimalMark) -> _Decision:
    """Return a decision without proof, with a note that says how doubtful figures are read."""
    as_decimal, as_group = re.sub("[.,]", ".", figures), re.sub("[.,]", "", figures)
    read, otherwise = (as_decimal, as_group) if decimal in figures else (as_group, as_decimal)
    return _Decision(decimal, is_sure=False, note=f"{figures} is read as {read}; it could also be {otherwise}")


def _number_value(number: NumberCell, decimal: DecimalMark) -> float | None:
    """Return a number's value; None if its marks mean nothing certain."""
    has_comma = number.form == "comma"
    if number.form in _MARKS:
        if not decimal:
            return None
        has_comma = decimal == ","
    figures = number.figures.replace(" ", "").replace("'", "")
    figures = figures.replace(".", "").replace(",", ".") if has_comma else figures.replace(",", "")
    value = float(figures) if number.scale == 1 else float(Decimal(figures) * number.scale)
    return -value if number.is_negative and value else value
