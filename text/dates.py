"""Dates: find them in a text, bring them to a normal form, and interpret that form.

The normal form is ISO 8601 with the precision that the date has ("1867-11-07", "2019-03", "1867"), with
the additions of its EDTF profile: "199X" a decade, "18XX" a century, "1914/1918" an interval, "1867~"
about then, "2019-35" the third quarter, "XXXX-03-05" a day of no stated year, "-0043" 44 BC.
"""

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping

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
_MONTHS_A_YEAR = 12
_A_LEAP_YEAR = 2000
_QUARTERS_BEGIN = 32  # EDTF numbers the quarters 33 to 36, after seasons and the like
_YEAR_FIGURES = 4


def find_dates(text: str) -> Iterator[tuple[int, int]]:
    """Find the dates in a text, as (start, end), in order; "1914–1918" is one. Figures may be of any script."""
    return (match.span() for match in _DATES.finditer(with_ascii_digits(text)))


def parse_date(text: str) -> str:
    """Return the normal form of a date, alone or after a word such as "in"; "" if the text is not one."""
    # A relative date has the meant one behind it, with nothing behind that.
    if (meant := MEANT.search(text)) and meant.start() and not text[meant.end():].strip(" .,;"):
        return meant["meant"]
    normalised = with_ascii_digits(normalise(text))
    if not _FORMS["numeral"].search(normalised):  # every form of a date has a numeral; most names have none
        return ""
    folded = _FORMS["lead"].sub("", normalised.strip(" .,;。，")).replace("元年", "1年")
    without_about = _FORMS["about"].sub("", folded)
    # 二〇一九年三月五日 is 2019年3月5日.
    in_figures = _FORMS["han_number"].sub(lambda match: str(han_value(match[0])), without_about)
    if interval := _FORMS["interval"].fullmatch(in_figures):
        first, last = interval["first"], interval["last"]
        is_month = (len(last) < len(first) and int(last) <= _MONTHS_A_YEAR and "-" in in_figures
                    and " " not in in_figures)  # "2019-03"
        last = first[: _YEAR_FIGURES - len(last)] + last  # "1914-18" ends in 1918
        if last > first and not is_month:
            return f"{first}/{last}"
    match = next(filter(None, (form.fullmatch(in_figures) for form in _ALONE)), None)
    normal = _normal_form({name: value for name, value in match.groupdict().items() if value}) if match else ""
    is_approximate = without_about != folded
    return f"{normal}~" if normal and is_approximate else normal


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
    """Return a text with its dates in figures spelt "18 february 2020" or 2020年2月18日, to compare its words."""
    def spell(date: re.Match[str]) -> str:
        year, month, day = date["year"], int(date["month"]), int(date["day"])
        return f"{year}年{month}月{day}日" if chinese else f"{day} {_ENGLISH_MONTHS[month - 1]} {year}"

    return _FORMS["figures"].sub(spell, text)
