"""Dates in the cells of a column: read their forms, and decide the order of day and month from the whole column."""

import re
from calendar import monthrange
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time
from typing import Literal, NamedTuple

from .dates import MONTHS, parse_date
from .lexicon import read_patterns
from .scripts import with_ascii_digits

Precision = Literal["", "year", "month", "day", "second"]  # how exact the dates of a column are

_LONGEST, _LONGEST_REMARK = 48, 200  # characters of a date with its time and zone, and of what stands behind it
_FORMS = {name: re.compile(form) for name, form in read_patterns("cells.toml")["dates"].items()}
_IN_ORDER = ("year_first", "compact", "year_month", "month_year")  # the forms in figures that have one reading
_LAST_AFTER_2000 = 68  # as in POSIX, "68" is 2068 and "69" is 1969
_ORDER_NOTE = "dates such as 03/04 are read as day/month; no cell shows the order"
_MONTH_NOTE = "its dates are months, each as its first day"
_MONTHS, _HALF_DAY = 12, 12


class DateCell(NamedTuple):
    """A date as its cell writes it, in both orders of day and month; None in an order in which there is no such day."""

    day_first: date | None
    month_first: date | None  # the same as `day_first` if the cell leaves nothing open
    precision: Precision
    has_dots: bool = False  # dots separate day, month and year in this order, unless other cells deny it
    clock: time | None = None  # with its zone, if the cell states one
    has_half: bool = False  # whether it has am or pm, as people write who have the month first
    has_short_year: bool = False


class DateColumn(NamedTuple):
    """The dates of a column: the value of each distinct cell that is one."""

    values: Mapping[str, date | datetime]
    precision: Precision
    day_first: bool | None = None  # the order of day and month that the cells show; None if they show none
    is_ambiguous: bool = False
    note: str = ""
    lasts: Mapping[str, date | datetime] = {}
    """If some cells say a month or a year alone: the last day that each cell may mean, its value being the first."""


def read_date_cell(cell: str) -> DateCell | None:
    """Return the date that a cell consists of, with its time; None if it is none or has no year and month."""
    if len(cell) > _LONGEST + _LONGEST_REMARK:
        return None
    text = _FORMS["unknown_part"].sub("", _FORMS["remark"].sub("", " ".join(with_ascii_digits(cell).split())))
    if len(text) > _LONGEST:
        return None
    time_of_day = _FORMS["time"].search(text)
    day = _parse_day((text[:time_of_day.start()] if time_of_day else text).strip(" ,"))
    if day is None or time_of_day is None:
        return day
    hour, half = int(time_of_day["hour"]), (time_of_day["half"] or "")[:1].lower()  # "a" of "a.m." or "p"
    if day.precision != "day" or (half and not 1 <= hour <= _HALF_DAY):
        return None
    if half:
        hour = hour % _HALF_DAY + (_HALF_DAY if half == "p" else 0)
    zone = re.sub("[A-Za-z]+", "Z", time_of_day["zone"] or "")  # "UTC" and "GMT" are "Z"
    clock = time.fromisoformat(f"{hour:02d}{time_of_day['minutes']}{zone}")
    return day._replace(precision="second", clock=clock, has_half=bool(half))


def _parse_day(text: str) -> DateCell | None:
    """Return the date that a text without a time of day consists of, or None."""
    if match := _FORMS["year_last"].fullmatch(text):
        year, first, second = _full_year(match["year"]), int(match["first"]), int(match["second"])
        return DateCell(_day(year, second, first), _day(year, first, second), "day", match["mark"] == ".",
                        has_short_year=len(match["year"]) == len("99"))
    match = next(filter(None, (_FORMS[form].fullmatch(text) for form in _IN_ORDER)), None)
    short_year = None
    if match is None:
        text = _FORMS["hyphen"].sub(" ", _FORMS["weekday"].sub("", text))
        first_word = _FORMS["first_word"].match(text)
        if first_word is None or not (first_word[0].isdigit() or first_word[0].lower() in MONTHS):  # "since 3 May 2020"
            return None
        if short_year := _FORMS["short_year"].fullmatch(text):
            text = f"{short_year['day']} {short_year['month']} {_full_year(short_year['year'])}"
        match = _FORMS["normal"].fullmatch(parse_date(text))
    if match is None:
        return None
    number = match.groupdict().get("day")  # months have none
    only = _day(int(match["year"]), int(match["month"]), int(number or 1))
    return DateCell(only, only, "day" if number else "month", has_short_year=short_year is not None)


def _day(year: int, month: int, number: int) -> date | None:
    """Return a day, or None if there is none, such as 31 April."""
    is_day = year > 0 and 1 <= month <= _MONTHS and 1 <= number <= monthrange(year, month)[1]
    return date(year, month, number) if is_day else None


def _full_year(figures: str) -> int:
    """Return the year that two or four figures mean."""
    year = int(figures)
    century = 2000 if year <= _LAST_AFTER_2000 else 1900
    return century + year if len(figures) == len("99") else year


def are_dates_in_figures(cells: Iterable[str]) -> bool:
    """Return True if all cells are days such as 20310403 or months such as 04.2031; other numbers hardly ever are."""
    return _FORMS["figure_lines"].fullmatch("\n".join([*cells, ""])) is not None


def read_date_or_year(cell: str) -> DateCell | None:
    """Return the date or the year that a cell consists of; a year alone is a date only among others that say more."""
    if not _FORMS["year"].fullmatch(cell.strip()):
        return read_date_cell(cell)
    first_day = date(int(cell), 1, 1)
    return DateCell(first_day, first_day, "year")


def date_column(read: Mapping[str, DateCell], cells: Mapping[str, int], hint: bool | None = None) -> DateColumn:
    """Return the values of a column's dates, with one order of day and month; none if most are years alone.

    `read` has the cells that are dates, as `read_date_or_year` read them, and `cells` the number of each distinct cell
    that is not empty. `hint` says whether other columns of the table have the day first; None if they do not show it.
    """
    year_count = sum(cells[cell] for cell, day in read.items() if day.precision == "year")
    if 2 * year_count > sum(cells.values()):  # mostly figures of four digits are numbers with a few dates
        return DateColumn({}, "")
    shown = _shown_order(read, cells)
    decided = _decide_order(read, hint) if shown is None else shown
    # Where nothing decides, the day comes first, and the note says so.
    values, zone_note = _to_dates(read, decided is not False, shown)
    precisions = {day.precision for day in read.values()}
    precision: Precision = "month" if precisions == {"month"} else "day"
    if any(isinstance(value, datetime) for value in values.values()):
        precision = "second"
    are_partial = len(precisions) > 1 and not precisions.isdisjoint({"month", "year"})
    lasts = {cell: _last_day(value, read[cell].precision) for cell, value in values.items()} if are_partial else {}
    years = [value.year for cell, value in values.items() if read[cell].has_short_year]
    span = " to ".join(map(str, sorted({min(years), max(years)}))) if years else ""
    year_note = f"years of two figures are read as {span}" if years else ""
    notes = (year_note, zone_note, _ORDER_NOTE if decided is None else "", _MONTH_NOTE if precision == "month" else "")
    return DateColumn(values, precision, shown, decided is None, "; ".join(filter(None, notes)), lasts)


def _shown_order(read: Mapping[str, DateCell], cells: Mapping[str, int]) -> bool | None:
    """Return True if most cells with one reading have the day first, False if the month, None if equally many do."""
    day_first = sum(cells[cell] for cell, day in read.items() if day.day_first and not day.month_first)
    month_first = sum(cells[cell] for cell, day in read.items() if day.month_first and not day.day_first)
    return None if day_first == month_first else day_first > month_first


def _decide_order(read: Mapping[str, DateCell], hint: bool | None) -> bool | None:
    """Return True if the day comes first in cells that do not show it, by the rest of the table; None if in doubt."""
    doubtful = [day for day in read.values() if day.day_first != day.month_first and not day.has_dots]
    if not doubtful:
        return True
    # People who write am and pm have the month first.
    return False if hint is None and any(day.has_half for day in doubtful) else hint


def _last_day(first: date | datetime, precision: Precision) -> date | datetime:
    """Return the last day that a date may mean."""
    if precision == "year":
        return first.replace(month=_MONTHS, day=31)
    return first.replace(day=monthrange(first.year, first.month)[1]) if precision == "month" else first


def _to_dates(read: Mapping[str, DateCell], day_first: bool, shown: bool | None) -> tuple[
        dict[str, date | datetime], str]:
    """Return dates, or points in time if any cell has a time of day, and a note on their zone.

    `day_first` is the order that was decided, `shown` the one that cells show, None if they show none.
    """
    zones = {day.clock.tzinfo for day in read.values() if day.clock is not None}  # None among them: times without one
    has_times = any(day.clock and day.clock.replace(tzinfo=None) != time() for day in read.values())
    values: dict[str, date | datetime] = {}
    for cell, day in read.items():
        # Dots put the day first unless cells show the contrary, whatever was decided for other marks.
        is_day_first = shown is not False if day.has_dots else day_first
        chosen = day.day_first if is_day_first else day.month_first
        if chosen is None:
            continue
        moment = datetime.combine(chosen, day.clock or time())
        if len(zones) > 1:  # all are converted to UTC, as far as their zone is known
            if day.clock is not None and day.clock.tzinfo is None:
                continue
            moment = moment.astimezone(UTC) if moment.tzinfo else moment
        values[cell] = moment.replace(tzinfo=None) if has_times else moment.date()
    stated = zones - {None}
    if not has_times or not stated:
        return values, ""
    if len(zones) > 1:
        return values, f"times are in UTC{'; those without a time zone are left out' if None in zones else ''}"
    return values, f"times are in {stated.pop()}"
