"""What dates and numbers amount to, for comparing them."""

import re

from ....text.dates import calendar_day, find_dates, parse_date
from ....text.quantities import find_numbers, measured, parse_number
from ..content_words import content_words
from ..questions.answer_types import Question

_MEASURES = frozenset({"length", "area", "mass", "time"})
_MONEY = "money"
_ASKED = {"price": _MONEY, "salary": _MONEY, "revenue": _MONEY, "profit": _MONEY, "budget": _MONEY,
          "money": _MONEY, "weight": "mass"}
"""What is measured, by the word for it."""
_WEEKDAY = re.compile(r"day|(?<!\d)\d{1,2}(?!\d)", re.IGNORECASE)
_DATED = {"year": re.compile(r"\d{3}"), "years": re.compile(r"\d{3}"), "day": _WEEKDAY, "days": _WEEKDAY}
"""What a date must have, by the noun asked for."""

Amount = tuple[str, tuple[float, ...]]
"""What is measured, and how much: only amounts of one measure can be compared."""


def amount(words: str, *, date: bool, normal: str = "") -> Amount | None:
    """What a date or number amounts to.

    Args:
        words: a span such as '7 November 1867', '1930年12月30日', '3,800万人' or '12 km', or a sentence with one.
        date: whether it is a date.
        normal: its normal form, where the graph has one; it is read instead of the words where it is precise.

    Returns:
        ("date", (year, month, day)), 0 for parts not given and negative years before Christ; or what
        is measured ("length", "CNY", ...) and (number,) in its base unit; None where none can be read.
    """
    if date:
        spans = [words[start:end] for start, end in find_dates(words, intervals=False)]
        forms = (normal, *map(parse_date, (words, *spans[:1])))
        day = next((day for form in forms if (day := calendar_day(form))), None)
        return ("date", day) if day else None
    spans = [words[start:end] for start, end in find_numbers(words)]
    # Of several numbers in a sentence none is known to be meant.
    size = measured(normal) or measured(parse_number(words) or (parse_number(spans[0]) if len(spans) == 1 else ""))
    return (size[0], (size[1],)) if size else None


def comparable(left: tuple[float, ...], right: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Both as precisely as the less precise one: of a year and a day in it neither is known to be earlier."""
    known = [bool(a) and bool(b) for a, b in zip(left, right, strict=True)]
    kept = known.index(False) if False in known and len(left) > 1 else len(left)
    return left[:kept], right[:kept]


def of_another_measure(question: Question, words: str) -> bool:
    """Whether a number measures something else than an English question asks for: years, where it asks how many people.

    Args:
        question: a question for a number.
        words: the number with its unit; a bare one may measure anything but money, whose currency English texts name.
    """
    size, wanted = measured(parse_number(words)), _measure_asked(question)
    if size is None or not size[0]:
        return wanted == _MONEY and question.language == "en"
    measure = _MONEY if size[0].isupper() or size[0] == "¥" else size[0]
    if wanted is None:
        return measure == "time" and "size" in question.words
    return measure != wanted and bool({measure, wanted} & {_MONEY, *_MEASURES})


def is_coarser_date(question: Question, words: str) -> bool:
    """Whether a date lacks what an English question asks for: a month alone has no year."""
    pattern = _DATED.get(question.focus)
    return pattern is not None and pattern.search(words) is None


def asks_for_measure(question: Question) -> bool:
    """Whether a question asks for an amount, such as kilograms, and not how many things there are."""
    return _measure_asked(question) in {*_MEASURES, _MONEY}


def _measure_asked(question: Question) -> str | None:
    """What a question asks to be measured or counted; None where its words do not tell."""
    for word in content_words(question.focus) or question.words:  # 'what share of the price': a share
        if word in _ASKED:
            return _ASKED[word]
    many = (token for token in question.parse or () if token.lower_ == "many" and token.head != token)
    counted = next((token.head for token in many), None)
    size = measured(parse_number(f"1 {counted.text}")) if counted is not None and counted.pos_ == "NOUN" else None
    return size[0] if size else None
