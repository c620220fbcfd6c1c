"""Values and their kinds: find values in a text, recognise their kind, and compare two spellings."""

from dataclasses import dataclass
from typing import Literal

from ..schemas.graph_schema import ValueKind
from .dates import find_dates, parse_date
from .quantities import find_numbers, parse_number

_YEAR_DIGITS = 4
_LAST_YEAR = 2200
"""A mere number of four digits beyond it is no year."""


@dataclass(frozen=True, slots=True)
class Value:
    """A date or a number with its unit; `text` is at characters `start` to `end`."""

    start: int
    end: int
    text: str
    kind: Literal["date", "number"]


def find_values(text: str) -> list[Value]:
    """Find the dates and numbers of a text, in order; where both match, a date.

    Returns:
        Values that do not overlap; `text` is verbatim, with its currency, scale and unit.
    """
    dates = [Value(start, end, text[start:end], "date") for start, end in find_dates(text)]
    numbers = [Value(start, end, text[start:end], "number") for start, end in find_numbers(text)]
    taken = {place for date in dates for place in range(date.start, date.end)}
    return sorted((*dates, *(number for number in numbers if taken.isdisjoint(range(number.start, number.end)))),
                  key=lambda value: value.start)


def parse_value(text: str, kind: ValueKind, unit: str = "") -> str:
    """Return the normal form of a value.

    Args:
        text: the value as stated.
        kind: the expected kind; a value of kind "text" has no normal form.
        unit: the unit of numbers that state none.

    Returns:
        The form of `parse_date` or `parse_number`; "" if the value is not of that kind, or for a text.
    """
    if kind == "date":
        return parse_date(text)
    if kind == "number":
        normal = parse_number(text)
        return f"{normal} {unit}" if normal and unit and " " not in normal else normal
    return ""


def kind_of(text: str) -> ValueKind:
    """Return the kind of a value: a date before a number, so "1867" is a year, and "186" and "7906" are numbers."""
    if len(parse_date(text)) >= _YEAR_DIGITS and not (text.isdecimal() and int(text) > _LAST_YEAR):
        return "date"
    return "number" if parse_number(text) else "text"


def means(stated: str, source: str, kind: ValueKind) -> bool:
    """Return True if the stated value agrees with the value in the source.

    A day or month that the source does not give may have been added by the reasoner, so it is accepted; so is a
    missing unit.
    """
    if not stated or not source:
        return False
    if kind == "date":
        return stated == source or stated.startswith(f"{source}-")
    return stated == source or stated == source.partition(" ")[0]
