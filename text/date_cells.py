"""Dates in the cells of a column: read their forms, and decide the order of day and month from the whole column."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from typing import Literal, NamedTuple

from .cells import read_most
from .dates import is_month, parse_date
from .scripts import with_ascii_digits

Precision = Literal["", "month", "day", "second"]
"""How exact the dates of a column are; those of months are the months' first days."""

_SHORTEST, _LONGEST = 6, 48
_TIME = re.compile(
    r"(?:[T,]? ?| at )(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)? ?"
    r"(?P<half>[ap]\.?m\.?)? ?(?:Uhr ?)?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)?(?: ?\([A-Z]{2,5}\))?$", re.IGNORECASE)
_WEEKDAY = re.compile(r"^(?:[^\W\d_]{2,10}\.?, ?|(?:mon|tue|wed|thu|fri|sat|sun)(?:\w{0,6}day)? )", re.IGNORECASE)
_YEAR_FIRST = re.compile(r"(?P<year>\d{4})(?P<mark>[-./])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})")
_COMPACT = re.compile(r"(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])")
_YEAR_LAST = re.compile(r"(?P<first>\d{1,2})(?P<mark>[-./]) ?(?P<second>\d{1,2})(?P=mark) ?(?P<year>\d{4}|\d\d)")
_YEAR_MONTH = re.compile(r"(?P<year>[12]\d{3})[-/](?P<month>0?[1-9]|1[0-2])"
                         r"|(?P<late_month>0?[1-9]|1[0-2])/(?P<late_year>[12]\d{3})")
_HYPHENS = re.compile(r"(?<=[^\W_])-(?=[^\W_])")
_SHORT_YEAR = re.compile(r"(?P<day>\d{1,2}) (?P<month>[^\W\d_]{3,9})\.? (?P<year>\d\d)")
_NORMAL = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?")
_LAST_OF_CENTURY = 68
"""Years of two figures up to this are of the 21st century, as in POSIX."""
_YEAR_FIGURES = 4
_MONTHS = 12
_HALF_DAY = 12


class DateCell(NamedTuple):
    """A date as its cell writes it. `first` and `second` are day and month in an order that the column decides."""

    year: int
    first: int
    second: int
    order: Literal["known", "dots", "open"]
    """Whether `first` is certainly the month; with dots it is the day unless the column shows otherwise."""
    precision: Precision
    clock: time | None = None
    zone: int | None = None
    """The minutes from UTC."""
    has_half: bool = False
    has_short_year: bool = False


@dataclass(frozen=True, slots=True)
class DateColumn:
    """The dates of a column: the value of each distinct cell that is one."""

    values: Mapping[str, date | datetime]
    precision: Precision
    day_first: bool | None = None
    """The order of day and month that the cells show; None if they show none."""
    is_ambiguous: bool = False
    note: str = ""


def read_date_cell(cell: str) -> DateCell | None:
    """Return the date that a cell consists of, with its time; None if it is none or has no year and month."""
    text = " ".join(with_ascii_digits(cell).split())
    if not _SHORTEST <= len(text) <= _LONGEST or not any(map(str.isdigit, text)):
        return None
    match = _TIME.search(text)
    read = _day((text[:match.start()] if match else text).strip(" ,"))
    if read is None or (match and read.precision == "month"):
        return None
    return _with_time(read, match) if match else read


def _day(text: str) -> DateCell | None:
    for form in (_YEAR_FIRST, _COMPACT):
        if match := form.fullmatch(text):
            return DateCell(int(match["year"]), int(match["month"]), int(match["day"]), "known", "day")
    if match := _YEAR_LAST.fullmatch(text):
        year = match["year"]
        return DateCell(_full_year(year), int(match["first"]), int(match["second"]),
                        "dots" if match["mark"] == "." else "open", "day", has_short_year=len(year) < _YEAR_FIGURES)
    if match := _YEAR_MONTH.fullmatch(text):
        return DateCell(int(match["year"] or match["late_year"]), int(match["month"] or match["late_month"]), 1,
                        "known", "month")
    return _written_day(text)


def _full_year(year: str) -> int:
    return int(year) if len(year) == _YEAR_FIGURES else int(year) + (2000 if int(year) <= _LAST_OF_CENTURY else 1900)


def _written_day(text: str) -> DateCell | None:
    """Return a date whose month is a word, or whose parts are marked with 年 and 月."""
    text = _HYPHENS.sub(" ", _WEEKDAY.sub("", text))
    first_word = re.match(r"[^\W\d_]+", text)
    if not text or not (text[0].isdigit() or (first_word and is_month(first_word[0]))):
        return None
    short = _SHORT_YEAR.fullmatch(text)
    if short:
        text = f"{short['day']} {short['month']} {_full_year(short['year'])}"
    match = _NORMAL.fullmatch(parse_date(text))
    if match is None:
        return None
    year, month, day = (int(part or 0) for part in match.groups())
    return DateCell(year, month, day or 1, "known", "day" if day else "month", has_short_year=bool(short))


def _with_time(read: DateCell, match: re.Match[str]) -> DateCell | None:
    """Return a date with its time of day, or None if there is no such time."""
    hour, half = int(match["hour"]), (match["half"] or "").lower().replace(".", "")
    if half:
        if not 1 <= hour <= _HALF_DAY:
            return None
        hour = hour % _HALF_DAY + (_HALF_DAY if half == "pm" else 0)
    fraction = int((match["fraction"] or "0")[:6].ljust(6, "0"))
    try:
        moment = time(hour, int(match["minute"]), int(match["second"] or 0), fraction)
    except ValueError:  # no such time, such as 25:00
        return None
    return read._replace(precision="second", clock=moment, zone=_zone(match["zone"]), has_half=bool(half))


def _zone(written: str | None) -> int | None:
    """Return the minutes of a time zone from UTC; None for none."""
    if not written:
        return None
    if written[0] not in "+-":
        return 0
    minutes = int(written[1:3]) * 60 + int(written[-2:])
    return -minutes if written[0] == "-" else minutes


def read_dates(cells: Mapping[str, int], hint: bool | None = None) -> DateColumn:
    """Read all cells of a column that are dates, with one order of day and month and one precision.

    Args:
        cells: the distinct cells that are not empty, in order, each with how often it occurs.
        hint: True if other columns of the table have the day before the month, False if after it, None if none shows.
    """
    read = read_most(cells, read_date_cell)
    precisions = Counter[bool]()
    for cell, day in read.items():
        precisions[day.precision == "month"] += cells[cell]
    are_months = precisions[True] > precisions[False]
    read = {cell: day for cell, day in read.items() if (day.precision == "month") == are_months}
    shown = _shown_order(read, cells)
    day_first, is_sure = _day_order(read, shown, hint)
    notes = [_doubtful_order(day_first)] if not is_sure else []
    values, zone_note = _values(read, day_first)
    if zone_note:
        notes.append(zone_note)
    if any(day.has_short_year for day in read.values()):
        notes.append(f"years of two figures are read as {1900 + _LAST_OF_CENTURY + 1} to {2000 + _LAST_OF_CENTURY}")
    has_times = any(isinstance(value, datetime) for value in values.values())
    precision: Precision = "month" if are_months else "second" if has_times else "day"
    return DateColumn(values, precision, shown, not is_sure, "; ".join(notes))


def _shown_order(read: Mapping[str, DateCell], cells: Mapping[str, int]) -> bool | None:
    """Return True if parts over 12 show that the day is first, False if second, None if nothing or both are shown."""
    weights = Counter[bool]()
    for cell, day in read.items():
        if day.order != "known" and (day.first > _MONTHS) != (day.second > _MONTHS):
            weights[day.first > _MONTHS] += cells[cell]
    return None if weights[True] == weights[False] else weights[True] > weights[False]


def _day_order(read: Mapping[str, DateCell], shown: bool | None, hint: bool | None) -> tuple[bool, bool]:
    """Return True if the day is before the month, and whether that is certain."""
    if shown is not None:
        return shown, True
    # Dates such as 5/5/2031 are the same in both orders, and dots separate day, month and year in this order only.
    doubtful = [day for day in read.values() if day.order == "open" and day.first != day.second]
    if not doubtful:
        return True, True
    if hint is not None:
        return hint, True
    if any(day.has_half for day in doubtful):
        return False, True
    sorted_orders = [day_first for day_first in (True, False) if _is_sorted(doubtful, day_first)]
    if len(sorted_orders) == 1:
        return sorted_orders[0], True
    return True, False


_ENOUGH_TO_BE_SORTED = 6
"""Dates that are in order by chance only once in 360 times."""


def _is_sorted(days: list[DateCell], day_first: bool) -> bool:
    """Return True if enough dates rise or fall from row to row, as those of a log or a statement do."""
    keys = [(day.year, *((day.second, day.first) if day_first else (day.first, day.second))) for day in days]
    return len(keys) >= _ENOUGH_TO_BE_SORTED and (keys == sorted(keys) or keys == sorted(keys, reverse=True))


def _doubtful_order(day_first: bool) -> str:
    parts = "day/month" if day_first else "month/day"
    return f"dates such as 03/04 are read as {parts}; no cell shows the order"


def _values(read: Mapping[str, DateCell], day_first: bool) -> tuple[dict[str, date | datetime], str]:
    """Return the dates, or points in time if any cell has a time of day, and a note on their zone."""
    zones = {day.zone for day in read.values() if day.clock is not None}
    is_local = len(zones) <= 1
    has_times = any(day.clock and day.clock != time() for day in read.values())
    values: dict[str, date | datetime] = {}
    for cell, day in read.items():
        month, number = (day.second, day.first) if day.order != "known" and day_first else (day.first, day.second)
        try:
            moment = datetime.combine(date(day.year, month, number), day.clock or time())
        except ValueError:  # no such day, such as 31/02
            continue
        if not is_local and day.clock is not None:
            if day.zone is None:
                continue
            moment -= timedelta(minutes=day.zone)
        values[cell] = moment if has_times else moment.date()
    return values, _zone_note(zones, is_local) if has_times else ""


def _zone_note(zones: set[int | None], is_local: bool) -> str:
    if not is_local:
        return "times are in UTC; those without a time zone are left out" if None in zones else "times are in UTC"
    zone = next(iter(zones))
    return "" if zone is None else f"times are in {timezone(timedelta(minutes=zone))}"
