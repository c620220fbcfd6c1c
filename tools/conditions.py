"""Reading and applying conditions on a table's rows: `status=Final`, `created>=2020`, `tail.status!=Draft|Review`."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graph_store.index.field_columns import FieldColumn
from ..schemas.errors import BanyanError
from ..schemas.naming import label_key
from ..text.dates import parse_date, years_of
from ..text.quantities import measure, parse_number

_CONDITION = re.compile(r"(?P<field>[^=<>!≥≤]{1,100}?)\s*(?P<sign>!=|>=|<=|=|>|<|≥|≤)\s*(?P<value>.*)", re.DOTALL)
_LEADING = re.compile(r"(?P<sign>!=?|>=|<=|>|<|=|≥|≤)?\s*(?P<value>.*)", re.DOTALL)
_SIGNS = {"≥": ">=", "≤": "<=", "!": "!=", "": "="}
_SPAN = re.compile(r"(.+?)\.\.(.+)")
_COMPARED: dict[str, Callable[[float, float], bool]] = {
    ">": lambda a, b: a > b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b, "<=": lambda a, b: a <= b}


class ConditionError(BanyanError):
    """A condition that cannot be read."""


class Condition(NamedTuple):
    """A condition on a field.

    `sign` is "=", "!=" or a comparison such as ">=". `values` are alternatives; without any, the field has to be empty
    (or not empty, for "!=").
    """

    field: str
    sign: str
    values: tuple[str, ...]


def read_condition(text: str) -> Condition:
    """Read a condition from a text of the form `FIELD SIGN VALUE`, such as "created>=2020" or "status=Final|Draft".

    Raises:
        ConditionError: it has another form.
    """
    match = _CONDITION.fullmatch(text.strip())
    if match is None:
        raise ConditionError(f"{text!r} is no condition: write FIELD=VALUE, FIELD!=VALUE, FIELD>=VALUE or the like; "
                             "several values with | between, FIELD= for rows without a value")
    return _condition(match["field"].strip(), match["sign"], match["value"])


def part_condition(value: str) -> Condition:
    """Read a condition on one end of a row: a value, perhaps with a sign before it (">=2020"); its field is ""."""
    match = _LEADING.fullmatch(value.strip())
    return _condition("", (match["sign"] if match else "") or "", match["value"] if match else value)


def _condition(field: str, sign: str, value: str) -> Condition:
    """Return a condition with its sign in ASCII and its value split at "|"."""
    alternatives = (part.strip() for part in value.split("|"))
    return Condition(field, _SIGNS.get(sign, sign), tuple(filter(None, alternatives)))


def fitting_labels(column: FieldColumn, condition: Condition,
                   names: Callable[[int], Sequence[str]]) -> NDArray[np.bool_]:
    """Return which labels of a column have one of a condition's values, or fit its comparison, shape (labels,).

    A condition with "!=" is treated like one with "=": the caller negates the result. `names` returns the other names
    of an entity by its row.
    """
    if condition.sign in _COMPARED:
        return _match_compared(column, condition)
    fitting = np.zeros(len(column.texts), bool)
    other_names = [[label_key(name) for name in names(entity)] if entity >= 0 else ()
                   for entity in column.label_entities.tolist()]
    for value in condition.values:
        fitting |= _match_names(column, value, other_names)
    return fitting


def _match_names(column: FieldColumn, value: str, other_names: Sequence[Sequence[str]]) -> NDArray[np.bool_]:
    """Return which labels match a value, shape (labels,); `other_names` are those of the labels' entities."""
    value_range = _SPAN.fullmatch(value)
    if value_range is not None:
        return (_match_compared(column, Condition("", ">=", (value_range[1],)))
                & _match_compared(column, Condition("", "<=", (value_range[2],))))
    wanted = label_key(value)
    is_equal = np.array([key == wanted or wanted in names
                         for key, names in zip(column.keys, other_names, strict=True)], bool)
    if is_equal.any() or not wanted:
        return is_equal
    # Scripts without spaces have no beginnings of words. A word may be longer than the value, a number may not.
    word_start = r"(?<![^\W_])" if wanted[0].isascii() else ""
    number_end = r"(?!\d)" if wanted[-1].isdigit() else ""
    form = re.compile(word_start + re.escape(wanted) + number_end)
    has_word = np.array([form.search(key) is not None or any(map(form.search, names))
                         for key, names in zip(column.keys, other_names, strict=True)], bool)
    return has_word if has_word.any() else np.array([wanted in key for key in column.keys], bool)


def _match_compared(column: FieldColumn, condition: Condition) -> NDArray[np.bool_]:
    """Return which labels fit a comparison, shape (labels,)."""
    if not condition.values:
        raise ConditionError(f"{column.name.replace('_', ' ') or 'a name'} {condition.sign} needs a value")
    value, compare = condition.values[0], _COMPARED[condition.sign]
    date = parse_date(value)
    size = measure(parse_number(value))
    if date and years_of(date) and (size is None or column.holds_dates):
        return np.array([bool(label_date) and _dates_fit(label_date, date, condition.sign)
                         for label_date in column.dates], bool)
    if size is None:
        raise ConditionError(f"{value!r} after {condition.sign} is neither a date with a year nor a number")
    return np.array([amount is not None and amount.dimension == size[0] and compare(amount.size, size[1])
                     for amount in column.amounts], bool)


def _dates_fit(label_date: str, date: str, sign: str) -> bool:
    """Compare a label's date with `date`, only as precisely as `date` is given: 2020-05-01 is not after 2020."""
    shortened = label_date[:len(date)]
    return {">": shortened > date, "<": shortened < date, ">=": shortened >= date, "<=": shortened <= date}[sign]
