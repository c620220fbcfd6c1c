"""Relative dates as they stand in a text: the tense of their clause, and the days and periods that they mean."""

import re
from calendar import monthrange
from datetime import date, timedelta
from typing import Literal, NamedTuple

Tense = Literal["past", "future"]
Unit = Literal["day", "week", "weekend", "month", "quarter", "year"]

DAYS_A_WEEK, MONTHS_A_YEAR, MONTHS_A_QUARTER = 7, 12, 3
_SATURDAY = 5
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}
"""The first month of each season."""
_LOOKED_BACK = 30

_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？；;\n]")
_CLAUSE_END = re.compile(r"[,，:：;；()（）]| (?:and|but|while|so|then) ")
_PAST = re.compile(
    r"\b(?:was|were|had|did|went|met|sent|saw|said|told|took|got|came|made|gave|left|began|found|held|spoke|wrote|"
    r"bought|brought|thought|paid|ran|lost|won|became|felt|heard|broke|built|chose|fell|flew|kept|knew|sold|spent|"
    r"(?!need|exceed|proceed|indeed|succeed|hundred)(?<!be )(?<!is )(?<!are )(?-i:[a-z]{2,12}(?<!e)ed)|agreed)\b"
    r"|了|已经?|曾|(?<=[\u4e00-\u9fff])过(?![程渡期于])", re.IGNORECASE)
_FUTURE = re.compile(
    r"\b(?:will|shall|won['’]t|going to|due|deadline|scheduled|planned|expected|upcoming|let['’]s|please|must|should|"
    r"needs? to|wants? to|hopes? to|plans? to|can we|could we)\b|['’]ll\b"
    r"|将|(?<![开了大年周例晚聚])会(?=[\u4e00-\u9fff])(?![议员上后面计])|要|计划|预计|定于|拟|准备|打算|请|务必",
    re.IGNORECASE)
_DEADLINE = re.compile(r"\b(?:by|no later than) $", re.IGNORECASE)
_MOVED = re.compile(r"\b(?:to|until|till|for|by|before|from) (?:the )?$|[到至为于]$"
                    r"|\b(?:until|till|adjourn|postpon|resched|moved?\b|shifted|deferred|brought forward)|推迟|延期"
                    r"|改[到在为]", re.IGNORECASE)
_DAY_NAME = re.compile(r"(?P<day>mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\.?,? (?:the )?$"
                       r"|(?:星期|周)(?P<han>[一二三四五六日天])[，,]?$", re.IGNORECASE)
_DAY_NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_INFINITIVE = re.compile(r"\bto (?!the\b|an?\b|my\b|our\b|his\b|her\b)[a-z]{2,}", re.IGNORECASE)
_VAGUE = re.compile(
    r"(?:\b(?:about|around|almost|nearly|over|roughly|approximately|some|than|least|most|or|to|perhaps|one|within|every"
    r"|first|once|twice|times) |half |[\d.,–-]|大概|差不多|左右|不到|超过|至少|将近)$", re.IGNORECASE)


class Said(NamedTuple):
    """A relative date as it stands in a text: its words, and the day on which they were said."""

    match: re.Match[str]
    day: date

    def part(self, name: str) -> str:
        """Return a named part of the words in lower case; "" if they do not have it."""
        return (self.match.groupdict().get(name) or "").lower()

    def unit(self) -> Unit:
        """Return the part that is named "unit"."""
        unit: Unit = self.part("unit")  # type: ignore[assignment]
        return unit

    @property
    def before(self) -> str:
        """The text before the words, as far as is read."""
        return self.match.string[max(0, self.match.start() - _LOOKED_BACK):self.match.start()]

    @property
    def is_vague(self) -> bool:
        """Whether the words before make a length of time vague: "about two years ago"."""
        return _VAGUE.search(self.before) is not None

    def sentence(self) -> tuple[int, int]:
        """Return where the sentence around the words begins and ends."""
        text = self.match.string
        begin = max((found.end() for found in _SENTENCE_END.finditer(text, 0, self.match.start())), default=0)
        return begin, next((found.start() for found in _SENTENCE_END.finditer(text, self.match.end())), len(text))

    def tense(self) -> Tense | None:
        """Return the tense of the clause, or else of the sentence; None if it has none or both."""
        text, start, end = self.match.string, self.match.start(), self.match.end()
        begin, stop = self.sentence()
        clause_begin = max((found.end() for found in _CLAUSE_END.finditer(text, begin, start)), default=begin)
        clause_stop = next((found.start() for found in _CLAUSE_END.finditer(text, end, stop)), stop)
        for first, last in ((clause_begin, clause_stop), (begin, stop)):
            words = f"{text[first:start]}\0{text[end:last]}"
            is_past, is_future = _PAST.search(words), _FUTURE.search(words) or _DEADLINE.search(text[first:start])
            if is_past and is_future:
                return None
            if is_past:  # "was moved to Friday", "agreed to meet on Friday"
                return None if _MOVED.search(text[first:start]) or _INFINITIVE.search(words) else "past"
            if is_future:
                return "future"
        return None


def around(unit: Unit, day: date) -> str:
    """Return the period of a kind that has a day."""
    if unit == "day":
        return day.isoformat()
    if unit in ("week", "weekend"):
        monday = day - timedelta(day.weekday())
        first = monday + timedelta(_SATURDAY if unit == "weekend" else 0)
        return f"{first}/{monday + timedelta(DAYS_A_WEEK - 1)}"
    if unit == "quarter":
        return quarter(day.year, (day.month - 1) // MONTHS_A_QUARTER + 1)
    return day.isoformat()[:len("2024-03" if unit == "month" else "2024")]


def quarter(year: int, number: int, months: int = MONTHS_A_QUARTER) -> str:
    """Return the quarter of a year by its number; with six months, the half."""
    return f"{year}-{(number - 1) * months + 1:02d}/{year}-{number * months:02d}"


def shift(unit: Unit, day: date, count: int) -> date:
    """Return the day that is so many units later; of a shorter month, its last day."""
    if unit in ("day", "week", "weekend"):
        return day + timedelta(count * (1 if unit == "day" else DAYS_A_WEEK))
    months = count * {"month": 1, "quarter": MONTHS_A_QUARTER, "year": MONTHS_A_YEAR}[unit]
    year, month = divmod(day.year * MONTHS_A_YEAR + day.month - 1 + months, MONTHS_A_YEAR)
    return date(year, month + 1, min(day.day, last_day(year, month + 1)))


def edge(unit: str, day: date, *, is_end: bool) -> str:
    """Return the first or last day of a month, quarter or year around a day."""
    if unit == "year":
        return f"{day.year}-12-31" if is_end else f"{day.year}-01-01"
    first, _, last = around("quarter" if unit == "quarter" else "month", day).partition("/")
    year, month = map(int, (last or first if is_end else first).split("-"))
    return f"{year}-{month:02d}-{last_day(year, month) if is_end else 1:02d}"


def last_day(year: int, month: int) -> int:
    """Return the number of days of a month."""
    return monthrange(year, month)[1]


def dated(year: int, month: int, day: int = 0) -> str:
    """Return a month, or a day of it; "" if there is none."""
    if not 1 <= month <= MONTHS_A_YEAR or day > last_day(year, month):
        return ""
    return f"{year}-{month:02d}" + (f"-{day:02d}" if day else "")


def season(year: int, name: str) -> str:
    """Return a meteorological season of the northern half of the world; the winter that begins in a year."""
    first = _SEASONS[name]
    return f"{year}-12/{year + 1}-02" if first == MONTHS_A_YEAR else f"{year}-{first:02d}/{year}-{first + 2:02d}"


def past_tense_before(said: Said) -> bool:
    """Return True if the sentence speaks of the past before the words."""
    return _PAST.search(said.match.string, said.sentence()[0], said.match.start()) is not None


def on_weekday(said: Said, weekday: int, side: str) -> str:
    """Return the day of a weekday; "" if the words have two readings."""
    in_week = said.day + timedelta(weekday - said.day.weekday())
    if side == "this":
        return around("day", in_week) if in_week > said.day else ""
    is_next = side == "next"
    if is_next or side == "last":  # that of the next or last week, if it is also the nearest one
        is_certain = weekday <= said.day.weekday() if is_next else weekday >= said.day.weekday()
        return around("day", in_week + timedelta(DAYS_A_WEEK * (1 if is_next else -1))) if is_certain else ""
    tense = ("past" if "past" in side else "future") if side else said.tense()
    if tense is None or (in_week == said.day and not side):
        return ""
    weeks = int(in_week <= said.day) if tense == "future" else -int(in_week >= said.day)
    return around("day", in_week + timedelta(DAYS_A_WEEK * weeks))


def on_day(said: Said, month: int, day: int) -> str:
    """Return the last or next day with a number, of any month if that is 0, by the weekday before it or the tense."""
    tense = said.tense()
    unit: Unit = "year" if month else "month"
    near = (shift(unit, said.day.replace(day=1), count) for count in (-1, 0, 1))
    texts = (dated(one.year, month or one.month, day) for one in near)
    days = [text for text in texts if text and text != said.day.isoformat()]
    if named := _DAY_NAME.search(said.before):
        wanted = (_DAY_NAMES.index(named["day"].lower()) if named["day"]
                  else "一二三四五六日".index(named["han"].replace("天", "日")))
        days = [text for text in days if date.fromisoformat(text).weekday() == wanted]
        is_past = days[0] < said.day.isoformat() if days else None
        return days[0] if len(days) == 1 and tense != ("future" if is_past else "past") else ""
    if tense == "past":
        return max((text for text in days if text < said.day.isoformat()), default="")
    return min((text for text in days if text > said.day.isoformat()), default="") if tense else ""
