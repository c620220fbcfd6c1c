"""What dates and numbers amount to, for comparing them."""

import re

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "千": 1e3, "万": 1e4, "亿": 1e8}
_FACTORS = {
    "length": {"km": 1e3, "kilometre": 1e3, "kilometer": 1e3, "公里": 1e3, "千米": 1e3, "m": 1.0, "metre": 1.0,
               "meter": 1.0, "米": 1.0, "cm": 0.01, "厘米": 0.01, "mm": 1e-3, "毫米": 1e-3, "mile": 1609.344,
               "mi": 1609.344, "英里": 1609.344, "ft": 0.3048, "feet": 0.3048, "foot": 0.3048, "英尺": 0.3048},
    "area": {"km2": 1e6, "km²": 1e6, "square kilometre": 1e6, "square kilometer": 1e6, "平方公里": 1e6, "平方千米": 1e6,
             "m2": 1.0, "m²": 1.0, "square metre": 1.0, "square meter": 1.0, "平方米": 1.0, "ha": 1e4, "hectare": 1e4,
             "公顷": 1e4, "mi2": 2589988.11, "square mile": 2589988.11, "平方英里": 2589988.11},
    "mass": {"t": 1e3, "ton": 1e3, "tonne": 1e3, "吨": 1e3, "kg": 1.0, "kilogram": 1.0, "公斤": 1.0, "千克": 1.0,
             "g": 1e-3, "gram": 1e-3, "克": 1e-3, "lb": 0.45359237},
    "time": {"a": 365.25, "year": 365.25, "年": 365.25, "day": 1.0, "d": 1.0, "天": 1.0, "h": 1 / 24, "hour": 1 / 24,
             "小时": 1 / 24, "min": 1 / 1440, "minute": 1 / 1440, "分钟": 1 / 1440},
    "CNY": {"cny": 1.0, "元": 1.0, "人民币": 1.0, "元人民币": 1.0, "yuan": 1.0},
    "EUR": {"eur": 1.0, "欧元": 1.0, "euro": 1.0},
    "USD": {"usd": 1.0, "美元": 1.0, "dollar": 1.0},
}
_UNITS = {unit: (kind, factor) for kind, units in _FACTORS.items() for unit, factor in units.items()}
_ISO = re.compile(r"(?P<sign>-?)(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d))?)?~?")
_PLAIN = re.compile(r"\s*(?:inhabitants|people|persons|个|人)?\s*")
_SEVERAL_UNITS = re.compile(r"\d")

Amount = tuple[str, tuple[float, ...]]
"""What is measured, and how much: only amounts of one measure can be compared."""


def amount(words: str, *, date: bool, normal: str = "") -> Amount | None:
    """What a date or number amounts to.

    Args:
        words: a span such as '7 November 1867', '1930年12月30日', '3,800万人' or '12 km'.
        date: whether it is a date.
        normal: its normal form, where the graph has one (`graph_store.dates`, `quantities`); it is
            read in place of the words where it is precise.

    Returns:
        ("date", (year, month, day)), 0 for parts not given and negative years before Christ; or what
        is measured ("length", "CNY", ...) and (number,) in its base unit; None where none can be read.
    """
    if date:
        when = _iso(normal) or _date(words)
        return ("date", when) if when else None
    return _number(normal) or _number(words)


def comparable(left: tuple[float, ...], right: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Both as precisely as the less precise one: of a year and a day in it neither is known to be earlier."""
    known = [bool(a) and bool(b) for a, b in zip(left, right, strict=True)]
    kept = known.index(False) if False in known and len(left) > 1 else len(left)
    return left[:kept], right[:kept]


def _iso(normal: str) -> tuple[float, ...] | None:
    match = _ISO.fullmatch(normal)
    if match is None:
        return None
    year = float(match["year"])
    # ISO 8601 counts 1 BC as year 0.
    return (-(year + 1) if match["sign"] else year, float(match["month"] or 0), float(match["day"] or 0))


def _date(words: str) -> tuple[float, ...] | None:
    year = re.search(r"(\d{3,4})|(\d{1,4})(?=\s*(?:年|BC|AD|CE))", words)
    if year is None:
        return None
    sign = -1 if re.search(r"BC|公元前", words) else 1
    named = next((i + 1 for i, name in enumerate(_MONTHS) if name in words.casefold()), 0)
    month = re.search(r"(\d{1,2})\s*月", words)
    day = re.search(r"(?<!\d)(\d{1,2})(?!\d)(?:\s*[日号]|(?=,? \d)|(?= [A-Z]))", words)
    return (sign * float(year.group()), float(month.group(1)) if month else float(named),
            float(day.group(1)) if day else 0.0)


def _number(words: str) -> Amount | None:
    match = re.search(r"\d[\d,，]*(?:\.\d+)?", words)
    if match is None or ".." in words:
        return None
    value = float(re.sub(r"[,，]", "", match.group()))
    rest = words[match.end():].casefold()
    for word, scale in _SCALES.items():
        # 千米 is a kilometre, not a thousand metres said twice.
        if word in rest and not re.match(rf"\s*{word}[米克]", rest):
            value *= scale
            rest = rest.replace(word, "", 1)
    if _SEVERAL_UNITS.search(rest.replace("m2", "").replace("mi2", "")):
        return None
    unit = "" if _PLAIN.fullmatch(rest) else rest.strip(" .")
    kind, factor = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s")) or (unit, 1.0)
    return kind, (value * factor,)
