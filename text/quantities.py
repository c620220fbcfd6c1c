"""Numbers with units, and values of any kind: find them in a text, normalise and compare them, and show them.

The normal form is the plain decimal, a space and the unit: "1200 km", "12.5 %"; a range is "5..10 km". No unit is
converted into another: "3 miles" becomes "3 mi", not kilometres.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Literal, NamedTuple

from ..schemas.graph_schema import ValueKind
from ..schemas.naming import normalise
from .dates import find_dates, parse_date
from .lexicon import alternatives, read_json, read_patterns
from .scripts import HAN_UNITS, han_value, with_ascii_digits

_UNIT_DATA = read_json("units.json")
_SPELLINGS: dict[str, str] = _UNIT_DATA["spellings"]  # of each unit, separated by ", "
_UNITS = {normalise(spelling): unit for unit, listed in _SPELLINGS.items() for spelling in listed.split(", ")}
_SYMBOLS = frozenset(normalise(_UNIT_DATA["symbols"]).split())  # further units, as in table headers and data sheets
_SCALES: dict[str, int] = _UNIT_DATA["scales"]
_MEASURES: dict[str, str] = {unit: measure for measure, units in _UNIT_DATA["measures"].items() for unit in units}
MOST_UNIT_WORDS = 3  # "members of parliament"; anything longer is a sentence
_DATA: dict[str, str] = read_patterns(
    "quantities.toml", scale=alternatives(_SCALES),
    currency=alternatives({spelling for spelling, unit in _UNITS.items() if unit.isupper() or unit == "¥"}),  # codes
    metric=alternatives({spelling for unit in ("km", "m", "kg") for spelling in _SPELLINGS[unit].split(", ")
                         if not spelling.isascii()}))
_PATTERNS = {name: re.compile(form) for name, form in _DATA.items()}
_CARDINALS = {word: number for number, word in enumerate(_DATA["below_twenty"].split("|"))} | {
    word: 10 * number for number, word in enumerate(_DATA["tens"].split("|"), 2)}
_LAST_YEAR = 2200  # a larger number of four digits is not read as a year
_UNGROUPED = 10_000  # numbers below it are shown without separators: four digits are often a year
_EXACT_DECIMALS, _DECIMALS = 6, 4  # up to how many decimals are shown as they are, and to how many others are rounded
_DIGITS = 15  # the digits that a float has for sure; further ones come from the binary form
_BEFORE = frozenset("$€£¥₹")  # units that stand before their number


def find_numbers(text: str, *, counts: bool = False) -> Iterator[tuple[int, int]]:
    """Yield where numbers with currency, scale and unit begin and end; with `counts` also "three rivers" and 三座."""
    return (match.span() for match in _PATTERNS["counts" if counts else "in_text"].finditer(with_ascii_digits(text)))


def parse_number(text: str) -> str:
    """Return the normal form of a number in figures or words, with its unit; "" if the text is anything else."""
    if _PATTERNS["raised_ten"].search(text):  # "10³": a power, or ten with the mark of a note
        return ""
    folded = with_ascii_digits(normalise(_PATTERNS["raised"].sub("", text))).strip(" .;。，")
    folded = _PATTERNS["lead"].sub("", _PATTERNS["aside"].sub("", folded))
    folded = _PATTERNS["power"].sub(lambda power: _plain_number(  # "3 x 10^6"
        Decimal(power["factor"] or 1).scaleb(int(power["exponent"].replace("−", "-")))), folded)
    folded = _PATTERNS["european"].sub(lambda figures: figures[0].replace(".", "").replace(",", "."), folded)
    folded = _PATTERNS["han_percent"].sub(r"\1%", folded)
    low = _PATTERNS["amount"].match(folded)
    if low is None:
        return ""
    range_mark = _PATTERNS["range"].match(folded, low.end())
    high = _PATTERNS["amount"].match(folded, range_mark.end()) if range_mark else None  # of a range, "5-10 km"
    last = high or low
    written = folded[last.end():].strip(" -")
    unit = _UNITS.get(written, written)  # unknown words are a unit as they are
    currency = _UNITS.get(last["currency"] or low["currency"] or "", "")
    has_figures = any(map(str.isdigit, unit)) and unit not in _SPELLINGS
    # After a currency sign, the only further unit may be the currency itself: "$5 USD".
    if has_figures or len(unit.split()) > MOST_UNIT_WORDS or (currency and unit not in {"", currency}):
        return ""
    number = "..".join(_plain_number(_amount_value(amount)) for amount in (low, high) if amount)
    return f"{number} {currency or unit}".rstrip()


def figures_of(normal: str) -> tuple[str, tuple[Decimal, ...]]:
    """Return the unit and figures of a normal form: "km", 5 and 10 of "5..10 km"; "" and none of ""."""
    figures, _, unit = normal.partition(" ")
    return unit, tuple(map(Decimal, filter(None, figures.split(".."))))


def is_unit(text: str) -> bool:
    """Return True if a text is just a unit, a currency or "%", with or without a scale ("million USD")."""
    return normalise(text) in _SYMBOLS or figures_of(parse_number(f"1 {text}"))[0] in _SPELLINGS


def canonical_unit(text: str) -> str:
    """Return the canonical form of a unit ("kilometres" is "km"), "" if the text is no known unit."""
    folded = normalise(text)
    return _UNITS.get(folded) or (text if folded in _SYMBOLS else "")


def measure(normal: str) -> str:
    """Return what a normal form measures ("length", "CNY"), "" for "" and for a count of people or things."""
    unit, _ = figures_of(normal)
    return _MEASURES.get(unit, unit)


def _amount_value(amount: re.Match[str]) -> Decimal:
    """Return the value of a number that the form "amount" matched, with its sign and its scale ("million", 万)."""
    if amount["figures"]:
        value = Decimal(re.sub("[,，]", "", amount["figures"]))
        for letter in amount["myriads"]:  # behind figures: 3万
            value *= HAN_UNITS[letter]
    elif amount["han"]:
        value = Decimal(han_value(amount["han"]))
    else:
        value = Decimal(0)
        for word in re.split(r"[ -]", amount["words"].replace(" and ", " ")):  # "two hundred and five" is 205
            value = max(value, Decimal(1)) * 100 if word == "hundred" else value + _CARDINALS[word]
    for scale in (amount["scales"] or "").split():
        value *= _SCALES[scale]
    return -value if amount["sign"] in {"-", "−"} else value


def _plain_number(value: Decimal, form: str = "f") -> str:
    """Return a number in a form without an exponent, and without zeros at the end of its decimals."""
    text = format(value, form)
    return text.rstrip("0").rstrip(".") if "." in text else text


class Value(NamedTuple):
    """A date or a number with its unit; `text` is at characters `start` to `end`."""

    start: int
    end: int
    text: str
    kind: Literal["date", "number"]


def find_values(text: str) -> list[Value]:
    """Find the dates and numbers of a text, in order; a number that overlaps a date is left out."""
    dates = [Value(start, end, text[start:end], "date") for start, end in find_dates(text)]
    numbers = [Value(start, end, text[start:end], "number") for start, end in find_numbers(text)]
    offsets_in_dates = {offset for date in dates for offset in range(date.start, date.end)}
    numbers = [number for number in numbers if offsets_in_dates.isdisjoint(range(number.start, number.end))]
    return sorted((*dates, *numbers), key=lambda value: value.start)


@lru_cache(maxsize=4096)
def parse_value(text: str, kind: ValueKind, unit: str = "") -> str:
    """Return the normal form of a date or number, "" if it is none; `unit` is that of numbers without one."""
    if kind == "number":
        normal = parse_number(text)
        return f"{normal} {unit}" if normal and unit and " " not in normal else normal
    return parse_date(text) if kind == "date" else ""


def kind_of(text: str) -> ValueKind:
    """Return the kind of a value; "1867", which could be a number, is a year, but "7906" is too large for one."""
    is_too_large = text.isdecimal() and int(text) > _LAST_YEAR
    if parse_date(text) and not is_too_large:
        return "date"
    return "number" if parse_number(text) else "text"


def means(stated: str, source: str, kind: ValueKind) -> bool:
    """Return True if a value that a reasoner states agrees with the one in the source, both in normal form, not ""."""
    if not stated or not source:
        return False
    if kind == "date":  # the stated one may have a month or day that the source leaves out
        return stated == source or stated.startswith(f"{source}-")
    return stated in {source, source.partition(" ")[0]}  # the stated one may lack the unit


def format_count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun, such as "2 facts"; `many` is the plural if it is not `one` with an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def show_number(value: float, unit: str = "") -> str:
    """Return a number as people write it, with its unit: 3750 g, 3,507,950, $12.50, 12.5%, 0.8633."""
    exact = Decimal(value) if isinstance(value, int) else Decimal(f"{value:.{_DIGITS}g}")
    if not exact.is_finite():
        return str(value)
    decimals = -int(exact.normalize().as_tuple().exponent)
    if decimals > _EXACT_DECIMALS:
        decimals = max(_DECIMALS, _DECIMALS - 1 - exact.adjusted())  # 0.00012345 has four figures behind its zeros
    grouping = "," if abs(exact) >= _UNGROUPED else ""
    figures = _plain_number(exact, f"{grouping}.{max(decimals, 0)}f")
    if unit in _BEFORE:
        return f"-{unit}{figures[1:]}" if figures.startswith("-") else f"{unit}{figures}"
    return f"{figures}%" if unit == "%" else f"{figures} {unit}".rstrip()


def show_value(value: object, unit: str = "") -> str:
    """Return a value of a result, as JSON has it, as people write it: a number, date, text, truth value or list."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return show_number(value, unit)
    if isinstance(value, list | tuple):
        return "; ".join(map(show_value, value))
    return str(value).removesuffix(" 00:00:00")  # of a day among points in time
