"""Numbers in cells: read the figures, the sign, the unit and the scale of a cell that is a number and nothing else.

What the marks between figures mean is left open, because a cell alone cannot say whether "1.250" is a thousand or a
little more than one; see `number_columns`.
"""

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from .patterns import read_json, read_patterns
from .quantities import canonical_unit
from .scripts import with_ascii_digits

_CURRENCY_SPELLINGS: dict[str, str] = read_json("currencies.json")
_SCALE_SPELLINGS: dict[str, str] = read_json("scales.json")
_CURRENCIES = {spelling: unit for unit, listed in _CURRENCY_SPELLINGS.items() for spelling in listed.split(", ")}
"""Codes and signs of currencies. They are compared as written, because "all", "try" and "top" are words."""
_SHARED_SIGNS = frozenset({"USD", "¥", "kr"})  # what signs of several currencies are read as, unless a code follows
_SCALES = {spelling: int(scale) for scale, listed in _SCALE_SPELLINGS.items() for spelling in listed.split(", ")}
_SCALE_NAMES = {int(scale): listed.partition(", ")[0] for scale, listed in _SCALE_SPELLINGS.items()}
_MONEY_SCALES = _SCALES | {"m": 10**6, "b": 10**9, "t": 10**12, "T": 10**12}
"""Scales of amounts of money, with letters that are units elsewhere: "5 m" are metres."""
_ALSO_UNITS = frozenset({"K", "B", "k"})  # kelvins and bytes if they stand apart from their number; else scales
_ONLY_MONEY = frozenset({"cr", "mil", "md"})  # scales that are other words where there is no currency
_UNITS_OF_ONE_SIGN = frozenset("gtmhdlsWVANJKLB°‰′″Ω")
"""Units of one letter or sign. Other letters, and these in the other case, are codes."""
_MOST_UNIT_WORDS = 3
_SIGN = re.compile("|".join(map(re.escape, sorted(_CURRENCIES, key=len, reverse=True))))
_MINUS = "-−–‐"
_PLAIN_MARKS = str.maketrans({"’": "'", "٫": ",", "٬": "."})
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_LONGEST = 60  # characters of a cell that may be a number
_FORMS = {name: re.compile(form) for name, form in read_patterns("cells.toml")["numbers"].items()}


class NumberCell(NamedTuple):
    """A number as its cell writes it; `form` is the name of a group of the form "figures"."""

    form: str
    figures: str
    is_negative: bool
    is_bracketed: bool
    scale: Decimal
    unit: str
    is_known_unit: bool
    has_sign_before: bool  # True if a currency stands before the figures


class _Beside(NamedTuple):
    """What stands before or behind the figures of a number; `has_bracket`: a bracket opens or closes there."""

    unit: str
    is_negative: bool
    has_bracket: bool
    scale: int = 1
    is_known_unit: bool = True


def has_minus_behind(cell: str) -> bool:
    """Return True if a cell ends with a minus."""
    return cell.rstrip()[-1:] in tuple(_MINUS)


def read_number(cell: str) -> NumberCell | None:
    """Return the number that a cell consists of, or None if it is anything else: a range, a fraction, a code."""
    text = cell.strip()
    if len(cell) > _LONGEST or _FORMS["ten_with_mark"].match(text):  # "10³": a power, or ten with the mark of a note
        return None
    if not _FORMS["clean"].fullmatch(text):  # others need no cleaning, which takes long
        text = _without_notes(text)
    match = _FORMS["cell"].fullmatch(_FORMS["power_of_ten"].sub("1e", text))
    if match is None:
        return None
    before, figures = match["before"], match["figures"]
    if figures[0] == "." and before[-1:].isalpha():  # an abbreviation: "Rs.500"
        before, figures = f"{before}.", figures[1:]
    if figures[-1] == "." and figures[:-1].isdigit():  # an ordinal: "1."
        figures = figures[:-1]
    form, prefix = _FORMS["figures"].match(figures), _read_prefix(before)
    suffix = _read_suffix(match["after"], prefix.unit, prefix.has_bracket) if prefix else None
    if form is None or prefix is None or suffix is None:
        return None
    if prefix.has_bracket != suffix.has_bracket or (prefix.is_negative and suffix.is_negative):  # "(5" or "-5-"
        return None
    exponent = (match["exponent"] or match["power"] or "0").replace("−", "-")
    is_negative = prefix.is_negative or suffix.is_negative or prefix.has_bracket
    return NumberCell(form.lastgroup or "", figures, is_negative, prefix.has_bracket,
                      suffix.scale * Decimal(10) ** int(exponent), suffix.unit, suffix.is_known_unit, bool(prefix.unit))


def _without_notes(text: str) -> str:
    """Return a cell with plain digits and marks, without emphasis and the marks of notes."""
    text = _FORMS["raised_power"].sub(lambda power: power[0].translate(_RAISED), text)
    text = unicodedata.normalize("NFKC", _FORMS["raised_mark"].sub("", with_ascii_digits(text))).translate(_PLAIN_MARKS)
    text = _FORMS["emphasis"].sub(r"\1", " ".join(text.split()).strip(" `"))
    while (shorter := _FORMS["note_number"].sub("", text.rstrip("*†‡§¶# "))) != text:
        text = shorter
    return _FORMS["no_decimals"].sub("", text)


@lru_cache(maxsize=4096)
def _read_prefix(before: str) -> _Beside | None:
    """Return what is before the figures of a number; None unless it is a currency with a sign or a bracket."""
    rest = before.replace(" ", "")
    is_bracketed = rest.count("(") == 1
    rest = rest.replace("(", "", 1)
    signs = [character for character in rest if character in f"{_MINUS}+"]
    currency = "".join(character for character in rest if character not in signs)
    if (currency and currency not in _CURRENCIES) or len(signs) > 1 or (is_bracketed and signs):
        return None
    return _Beside(_CURRENCIES.get(currency, ""), bool(signs) and signs[0] != "+", is_bracketed)


@lru_cache(maxsize=4096)
def _read_suffix(after: str, currency: str, is_bracketed: bool) -> _Beside | None:
    """Return what is behind the figures of a number, or None if it is more than a scale, a unit and a minus.

    `currency` stands before the figures, and with `is_bracketed` also a bracket.
    """
    is_closed = is_bracketed and after.count(")") == 1
    rest = after.replace(")", "", 1) if is_closed else after
    begin = rest.lstrip()
    is_negative = begin[:1] in tuple(_MINUS) and begin[1:2] in {"", " "}  # "5-" and "5- EUR", but not "5-EUR"
    scale, rest = _read_scale(begin[1:] if is_negative else rest, is_money=bool(currency))
    unit, is_known = _read_unit(rest, currency)
    return None if unit is None else _Beside(unit, is_negative, is_closed, scale, is_known)


def _read_scale(rest: str, *, is_money: bool) -> tuple[int, str]:
    """Return the factor that a text behind a number begins with ("k", "Mio.", 万), and the rest of the text."""
    match = _FORMS["scale"].match(rest)
    if match is None:
        return 1, rest
    word = match["word"]
    is_money = is_money or rest[match.end():].strip() in _CURRENCIES
    if not is_money and ((match["gap"] and word in _ALSO_UNITS) or word.lower() in _ONLY_MONEY):
        return 1, rest
    scales = _MONEY_SCALES if is_money else _SCALES
    # Of one letter, the case tells the scale: "M" and "m".
    factor = scales.get(word) or (scales.get(word.lower()) if len(word) > 1 else None)
    return (factor, rest[match.end():]) if factor else (1, rest)


def _read_unit(rest: str, currency: str) -> tuple[str | None, bool]:
    """Return the unit in the text behind a number, and whether it is a known one; None if the text is no unit."""
    text = rest.strip()
    if not text:
        return currency, True
    if currency:  # behind it only a divisor or its own code may follow
        if text.startswith(("/", "per ")):  # "€3/kg"
            divisor = text.removeprefix("/").removeprefix("per ").strip()
            return f"{currency}/{unit_of(divisor) or divisor}" if _FORMS["unit_word"].fullmatch(divisor) else None, True
        code = _CURRENCIES.get(text, "")  # "$5 CAD"
        return code if code and (code == currency or currency in _SHARED_SIGNS) else None, True
    known = unit_of(text)
    if known and rest != "s":  # "1850s" is a decade
        return known, True
    # Any other word may be a unit if the whole column has it; behind figures without a space it is a code.
    is_word = _FORMS["unit_word"].fullmatch(text) is not None and len(text.split()) <= _MOST_UNIT_WORDS
    return (text, False) if is_word and (rest[0] == " " or not text[0].isascii()) else (None, False)


def is_currency(unit: str) -> bool:
    """Return True if a unit is a currency."""
    return unit in _CURRENCY_SPELLINGS


@lru_cache(maxsize=4096)
def unit_of(text: str) -> str:
    """Return the canonical form of a unit or currency, "" if the text is none. "€/kg" and "g/m3" are units, too."""
    text = unicodedata.normalize("NFKC", text).strip()
    if text in _CURRENCIES:
        return _CURRENCIES[text]
    text = text.strip(".")
    if text in _UNITS_OF_ONE_SIGN:
        return text
    if len(text) == 1 and text.isascii() and text.isalpha():  # a code, although `canonical_unit` may know the letter
        return ""
    if known := canonical_unit(text):
        return known
    dividend, _, divisor = text.replace(" per ", "/").partition("/")
    if divisor and "/" not in divisor and (unit := unit_of(dividend)) and (other := unit_of(divisor)):
        return f"{unit}/{other}"
    return ""


def scaled_unit_of(text: str) -> str:
    """Return the canonical form of a unit with or without a scale ("$M", "Mio. €", 亿元), "" if the text is none.

    The scale stays in the unit ("million EUR"), so that numbers are not changed by what stands elsewhere.
    """
    if unit := unit_of(text):
        return unit
    # A unit is read as that of the number 1: "1 Mio. €", and "$1M" where a sign stands first.
    sign = _SIGN.match(text)
    for number in (read_number(f"1 {text}"), read_number(f"{sign[0]}1{text[sign.end():]}") if sign else None):
        scale_name = _SCALE_NAMES.get(int(number.scale)) if number else None
        if number and scale_name and number.is_known_unit and number.form == "plain":
            return f"{scale_name} {number.unit}".strip()
    return ""
