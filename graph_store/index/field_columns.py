"""The rows of a relation or an attribute as columns of a table, which lookups filter and count."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...schemas.naming import label_key
from ...text.dates import parse_date, years_of
from ...text.quantities import figures_of, measure, parse_number

Rows = NDArray[np.intp]
_LONGEST_SIZE = 60
"""Characters of the longest value that may be a date or an amount; a longer one is a sentence."""
_YEAR_DIGITS, _LAST_YEAR = 4, 2200


class Quantity(NamedTuple):
    """A number with a unit: "3 km" has the dimension "length", the size 3000.0, the figure 3.0 and the unit "km".

    The size is in the dimension's base unit. A bare number has the dimension and unit "".
    """

    dimension: str
    size: float
    figure: float
    unit: str


@dataclass(frozen=True, eq=False)
class FieldColumn:
    """The distinct rows of a relation, of an attribute, or of both if they have the same name.

    A row leads from an entity, its head, to a label: the name of another entity, or a value. Entities and triples are
    given by their rows in the index.

    Attributes:
        name: the name of the relation or attribute.
        heads: the entity that each row begins at, shape (n,), ascending.
        labels: the position in `texts` of each row's label, shape (n,).
        texts: the labels.
        label_entities: the entity that each label names, -1 for a value, shape (labels,).
        triples: the triple that each row is, -1 for a value, shape (n,).
    """

    name: str
    heads: Rows
    labels: Rows
    texts: Sequence[str]
    label_entities: Rows
    triples: Rows

    @cached_property
    def keys(self) -> list[str]:
        """The labels, normalised for comparison."""
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
        """True if the values are dates rather than numbers.

        Four digits may be a year or a number, so these rows do not count: of the others, more have to be dates.
        """
        date_rows = number_rows = 0
        for row_count, text, date, amount in zip(self.heads_of_label.tolist(), self.texts, self.dates, self.amounts,
                                                 strict=True):
            is_ambiguous = text.isdecimal() and bool(date)
            if date and not is_ambiguous:
                date_rows += row_count
            if amount is not None and not is_ambiguous:
                number_rows += row_count
        return any(self.dates) and date_rows >= number_rows

    @cached_property
    def heads_of_label(self) -> NDArray[np.int64]:
        """How many rows lead to each label, shape (labels,)."""
        return np.bincount(self.labels, minlength=len(self.texts))

    def tails(self) -> Rows:
        """Return the entity that each row leads to, as its row in the index, -1 for values, shape (n,)."""
        tails: Rows = self.label_entities[self.labels]
        return tails


def join_columns(parts: Sequence[FieldColumn]) -> FieldColumn:
    """Return the rows of several columns of the same name as one column."""
    if len(parts) == 1:
        return parts[0]
    first_labels = np.cumsum([0, *(len(part.texts) for part in parts)])
    heads = np.concatenate([part.heads for part in parts])
    order = np.argsort(heads, kind="stable")
    labels = np.concatenate([part.labels + first for part, first in zip(parts, first_labels, strict=False)])
    return FieldColumn(
        parts[0].name, heads[order], labels[order],
        [text for part in parts for text in part.texts], np.concatenate([part.label_entities for part in parts]),
        np.concatenate([part.triples for part in parts])[order])


def date_of(text: str) -> str:
    """Return the normal form of a text that is a date with a year; "" for other texts."""
    if text.isdecimal() and not (len(text) == _YEAR_DIGITS and int(text) <= _LAST_YEAR):
        return ""  # a mere number
    normal = parse_date(text) if len(text) <= _LONGEST_SIZE and any(map(str.isalnum, text)) else ""
    return normal if normal and years_of(normal) else ""


def amount_of(text: str) -> Quantity | None:
    """Return a text as a number with its unit; None if it is not one."""
    normal = parse_number(text) if len(text) <= _LONGEST_SIZE else ""
    size = measure(normal)
    if size is None:
        return None
    unit, (figure,) = figures_of(normal)
    return Quantity(*size, float(figure), unit)
