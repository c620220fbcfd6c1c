"""What relative dates mean: "yesterday", "the end of last month", 三天前, by the day on which they were said.

`relative_dates.toml` has their forms in English and Chinese as data, and this module the functions that read them. Each
returns the day or period that is meant, in ISO 8601, or "" where the words have several readings.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from functools import partial
from typing import Literal, NamedTuple

from .dates import MONTHS
from .lexicon import WORDS, read_patterns
from .scripts import han_value

Unit = Literal["day", "week", "weekend", "month", "quarter", "half", "year"]
Tense = Literal["past", "future"]

_DATA = read_patterns("relative_dates.toml")
_VALUES: dict[str, dict[str, int]] = {**_DATA["values"], "month": MONTHS}
_UNITS: dict[str, tuple[Unit, int]] = _DATA["calendar"]["units"]
_SEASONS: dict[str, int] = _DATA["calendar"]["seasons"]  # the first month of each
_HOLIDAYS: dict[str, tuple[int, int]] = _DATA["calendar"]["holidays"]
_CLAUSES = {name: re.compile(form, re.IGNORECASE) for name, form in _DATA["clauses"].items()}
_LASTING = WORDS["lasting"]  # words beside which "in two weeks" says how long something takes
_MONTHS_IN: dict[Unit, int] = {"month": 1, "quarter": 3, "half": 6, "year": 12}
_WEEK = timedelta(7)
_SATURDAY = 5
_A_YEAR, _A_SEASON = 12, 3  # months
_AFTER_WINTER = range(3, 9)  # the months in which the last winter is over, and the next one not near yet
_LOOKED_BACK = 30  # the characters before a date that may say its weekday, or make it vague


class Phrase(NamedTuple):
    """A relative date as it stands in a text: its words, and the day on which they were said."""

    match: re.Match[str]
    day: date

    def part(self, name: str) -> str:
        """Return a named group of the words in lower case; "" if they do not have it."""
        return (self.match.groupdict().get(name) or "").lower().replace("’", "'")

    def number(self, name: str) -> int:
        """Return the number that a named group means; 0 if the words do not have it."""
        word, known = self.part(name), _VALUES.get(name, {})
        if not word or word in known:
            return known.get(word, 0)
        return int(word) if word.isdecimal() else han_value(word)

    @property
    def before(self) -> str:
        """The text right before the words."""
        return self.match.string[max(0, self.match.start() - _LOOKED_BACK):self.match.start()]

    def bounds(self, end: str, within: tuple[int, int] | None = None) -> tuple[int, int]:
        """Return where the part of a text around the words begins and ends; `end` names the form of what ends parts."""
        text, form = self.match.string, _CLAUSES[end]
        first, last = within or (0, len(text))
        begin = max((found.end() for found in form.finditer(text, first, self.match.start())), default=first)
        return begin, next((found.start() for found in form.finditer(text, self.match.end(), last)), last)

    def tense(self) -> Tense | None:
        """Return the tense of the clause, or else of the sentence; None if it has none or both."""
        text, start, end = self.match.string, self.match.start(), self.match.end()
        sentence = self.bounds("sentence_end")
        for first, last in (self.bounds("clause_end", sentence), sentence):
            # Without the date's own words, such as "last", which say no tense.
            before, words = text[first:start], f"{text[first:start]}\0{text[end:last]}"
            is_past = _CLAUSES["past"].search(words) is not None
            is_future = _CLAUSES["future"].search(words) or _CLAUSES["deadline"].search(before)
            if is_past and is_future:
                return None
            if is_past:
                # "Was moved to Friday" and "agreed to meet on Friday" leave open whether Friday is past.
                is_open = _CLAUSES["moved"].search(before) or _CLAUSES["infinitive"].search(words)
                return None if is_open else "past"
            if is_future:
                return "future"
        return None


def _period(unit: Unit, day: date) -> str:
    """Return a day, or the week, month or other period in which it is."""
    if unit == "day":
        return day.isoformat()
    if unit in ("week", "weekend"):
        monday = day - timedelta(day.weekday())
        first = monday + timedelta(_SATURDAY if unit == "weekend" else 0)
        return f"{first}/{monday + timedelta(6)}"
    months = _MONTHS_IN[unit]
    return _months(day.year, (day.month - 1) // months * months + 1, months)


def _months(year: int, first: int, count: int) -> str:
    """Return so many months from the `first` one of a year on: a month, a year, or a period such as a quarter."""
    if count == _A_YEAR:
        return str(year)
    month = f"{year}-{first:02d}"
    years_later, last = divmod(first + count - 2, _A_YEAR)  # `last` counts from 0
    return month if count == 1 else f"{month}/{year + years_later}-{last + 1:02d}"


def _shift(unit: Unit, day: date, count: int) -> date:
    """Return the day that is so many units later; of a shorter month, its last day."""
    if unit in ("day", "week", "weekend"):
        return day + count * (timedelta(1) if unit == "day" else _WEEK)
    year, month = divmod(day.year * _A_YEAR + day.month - 1 + count * _MONTHS_IN[unit], _A_YEAR)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _dated(year: int, month: int, day: int = 0) -> str:
    """Return a month, or a day of it; "" if there is none."""
    if not 1 <= month <= _A_YEAR or day > monthrange(year, month)[1]:
        return ""
    return f"{year}-{month:02d}" + (f"-{day:02d}" if day else "")


def _nearest(day: date, periods: Iterable[str], tense: Tense | None) -> str:
    """Return the last of some periods that are over on a day, or the first that is to come; "" without a tense."""
    today = day.isoformat()
    if tense == "past":
        return max((one for one in periods if one < today and not today.startswith(one)), default="")
    return min((one for one in periods if one > today), default="") if tense else ""


def _by_tense(phrase: Phrase, periods: Iterable[str]) -> str:
    """Return the nearest period by the tense; "" if it is now, as the words may then mean another one."""
    listed = list(filter(None, periods))
    return "" if any(map(phrase.day.isoformat().startswith, listed)) else _nearest(phrase.day, listed, phrase.tense())


def _read_length(phrase: Phrase, *, sign: int) -> str:
    """Read "two months ago" as that month, and "a week ago today" as that day."""
    if _CLAUSES["vague"].search(phrase.before):
        return ""
    unit: Unit = "month"
    if phrase.part("half") or phrase.part("half_year"):  # "a year and a half", "half a year"
        count = _A_YEAR * phrase.number("number") + _A_YEAR // 2
    else:
        unit, size = _UNITS[phrase.part("unit")]
        count = size * phrase.number("number")
    return _period("day" if phrase.part("exact") else unit, _shift(unit, phrase.day, sign * count))


def _read_within(phrase: Phrase) -> str:
    """Read "in two months", unless it may say how long something takes."""
    before = phrase.match.string[phrase.bounds("sentence_end")[0]:phrase.match.start()]  # in its sentence
    says_length = not _LASTING.isdisjoint(before.lower().split())
    # "In a week" is often said of any week: "twice in a week".
    may_be_any = phrase.part("number") in {"a", "an", "one"} and phrase.tense() != "future"
    if _CLAUSES["past"].search(before) or says_length or may_be_any:
        return ""
    return _read_length(phrase, sign=1)


def _read_period(phrase: Phrase) -> str:
    """Read "last month", 明年三月, and days and parts of such periods: "Friday next week", "the end of the year"."""
    unit, _ = _UNITS[phrase.part("unit")]
    day = _shift(unit, phrase.day, phrase.number("side"))
    if phrase.part("weekday"):
        return _period("day", day + timedelta(phrase.number("weekday") - day.weekday()))
    if month := phrase.number("month"):
        if month > _A_YEAR:
            return ""
        unit, day = "month", date(day.year, month, 1)
    if phrase.part("edge"):
        if not phrase.part("side") and phrase.tense() == "past":  # "by the end of the year" of a story
            return ""
        first = day.replace(month=(day.month - 1) // _MONTHS_IN[unit] * _MONTHS_IN[unit] + 1, day=1)
        is_end = phrase.number("edge") == 1
        return _period("day", _shift(unit, first, 1) - timedelta(1) if is_end else first)
    if third := phrase.part("third"):  # of ten days each: 上旬
        begin, end = {"上": (1, 10), "中": (11, 20), "下": (21, monthrange(day.year, day.month)[1])}[third]
        return f"{day.replace(day=begin)}/{day.replace(day=end)}"
    if number := phrase.number("day") or phrase.number("day_after"):
        return _dated(day.year, day.month, number)
    return _read_part_of_year(phrase, day.year) or _period("day" if phrase.part("exact") else unit, day)


def _read_part_of_year(phrase: Phrase, year: int) -> str:
    """Return the season (of the north), holiday, half or quarter of a year that the words name; "" if none."""
    if name := phrase.part("season"):
        return _months(year, _SEASONS[name], _A_SEASON)
    if name := phrase.part("holiday"):
        return _dated(year, *_HOLIDAYS[name])
    if half := phrase.number("half"):
        return _period("half", date(year, 6 * half, 1))
    quarter = phrase.number("quarter") or phrase.number("nth_quarter")
    return _period("quarter", date(year, 3 * quarter, 1)) if quarter else ""


def _read_in_year(phrase: Phrase) -> str:
    """Read "last March", "next spring", "last Christmas", where that of this year is certainly another one."""
    side, season, year = phrase.part("side"), phrase.part("season"), phrase.day.year + phrase.number("side")
    if season == "winter":  # it has parts of two years, so it has one reading only between two winters
        has_one_reading = side != "this" and phrase.day.month in _AFTER_WINTER
        return _read_part_of_year(phrase, phrase.day.year - (side == "last")) if has_one_reading else ""
    if holiday := phrase.part("holiday"):
        begin = end = tuple(_HOLIDAYS[holiday])
    else:
        month = _SEASONS[season] if season else phrase.number("month")
        begin, end = (month, 1), (month + (_A_SEASON - 1 if season else 0), 31)
    today = phrase.day.month, phrase.day.day
    # In May "last March" may be that of this year, and "next June" too.
    if (side == "last" and today >= begin) or (side == "next" and today <= end):
        return ""
    return _read_part_of_year(phrase, year) or _dated(year, begin[0])


def _read_weekday(phrase: Phrase) -> str:
    """Read "last Friday", if that of the last week is also the nearest one, and "on Friday" by the tense."""
    this = phrase.day + timedelta(phrase.number("weekday") - phrase.day.weekday())
    days = [_period("day", this + weeks * _WEEK) for weeks in (-1, 0, 1)]  # of the last, this and the next week
    side = phrase.part("side")  # "last", "next", "this", "past", "this past", "coming" and the like, or ""
    # Else "next Friday" may also mean the one of this week, which is still to come.
    is_certain = {"last": this >= phrase.day, "this": this > phrase.day, "next": this <= phrase.day}
    if side in is_certain:
        return days[1 + phrase.number("side")] if is_certain[side] else ""
    return _nearest(phrase.day, days, "past" if "past" in side else "future") if side else _by_tense(phrase, days)


def _read_day_of_month(phrase: Phrase) -> str:
    """Read "5 March" and "on the 5th" as the last or next such day, by the weekday before it or the tense."""
    today, month = phrase.day.isoformat(), phrase.number("month")
    number = phrase.number("day") or phrase.number("day_after")
    # In the last, this and the next month, or year; "" stands for a day that a month does not have.
    periods = (_shift("year" if month else "month", phrase.day.replace(day=1), count) for count in (-1, 0, 1))
    days = [_dated(one.year, month or one.month, number) for one in periods]
    named = _CLAUSES["weekday_before"].search(phrase.before)
    if named is None:
        return _by_tense(phrase, days)
    weekday = _VALUES["weekday"][(named["weekday"] or named["han"]).lower()]
    fitting = [day for day in days if day not in {"", today} and date.fromisoformat(day).weekday() == weekday]
    contrary_tense = "future" if fitting and fitting[0] < today else "past"
    return fitting[0] if len(fitting) == 1 and phrase.tense() != contrary_tense else ""


_READERS: dict[str, Callable[[Phrase], str]] = {
    "nothing": lambda _: "",
    # "Yesterday", 大后天: "shift" is the number of days from the day of the words.
    "day": lambda phrase: _period("day", phrase.day + timedelta(phrase.number("shift"))),
    "ago": partial(_read_length, sign=-1), "ahead": partial(_read_length, sign=1), "within": _read_within,
    # 两周后, which in the past is after something else.
    "after": lambda phrase: "" if phrase.tense() == "past" else _read_length(phrase, sign=1),
    # "The past two weeks": the days until now.
    "rolling": lambda phrase: f"{_shift(_UNITS[phrase.part('unit')][0], phrase.day, -phrase.number('number'))}/"
                              f"{phrase.day}",
    "period": _read_period, "in_year": _read_in_year, "weekday": _read_weekday, "day_of_month": _read_day_of_month,
    # "In March".
    "month": lambda phrase: _by_tense(
        phrase, (_dated(phrase.day.year + years, phrase.number("month")) for years in (-1, 0, 1))),
    # "At the weekend", which on a weekend may be this one or another.
    "weekend": lambda phrase: "" if phrase.day.weekday() >= _SATURDAY else _nearest(
        phrase.day, (_period("weekend", phrase.day + weeks * _WEEK) for weeks in (-1, 0)), phrase.tense())}

FORMS = [(re.compile(form, re.IGNORECASE), _READERS[reader]) for reader, form in _DATA["forms"]]
"""Each form with the function that reads it; of those that begin at the same place, the longest is read."""
