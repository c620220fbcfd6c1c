"""What relative dates mean: "yesterday", "the end of last month", 三天前, by the day on which they were said.

`relative_dates.toml` has their forms in English and Chinese as data, and this module the functions that read them. Each
returns the day or period that is meant, in ISO 8601, or "" where the words have several readings.
"""

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from typing import Literal, NamedTuple

from .dates import MONTHS
from .lexicon import WORDS
from .patterns import read_patterns
from .scripts import han_value

Unit = Literal["day", "week", "weekend", "month", "quarter", "year"]

_DATA = read_patterns("relative_dates.toml")
_VALUES: dict[str, dict[str, int]] = {**_DATA["values"], "month": MONTHS}
_UNITS: dict[str, tuple[Unit, int]] = _DATA["calendar"]["units"]
_SEASONS: dict[str, int] = _DATA["calendar"]["seasons"]
_HOLIDAYS: dict[str, tuple[int, int]] = _DATA["calendar"]["holidays"]
_CLAUSES = {name: re.compile(form, re.IGNORECASE) for name, form in _DATA["clauses"].items()}
_LASTING = WORDS["lasting"]  # words beside which "in two weeks" says how long something takes
_DAYS_A_WEEK, _MONTHS_A_YEAR, _MONTHS_A_QUARTER = 7, 12, 3
_MONTHS_OF: dict[Unit, int] = {"month": 1, "quarter": _MONTHS_A_QUARTER, "year": _MONTHS_A_YEAR}
_SATURDAY = 5
_AFTER_WINTER = range(3, 9)  # the months in which the last winter is over and the next one is this year's
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

    def sentence(self) -> tuple[int, int]:
        """Return where the sentence around the words begins and ends."""
        return self._bounds(_CLAUSES["sentence_end"], 0, len(self.match.string))

    def _bounds(self, end: re.Pattern[str], first: int, last: int) -> tuple[int, int]:
        """Return where the part of a text around the words begins and ends, between the nearest matches of `end`."""
        text = self.match.string
        begin = max((found.end() for found in end.finditer(text, first, self.match.start())), default=first)
        return begin, next((found.start() for found in end.finditer(text, self.match.end(), last)), last)

    def tense(self) -> Literal["past", "future"] | None:
        """Return the tense of the clause, or else of the sentence; None if it has none or both."""
        text, start, end = self.match.string, self.match.start(), self.match.end()
        sentence = self.sentence()
        for first, last in (self._bounds(_CLAUSES["clause_end"], *sentence), sentence):
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


def _around(unit: Unit, day: date) -> str:
    """Return the week, month or other period in which a day is."""
    if unit == "day":
        return day.isoformat()
    if unit in ("week", "weekend"):
        monday = day - timedelta(day.weekday())
        first = monday + timedelta(_SATURDAY if unit == "weekend" else 0)
        return f"{first}/{monday + timedelta(_DAYS_A_WEEK - 1)}"
    if unit == "quarter":
        return _months_of(day.year, (day.month - 1) // _MONTHS_A_QUARTER + 1, _MONTHS_A_QUARTER)
    return day.isoformat()[:len("2024-03" if unit == "month" else "2024")]


def _months_of(year: int, number: int, count: int) -> str:
    """Return the quarter or half of a year with a number, counted from 1; `count` is how many months each has."""
    return f"{year}-{(number - 1) * count + 1:02d}/{year}-{number * count:02d}"


def _shift(unit: Unit, day: date, count: int) -> date:
    """Return the day that is so many units later; of a shorter month, its last day."""
    if unit in ("day", "week", "weekend"):
        return day + timedelta(count * (1 if unit == "day" else _DAYS_A_WEEK))
    months = day.year * _MONTHS_A_YEAR + day.month - 1 + count * _MONTHS_OF[unit]  # from the year 0
    year, month = divmod(months, _MONTHS_A_YEAR)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _edge(unit: Unit, day: date, *, is_end: bool) -> str:
    """Return the first or last day of the month, quarter or year around a day."""
    months = _MONTHS_OF[unit]
    first = (day.month - 1) // months * months + 1
    month = first + months - 1 if is_end else first
    return _dated(day.year, month, monthrange(day.year, month)[1] if is_end else 1)


def _dated(year: int, month: int, day: int = 0) -> str:
    """Return a month, or a day of it; "" if there is none."""
    if not 1 <= month <= _MONTHS_A_YEAR or day > monthrange(year, month)[1]:
        return ""
    return f"{year}-{month:02d}" + (f"-{day:02d}" if day else "")


def _season(year: int, name: str) -> str:
    """Return a meteorological season of the northern half of the world; the winter that begins in a year."""
    first = _SEASONS[name]
    return f"{year}-12/{year + 1}-02" if first == _MONTHS_A_YEAR else f"{year}-{first:02d}/{year}-{first + 2:02d}"


def _read_day(phrase: Phrase) -> str:
    """Read "yesterday", 大后天; the group "shift" means the number of days from the day of the words."""
    return _around("day", phrase.day + timedelta(phrase.number("shift")))


def _read_length(phrase: Phrase, *, sign: int) -> str:
    """Read "two months ago" as that month, and "a week ago today" as that day."""
    if _CLAUSES["vague"].search(phrase.before):
        return ""
    unit: Unit = "month"
    if phrase.part("half"):  # "a year and a half"
        count = _MONTHS_A_YEAR * phrase.number("number") + _MONTHS_A_YEAR // 2
    elif phrase.part("half_year"):  # "half a year"
        count = _MONTHS_A_YEAR // 2
    else:
        unit, size = _UNITS[phrase.part("unit")]
        count = size * phrase.number("number")
    return _around("day" if phrase.part("exact") else unit, _shift(unit, phrase.day, sign * count))


def _read_within(phrase: Phrase) -> str:
    """Read "in two months", unless it may say how long something takes."""
    before = phrase.match.string[phrase.sentence()[0]:phrase.match.start()]  # in its sentence
    says_length = not _LASTING.isdisjoint(before.lower().split())
    # "In a week" is often said of any week: "twice in a week".
    may_be_any = phrase.part("number") in {"a", "an", "one"} and phrase.tense() != "future"
    if _CLAUSES["past"].search(before) or says_length or may_be_any:
        return ""
    return _read_length(phrase, sign=1)


def _read_after(phrase: Phrase) -> str:
    """Read 两周后, which in the past is after something else."""
    return "" if phrase.tense() == "past" else _read_length(phrase, sign=1)


def _read_rolling(phrase: Phrase) -> str:
    """Read "the past two weeks": the days until now."""
    unit, _ = _UNITS[phrase.part("unit")]
    return f"{_shift(unit, phrase.day, -phrase.number('number'))}/{phrase.day}"


def _read_period(phrase: Phrase) -> str:
    """Read "last month", 明年三月, and days and parts of such periods: "Friday next week", "the end of the year"."""
    unit, _ = _UNITS[phrase.part("unit")]
    day = _shift(unit, phrase.day, phrase.number("side"))
    if phrase.part("weekday"):
        return _around("day", day + timedelta(phrase.number("weekday") - day.weekday()))
    if month := phrase.number("month"):
        if month > _MONTHS_A_YEAR:
            return ""
        unit, day = "month", date(day.year, month, 1)
    if phrase.part("edge"):
        if not phrase.part("side") and phrase.tense() == "past":  # "by the end of the year" of a story
            return ""
        return _edge(unit, day, is_end=phrase.number("edge") == 1)
    if third := phrase.part("third"):  # of ten days each: 上旬
        first, last = {"上": (1, 10), "中": (11, 20), "下": (21, monthrange(day.year, day.month)[1])}[third]
        return f"{day.replace(day=first)}/{day.replace(day=last)}"
    if number := phrase.number("day") or phrase.number("day_after"):
        return _dated(day.year, day.month, number)
    return _read_part_of_year(phrase, day.year) or _around("day" if phrase.part("exact") else unit, day)


def _read_part_of_year(phrase: Phrase, year: int) -> str:
    """Return the season, holiday, half or quarter of a year that the words name; "" if they name none."""
    if name := phrase.part("season"):
        return _season(year, name)
    if name := phrase.part("holiday"):
        return _dated(year, *_HOLIDAYS[name])
    if half := phrase.number("half"):
        return _months_of(year, half, _MONTHS_A_YEAR // 2)
    quarter = phrase.number("quarter") or phrase.number("nth_quarter")
    return _months_of(year, quarter, _MONTHS_A_QUARTER) if quarter else ""


def _read_in_year(phrase: Phrase) -> str:
    """Read "last March", "next spring", "last Christmas", where that of this year is certainly another one."""
    side, name, year = phrase.part("side"), phrase.part("season"), phrase.day.year + phrase.number("side")
    if name == "winter":  # it has parts of two years, so it has one reading only between two winters
        has_one_reading = side != "this" and phrase.day.month in _AFTER_WINTER
        return _season(phrase.day.year - (side == "last"), name) if has_one_reading else ""
    if holiday := phrase.part("holiday"):
        begin = end = tuple(_HOLIDAYS[holiday])
    else:
        month = _SEASONS[name] if name else phrase.number("month")
        begin, end = (month, 1), (month + (2 if name else 0), 31)
    today = phrase.day.month, phrase.day.day
    # In May "last March" may be that of this year, and "next June" too.
    if (side == "last" and today >= begin) or (side == "next" and today <= end):
        return ""
    return _read_part_of_year(phrase, year) or _dated(year, begin[0])


def _read_month(phrase: Phrase) -> str:
    """Read "in March" by the tense, unless it is March."""
    month, tense = phrase.number("month"), phrase.tense()
    if tense is None or month == phrase.day.month:
        return ""
    if tense == "past":
        return _dated(phrase.day.year - (month > phrase.day.month), month)
    return _dated(phrase.day.year + (month < phrase.day.month), month)


def _read_weekend(phrase: Phrase) -> str:
    """Read "at the weekend" by the tense; on a weekend it may be this one or another."""
    tense = phrase.tense()
    if tense is None or phrase.day.weekday() >= _SATURDAY:
        return ""
    return _around("weekend", _shift("week", phrase.day, -1 if tense == "past" else 0))


def _read_weekday(phrase: Phrase) -> str:
    """Read "last Friday", if that of the last week is also the nearest one, and "on Friday" by the tense."""
    weekday = phrase.number("weekday")
    side = phrase.part("side")  # "last", "next", "this", "past", "this past", "coming" and the like, or ""
    of_this_week = phrase.day + timedelta(weekday - phrase.day.weekday())
    if side == "this":
        return _around("day", of_this_week) if of_this_week > phrase.day else ""
    if side in ("last", "next"):
        # Else "next Friday" may also mean the one of this week, which is still to come.
        is_certain = of_this_week <= phrase.day if side == "next" else of_this_week >= phrase.day
        return _around("day", of_this_week + timedelta(_DAYS_A_WEEK * phrase.number("side"))) if is_certain else ""
    if not side and (phrase.tense() is None or of_this_week == phrase.day):
        return ""
    is_past = "past" in side if side else phrase.tense() == "past"
    weeks = -int(of_this_week >= phrase.day) if is_past else int(of_this_week <= phrase.day)
    return _around("day", of_this_week + timedelta(_DAYS_A_WEEK * weeks))


def _read_day_of_month(phrase: Phrase) -> str:
    """Read "5 March" and "on the 5th" as the last or next such day, by the weekday before it or the tense."""
    tense, today, month = phrase.tense(), phrase.day.isoformat(), phrase.number("month")
    unit: Unit = "year" if month else "month"
    number = phrase.number("day") or phrase.number("day_after")
    # In the last, this and the next month, or year; "" stands for a day that a month does not have.
    periods = (_shift(unit, phrase.day.replace(day=1), count) for count in (-1, 0, 1))
    days = [_dated(one.year, month or one.month, number) for one in periods]
    days = [day for day in days if day not in {"", today}]
    if named := _CLAUSES["weekday_before"].search(phrase.before):
        weekday = _VALUES["weekday"][(named["weekday"] or named["han"]).lower()]
        days = [day for day in days if date.fromisoformat(day).weekday() == weekday]
        contrary_tense = "future" if days and days[0] < today else "past"
        return days[0] if len(days) == 1 and tense != contrary_tense else ""
    if tense == "past":
        return max((day for day in days if day < today), default="")
    return min((day for day in days if day > today), default="") if tense else ""


_READERS: dict[str, Callable[[Phrase], str]] = {
    "nothing": lambda _: "", "day": _read_day, "ago": partial(_read_length, sign=-1),
    "ahead": partial(_read_length, sign=1), "within": _read_within, "after": _read_after, "rolling": _read_rolling,
    "period": _read_period, "in_year": _read_in_year, "month": _read_month, "weekend": _read_weekend,
    "weekday": _read_weekday, "day_of_month": _read_day_of_month}

FORMS = [(re.compile(form, re.IGNORECASE), _READERS[reader]) for reader, form in _DATA["forms"]]
"""Each form with the function that reads it; of those that begin at the same place, the longest is read."""
