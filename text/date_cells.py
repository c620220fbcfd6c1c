"""Dates in the cells of a column: read their forms, and decide the order of day and month from the whole column."""

import re
from calendar import monthrange
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta, timezone
from typing import Literal, NamedTuple

from .dates import MONTHS, parse_date
from .lexicon import read_patterns
from .scripts import with_ascii_digits

Precision = Literal["", "year", "month", "day", "second"]  # how exact the dates of a column are

_LONGEST = 48  # characters of a cell that is a date with its time and zone
_FORMS = {name: re.compile(form) for name, form in read_patterns("cells.toml")["dates"].items()}
_LAST_AFTER_2000 = 68  # as in POSIX, "68" is 2068 and "69" is 1969
_ORDER_NOTE = "dates such as 03/04 are read as day/month; no cell shows the order"
_MONTH_NOTE = "its dates are months, each as its first day"
_MONTHS, _HALF_DAY = 12, 12


class DateCell(NamedTuple):
    """A date as its cell writes it. `first` and `second` are day and month in an order that the column decides."""

    year: int
    first: int
    second: int
    order: Literal["known", "dots", "open"]  # known: `first` is the month; dots: the day, unless the column denies it
    precision: Precision
    clock: time | None = None
    zone: int | None = None  # the minutes from UTC
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
    if len(cell) > _LONGEST:
        return None
    text = " ".join(with_ascii_digits(cell).split())
    time_of_day = _FORMS["time"].search(text)
    day = _parse_day((text[:time_of_day.start()] if time_of_day else text).strip(" ,"))
    if day is None or time_of_day is None:
        return day
    hour, half = int(time_of_day["hour"]), (time_of_day["half"] or "").lower().replace(".", "")  # "am" or "pm"
    if day.precision != "day" or (half and not 1 <= hour <= _HALF_DAY):
        return None
    if half:
        hour = hour % _HALF_DAY + (_HALF_DAY if half == "pm" else 0)
    fraction = int((time_of_day["fraction"] or "0")[:6].ljust(6, "0"))
    try:
        clock = time(hour, int(time_of_day["minute"]), int(time_of_day["second"] or 0), fraction)
    except ValueError:  # no such time, such as 25:00
        return None
    zone = None
    if written := time_of_day["zone"]:
        minutes = int(written[1:3]) * 60 + int(written[-2:]) if written[0] in "+-" else 0
        zone = -minutes if written[0] == "-" else minutes
    return day._replace(precision="second", clock=clock, zone=zone, has_half=bool(half))


def _parse_day(text: str) -> DateCell | None:
    """Return the date that a text without a time of day consists of, or None."""
    if match := _FORMS["year_first"].fullmatch(text) or _FORMS["compact"].fullmatch(text):
        return DateCell(int(match["year"]), int(match["month"]), int(match["day"]), "known", "day")
    if match := _FORMS["year_last"].fullmatch(text):
        order: Literal["dots", "open"] = "dots" if match["mark"] == "." else "open"
        year, is_short = _full_year(match["year"])
        return DateCell(year, int(match["first"]), int(match["second"]), order, "day", has_short_year=is_short)
    if match := _FORMS["year_month"].fullmatch(text):
        month = int(match["month"] or match["late_month"])
        return DateCell(int(match["year"] or match["late_year"]), month, 1, "known", "month")
    text = _FORMS["hyphen"].sub(" ", _FORMS["weekday"].sub("", text))
    first_word = _FORMS["first_word"].match(text)
    if first_word is None or not (first_word[0].isdigit() or first_word[0].lower() in MONTHS):  # "since 3 April 2020"
        return None
    short = _FORMS["short_year"].fullmatch(text)
    if short:
        text = f"{short['day']} {short['month']} {_full_year(short['year'])[0]}"
    match = _FORMS["normal"].fullmatch(parse_date(text))
    if match is None:
        return None
    year, month, number = (int(part or 0) for part in match.groups())
    return DateCell(year, month, number or 1, "known", "day" if number else "month", has_short_year=short is not None)


def _full_year(figures: str) -> tuple[int, bool]:
    """Return a year of four figures, and whether it was written with two."""
    year, is_short = int(figures), len(figures) == len("99")
    century = 2000 if year <= _LAST_AFTER_2000 else 1900
    return (century + year if is_short else year), is_short


def are_dates_in_figures(cells: Iterable[str]) -> bool:
    """Return True if all cells are days such as 20310403 or months such as 04.2031; other numbers hardly ever are."""
    return _FORMS["figure_lines"].fullmatch("\n".join([*cells, ""])) is not None


def read_date_or_year(cell: str) -> DateCell | None:
    """Return the date or the year that a cell consists of; a year alone is a date only among others that say more."""
    is_year = _FORMS["year"].fullmatch(cell.strip()) is not None
    return DateCell(int(cell), 1, 1, "known", "year") if is_year else read_date_cell(cell)


def date_column(read: Mapping[str, DateCell], cells: Mapping[str, int], hint: bool | None = None) -> DateColumn:
    """Return the values of a column's dates, with one order of day and month; none if most are years alone.

    Args:
        read: the cells that are dates, each as `read_date_or_year` read it.
        cells: the distinct cells that are not empty, each with how often it occurs.
        hint: True if other columns of the table have the day before the month, False if after it, None if none shows.
    """
    year_count = sum(cells[cell] for cell, day in read.items() if day.precision == "year")
    if 2 * year_count > sum(cells.values()):  # mostly figures of four digits are numbers with a few dates
        return DateColumn({}, "")
    written = [(cell, day) for cell, day in read.items() if day.order != "known"]
    day_first = sum(cells[cell] for cell, day in written if day.second <= _MONTHS < day.first)
    month_first = sum(cells[cell] for cell, day in written if day.first <= _MONTHS < day.second)
    shown = None if day_first == month_first else day_first > month_first
    decided = shown
    if shown is None:
        # Dates such as 5/5/2031 are the same in both orders, and dots separate day, month and year in this order only.
        doubtful = [day for day in read.values() if day.order == "open" and day.first != day.second]
        # People who write am and pm have the month first.
        order = False if hint is None and any(day.has_half for day in doubtful) else hint
        decided = order if doubtful else True
    # Where nothing decides, the day comes first, and the note says so.
    values, zone_note = _to_dates(read, decided is not False, shown)
    precisions = {day.precision for day in read.values()}
    precision: Precision = "month" if precisions == {"month"} else "day"
    if any(isinstance(value, datetime) for value in values.values()):
        precision = "second"
    are_partial = len(precisions) > 1 and not precisions.isdisjoint({"month", "year"})
    lasts = {cell: _last_day(value, read[cell].precision) for cell, value in values.items()} if are_partial else {}
    short_years = {day.year for day in read.values() if day.has_short_year}
    year_note = f"years of two figures are read as {min(short_years)} to {max(short_years)}" if short_years else ""
    notes = (year_note, zone_note, _ORDER_NOTE if decided is None else "", _MONTH_NOTE if precision == "month" else "")
    return DateColumn(values, precision, shown, decided is None, "; ".join(filter(None, notes)), lasts)


def _last_day(first: date | datetime, precision: Precision) -> date | datetime:
    """Return the last day that a date may mean."""
    if precision == "year":
        return first.replace(month=_MONTHS, day=31)
    return first.replace(day=monthrange(first.year, first.month)[1]) if precision == "month" else first


def _to_dates(read: Mapping[str, DateCell], day_first: bool, shown: bool | None) -> tuple[
        dict[str, date | datetime], str]:
    """Return the dates, or points in time if any cell has a time of day, and a note on their zone.

    `day_first` is the order that was decided, `shown` the one that cells show, None if they show none.
    """
    zones = {day.zone for day in read.values() if day.clock is not None}  # None among them: times without a zone
    are_in_zones = len(zones) > 1
    has_times = any(day.clock and day.clock != time() for day in read.values())
    values: dict[str, date | datetime] = {}
    for cell, day in read.items():
        # Dots put the day first unless cells show the contrary, whatever was decided for other marks.
        is_day_first = day.order != "known" and (day_first if day.order == "open" else shown is not False)
        month, number = (day.second, day.first) if is_day_first else (day.first, day.second)
        try:
            moment = datetime.combine(date(day.year, month, number), day.clock or time())
        except ValueError:  # no such date, such as 31 April
            continue
        if are_in_zones:  # all are converted to UTC, as far as their zone is known
            if day.clock is not None and day.zone is None:
                continue
            moment -= timedelta(minutes=day.zone or 0)
        values[cell] = moment if has_times else moment.date()
    stated = [zone for zone in zones if zone is not None]
    if not has_times or not stated:
        return values, ""
    if are_in_zones:
        left_out = "; those without a time zone are left out" if None in zones else ""
        return values, f"times are in UTC{left_out}"
    return values, f"times are in {timezone(timedelta(minutes=stated[0]))}"
