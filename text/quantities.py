"""Numbers with units as sources write them, and their normal form.

The normal form is the plain decimal and the unit, a space between: "1200 km", "5200000000 USD",
"12.5 %"; a range is "5..10 km", a compound "5 ft 11 in". Units of one kind are not converted into each
other: a source that says 3 miles says "3 mi".
"""

import re
from decimal import Decimal

from ..schemas.naming import normalise

_SPELLINGS = {
    "USD": "us$, $, usd, us dollar, us dollars, dollar, dollars, 美元", "HKD": "hk$, hkd, 港元, 港币",
    "CAD": "c$, cad", "AUD": "a$, aud", "EUR": "€, eur, euro, euros, 欧元", "GBP": "£, gbp, pounds sterling, 英镑",
    "JPY": "jpy, yen, 日元", "CNY": "cny, rmb, yuan, 元, 人民币, 元人民币", "INR": "₹, inr, rupees", "¥": "¥",
    "%": "%, percent, per cent", "km": "km, kilometer, kilometers, kilometre, kilometres, 公里, 千米",
    "m": "m, meter, meters, metre, metres, 米", "cm": "cm, centimeter, centimeters, centimetre, centimetres, 厘米",
    "mm": "mm, millimeter, millimeters, millimetre, millimetres, 毫米", "mi": "mi, mile, miles, 英里",
    "ft": "ft, foot, feet, 英尺", "in": "in, inch, inches, 英寸", "t": "t, ton, tons, tonne, tonnes, 吨",
    "kg": "kg, kilogram, kilograms, 公斤, 千克", "g": "g, gram, grams, 克", "mg": "mg, milligram, milligrams, 毫克",
    "lb": "lb, lbs", "km2": "km2, sq km, square kilometers, square kilometres, 平方公里, 平方千米",
    "m2": "m2, sq m, square meters, square metres, 平方米", "mi2": "mi2, sq mi, square miles, 平方英里",
    "ha": "ha, hectare, hectares, 公顷", "h": "h, hour, hours, 小时", "min": "min, minute, minutes, 分钟",
    "d": "day, days, 天", "a": "year, years, 年", "°C": "°c, ℃, 摄氏度", "°F": "°f",
}
_UNITS = {normalise(spelling): unit for unit, listed in _SPELLINGS.items() for spelling in listed.split(", ")}
_CURRENCY = "|".join(re.escape(spelling) for spelling in sorted(
    (s for s, unit in _UNITS.items() if unit.isupper() or unit == "¥"), key=len, reverse=True))
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "mn": 10**6, "billion": 10**9, "bn": 10**9,
           "trillion": 10**12, "tn": 10**12}
_HAN_DIGITS = dict(zip("〇零一二两三四五六七八九", (0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9), strict=True))
_HAN_TENS = {"十": 10, "百": 100, "千": 1000}
_HAN_MYRIADS = {"万": 10**4, "亿": 10**8, "兆": 10**12}
_BELOW_TWENTY = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
                 "sixteen seventeen eighteen nineteen")
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_CARDINALS = {word: number for number, word in enumerate(_BELOW_TWENTY.split())} | {
    word: 10 * number for number, word in enumerate(_TENS.split(), 2)}

_FIGURES = r"\d{1,3}(?:[,，]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_WORD = "|".join(sorted((*_CARDINALS, "hundred"), key=len, reverse=True))
_HAN = rf"[{''.join(_HAN_DIGITS)}{''.join(_HAN_TENS)}][{''.join((*_HAN_DIGITS, *_HAN_TENS, *_HAN_MYRIADS))}]*"
_AMOUNT = re.compile(
    rf"(?P<currency>{_CURRENCY})? ?(?P<sign>[-−+])?"
    rf"(?:(?P<figures>{_FIGURES}) ?[多余]?(?P<myriads>[百千万亿兆]*)[多余]?|(?P<han>{_HAN})[多余]?"
    rf"|(?P<words>(?:{_WORD})(?:[ -](?:and )?(?:{_WORD}))*)(?![^\W\d_]))"
    rf"(?: ?(?P<scales>(?:{'|'.join(_SCALES)})(?: (?:{'|'.join(_SCALES)}))*)(?![^\W\d_]))?")
_LEAD = re.compile(r"^(?:(?:about|around|approximately|approx\.?|nearly|almost|over|more than|less than|at least|up to|"
                   r"some|roughly|c\.|ca\.|circa) ?|[约近超达逾~≈]|大约|超过|不足|不到)+")
_ASIDE = re.compile(r" ?\([^()]*\)$")
_RANGE = re.compile(r" ?(?:-|–|—|~|to|至|到) ?")
_UNIT_WORDS = 3
"""A unit is no longer than that: "square kilometres", "members of parliament"; more is a sentence."""


def parse_number(text: str) -> str:
    """The normal form of a number with its unit.

    Args:
        text: a number in figures or words, in English or Chinese, with or without currency, scale and
            unit, alone or after a word such as "about".

    Returns:
        The normal form; "" if the text is not a number.
    """
    folded = _LEAD.sub("", _ASIDE.sub("", normalise(text).strip(" .;。，")))
    low = _AMOUNT.match(folded)
    if low is None:
        return ""
    dash = _RANGE.match(folded, low.end())
    high = _AMOUNT.match(folded, dash.end()) if dash else None
    if high is not None:
        unit = _unit(folded[high.end():], high["currency"] or low["currency"])
        return "" if unit is None else f"{_plain(_value(low))}..{_plain(_value(high))} {unit}".rstrip()
    rest = folded[low.end():]
    unit = _unit(rest, low["currency"])
    if unit is None:
        first, _, others = rest.strip().partition(" ")
        further = parse_number(others) if _UNITS.get(first) else ""
        return f"{_plain(_value(low))} {_UNITS[first]} {further}" if further else ""
    return f"{_plain(_value(low))} {unit}".rstrip()


def _unit(rest: str, currency: str | None) -> str | None:
    """The canonical unit of what follows a number: as it is where unknown; None if it is no unit."""
    said = rest.strip(" -")
    unit = _UNITS.get(said, said)
    if (any(c.isdigit() for c in unit) and unit not in _SPELLINGS) or len(unit.split()) > _UNIT_WORDS:
        return None
    if currency and unit in {"", _UNITS[currency]}:
        return _UNITS[currency]
    return None if currency else unit


def _value(amount: re.Match[str]) -> Decimal:
    if amount["figures"]:
        value = Decimal(re.sub("[,，]", "", amount["figures"]))
        for letter in amount["myriads"]:
            value *= _HAN_TENS.get(letter) or _HAN_MYRIADS[letter]
    else:
        value = Decimal(_han_value(amount["han"]) if amount["han"] else _words_value(amount["words"]))
    for scale in (amount["scales"] or "").split():
        value *= _SCALES[scale]
    return -value if amount["sign"] in {"-", "−"} else value


def _han_value(numeral: str) -> int:
    """三千二百万 as 32000000, 二〇一九 as 2019."""
    if all(letter in _HAN_DIGITS for letter in numeral):
        return int("".join(str(_HAN_DIGITS[letter]) for letter in numeral))
    total = section = digit = 0
    for letter in numeral:
        if letter in _HAN_DIGITS:
            digit = _HAN_DIGITS[letter]
        elif letter in _HAN_TENS:
            section += (digit or 1) * _HAN_TENS[letter]
            digit = 0
        else:
            total = (total + section + digit) * _HAN_MYRIADS[letter]
            section = digit = 0
    return total + section + digit


def _words_value(words: str) -> int:
    """"two hundred and five" as 205."""
    value = 0
    for word in re.split(r"[ -]", words.replace(" and ", " ")):
        value = max(value, 1) * 100 if word == "hundred" else value + _CARDINALS[word]
    return value


def _plain(value: Decimal) -> str:
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
