"""Relative dates in Chinese: 昨天, 上周五, 下个月底, 去年三月, 三天前."""

import re
from collections.abc import Callable
from datetime import date, timedelta

from . import said_dates
from .said_dates import MONTHS_A_YEAR, Said, Unit, around, dated, edge, quarter, shift
from .scripts import han_value

_NUMBER = r"(?:[二三]?十[一二三四五六七八九]?|[一二两三四五六七八九]|\d{1,2})"
_UNITS: dict[str, Unit] = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month",
                           "季度": "quarter", "年": "year"}
_SIDES = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_SIDE = r"(?P<side>上上|下下|[上这本下])一?个?"
_DAYS = {"大前天": -3, "前天": -2, "前晚": -2, "昨": -1, "今": 0, "明": 1, "后天": 2, "大后天": 3}
_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
_PART = rf"(?P<part>[初底末]|[上中下]旬|{_NUMBER}[日号])?"
_TODAY = r"(?P<exact>的?今[天日])"
_YEAR_PART = (rf"(?:的?(?P<month>{_NUMBER})月份?{_PART}|年?(?P<edge>[初底末])|的?(?P<half>[上下])半年"
              r"|的?(?P<season>[春夏秋])[天季]|的?(?P<holiday>元旦|劳动节|国庆节|圣诞节)"
              rf"|的?第?(?P<quarter>[一二三四1-4])季度|{_TODAY})")
_UNIT = r"(?P<unit>[天日周年]|个?星期|个?礼拜|个月|个?季度)"
_HOLIDAYS = {"元旦": (1, 1), "劳动节": (5, 1), "国庆节": (10, 1), "圣诞节": (12, 25)}
_WEEK = r"(?:周|星期|礼拜)"
_CLAUSE_BEGIN = re.compile(r"(?:^|[^\u4e00-\u9fff]|[在于将会就要我你您他她它们])$")


def _number(text: str) -> int:
    """Return a numeral such as 十五 or 15; 0 for ""."""
    return int(text or 0) if not text or text.isdecimal() else han_value(text)


def _weekday(said: Said) -> int:
    """Return the number of the weekday in the words, from 0 for Monday."""
    return "一二三四五六日".index(said.part("weekday").replace("天", "日"))


def _read_day(said: Said) -> str:
    """Read 昨天, 大后天, 今晚."""
    word = said.match[0]
    return around("day", said.day + timedelta(_DAYS[word if word in _DAYS else word[0]]))


def _read_week(said: Said) -> str:
    """Read 上周, 下周五, 这周末."""
    day, weekday = said.day + timedelta(_SIDES[said.part("side")] * said_dates.DAYS_A_WEEK), said.part("weekday")
    if not weekday or weekday == "末":
        return around("weekend" if weekday else "week", day)
    return around("day", day + timedelta(_weekday(said) - day.weekday()))


def _month_part(day: date, part: str) -> str:
    """Return a part of the month around a day: 初, 底, 上旬 (its first ten days) or 5日."""
    if not part:
        return around("month", day)
    if part[-1] != "旬":
        return (edge("month", day, is_end=part != "初") if part in "初底末"
                else dated(day.year, day.month, _number(part[:-1])))
    first, last = {"上": (1, 10), "中": (11, 20), "下": (21, said_dates.last_day(day.year, day.month))}[part[0]]
    return f"{day.replace(day=first)}/{day.replace(day=last)}"


def _read_year(said: Said) -> str:
    """Read 去年, and its parts: 去年三月, 明年初, 今年上半年."""
    shifted = shift("year", said.day, _YEARS[said.part("year")])
    year = shifted.year
    if said.part("exact"):
        return around("day", shifted)
    if month := _number(said.part("month")):
        return _month_part(date(year, month, 1), said.part("part")) if month <= MONTHS_A_YEAR else ""
    if said.part("edge"):
        return edge("year", shifted, is_end=said.part("edge") != "初")
    if said.part("season"):
        return said_dates.season(year, said.part("season"))
    if said.part("holiday"):
        return dated(year, *_HOLIDAYS[said.part("holiday")])
    if said.part("half"):
        return quarter(year, 1 + (said.part("half") == "下"), 2 * said_dates.MONTHS_A_QUARTER)
    return quarter(year, _number(said.part("quarter"))) if said.part("quarter") else str(year)


def _read_length(said: Said) -> str:
    """Read 三天前; and 两周后, unless it may be after something else, as in 上线两周后."""
    unit, number = _UNITS[said.part("unit").removeprefix("个")], said.part("number")
    is_after = said.part("way") == "后"
    if is_after and (not _CLAUSE_BEGIN.search(said.before) or said.tense() == "past"):
        return ""
    if said.is_vague or (number == "半" and unit != "year"):
        return ""
    unit, count = ("month", MONTHS_A_YEAR // 2) if number == "半" else (unit, _number(number))
    return around("day" if said.part("exact") else unit, shift(unit, said.day, count if is_after else -count))


FORMS: tuple[tuple[str, Callable[[Said], str]], ...] = (
    (r"大前天|大后天|(?<![以之此目提从])前天|后天(?![性的努培])|[昨今明](?:[天日](?!头条)|[晚夜早晨])|前晚", _read_day),
    (rf"{_SIDE}{_WEEK}(?P<weekday>[一二三四五六日天末])?(?![期围刊])", _read_week),
    (rf"{_SIDE}月份?{_PART}",
     lambda said: _month_part(shift("month", said.day, _SIDES[said.part("side")]), said.part("part"))),
    (rf"{_SIDE}季度", lambda said: around("quarter", shift("quarter", said.day, _SIDES[said.part("side")]))),
    (rf"(?<![年月周天\d以之此目提])(?P<year>{'|'.join(_YEARS)})度?{_YEAR_PART}?", _read_year),
    (rf"(?<![近约第几数多好不十百千\d])(?P<number>半|{_NUMBER}){_UNIT}[以之]?(?P<way>[前后]){_TODAY}?(?![年面者])",
     _read_length),
    (rf"(?<![上下这本每个到至、]){_WEEK}(?P<weekday>[一二三四五六日天])(?![至到、-])",
     lambda said: said_dates.on_weekday(said, _weekday(said), "")),
    (rf"(?<![年\d])(?P<month>{_NUMBER})月(?P<day>{_NUMBER})[日号]",
     lambda said: said_dates.on_day(said, _number(said.part("month")), _number(said.part("day")))))
"""The forms, each with what reads it; of those that begin at the same place, the longest is read."""
