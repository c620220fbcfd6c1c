"""Periods of a question as conditions on a column of dates or of years, in SQL."""

from datetime import date, timedelta

from ..schemas.records import ColumnInfo
from .asked_parts import UnclearError, quoted

_DECEMBER = 12


def _bounds(period: str) -> tuple[str, str]:
    """Return the first day of a year, decade, month or day, and the day after it."""
    if period.endswith("X"):
        first = int(period.replace("X", "0"))
        return f"{first}-01-01", f"{first + 10 ** period.count('X')}-01-01"
    year, *rest = map(int, period.split("-"))
    if not rest:
        return f"{year:04}-01-01", f"{year + 1:04}-01-01"
    if len(rest) == 1:
        following = (year + 1, 1) if rest[0] == _DECEMBER else (year, rest[0] + 1)
        return f"{year:04}-{rest[0]:02}-01", f"{following[0]:04}-{following[1]:02}-01"
    day = date(year, *rest)
    return day.isoformat(), (day + timedelta(1)).isoformat()


def in_period(column: ColumnInfo, period: str) -> str:
    """Return that a date is in a year, decade, month or day."""
    name = quoted(column.name)
    if column.kind == "number":
        return f"{name} = {int(period)}"
    if period.startswith("XXXX-"):
        return between(column, period, period)
    first, end = _bounds(period)
    return f"({name} >= DATE '{first}' AND {name} < DATE '{end}')"


def between(column: ColumnInfo, first: str, last: str) -> str:
    """Return that a date is from the start of one period to the end of another."""
    name = quoted(column.name)
    if column.kind == "number":
        return f"{name} BETWEEN {int(first)} AND {int(last)}"
    if first.startswith("XXXX-") and last.startswith("XXXX-") and len(first) == len(last):
        form = "%m-%d" if first.count("-") > 1 else "%m"
        return f"strftime({name}, '{form}') BETWEEN '{first[5:]}' AND '{last[5:]}'"
    if "X" in first[:4] or "X" in last[:4]:
        raise UnclearError(first)
    return f"({name} >= DATE '{_bounds(first)[0]}' AND {name} < DATE '{_bounds(last)[1]}')"


def dated(column: ColumnInfo, period: str, kind: str) -> str:
    """Return that a date is in a period, or after, before, since or until it."""
    if not kind:
        return in_period(column, period)
    if "X" in period or kind == "between":
        raise UnclearError(period)
    name = quoted(column.name)
    if column.kind == "number":
        return f"{name} {({'after': '>', 'over': '>', 'since': '>=', 'until': '<='}).get(kind, '<')} {int(period)}"
    first, end = _bounds(period)
    sign, day = {"after": (">=", end), "over": (">=", end), "since": (">=", first), "until": ("<", end)}.get(
        kind, ("<", first))
    return f"{name} {sign} DATE '{day}'"
