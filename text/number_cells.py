"""Numbers in the cells of a column: read figures, sign, scale and unit, and decide what points and commas mean.

A cell alone cannot say whether "1.250" is a thousand or a little more than one, so all cells of its column decide.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Literal, NamedTuple

from .lexicon import WORDS, alternatives, read_json, read_patterns
from .quantities import MOST_UNIT_WORDS, canonical_unit
from .scripts import with_ascii_digits

DecimalMark = Literal["", ".", ","]

_CURRENCY_SPELLINGS: dict[str, str] = read_json("currencies.json")
_SCALE_SPELLINGS: dict[str, str] = read_json("scales.json")
_CURRENCIES = {spelling: unit for unit, listed in _CURRENCY_SPELLINGS.items() for spelling in listed.split(", ")}
"""Codes and signs of currencies. They are compared as written, because "all", "try" and "top" are words."""
_SHARED_SIGNS = frozenset({"USD", "¥", "kr"})  # what signs of several currencies are read as, unless a code follows
_DECIMAL_COMMA_UNITS = WORDS["currencies with decimal commas"]  # of people who write one, if behind the number
_SCALES = {spelling: int(scale) for scale, listed in _SCALE_SPELLINGS.items() for spelling in listed.split(", ")}
_SCALE_NAMES = {int(scale): listed.partition(", ")[0] for scale, listed in _SCALE_SPELLINGS.items()}
_MONEY_SCALES = _SCALES | {"m": 10**6, "b": 10**9, "t": 10**12, "T": 10**12}
"""Scales of amounts of money, with letters that are units elsewhere: "5 m" are metres."""
_ALSO_UNITS = frozenset({"K", "B", "k"})  # kelvins and bytes if they stand apart from their number; else scales
_ONLY_MONEY = frozenset({"cr", "mil", "md"})  # scales that are other words where there is no currency
_UNITS_OF_ONE_SIGN = WORDS["units of one sign"]  # other letters, and these in the other case, are codes
_CURRENCY_SIGN = re.compile(alternatives(_CURRENCIES))
_MINUS = "-−–‐"
_PLAIN_MARKS = str.maketrans({"’": "'", "٫": ",", "٬": "."})
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_LONGEST = 60  # characters of a cell that may be a number
_UNIT_WORDS = WORDS["units that are words"]  # at the end of a header they are mostly none: "Born in", "Temp min"
_FORMS = {name: re.compile(form) for name, form in read_patterns("cells.toml")["numbers"].items()}
_SHOWN_MARKS: dict[str, DecimalMark] = {"point": ".", "comma": ","}  # the decimal mark that a form of figures shows
_DECIMAL_OR_GROUP: dict[str, tuple[DecimalMark, DecimalMark]] = {
    "point_or_group": (".", ","), "comma_or_group": (",", ".")}
"""The forms of figures with one mark before three figures: the decimal mark if it is one, and if it ends a group."""
_EXACT_FIGURES = 15  # the most figures of a whole number that a float keeps; longer ones are identifiers
_GROUP = 3  # figures
_CLEAR_MAJORITY = 9  # how many times as many cells as the other mark has must show a mark to be the column's
_MOST_CODES = 0.01  # the share of numbers that may begin with 0; with more, they are codes, such as those of places
_MUCH_LARGER = 10  # how many times as large as its decimals a column's whole numbers must be to show that they are none
_MIXED = "decimal points and decimal commas are mixed: numbers such as {} are left out"


class NumberCell(NamedTuple):
    """A number as its cell writes it; `form` is the name of a group of the form "figures"."""

    form: str
    figures: str
    is_negative: bool
    is_bracketed: bool
    scale: Decimal
    unit: str
    is_known_unit: bool
    has_currency_before: bool


class NumberColumn(NamedTuple):
    """The numbers of a column."""

    values: Mapping[str, float]  # the value of each distinct cell that is a number
    units: Mapping[str, str]  # its unit, "" if the cell states none
    decimal: DecimalMark  # the decimal mark that the cells show; "" if they show none
    is_ambiguous: bool = False  # True if the decimal mark was decided without proof
    note: str = ""


class _Decision(NamedTuple):
    """The decimal mark of numbers such as "1.250"; "" if they mean nothing certain."""

    decimal: DecimalMark
    is_sure: bool = True
    note: str = ""


def read_number(cell: str) -> NumberCell | None:
    """Return the number that a cell consists of, or None if it is anything else: a range, a fraction, a code."""
    if len(cell) > _LONGEST or _FORMS["ten_with_mark"].match(cell):  # "10³": a power, or ten with the mark of a note
        return None
    match = _FORMS["cell"].fullmatch(_FORMS["power_of_ten"].sub("1e", _without_notes(cell)))
    form = _FORMS["figures"].match(match["figures"]) if match else None
    if match is None or form is None:
        return None
    before, after = match["before"].replace(" ", ""), match["after"]
    marks = "".join(character for character in before if character in f"(+{_MINUS}")  # a sign or an open bracket
    written = before.strip(marks)
    currency = _CURRENCIES.get(written, "")
    if (written and not currency) or len(marks) > 1 or (marks == "(" and after.count(")") != 1):
        return None
    after = after.replace(")", "", 1) if marks == "(" else after
    minus_behind = _FORMS["minus_behind"].match(after)  # "5-" and "5- EUR", but not "5-EUR"
    # "1990–" is a year without an end.
    if minus_behind and (marks or _FORMS["year"].fullmatch(match["figures"])):
        return None
    scale, rest = _read_scale(after[minus_behind.end():] if minus_behind else after, is_money=currency != "")
    unit, is_known_unit = _read_unit(rest, currency)
    if unit is None:
        return None
    exponent = int((match["exponent"] or match["power"] or "0").replace("−", "-"))
    is_negative = minus_behind is not None or marks not in {"", "+"}  # in accounts a bracket is a minus
    return NumberCell(form.lastgroup or "", match["figures"], is_negative, marks == "(",
                      scale * Decimal(10) ** exponent, unit, is_known_unit, currency != "")


def _without_notes(cell: str) -> str:
    """Return a cell with plain digits and marks, without emphasis and the marks of notes."""
    text = _FORMS["raised_power"].sub(lambda power: power[0].translate(_RAISED), cell.strip())
    text = unicodedata.normalize("NFKC", _FORMS["raised_mark"].sub("", with_ascii_digits(text))).translate(_PLAIN_MARKS)
    text = _FORMS["emphasis"].sub(r"\1", " ".join(text.split()).strip(" `"))
    return _FORMS["no_decimals"].sub("", _FORMS["note_marks"].sub("", text))


def _read_scale(rest: str, *, is_money: bool) -> tuple[int, str]:
    """Return the factor that a text behind a number begins with ("k", "Mio.", 万), and the rest of the text."""
    match = _FORMS["scale"].match(rest)
    if match is None:
        return 1, rest
    word, behind = match["word"], rest[match.end():]
    is_money = is_money or behind.strip() in _CURRENCIES
    if not is_money and ((match["gap"] and word in _ALSO_UNITS) or word.lower() in _ONLY_MONEY):
        return 1, rest
    scales = _MONEY_SCALES if is_money else _SCALES
    # Of one letter, the case tells the scale: "M" and "m".
    factor = scales.get(word) or (scales.get(word.lower()) if len(word) > 1 else None)
    return (factor, behind) if factor else (1, rest)


def _read_unit(rest: str, currency: str) -> tuple[str | None, bool]:
    """Return the unit in the text behind a number, and whether it is a known one; None if the text is no unit."""
    text = rest.strip()
    if not text:
        return currency, True
    if currency:  # behind it only a divisor or its own code may follow
        divisor = _FORMS["divisor"].fullmatch(text)  # "€3/kg"
        if divisor:
            return f"{currency}/{unit_of(divisor['unit']) or divisor['unit']}", True
        code = _CURRENCIES.get(text, "")  # "$5 CAD"
        return code if code and (code == currency or currency in _SHARED_SIGNS) else None, True
    known = unit_of(text)
    if known and rest != "s":  # "1850s" is a decade
        return known, True
    # Any other word may be a unit if the whole column has it; behind figures without a space it is a code.
    is_word = _FORMS["unit_word"].fullmatch(text) is not None and len(text.split()) <= MOST_UNIT_WORDS
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
    """Return the canonical form of a unit with or without a scale ("million EUR" for "Mio. €" and "€M"), or ""."""
    if unit := unit_of(text):
        return unit
    # A unit is read as that of the number 1: "1 Mio. €", and "$1M" where a sign stands first.
    sign = _CURRENCY_SIGN.match(text)
    for number in (read_number(f"1 {text}"), read_number(f"{sign[0]}1{text[sign.end():]}") if sign else None):
        scale_name = _SCALE_NAMES.get(int(number.scale)) if number else None
        if number and scale_name and number.is_known_unit and number.form == "plain":
            return f"{scale_name} {number.unit}".strip()
    return ""


def number_column(read: Mapping[str, NumberCell], cells: Mapping[str, int], hint: DecimalMark = "") -> NumberColumn:
    """Return the values of a column's numbers, with one decimal mark for all.

    `read` has the cells that are numbers, as `read_number` read them, and `cells` the number of each distinct cell that
    is not empty. `hint` is the decimal mark of the other columns of the table, "" if they show none.
    """
    numbers = _without_codes(read, cells)
    decision = _decide_mark(numbers, cells, hint)
    values: dict[str, float] = {}
    for cell, number in numbers.items():
        mark = decision.decimal if number.form in _DECIMAL_OR_GROUP else _SHOWN_MARKS.get(number.form, ".")
        if not mark:  # that of "1.250" means nothing certain, so it is left out
            continue
        figures = number.figures.replace(" ", "").replace("'", "")
        figures = figures.replace(".", "").replace(",", ".") if mark == "," else figures.replace(",", "")
        value = float(Decimal(figures) * number.scale)
        values[cell] = -value if number.is_negative and value else value
    shown = {_SHOWN_MARKS[number.form] for number in numbers.values() if number.form in _SHOWN_MARKS}
    only_mark: DecimalMark = shown.pop() if len(shown) == 1 else ""  # cells that show both show none to be the column's
    units = {cell: numbers[cell].unit for cell in values}
    return NumberColumn(values, units, only_mark, not decision.is_sure, decision.note)


def _without_codes(read: Mapping[str, NumberCell], cells: Mapping[str, int]) -> dict[str, NumberCell]:
    """Leave out numbers that the column shows to be codes, and words behind numbers that it shows to be no unit."""
    codes = {cell for cell, number in read.items() if number.form == "code"}  # figures such as "007"
    # "(1)" is a negative number only beside other numbers.
    are_numbering = all(number.is_bracketed and number.form == "plain" and len(number.figures) <= _GROUP
                        and not number.unit for number in read.values())
    total = sum(map(cells.__getitem__, read))
    if sum(map(cells.__getitem__, codes)) > _MOST_CODES * total or are_numbering:
        return {}
    codes.update(cell for cell, number in read.items()
                 if number.form == "plain" and len(number.figures) > _EXACT_FIGURES)
    # An unknown word behind most numbers, such as "guests", is their unit; of one cell alone it may be anything.
    weights, spellings = Counter[str](), dict[str, str]()
    for cell, number in read.items():
        if not number.is_known_unit:
            weights[_singular(number.unit)] += cells[cell]
            spellings.setdefault(_singular(number.unit), number.unit)
    units = {word: spelling for word, spelling in spellings.items() if weights[word] >= max(2, total / 2)}
    numbers = {cell: number if number.is_known_unit else number._replace(unit=units.get(_singular(number.unit), ""))
               for cell, number in read.items() if cell not in codes}
    # The unit of a number without words behind it is known, too: it is "".
    return {cell: number for cell, number in numbers.items() if number.is_known_unit or number.unit}


def _singular(word: str) -> str:
    """Return the form in which "file" and "files" are one unit."""
    return word.casefold().removesuffix("s")


def _decide_mark(read: Mapping[str, NumberCell], cells: Mapping[str, int], hint: DecimalMark) -> _Decision:
    """Decide what the mark of numbers such as "1.250" and "1,250" is, from all numbers of the column."""
    weights = Counter[str]()
    for cell, number in read.items():
        weights[number.form] += cells[cell]
    doubtful = [number for number in read.values() if number.form in _DECIMAL_OR_GROUP]
    if not doubtful:
        return _Decision(".")
    mixed = _MIXED.format(doubtful[0].figures)
    point, comma = weights["point"], weights["comma"]
    if max(point, comma) > _CLEAR_MAJORITY * min(point, comma):
        return _Decision("." if point > comma else ",")
    if point:  # and as many commas, or nearly
        return _Decision("", note=mixed)
    if len({number.form for number in doubtful}) > 1:
        return _Decision(hint) if hint else _Decision("", is_sure=False, note=mixed)
    whole = [int(number.figures) for number in read.values() if number.form == "plain" and number.figures != "0"]
    return _decide_groups(doubtful, whole, hint)


def _decide_groups(doubtful: Sequence[NumberCell], whole: Sequence[int], hint: DecimalMark) -> _Decision:
    """Decide what a mark means that always has three figures behind it; `whole` are the numbers without one but 0."""
    as_decimal, as_group = _DECIMAL_OR_GROUP[doubtful[0].form]
    example = doubtful[0].figures
    # A whole number of four figures without a mark shows that the column does not mark groups.
    are_whole_short = bool(whole) and max(whole) < 10**_GROUP
    round_count = sum(number.figures.endswith("0") for number in doubtful)
    # In "3.000" beside "980" decimals would all end in zeros ("980.000") or none ("3").
    if are_whole_short and round_count:
        return _doubt(example, as_group) if hint == as_decimal else _Decision(as_group)
    if hint:
        return _Decision(hint)
    # A currency behind the number, as in "1.250 EUR", is written by people who write a decimal comma.
    suggests_comma = any(number.unit in _DECIMAL_COMMA_UNITS and not number.has_currency_before for number in doubtful)
    if as_decimal == ",":
        # Groups are far more frequent than three decimals; the note says so if nothing else speaks for them.
        are_round = round_count == len(doubtful) > 1
        suggests_groups = are_round or any(number.has_currency_before for number in doubtful)
        return _Decision(".", is_sure=False) if suggests_groups and not suggests_comma else _doubt(example, ".")
    if suggests_comma:
        return _Decision(",")
    # Decimals, unless the other numbers of the column are much larger than these would be.
    largest = max(float(number.figures) for number in doubtful)
    return _doubt(example, "," if are_whole_short and min(whole) > _MUCH_LARGER * largest else ".")


def _doubt(figures: str, decimal: DecimalMark) -> _Decision:
    """Return a decision without proof, with a note that says how doubtful figures are read."""
    as_decimal, as_group = re.sub("[.,]", ".", figures), re.sub("[.,]", "", figures)
    read, otherwise = (as_decimal, as_group) if decimal in figures else (as_group, as_decimal)
    return _Decision(decimal, is_sure=False, note=f"{figures} is read as {read}; it could also be {otherwise}")


def split_unit(header: str) -> tuple[str, str]:
    """Split a header ("Body Mass (g)", "Preis in €", "height_ft") into its name and its unit, "" if it states none."""
    text = " ".join(header.replace("_", " ").split())
    if (match := _FORMS["bracketed_unit"].fullmatch(text)) and scaled_unit_of(match["unit"].strip()):
        return match["name"].rstrip(" ,;") or text, match["unit"].strip()
    words = text.replace(",", " ").replace("/ ", " ").split()
    for number in range(min(MOST_UNIT_WORDS, len(words) - 1), 0, -1):  # the longest unit first
        unit = " ".join(words[-number:])
        is_word_or_scale = unit.lower() in _UNIT_WORDS or unit in {"k", "K", "M", "B"}
        if not is_word_or_scale and canonical_unit_of(unit):
            # In "Price per kg" it is no unit of the price.
            is_divisor = words[-number - 1].lower() in {"per", "pro", "je", "par", "por"}
            return (header, "") if is_divisor else (" ".join(words[:-number]), unit)
    return header, ""


def canonical_unit_of(unit: str) -> str:
    """Return the canonical form of a unit or currency, "" if the text is none."""
    return scaled_unit_of(unit) or (unit.upper() if is_currency(unit.upper()) else "")
