"""Compute over the rows of a relation or attribute: filter, group, count, add up, find the extremes.

Everything is counted over all rows; what is shown of them is somebody else's choice. Dates compare as dates, numbers in
one unit; what has no value of the kind is left out and counted.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..schemas.errors import BanyanError
from ..schemas.graph_schema import GraphSchema
from ..schemas.lookups import EXTREMES, Calculation, TripleLookup
from .conditions import Condition, ConditionError, fitting_labels, part_condition, read_condition
from .field_columns import FieldColumn, Rows
from .index import RetrievalIndex
from .schema_names import find_term, find_type, names_of, terms_of

MOST_COMPARED, MOST_PAIRS = 10_000_000, 5_000_000
"""What the conditions of a query compare, each alternative with each label; and the rows with a value to group by, of
which an entity with many rows and values has their product. Each takes about a microsecond."""
_PERIODS = {"year": 4, "month": 7, "decade": 3}


class FieldError(BanyanError):
    """A field that no relation or attribute has for its name."""


def find_field(index: RetrievalIndex, schema: GraphSchema, name: str) -> str:
    """Return the relation or attribute that a field's name means.

    Raises:
        FieldError: there is none.
    """
    found = find_term(index, schema, name)
    if not found.terms:
        raise FieldError(f"no field is called {name!r}; there are: {', '.join(found.near)}")
    return found.terms[0].name


class RowGroup(NamedTuple):
    """The rows, by their numbers in the column, that have a key.

    `value` is what was computed of them, a date as YYYYMMDD; `text` is that in words, with a unit.
    """

    key: str
    rows: Rows
    value: float
    text: str


class Computed(NamedTuple):
    """What a query found.

    Attributes:
        column: the column that was asked for.
        rows: the numbers of the rows that fit, in the column's order; of an extreme, those that have it.
        groups: the groups, the largest or first first.
        value: the number that was computed, None for a list.
        unit: what the number is in.
        total: the rows that fit; a count is of their subjects, which may have several.
        left_out: how many rows have no value of the kind, by the reason.
        having, of_type, type: how many entities of the subjects' type have the field, and how many there are.
    """

    column: FieldColumn
    rows: Rows
    groups: tuple[RowGroup, ...]
    value: float | None
    unit: str
    total: int
    left_out: dict[str, int]
    having: int
    of_type: int
    type: str

    def leading(self, limit: int) -> tuple[RowGroup, ...]:
        """Return the first groups, and those that tie with the last of them; all groups if the limit is 0."""
        if not 0 < limit < len(self.groups):
            return self.groups
        least = self.groups[limit - 1].value
        return (*self.groups[:limit], *takewhile(lambda group: group.value == least, self.groups[limit:]))


def compute(index: RetrievalIndex, schema: GraphSchema, lookup: TripleLookup, name: str,
            keep: Callable[[FieldColumn, Rows], Rows] | None = None) -> Computed:
    """Compute what a lookup asks of the rows of a relation or attribute.

    Args:
        index: the knowledge base.
        schema: the schema in force, by whose labels fields are found.
        lookup: what is asked; its date and document are left to `keep`.
        name: the relation's or attribute's name in the graph.
        keep: returns those of some rows that fit what is not in columns, such as a date.

    Raises:
        ConditionError, FieldError: a condition cannot be read, or is about a field that there is not.
    """
    return _Table(index, schema, name).compute(lookup, keep)


class _Table:
    """One relation or attribute of one knowledge base."""

    def __init__(self, index: RetrievalIndex, schema: GraphSchema, name: str) -> None:
        self._index, self._schema = index, schema
        self.column = index.column(name)
        self._compared = 0

    def compute(self, lookup: TripleLookup, keep: Callable[[FieldColumn, Rows], Rows] | None) -> Computed:
        fits = np.ones(len(self.column.heads), bool)
        if lookup.head:
            fits &= self._fits_ends(self.column.heads, part_condition(lookup.head))
        if lookup.tail:
            condition = part_condition(lookup.tail)
            fits &= _apply_sign(self._fitting(self.column, condition), condition)[self.column.labels]
        for condition in map(read_condition, lookup.where):
            fits &= self._fits_where(condition)
        rows = np.flatnonzero(fits)
        return self._calculate(lookup, keep(self.column, rows) if keep else rows)

    # Conditions.

    def _fitting(self, column: FieldColumn, condition: Condition) -> NDArray[np.bool_]:
        """Return which labels of a column a condition allows; see `fitting_labels`.

        Raises:
            ConditionError: the query's conditions together take too long.
        """
        self._compared += len(column.texts) * max(1, len(condition.values))
        if self._compared > MOST_COMPARED:
            raise ConditionError(f"these conditions compare {self._compared:,} names and values or more, at most "
                                 f"{MOST_COMPARED:,} are compared: give fewer conditions, or fewer values with |")
        return fitting_labels(column, condition, self._index.aliases)

    def _fits_ends(self, entities: Rows, condition: Condition) -> NDArray[np.bool_]:
        """Return which rows have an entity of some name."""
        distinct, number = np.unique(entities, return_inverse=True)
        names = [self._index.about(row)[0] if row >= 0 else "" for row in distinct.tolist()]
        column = FieldColumn("", distinct, np.arange(len(distinct)), names, distinct, distinct)
        return _apply_sign(self._fitting(column, condition)[number], condition)

    def _fits_where(self, condition: Condition) -> NDArray[np.bool_]:
        side, _, field = condition.field.rpartition(".")
        if side not in {"", "head", "tail"}:
            raise FieldError(f"{condition.field!r} is no field: write FIELD of the subject, or tail.FIELD")
        entities = self.column.tails() if side == "tail" else self.column.heads
        if field in {"name", "head", "tail"}:
            return self._fits_ends(self.column.tails() if field == "tail" else entities, condition)
        if field == "type" and all(field not in names_of(self._schema, term) for term in terms_of(self._index)):
            return self._fits_types(entities, condition)
        column = self._field(field)
        if not condition.values and condition.sign in {"=", "!="}:
            return _apply_sign(~np.isin(entities, column.heads), condition)
        fitting = self._fitting(column, condition)
        having = np.isin(entities, column.heads[fitting[column.labels]])
        return _apply_sign(having, condition)

    def _fits_types(self, entities: Rows, condition: Condition) -> NDArray[np.bool_]:
        types, wanted = self._index.browsing.types, list[str]()
        for value in condition.values:
            wanted.append(find_type(self._index, self._schema, value))
            if not wanted[-1] or condition.sign not in {"=", "!="}:
                raise FieldError(f"no type is {condition.sign} {value}; there are: {', '.join(types)}")
        fits = np.isin(self._index.browsing.type_of[entities], [types.index(kind) for kind in wanted]) & (entities >= 0)
        return _apply_sign(fits, condition)

    def _field(self, name: str) -> FieldColumn:
        bare = name.removeprefix("<")
        return self._index.column(name.removesuffix(bare) + find_field(self._index, self._schema, bare))

    # Calculations.

    def _calculate(self, lookup: TripleLookup, rows: Rows) -> Computed:
        left_out: Counter[str] = Counter()
        column, value, unit, shown = self.column, None, "", rows
        groups = list[RowGroup]()
        if lookup.by:
            groups = self._group_rows(lookup, rows, left_out)
            shown = np.unique(np.concatenate([group.rows for group in groups])) if groups else rows[:0]
        elif lookup.do == "count":
            value = float(len(np.unique(column.heads[rows])))
        elif lookup.do == "distinct":
            value = float(len(np.unique(column.labels[rows])))
        elif lookup.do in {"sum", "mean"}:
            value, unit = self._add_up(lookup.do, rows, left_out)
        elif lookup.do != "list":
            shown, value, unit = self._find_extreme(lookup.do, rows, left_out, max(lookup.limit, 1))
        kind, having, of_type = self._count_coverage()
        return Computed(column, shown, tuple(groups), value, unit, len(rows), dict(left_out), having, of_type, kind)

    def _count_coverage(self) -> tuple[str, int, int]:
        """Return the subjects' most frequent type, how many of it have the field, and how many there are."""
        owners, browsing = np.unique(self.column.heads), self._index.browsing
        if not len(owners):
            return "", 0, 0
        counts = np.bincount(browsing.type_of[owners], minlength=len(browsing.types))
        kind = int(np.argmax(counts))
        return browsing.types[kind], int(counts[kind]), int(np.count_nonzero(browsing.type_of == kind))

    def _read_numbers(self, rows: Rows, left_out: Counter[str]) -> tuple[Rows, NDArray[np.float64], str]:
        """Return the rows with a number, these numbers in one unit, and that unit: the one that most have."""
        amounts = [self.column.amounts[label] for label in self.column.labels[rows].tolist()]
        units = Counter(amount.dimension for amount in amounts if amount is not None)
        dimension = min(units, key=lambda one: (-units[one], one)) if units else ""
        written = Counter(amount.unit for amount in amounts if amount is not None and amount.dimension == dimension)
        unit = min(written, key=lambda one: (-written[one], one)) if written else ""
        sized = [(number, amount) for number, amount in enumerate(amounts)
                 if amount is not None and amount.dimension == dimension]
        left_out.update({"no number": len(amounts) - units.total(), "in another unit": units.total() - len(sized)})
        # Figures as written stay exact where all are in one unit.
        factor = next((one.size / one.figure for _, one in sized if one.unit == unit and one.figure), 1.0)
        sizes = [amount.figure if amount.unit == unit else amount.size / factor for _, amount in sized]
        return rows[[number for number, _ in sized]], np.array(sizes, float), unit

    def _add_up(self, do: Calculation, rows: Rows, left_out: Counter[str]) -> tuple[float | None, str]:
        _, sizes, unit = self._read_numbers(rows, left_out)
        if not len(sizes):
            return None, ""
        return float(sizes.sum() if do == "sum" else sizes.mean()), unit

    def _find_extreme(self, do: Calculation, rows: Rows, left_out: Counter[str],
                 most: int = 1) -> tuple[Rows, float | None, str]:
        """Return the rows with the smallest, largest, first or last values; the value only if one is asked for."""
        dates = [self.column.dates[label] for label in self.column.labels[rows].tolist()]
        if do in {"first", "last"} and self.column.holds_dates:
            known = set(sorted({date for date in dates if date}, reverse=do == "last")[:most])
            left_out["no date"] += dates.count("")
            return rows[[number for number, date in enumerate(dates) if date in known]], None, ""
        sized, sizes, unit = self._read_numbers(rows, left_out)
        if not len(sizes):
            return rows[:0], None, ""
        wanted = np.unique(sizes)[:most] if do in {"smallest", "first"} else np.unique(sizes)[-most:]
        return sized[np.isin(sizes, wanted)], float(wanted[0]) if most == 1 else None, unit

    # Groups.

    def _group_rows(self, lookup: TripleLookup, rows: Rows, left_out: Counter[str]) -> list[RowGroup]:
        keys, at = self._read_keys(lookup.by, rows, left_out)
        found = []
        by_key: dict[str, list[int]] = {}
        for key, row in zip(keys, at.tolist(), strict=True):
            by_key.setdefault(key, []).append(row)
        # Grouped by one end, the other one is counted.
        counted = self.column.labels if lookup.by == "head" else self.column.heads
        for key, own in by_key.items():
            of, unit = np.array(own, np.intp), ""
            value: float | None = float(len(np.unique(counted[of])))
            if lookup.do in {"sum", "mean"}:
                value, unit = self._add_up(lookup.do, of, left_out)
            elif lookup.do == "distinct":
                value = float(len(np.unique(self.column.labels[of])))
            elif lookup.do in EXTREMES:
                of, value, unit = self._find_extreme(lookup.do, of, left_out)
            date = self.column.dates[self.column.labels[of[0]]] if value is None and len(of) else ""
            if value is not None:
                found.append(RowGroup(key, of, value, f"{shown_number(value)} {unit}".strip()))
            elif date:
                found.append(RowGroup(key, of, _date_number(date), date))
        ascending = lookup.do in {"smallest", "first"}
        return sorted(found, key=lambda group: (group.value if ascending else -group.value, group.key))

    def _read_keys(self, by: str, rows: Rows, left_out: Counter[str]) -> tuple[Sequence[str], Rows]:
        """Return the key of each row, and the row; rows with several keys are there several times."""
        field, _, period = by.rpartition(".")
        if period not in _PERIODS:
            field, period = by, ""
        if by == "head":
            return [self._index.about(row)[0] for row in self.column.heads[rows].tolist()], rows
        if field in {"", "tail"}:
            texts = self.column.dates if period else self.column.texts
            keys, at = [texts[label] for label in self.column.labels[rows].tolist()], rows
        else:
            keys, at = self._read_field_keys(field, rows, left_out, dates=bool(period))
        if not period:
            return keys, at
        dated = [number for number, key in enumerate(keys) if key]
        left_out["no date"] += len(keys) - len(dated)
        return [f"{keys[number][:_PERIODS[period]]}{'0s' if period == 'decade' else ''}" for number in dated], at[dated]

    def _read_field_keys(self, name: str, rows: Rows, left_out: Counter[str], *, dates: bool) -> tuple[list[str], Rows]:
        side, _, field = name.rpartition(".")
        entities = (self.column.tails() if side == "tail" else self.column.heads)[rows]
        column = self._field(field or name)
        begins, ends = (np.searchsorted(column.heads, entities, way) for way in ("left", "right"))
        if (pairs := int((ends - begins).sum())) > MOST_PAIRS:
            raise FieldError(f"by {name} there are {pairs:,} pairs of a row and a value, at most {MOST_PAIRS:,} are "
                             "grouped: narrow by head, tail or where")
        left_out[f"no {column.name.replace('_', ' ')}"] += int(np.count_nonzero(begins == ends))
        texts = column.dates if dates else column.texts
        keys, at = list[str](), list[int]()
        for row, begin, end in zip(rows.tolist(), begins.tolist(), ends.tolist(), strict=True):
            for label in column.labels[begin:end].tolist():
                keys.append(texts[label])
                at.append(row)
        return keys, np.array(at, np.intp)


def _date_number(date: str) -> float:
    """Return a date as YYYYMMDD, so that dates have an order; what is not known of it is 0."""
    digits = "".join(character if character.isdigit() else "0" for character in date.lstrip("-") if character != "-")
    return float(digits[:8].ljust(8, "0")) * (-1 if date.startswith("-") else 1)


def _apply_sign(fits: NDArray[np.bool_], condition: Condition) -> NDArray[np.bool_]:
    """Return what fits a condition: all others where it says not."""
    return ~fits if condition.sign == "!=" else fits


def shown_number(value: float) -> str:
    """Return a number as people write it: 27, 3.5."""
    return f"{value:,.0f}".replace(",", "") if value == int(value) else f"{value:.6g}"

