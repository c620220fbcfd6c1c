"""Relative dates in English: "yesterday", "three weeks ago", "next Friday", "the end of last month"."""

from collections.abc import Callable
from datetime import timedelta

from . import said_dates
from .dates import MONTHS
from .lexicon import WORDS
from .said_dates import MONTHS_A_YEAR, Said, Unit, around, dated, edge, quarter, shift

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
_DAY_NAME = _WEEKDAY.replace("?P<weekday>", "?:")
# "this may include" names no month.
_MONTH = (r"(?P<month>January|February|(?-i:March|MARCH|May|MAY)|April|June|July|August|September|October|November"
          r"|December)")
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_AFTER_MONTH = _DAY.replace("<day>", "<date>")
_SIDES = {"last": -1, "this": 0, "the current": 0, "next": 1, "the coming": 1, "before last": -2, "after next": 2}
_SIDE = r"(?<!\bthe )\b(?P<side>last|this|next)"
_NUMBERS = {word: number for number, words in enumerate((
    "", "a an one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"))
    for word in words.split()}
_NUMBER = rf"(?P<number>\d{{1,2}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_LENGTH = (rf"(?:{_NUMBER} (?P<unit>day|fortnight|week|month|quarter|year)s?(?P<half> and a half)?"
           r"|(?P<halfyear>half a year))")
_NTH = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_HALF = r"the (?P<half>first|second) half"
_QUARTER = r"(?:Q(?P<quarter>[1-4])|(?:the )?(?P<nth>first|second|third|fourth) quarter)"
_SHIFTS = {"the day before yesterday": -2, "yesterday": -1, "last night": -1, "tomorrow": 1,
           "the day after tomorrow": 2}
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)"
_AFTER_WINTER = range(3, 9)
_HOLIDAYS = {"new year's day": (1, 1), "valentine's day": (2, 14), "halloween": (10, 31), "christmas eve": (12, 24),
             "christmas": (12, 25), "boxing day": (12, 26), "new year's eve": (12, 31)}
_HOLIDAY = rf"(?P<holiday>{'|'.join(sorted(_HOLIDAYS, key=len, reverse=True))})".replace("'", "['’]")
_SATURDAY = 5
_STALE = ("world", "society", "economy", "standards", "technology", "market", "youth", "terms", "language")
"""What "today's" stands before where it means these times."""
_LASTING = WORDS["lasting"]
"""Words beside which "in two weeks" says how long something takes."""


def _read_length(said: Said, sign: int) -> str:
    """Return the period that is some units away: the month of "two months ago", the day of "a week ago today"."""
    unit, count = _length(said)
    return around("day" if said.part("exact") else unit, shift(unit, said.day, sign * count)) if count else ""


def _length(said: Said) -> tuple[Unit, int]:
    """Return the unit and number of a length of time such as "two weeks"; 0 if it is vague."""
    if said.is_vague:
        return "day", 0
    if said.part("halfyear"):
        return "month", MONTHS_A_YEAR // 2
    number, unit = said.part("number"), said.part("unit")
    count = int(number) if number.isdecimal() else _NUMBERS[number]
    if said.part("half"):
        return "month", count * MONTHS_A_YEAR + MONTHS_A_YEAR // 2 if unit == "year" else 0
    return ("day", 14 * count) if unit == "fortnight" else (said.unit(), count)


def _read_within(said: Said) -> str:
    """Read "in two months", unless it may say how long something takes."""
    words = said.match.string[said.sentence()[0]:said.match.start()].lower().split()
    is_single = said.part("number") in ("a", "an", "one")
    if said_dates.past_tense_before(said) or not _LASTING.isdisjoint(words) or (is_single and said.tense() != "future"):
        return ""
    return _read_length(said, 1)


def _read_rolling(said: Said) -> str:
    """Read "the past two weeks": the days until now."""
    number = said.part("number")  # "over the past two weeks" is not vague, as "over two weeks ago" is
    return f"{shift(said.unit(), said.day, -(_NUMBERS.get(number) or int(number)))}/{said.day}"


def _read_period(said: Said) -> str:
    """Read "last month", "the week after next"."""
    side, unit = said.part("side"), said.unit()
    if unit == "weekend" and side == "next":  # of this week or of the next one
        return ""
    return around(unit, shift(unit, said.day, _SIDES[side]))


def _read_edge(said: Said) -> str:
    """Read "the end of last month", "by the end of the year"."""
    if not said.part("side") and said.tense() == "past":
        return ""
    day = shift(said.unit(), said.day, _SIDES.get(said.part("side"), 0))
    return edge(said.unit(), day, is_end=said.part("edge") == "end")


def _read_day_of_week(said: Said) -> str:
    """Read "Friday last week"."""
    monday = said.day - timedelta(said.day.weekday())
    return around("day", monday + timedelta(_SIDES[said.part("side")] * said_dates.DAYS_A_WEEK
                                            + _WEEKDAYS.index(said.part("weekday"))))


def _read_year_part(said: Said) -> str:
    """Read "in March last year", "Q3 last year", "the first half of this year"."""
    year = said.day.year + _SIDES[said.part("side")]
    if month := said.part("month"):
        return dated(year, MONTHS[month], int(said.part("day") or said.part("date") or 0))
    if name := said.part("season"):
        return said_dates.season(year, name) if name != "winter" else ""
    if half := said.part("half"):
        return quarter(year, _NTH[half], 2 * said_dates.MONTHS_A_QUARTER)
    return quarter(year, int(said.part("quarter") or _NTH[said.part("nth")]))


def _read_day_of_month(said: Said) -> str:
    """Read "the 5th of last month"."""
    month = shift("month", said.day, _SIDES[said.part("side")])
    return dated(month.year, month.month, int(said.part("day")))


def _read_month(said: Said) -> str:
    """Read "last March", and "in March" by the tense."""
    month, side = MONTHS[said.part("month")], said.part("side")
    if side == "this":
        return dated(said.day.year, month)
    tense = {"last": "past", "next": "future"}.get(side) or said.tense()
    is_other_year = month > said.day.month if tense == "past" else month < said.day.month
    if tense is None or month == said.day.month or (side and not is_other_year):  # that of this year or the other one
        return ""
    return dated(said.day.year + is_other_year * (-1 if tense == "past" else 1), month)


def _read_season(said: Said) -> str:
    """Read "next spring", if that is in another year than this one, and so has one reading."""
    name, side, month = said.part("season"), said.part("side"), said.day.month
    if name == "winter":  # it has parts of two years
        year = {"last": said.day.year - 1 if month in _AFTER_WINTER else 0,
                "next": said.day.year if month in _AFTER_WINTER else 0}.get(side, 0)
        return said_dates.season(year, name) if year else ""
    if side == "this":
        return said_dates.season(said.day.year, name)
    first = int(said_dates.season(said.day.year, name)[5:7])
    is_other_year = first > month if side == "last" else first + 2 < month
    return said_dates.season(said.day.year + _SIDES[side], name) if is_other_year else ""


def _read_holiday(said: Said) -> str:
    """Read "last Christmas", if it is in another year than this one, and "this Christmas"."""
    month, day = _HOLIDAYS[said.part("holiday").replace("’", "'")]
    side = said.part("side")
    passed = (month, day) < (said.day.month, said.day.day)
    if side != "this" and passed == (side == "last"):
        return ""
    return dated(said.day.year + _SIDES[side], month, day)


def _read_weekend(said: Said) -> str:
    """Read "at the weekend" by the tense; on a weekend it may be this one or another."""
    tense = said.tense()
    if tense is None or said.day.weekday() >= _SATURDAY:
        return ""
    return around("weekend", shift("week", said.day, -1 if tense == "past" else 0))


def _read_bare_day(said: Said) -> str:
    """Read "5 March", "on the 5th" by the tense."""
    month = said.part("month")
    return said_dates.on_day(said, MONTHS[month] if month else 0, int(said.part("day") or said.part("date")))


def _ignore(_: Said) -> str:
    """Read nothing: the words have others in them that would be a date alone."""
    return ""


FORMS: tuple[tuple[str, Callable[[Said], str]], ...] = (
    (rf"\b{_LENGTH} (?:from|before|after) (?:the |last |next )?(?:yesterday|tomorrow|{_WEEKDAY})", _ignore),
    (rf"\bthe (?:day|night|week) (?:before|after) (?:last |next )?{_WEEKDAY}", _ignore),
    (rf"\b(?:every|each|any|good|black|ash|cyber|between|the (?:first|last|next|previous)) {_WEEKDAY}", _ignore),
    (rf"\b(?:\d(?:st|nd|rd|th)|second|third|fourth|fifth) {_WEEKDAY}", _ignore),
    (rf"{_DAY_NAME}(?: ?[-–—/] ?| to | through | and ){_DAY_NAME}", _ignore),
    (rf"{_DAY_NAME}(?:,? (?:before|after) (?:last|next)| week\b|(?=,? (?:the )?(?:\d|{_MONTH})))", _ignore),
    (rf"\b(?:last|next|this) (?:{_DAY_NAME}|week|year|month|quarter) (?:of|before|after)(?! (?:last|this|next))\b",
     _ignore),
    (rf"\btoday['’]s (?:{'|'.join(_STALE)})", _ignore),
    (rf"\b(?:{'|'.join(_SHIFTS)}|today|tonight|this (?:morning|afternoon|evening))\b",
     lambda said: around("day", said.day + timedelta(_SHIFTS.get(said.match[0].lower(), 0)))),
    (rf"\b{_LENGTH} ago(?P<exact> today)?\b(?! (?:on )?{_WEEKDAY})", lambda said: _read_length(said, -1)),
    (rf"\b(?:in )?{_LENGTH}(?: from (?:now|today)|(?:['’]s?)? time)\b", lambda said: _read_length(said, 1)),
    (rf"\bin {_LENGTH}\b(?! of\b)", _read_within),
    (rf"\b(?:the|these) (?:last|past) {_NUMBER} (?P<unit>day|week)s\b", _read_rolling),
    (rf"{_SIDE} (?P<unit>week|weekend|month|quarter|year)\b(?! and a half| or )", _read_period),
    (r"\b(?:in|during) the (?P<side>last|next) (?P<unit>quarter)\b(?! of)", _read_period),
    (r"\b(?:at|on|over) the weekend\b", _read_weekend),
    (rf"{_SIDE} {_SEASON}\b", _read_season),
    (rf"{_SIDE} {_HOLIDAY}\b(?! eve)", _read_holiday),
    (r"\b(?P<side>the current|the coming) (?P<unit>week|month|quarter|year)\b", _read_period),
    (r"\bthe (?P<unit>week|month|quarter|year) (?P<side>before last|after next)\b(?! (?:week|month|year))",
     _read_period),
    (rf"\b(?P<edge>beginning|start|end) of {_SIDE} (?P<unit>month|quarter|year)\b(?! of|,? \d)", _read_edge),
    (r"\b(?:by|until|till|before|at) the (?P<edge>end) of the (?P<unit>month|quarter|year)\b(?! of|,? \d)", _read_edge),
    (rf"{_WEEKDAY} (?:of )?{_SIDE} week\b", _read_day_of_week),
    (rf"{_SIDE} week(?:['’]s| on)? {_WEEKDAY}", _read_day_of_week),
    (rf"\b(?:(?P<side>last|next|this coming|the coming|coming|this past|past|this) )?{_WEEKDAY}",
     lambda said: said_dates.on_weekday(said, _WEEKDAYS.index(said.part("weekday")), said.part("side"))),
    (rf"\b(?:(?:{_DAY} )?{_MONTH}(?: {_AFTER_MONTH})?|{_QUARTER}|{_HALF}|{_SEASON}) (?:of )?{_SIDE} year\b",
     _read_year_part),
    (rf"\bthe {_DAY} (?:of )?{_SIDE} month\b", _read_day_of_month),
    (rf"\b(?:(?:in|by|since|until|early|late) |(?P<side>last|next|this) ){_MONTH}\b(?!,? \d| of| \w{{4}} year)",
     _read_month),
    (rf"\b{_DAY} {_MONTH}\b(?!,? ?\d)", _read_bare_day),
    (rf"\b{_MONTH} {_AFTER_MONTH}\b(?!,? ?\d|%|:)", _read_bare_day),
    (r"\b(?:on|by) the (?P<day>\d{1,2})(?:st|nd|rd|th)\b(?! (?:of|\w+ (?:of|anniversary|floor|birthday)))",
     _read_bare_day))
"""The forms, each with what reads it; of those that begin at the same place, the longest is read."""
