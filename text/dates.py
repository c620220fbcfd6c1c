"""Dates: find them in a text, bring them to a normal form, and interpret that form.

The normal form is ISO 8601 with the precision that the date has ("1867-11-07", "2019-03", "1867"), with
the additions of its EDTF profile: "199X" a decade, "18XX" a century, "1914/1918" an interval, "1867~"
about then, "2019-35" the third quarter, "XXXX-03-05" a day of no stated year, "-0043" 44 BC.
"""

import json
import re
from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..schemas.naming import normalise
from .scripts import han_value, with_ascii_digits

_ENGLISH_MONTHS = ["january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
                   "september sept sep", "october oct", "november nov", "december dec"]
_OTHER_MONTHS: dict[str, list[str]] = json.loads(Path(__file__).with_name("months.json").read_text("utf-8"))
MONTHS = {normalise(name): number for listed in (*_OTHER_MONTHS.values(), _ENGLISH_MONTHS)
           for number, names in enumerate(listed, 1) for name in names.split()}
"""The number of each month, in English or a language of `months.json`, folded."""
_MONTH = rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|\.)?"
_YEAR = r"(?P<year>\d{4})"
_FORMS = [re.compile(form) for form in (
    rf"{_YEAR}(?:-(?P<month>\d{{1,2}})(?:-(?P<day>\d{{1,2}}))?)?",
    rf"{_YEAR}([/.])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}})",
    rf"{_DAY}(?: of| de)? {_MONTH}(?:,| de| del)? {_YEAR}", rf"{_MONTH} {_DAY},? {_YEAR}",
    rf"{_MONTH}(?:,| of| de| del)? {_YEAR}", rf"{_YEAR},? {_MONTH} {_DAY}", rf"{_DAY}(?: of| de)? {_MONTH}",
    rf"{_MONTH} {_DAY}",
    r"(?:公元)?(?P<year>\d{1,4}) ?年(?:度|间)?(?: ?(?P<month>\d{1,2}) ?月份?(?: ?(?P<day>\d{1,2}) ?[日号])?)?",
    r"(?P<month>\d{1,2}) ?月 ?(?P<day>\d{1,2}) ?[日号]",
    r"(?P<decade>\d{3})0['’]?s", r"(?P<decade>\d{3})0 ?年代",
    rf"q(?P<quarter>[1-4]) {_YEAR}", rf"{_YEAR} ?q(?P<quarter>[1-4])", rf"{_YEAR} ?年第?(?P<quarter>[1-4])季度?",
    r"(?P<century>\d{1,2})(?:st|nd|rd|th)[ -]century", r"(?P<century>\d{1,2}) ?世纪",
    r"(?P<before>\d{1,4}) ?(?:bc|bce|b\.c\.)", r"公元?前 ?(?P<before>\d{1,4}) ?年",
    r"(?P<year>\d{1,4}) ?(?:ad|ce|a\.d\.)", r"(?:ad|a\.d\.) ?(?P<year>\d{1,4})")]
_INTERVAL = re.compile(r"(?P<first>\d{4}) ?(?:-|–|—|~|to|至|到) ?(?P<last>\d{4}|\d\d)")
_LEAD = re.compile(r"^(?:(?:in|on|since|from|until|till|by|before|after|the year|the|early|late|mid)[\s-]+"
                   r"|(?:自|于|在)(?=\S))+")
_ABOUT = re.compile(r"^(?:(?:c|ca)\. ?|(?:circa|about|around) |大?约)")
_HAN = {digit: str(number) for number, digits in enumerate(("〇零", *"一二三四五六七八九")) for digit in digits}
_HAN_YEAR = re.compile(rf"[{''.join(_HAN)}]{{4}}(?= ?年)")
_NUMERAL = re.compile(rf"[\d十元{''.join(_HAN)}]")
_HAN_SMALL = re.compile("(?:[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])(?= ?[年月日号季世])")
_YEAR_ENDS = "|".join(f"(?<={end})" for end in ("year", "years", "ago", "last", "next", "now", "today", "time",
                                                "[年度前后]"))
MEANT = re.compile(rf"(?i:{_YEAR_ENDS}|(?! ?\[\d{{4}}\])) ?\[(?P<meant>\d{{4}}(?:-\d\d){{0,2}}"
                   r"(?:/\d{4}(?:-\d\d){0,2})?)\]")
"""The date that a relative one means, as Banyan writes it behind the words: "yesterday [2024-03-04]".

A year alone is one only behind words that mean a year: "Smith et al. [2020]" cites a work.
"""
_MONTHS_A_YEAR, _DAYS_A_MONTH = 12, 31
_A_LEAP_YEAR = 2000
_QUARTERS_BEGIN = 32  # EDTF numbers the quarters 33 to 36, after seasons and the like

# Month names as written in a text. "may" is a month only with a capital.
_WRITTEN_MONTH = (r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
                  r"Jan\.?|Feb\.?|Mar\.?|Apr\.?|Jun\.?|Jul\.?|Aug\.?|Sept?\.?|Oct\.?|Nov\.?|Dec\.?)")
_OTHER_MONTH = "|".join(sorted({form for listed in _OTHER_MONTHS.values() for names in listed for name in names.split()
                                for form in (name, name.capitalize())}, key=lambda form: (-len(form), form)))
_RECENT = r"(?:1\d{3}|20\d{2})"
_IN_FIGURES = (rf"(?<![A-Za-z\d.-])(?P<year>{_RECENT})(?P<mark>[-./])(?P<month>0?[1-9]|1[0-2])(?P=mark)"
               r"(?P<day>0?[1-9]|[12]\d|3[01])(?!\d|[-./]\d)")
_WRITTEN = "|".join((
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?:\sof)?\s{_WRITTEN_MONTH},?\s\d{{3,4}}\b",
    rf"\b{_WRITTEN_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{3,4}}\b",
    rf"\b{_WRITTEN_MONTH},?\s{_RECENT}\b",
    rf"(?<![\d.,-])\b\d{{1,2}}(?:st|nd|rd|th)?(?:\sof)?\s{_WRITTEN_MONTH}(?!\w|,?\s?\d)",
    rf"\b{_WRITTEN_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?\b(?![\d.,:/-]*\d|\s?(?:%|per|percent))",
    rf"\b(?:\d{{1,2}}(?:er|º|\.)?\s)?(?:de\s)?(?<!\w)(?:{_OTHER_MONTH})\s(?:del?\s)?{_RECENT}\b",
    _IN_FIGURES,
    (r"(?:公元前?\d{1,4}|\d{3,4}|\d{1,2}(?=\s?年\s?\d{1,2}\s?月))\s?年(?:度|代|间)?"
     r"(?:\s?\d{1,2}\s?月(?:份|\s?\d{1,2}\s?[日号])?)?"),
    r"[〇零一二三四五六七八九]{4}年(?:[一二三四五六七八九十]{1,2}月(?:[一二三四五六七八九十]{1,3}日)?)?",
    r"\d{1,2}\s?月\s?\d{1,2}\s?[日号]",
    r"[一二三四五六七八九十]{1,3}世纪(?:[初末中]|[一二三四五六七八九]十年代)?|\d{1,2}\s?世纪(?:[初末中]|\d0年代)?",
    r"\b\d{1,2}(?:st|nd|rd|th)[ -]century\b",
    r"\b\d{1,4}\s(?:BCE|BC|AD|CE)\b|\bAD\s\d{1,4}\b"))
_BARE_YEARS = (
    rf"(?:\bc(?:irca|a)?\.\s?)?(?<![.,$€£¥#0-9-]){_RECENT}s?(?:\s?[–—-]\s?(?:{_RECENT}|\d\d))?(?![\d,.]\d|\d|%)\b"
    r"(?!\s?(?:km|kilomet|met|mét|mèt|m[eé]tro|метр|килом|मीटर|किलो|مترا?|كيلو|মিটার|কিলো|メートル|feet|ft|miles?|people|inhabitants|residents|square|hectares|employees|students|"
    r"million|billion|thousand|kg|tonnes|tons|mm|cm|m\b))")
"""Years, decades and intervals that are no quantities."""
_DATES = re.compile(f"{_WRITTEN}|{_BARE_YEARS}")
_FIGURES = re.compile(_IN_FIGURES)
_NORMAL_YEAR = re.compile(r"(-?)(\d{2,4})(X*)")
_SMALL = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|º)?")
_YEAR_FIGURES, _COMPACT = 4, 8
"""The figures of a year, and of a day without marks: 20200218."""
_BETWEEN_PARTS = frozenset(("of", "de", "del", "年", "月", "月份"))
_FIRST_YEAR, _LAST_YEAR = 1000, 2199


def find_dates(text: str) -> Iterator[tuple[int, int]]:
    """Find the dates in a text, as (start, end), in order; "1914–1918" is one. Figures may be of any script."""
    return (match.span() for match in _DATES.finditer(with_ascii_digits(text)))


def parse_date(text: str) -> str:
    """Return the normal form of a date, or "" if the text is not one.

    The date is in figures, in English, Chinese or a language of `months.json`, alone or after a word such as "in"; or
    a relative date with the meant one behind it (`MEANT`).
    """
    if (meant := MEANT.search(text)) and meant.start() and not text[meant.end():].strip(" .,;"):
        return meant["meant"]
    normalised = with_ascii_digits(normalise(text))
    if not _NUMERAL.search(normalised):  # every form of a date has a numeral; most names have none
        return ""
    folded = _LEAD.sub("", normalised.strip(" .,;。，")).replace("元年", "1年")
    without_about = _ABOUT.sub("", folded)
    with_year = _HAN_YEAR.sub(lambda match: "".join(_HAN[digit] for digit in match[0]), without_about)
    in_figures = _HAN_SMALL.sub(lambda match: str(han_value(match[0])), with_year)  # 二〇一九年三月五日 is 2019年3月5日
    if interval := _interval(in_figures):
        return interval
    for form in _FORMS:
        match = form.fullmatch(in_figures)
        if match:
            normal = _normal_form({name: value for name, value in match.groupdict().items() if value})
            is_approximate = without_about != folded
            return f"{normal}~" if normal and is_approximate else normal
    return ""


def _interval(text: str) -> str:
    """Return the normal form of an interval of years ("1914-1918", "1914-18"), or "" for any other text."""
    match = _INTERVAL.fullmatch(text)
    if match is None:
        return ""
    first, last = match["first"], match["last"]
    is_month = len(last) < len(first) and int(last) <= _MONTHS_A_YEAR and "-" in text and " " not in text  # "2019-03"
    last = first[: _YEAR_FIGURES - len(last)] + last
    return f"{first}/{last}" if last > first and not is_month else ""


def spell_dates(text: str, *, chinese: bool) -> str:
    """Return a text with its dates in figures ("2020-2-18", "2020.2.18") spelt "18 february 2020" or 2020年2月18日.

    Two texts that write the same date differently, such as a question and a passage, then have the same words.
    """
    def spell(date: re.Match[str]) -> str:
        year, month, day = date["year"], int(date["month"]), int(date["day"])
        name = _ENGLISH_MONTHS[month - 1].partition(" ")[0]
        return f"{year}年{month}月{day}日" if chinese else f"{day} {name} {year}"

    return _FIGURES.sub(spell, text)


def date_terms(words: Sequence[str]) -> Iterator[str]:
    """Yield the day ("2020-02-18") and the month ("2020-02") of each date in a text, as terms of a lexical index.

    A date such as 3/4/2020, whose day could also be its month, yields nothing. The words are those of the text in
    order, without punctuation and folded as by `normalise`; regular expressions over the text would be slow.
    """
    for position, word in enumerate(words):
        if not word.isdecimal():
            continue
        if len(word) == _COMPACT:
            yield from _terms_of(word[:4], word[4:6], word[6:])
        elif len(word) == _YEAR_FIGURES:
            # The day and the month are the nearest two words, apart from words such as "of" between them.
            before = [other for other in words[max(position - 4, 0):position] if other not in _BETWEEN_PARTS][-2:]
            after = [other for other in words[position + 1:position + 6] if other not in _BETWEEN_PARTS][:2]
            if words[position + 1:position + 2] == ["年"]:  # then 2 is certainly a month, as "02" is
                after = [other.zfill(2) for other in after]
            yield from _terms_around(word, before, after)


def _terms_around(year: str, before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Yield the terms of the date whose year is `year`, from at most two words before it and two after it."""
    first, second = ["", "", *before][-2:]
    # Of two numbers, one over 12 is the day; if both may be months, nothing tells which one it is.
    if second in MONTHS:
        yield from _terms_of(year, second, first)
    elif first in MONTHS:
        yield from _terms_of(year, first, second)
    elif after and (terms_after := list(_terms_of(year, *after))):
        yield from terms_after
    elif 1 <= _day_or_month_number(first) <= _MONTHS_A_YEAR < _day_or_month_number(second):
        yield from _terms_of(year, first, second)
    elif 1 <= _day_or_month_number(second) <= _MONTHS_A_YEAR < _day_or_month_number(first):
        yield from _terms_of(year, second, first)


def _terms_of(year: str, month: str, day: str = "") -> Iterator[str]:
    """Yield a date's terms for its day and its month; nothing if the year or month is out of range."""
    month_number, day_number = MONTHS.get(month, 0) or _day_or_month_number(month), _day_or_month_number(day)
    if _FIRST_YEAR <= int(year) <= _LAST_YEAR and 1 <= month_number <= _MONTHS_A_YEAR:
        has_day = 1 <= day_number <= _DAYS_A_MONTH
        if has_day:
            yield f"{int(year)}-{month_number:02d}-{day_number:02d}"
        if has_day or not month.isdecimal() or len(month) == len("02"):
            yield f"{int(year)}-{month_number:02d}"


def _day_or_month_number(word: str) -> int:
    """Return the number of a month or day in figures, such as "2", "02" or "2nd"; 0 if the word is none."""
    match = _SMALL.fullmatch(word)
    return int(match[1]) if match else 0


def is_month(word: str) -> bool:
    """Return True if a word is a month in English or a language of `months.json`."""
    return word.lower() in MONTHS


def years_of(normal: str) -> tuple[int, int] | None:
    """Return the first and last year of a normal form; None if it has no year.

    "199X" is (1990, 1999) and "1914/1918" is (1914, 1918). Year 0 is 1 BC, as in ISO 8601.
    """
    matches = [match for part in normal.split("/") if (match := _NORMAL_YEAR.match(part))]
    if not matches:
        return None
    # The groups of a match are the sign, the known figures, and an X for each unknown one.
    first, last = matches[0], matches[-1]
    return int(first[1] + first[2] + "0" * len(first[3])), int(last[1] + last[2] + "9" * len(last[3]))


def _normal_form(parts: Mapping[str, str]) -> str:
    """Return a date's parts, which a form of `_FORMS` matched, in the normal form; "" if there is no such date."""
    if "decade" in parts:
        return f"{parts['decade']}X"
    if "century" in parts:  # the 19th century is "18XX"
        return f"{int(parts['century']) - 1:02d}XX" if int(parts["century"]) else ""
    if "before" in parts:  # a year BC; 1 BC is year 0, so 44 BC is "-0043"
        return f"-{int(parts['before']) - 1:04d}" if int(parts["before"]) else ""
    year = parts["year"].zfill(4) if "year" in parts else "XXXX"
    if "quarter" in parts:
        return f"{year}-{_QUARTERS_BEGIN + int(parts['quarter'])}"
    month = MONTHS.get(parts.get("month", ""), 0) or int(parts.get("month", 0))
    day = int(parts.get("day", 0))
    if "month" in parts and not 1 <= month <= _MONTHS_A_YEAR:
        return ""
    # Without a year, 29 February is a day.
    if "day" in parts and not 1 <= day <= monthrange(int(parts.get("year", _A_LEAP_YEAR)), month)[1]:
        return ""
    return year + (f"-{month:02d}" if month else "") + (f"-{day:02d}" if day else "")
