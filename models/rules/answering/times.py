"""Times that questions and sentences speak of: years, months, quarters and halves, and whether they agree."""

import re
from typing import NamedTuple

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "上": 1, "下": 2,
             **{figure: place for figures in ("1234", "一二三四") for place, figure in enumerate(figures, 1)}}
_YEAR = r"(?P<year>1\d{3}|20\d{2})"
_FORMS = [re.compile(form, re.IGNORECASE) for form in (
    rf"{_YEAR}\s*年度?\s*(?:第?(?P<quarter>[一二三四1-4])季度?|(?P<half>[上下])半年|(?P<number>\d{{1,2}})\s*月份?)?",
    rf"\b(?P<quarter>first|second|third|fourth) quarter (?:of )?{_YEAR}\b", rf"\bQ(?P<quarter>[1-4])[ -]{_YEAR}\b",
    rf"\b{_YEAR}[ -]Q(?P<quarter>[1-4])\b", rf"\b(?P<half>first|second) half of {_YEAR}\b",
    rf"\b(?:\d{{1,2}} )?(?P<month>{'|'.join(_MONTHS)})(?: \d{{1,2}})?,? {_YEAR}\b",
    rf"\b{_YEAR}-(?P<number>\d{{2}})(?:-\d{{2}})?\b",
    # Not a decade, nor part of a longer number or of a sum.
    rf"(?<![\w.,$€£¥]){_YEAR}(?![\w%]|[.,]\d)",
    r"第?(?P<quarter>[一二三四1-4])季度", r"(?P<half>[上下])半年",
    r"\b(?P<quarter>first|second|third|fourth) quarter\b")]
_MONTHS_OF = {"quarter": 3, "half": 6}


class Time(NamedTuple):
    """A year, 0 where it is not said, and the months of it that are meant, all twelve where none is said."""

    year: int
    first: int = 1
    last: int = 12


def times(text: str) -> list[Time]:
    """The years, quarters and halves that a text names, each as precisely as it is named, in no order.

    Args:
        text: any text, English or Chinese; years are read in figures from 1000 on, decades and
            centuries are not.
    """
    found: list[Time] = []
    taken: list[tuple[int, int]] = []
    for form in _FORMS:
        for match in form.finditer(text):
            if all(match.end() <= a or match.start() >= b for a, b in taken):
                taken.append(match.span())
                found.append(_time({name: part for name, part in match.groupdict().items() if part}))
    return found


def _time(parts: dict[str, str]) -> Time:
    year = int(parts.get("year", 0))
    for name, months in _MONTHS_OF.items():
        if name in parts:
            last = _ORDINALS[parts[name].casefold()] * months
            return Time(year, last - months + 1, last)
    month = _MONTHS.index(parts["month"].casefold()) + 1 if "month" in parts else int(parts.get("number", 0))
    return Time(year, month, month) if 1 <= month <= 12 else Time(year)  # noqa: PLR2004 - months of a year


def agree(wanted: list[Time], given: list[Time]) -> bool:
    """Whether any of the given times overlaps one that is wanted; an unsaid year is any year."""
    return any((a.year == b.year or 0 in {a.year, b.year}) and a.first <= b.last and b.first <= a.last
               for a in wanted for b in given)


def another_time(question: str, sentence: str) -> bool:
    """Whether both texts name a time and none of the sentence's agrees with one of the question's.

    Args:
        question: a text that may name years, quarters or months.
        sentence: the text held against it.
    """
    wanted, given = times(question), times(sentence)
    return bool(wanted and given) and not agree(wanted, given)
