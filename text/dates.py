"""Dates: find them in a text, bring them to a normal form, and interpret that form.

The normal form is ISO 8601 with the precision that the date has ("1867-11-07", "2019-03", "1867"), with
the additions of its EDTF profile: "199X" a decade, "18XX" a century, "1914/1918" an interval, "1867~"
about then, "2019-35" the third quarter, "XXXX-03-05" a day of no stated year, "-0043" 44 BC.
"""

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence

from ..schemas.naming import normalise
from .lexicon import alternatives, read_json, read_patterns
from .scripts import han_value, with_ascii_digits

_MONTH_NAMES: dict[str, list[str]] = read_json("months.json")  # of each language, each month's names in one text
_ENGLISH_MONTHS = [names.split()[0] for names in _MONTH_NAMES["en"]]
MONTHS = {normalise(name): number for listed in _MONTH_NAMES.values()
          for number, names in enumerate(listed, 1) for name in names.split()}
"""The number of each month, in any language of `months.json`, folded."""
_OTHER_MONTHS = {name for language, listed in _MONTH_NAMES.items() for names in listed for name in names.split()
                 if language != "en"}
_PATTERNS = read_patterns(
    "dates.toml", month=rf"(?P<month>{alternatives(MONTHS)})\.?",
    other_month=alternatives(_OTHER_MONTHS | set(map(str.capitalize, _OTHER_MONTHS))))
_ALONE = [*map(re.compile, _PATTERNS["alone"])]
_DATES = re.compile("|".join(_PATTERNS["in_text"]))
_FORMS: dict[str, re.Pattern[str]] = {name: re.compile(form) for name, form in _PATTERNS["forms"].items()}
MEANT = _FORMS["meant"]
"""The date that a relative one means, as Banyan writes it behind the words: "yesterday [2024-03-04]"."""
_MONTHS_A_YEAR, _DAYS_A_MONTH = 12, 31
_A_LEAP_YEAR = 2000
_QUARTERS_BEGIN = 32  # EDTF numbers the quarters 33 to 36, after seasons and the like
_YEAR_FIGURES, _COMPACT = 4, 8  # the figures of a year, and of a day without marks: 20200218
_BETWEEN_PARTS = frozenset(("of", "de", "del", "年", "月", "月份"))
_FIRST_YEAR, _LAST_YEAR = 1000, 2199


def find_dates(text: str) -> Iterator[tuple[int, int]]:
    """Find the dates in a text, as (start, end), in order; "1914–1918" is one. Figures may be of any script."""
    return (match.span() for match in _DATES.finditer(with_ascii_digits(text)))


def parse_date(text: str) -> str:
    """Return the normal form of a date, or "" if the text is not one.

    The date is in figures, in a language of `months.json` or in Chinese, alone or after a word such as "in"; or a
    relative date with the meant one behind it (`MEANT`).
    """
    # The mark has words before it, which it explains, and none behind it.
    if (meant := MEANT.search(text)) and meant.start() and not text[meant.end():].strip(" .,;"):
        return meant["meant"]
    normalised = with_ascii_digits(normalise(text))
    if not _FORMS["numeral"].search(normalised):  # every form of a date has a numeral; most names have none
        return ""
    folded = _FORMS["lead"].sub("", normalised.strip(" .,;。，")).replace("元年", "1年")
    without_about = _FORMS["about"].sub("", folded)
    # 二〇一九年三月五日 is 2019年3月5日.
    in_figures = _FORMS["han_number"].sub(lambda match: str(han_value(match[0])), without_about)
    if interval := _interval(in_figures):
        return interval
    match = next(filter(None, (form.fullmatch(in_figures) for form in _ALONE)), None)
    normal = _normal_form({name: value for name, value in match.groupdict().items() if value}) if match else ""
    is_approximate = without_about != folded
    return f"{normal}~" if normal and is_approximate else normal


def _interval(text: str) -> str:
    """Return the normal form of an interval of years ("1914-1918", "1914-18"), or "" for any other text."""
    match = _FORMS["interval"].fullmatch(text)
    if match is None:
        return ""
    first, last = match["first"], match["last"]
    is_month = len(last) < len(first) and int(last) <= _MONTHS_A_YEAR and "-" in text and " " not in text  # "2019-03"
    last = first[: _YEAR_FIGURES - len(last)] + last
    return f"{first}/{last}" if last > first and not is_month else ""


def _normal_form(parts: Mapping[str, str]) -> str:
    """Return a date's parts, which a form of `_ALONE` matched, in the normal form; "" if there is no such date."""
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


def spell_dates(text: str, *, chinese: bool) -> str:
    """Return a text with its dates in figures ("2020-2-18", "2020.2.18") spelt "18 february 2020" or 2020年2月18日.

    Two texts that write the same date differently, such as a question and a passage, then have the same words.
    """
    def spell(date: re.Match[str]) -> str:
        year, month, day = date["year"], int(date["month"]), int(date["day"])
        return f"{year}年{month}月{day}日" if chinese else f"{day} {_ENGLISH_MONTHS[month - 1]} {year}"

    return _FORMS["figures"].sub(spell, text)


def date_terms(words: Sequence[str]) -> Iterator[str]:
    """Yield the day ("2020-02-18") and the month ("2020-02") of each date in a text, as terms of a lexical index.

    A date such as 3/4/2020, whose day could also be its month, yields nothing. The words are those of the text in
    order, without punctuation and folded as by `normalise`; regular expressions over the text would be slow.
    """
    for position, word in enumerate(words):
        if word.isdecimal() and len(word) == _COMPACT:
            yield from _terms_of(word[:4], word[4:6], word[6:])
        elif word.isdecimal() and len(word) == _YEAR_FIGURES:
            # The day and the month are the nearest two words; up to two or three such as "of" may stand between them.
            before = [other for other in words[max(position - 4, 0):position] if other not in _BETWEEN_PARTS]
            after = [other for other in words[position + 1:position + 6] if other not in _BETWEEN_PARTS][:2]
            if words[position + 1:position + 2] == ["年"]:  # then 2 is certainly a month, as "02" is
                after = [other.zfill(2) for other in after]
            yield from _terms_around(word, ["", "", *before][-2:], after)


def _terms_around(year: str, before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Yield the terms of the date whose year is `year`, from the two words before it and at most two after it."""
    first, second = before
    pairs = [(second, first), (first, second)]  # of a month and a day
    named = [(month, day) for month, day in pairs if month in MONTHS]
    if not named and after and (terms_after := list(_terms_of(year, *after))):
        yield from terms_after
        return
    # Of two numbers, one over 12 is the day; if both may be months, nothing tells which one it is.
    certain = named or [(month, day) for month, day in pairs
                        if _day_or_month_number(month) <= _MONTHS_A_YEAR < _day_or_month_number(day)]
    for month, day in certain[:1]:
        yield from _terms_of(year, month, day)


def _terms_of(year: str, month: str, day: str = "") -> Iterator[str]:
    """Yield a date's terms for its day and its month; nothing if the year or month is out of range."""
    month_number, day_number = MONTHS.get(month, 0) or _day_or_month_number(month), _day_or_month_number(day)
    if _FIRST_YEAR <= int(year) <= _LAST_YEAR and 1 <= month_number <= _MONTHS_A_YEAR:
        has_day = 1 <= day_number <= _DAYS_A_MONTH
        if has_day:
            yield f"{int(year)}-{month_number:02d}-{day_number:02d}"
        # Without a day, only a word or "02" is a month: 2 beside a year may count anything.
        if has_day or not month.isdecimal() or len(month) == len("02"):
            yield f"{int(year)}-{month_number:02d}"


def _day_or_month_number(word: str) -> int:
    """Return the number of a month or day in figures, such as "2", "02" or "2nd"; 0 if the word is none."""
    match = _FORMS["day_or_month"].fullmatch(word)
    return int(match[1]) if match else 0
