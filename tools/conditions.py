"""Conditions on the fields of a table's rows: `status=Final`, `created>=2020`, `tail.status!=Draft|Review`."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..schemas.errors import BanyanError
from ..schemas.naming import label_key
from ..text.dates import parse_date, years_of
from ..text.quantities import measure, parse_number
from .field_columns import FieldColumn

_CONDITION = re.compile(r"(?P<field>[^=<>!≥≤]{1,100}?)\s*(?P<sign>!=|>=|<=|=|>|<|≥|≤)\s*(?P<value>.*)", re.DOTALL)
_LEADING = re.compile(r"(?P<sign>!=?|>=|<=|>|<|=|≥|≤)?\s*(?P<value>.*)", re.DOTALL)
_SIGNS = {"≥": ">=", "≤": "<=", "!": "!=", "": "="}
_SPAN = re.compile(r"(.+?)\.\.(.+)")
_COMPARED: dict[str, Callable[[float, float], bool]] = {
    ">": lambda a, b: a > b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b, "<=": lambda a, b: a <= b}


class ConditionError(BanyanError):
    """A condition that cannot be read."""


class Condition(NamedTuple):
    """What a field has to be: `sign` is =, != or a comparison, `values` are alternatives; none means no value."""

    field: str
    sign: str
    values: tuple[str, ...]


def read_condition(text: str) -> Condition:
    """Read `FIELD SIGN VALUE`.

    Raises:
        ConditionError: it has another form.
    """
    match = _CONDITION.fullmatch(text.strip())
    if match is None:
        raise ConditionError(f"{text!r} is no condition: write FIELD=VALUE, FIELD!=VALUE, FIELD>=VALUE or the like; "
                             "several values with | between, FIELD= for rows without a value")
    return _condition(match["field"].strip(), match["sign"], match["value"])


def part_condition(value: str) -> Condition:
    """Read what one end of a row has to be: a value, perhaps with a sign before it."""
    match = _LEADING.fullmatch(value.strip())
    return _condition("", (match["sign"] if match else "") or "", match["value"] if match else value)


def _condition(field: str, sign: str, value: str) -> Condition:
    return Condition(field, _SIGNS.get(sign, sign), tuple(filter(None, (part.strip() for part in value.split("|")))))


def fitting_labels(column: FieldColumn, condition: Condition,
                   names: Callable[[int], Sequence[str]]) -> NDArray[np.bool_]:
    """Return which labels of a column a condition allows, apart from its negation, shape (labels,).

    Args:
        column: the field's column.
        condition: what it has to be.
        names: returns further names of an entity by its row, for labels that are entities; others are values.
    """
    if condition.sign in _COMPARED:
        return _match_compared(column, condition)
    found = np.zeros(len(column.texts), bool)
    other_names = [[label_key(name) for name in names(entity)] if entity >= 0 else ()
                   for entity in column.label_entities.tolist()]
    for value in condition.values:
        found |= _match_names(column, value, other_names)
    return found


def _match_names(column: FieldColumn, value: str, also: Sequence[Sequence[str]]) -> NDArray[np.bool_]:
    """Return which labels are a value; if none is, those that have it as the beginnings of words, else as a part."""
    span = _SPAN.fullmatch(value)
    if span is not None:
        return (_match_compared(column, Condition("", ">=", (span[1],)))
                & _match_compared(column, Condition("", "<=", (span[2],))))
    wanted = label_key(value)
    exact = np.array([key == wanted or wanted in others for key, others in zip(column.keys, also, strict=True)], bool)
    if exact.any() or not wanted:
        return exact
    # A word may go on ("precompiles"), a number may not. A script without spaces has no words to begin.
    begins = r"(?<![^\W_])" if wanted[0].isascii() else ""
    form = re.compile(begins + re.escape(wanted) + (r"(?!\d)" if wanted[-1].isdigit() else ""))
    worded = np.array([form.search(key) is not None or any(map(form.search, others))
                       for key, others in zip(column.keys, also, strict=True)], bool)
    return worded if worded.any() else np.array([wanted in key for key in column.keys], bool)


def _match_compared(column: FieldColumn, condition: Condition) -> NDArray[np.bool_]:
    """Compare dates with a date, and numbers with a number of the same dimension; what is neither does not fit."""
    if not condition.values:
        raise ConditionError(f"{column.name.replace('_', ' ') or 'a name'} {condition.sign} needs a value")
    value, fits = condition.values[0], _COMPARED[condition.sign]
    date = parse_date(value)
    size = measure(parse_number(value))
    if date and years_of(date) and (size is None or column.holds_dates):
        return np.array([bool(own) and _dates_fit(own, date, condition.sign) for own in column.dates], bool)
    if size is None:
        raise ConditionError(f"{value!r} after {condition.sign} is neither a date with a year nor a number")
    return np.array([own is not None and own.dimension == size[0] and fits(own.size, size[1])
                     for own in column.amounts], bool)


def _dates_fit(own: str, date: str, sign: str) -> bool:
    """Compare a date with another as precisely as that one is given: 2020-05-01 is not after 2020."""
    cut = own[:len(date)]
    return {">": cut > date, "<": cut < date, ">=": cut >= date, "<=": cut <= date}[sign]
