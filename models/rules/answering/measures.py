"""What dates and numbers amount to, for comparing them."""

from ....text.dates import calendar_day, find_dates, parse_date
from ....text.quantities import find_numbers, measured, parse_number

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
