"""The rows of a relation or an attribute as columns, which lookups filter and count."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..schemas.naming import label_key
from ..text.dates import parse_date, years_of
from ..text.quantities import figures_of, measure, parse_number

Rows = NDArray[np.intp]
_LONGEST_SIZE = 60
"""Characters of a value that may be a date or an amount; longer ones are sentences."""
_YEAR_DIGITS, _LAST_YEAR = 4, 2200


class Quantity(NamedTuple):
    """A number: its size in its dimension's base unit, and its figure and unit as written; "" for a mere number."""

    dimension: str
    size: float
    figure: float
    unit: str


@dataclass(frozen=True, eq=False)
class FieldColumn:
    """The distinct rows of a relation, an attribute, or both if they have one name.

    Attributes:
        name: the name of the relation or attribute.
        heads: the entity's row of each row, shape (n,), ascending.
        labels: the number of each row's label, shape (n,): what it leads to.
        texts: the labels, names of entities or values.
        label_entities: the entity's row of each label, -1 of a value, shape (labels,).
        triples: the triple's row of each row, -1 of a value, shape (n,).
    """

    name: str
    heads: Rows
    labels: Rows
    texts: Sequence[str]
    label_entities: Rows
    triples: Rows

    @cached_property
    def keys(self) -> list[str]:
        """The labels as they are compared."""
        return list(map(label_key, self.texts))

    @cached_property
    def dates(self) -> list[str]:
        """The normal form of each label that is a date with a year; "" of others."""
        return [date_of(text) for text in self.texts]

    @cached_property
    def amounts(self) -> list[Quantity | None]:
        """The number that each label is; None of others."""
        return [amount_of(text) for text in self.texts]

    @cached_property
    def holds_dates(self) -> bool:
        """True if the values are dates rather than numbers; four digits alone may be either."""
        rows = self.heads_of_label.tolist()
        plain = [text.isdecimal() for text in self.texts]
        dated = sum(count for count, date, bare in zip(rows, self.dates, plain, strict=True) if date and not bare)
        sized = sum(count for count, amount, date, bare in zip(rows, self.amounts, self.dates, plain, strict=True)
                    if amount is not None and not (bare and date))
        return any(self.dates) and dated >= sized

    @cached_property
    def heads_of_label(self) -> NDArray[np.int64]:
        """How many rows each label has, shape (labels,)."""
        return np.bincount(self.labels, minlength=len(self.texts))

    def tails(self) -> Rows:
        """Return the entity's row that each row leads to, -1 for values, shape (n,)."""
        found: Rows = self.label_entities[self.labels]
        return found


def join_columns(parts: Sequence[FieldColumn]) -> FieldColumn:
    """Return the rows of several columns of one name as one."""
    if len(parts) == 1:
        return parts[0]
    before = np.cumsum([0, *(len(part.texts) for part in parts)])
    heads = np.concatenate([part.heads for part in parts])
    order = np.argsort(heads, kind="stable")
    labels = np.concatenate([part.labels + first for part, first in zip(parts, before, strict=False)])
    return FieldColumn(
        parts[0].name, heads[order], labels[order],
        [text for part in parts for text in part.texts], np.concatenate([part.label_entities for part in parts]),
        np.concatenate([part.triples for part in parts])[order])


def date_of(text: str) -> str:
    """Return the normal form of a text that is a date with a year; "" of others."""
    if text.isdecimal() and not (len(text) == _YEAR_DIGITS and int(text) <= _LAST_YEAR):
        return ""  # a mere number
    normal = parse_date(text) if len(text) <= _LONGEST_SIZE and any(map(str.isalnum, text)) else ""
    return normal if normal and years_of(normal) else ""


def amount_of(text: str) -> Quantity | None:
    """Return the number that a text is; None of others."""
    normal = parse_number(text) if len(text) <= _LONGEST_SIZE else ""
    size = measure(normal)
    if size is None:
        return None
    unit, (figure,) = figures_of(normal)
    return Quantity(*size, float(figure), unit)
