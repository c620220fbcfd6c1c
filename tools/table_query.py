"""Computing over the rows of a relation or attribute: filter, group, count, add up, find extremes.

All computations are over all rows; `tables` chooses how many of them are shown. Dates are compared as dates, and
numbers in one unit. Rows without a date or a number are left out, and their number is reported.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graph_store.graph_index import GraphIndex
from ..graph_store.index.field_columns import FieldColumn, Rows
from ..schemas.errors import BanyanError
from ..schemas.graph_schema import GraphSchema
from ..schemas.lookups import EXTREMES, Calculation, TripleLookup
from .conditions import Condition, ConditionError, fitting_labels, part_condition, read_condition
from .schema_names import find_term, find_type, names_of, terms_of

MOST_COMPARED = 10_000_000
"""How many comparisons the conditions of a query may take, of each alternative with each label: about ten seconds."""
MOST_PAIRS = 5_000_000
"""How many pairs of a row and a value may be grouped: about five seconds. An entity with many rows and many values of
the field has a pair for each combination."""
_PERIODS = {"year": 4, "month": 7, "decade": 3}
"""The characters of an ISO date that make up a period."""


class FieldError(BanyanError):
    """A field that does not exist, or that cannot be used in this way."""


def find_field(index: GraphIndex, schema: GraphSchema, name: str) -> str:
    """Return the name in the graph of the relation or attribute that a name or label means.

    Raises:
        FieldError: there is none.
    """
    found = find_term(index, schema, name)
    if not found.terms:
        raise FieldError(f"no field is called {name!r}; there are: {', '.join(found.near)}")
    return found.terms[0].name


class RowGroup(NamedTuple):
    """The rows with the same key, by their numbers in the column.

    `value` is the number that was computed over them; a date is YYYYMMDD. `text` is the value for people, with a unit.
    """

    key: str
    rows: Rows
    value: float
    text: str


class Computed(NamedTuple):
    """The result of a query over a column.

    Attributes:
        column: the column.
        rows: the numbers of the rows that fit, in the column's order; for an extreme, of the rows that have it, the
            most extreme first.
        groups: the groups, ordered by their values; empty for a query without groups.
        value: the number that was computed, None for a list.
        unit: the unit of the value.
        total: how many rows fit. A count may be smaller: it is of their heads, and a head may have several rows. The
            rows of a single head are counted by their different tails.
        left_out: how many rows have no value that can be computed with, by the reason.
        having: how many entities of the type `type` have the field.
        of_type: how many entities of the type there are.
        type: the most frequent type of the column's heads.
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
        """Return the first `limit` groups, and further ones whose value equals the last one's; 0 means all groups."""
        if not 0 < limit < len(self.groups):
            return self.groups
        last_value = self.groups[limit - 1].value
        return (*self.groups[:limit], *takewhile(lambda group: group.value == last_value, self.groups[limit:]))


def compute(index: GraphIndex, schema: GraphSchema, lookup: TripleLookup, name: str,
            keep: Callable[[FieldColumn, Rows], Rows] | None = None) -> Computed:
    """Compute what a lookup asks of the rows of the relation or attribute `name`.

    Its date and document are not in columns, so `keep` applies them: it returns those of some rows that fit; None keeps
    all.

    Raises:
        ConditionError, FieldError: a condition cannot be read, or is about a field that does not exist.
    """
    return _Table(index, schema, name).compute(lookup, keep)


class _Table:
    """The rows of one relation or attribute, and how many comparisons the query's conditions took so far."""

    def __init__(self, index: GraphIndex, schema: GraphSchema, name: str) -> None:
        self._index, self._schema = index, schema
        self.column = index.column(name)
        self._compared = 0

    def compute(self, lookup: TripleLookup, keep: Callable[[FieldColumn, Rows], Rows] | None) -> Computed:
        """Return what a query computes; see the module's `compute`."""
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
        """Return which labels of a column fit a condition, apart from its negation; see `fitting_labels`."""
        self._compared += len(column.texts) * max(1, len(condition.values))
        if self._compared > MOST_COMPARED:
            raise ConditionError(f"these conditions compare {self._compared:,} names and values or more, at most "
                                 f"{MOST_COMPARED:,} are compared: give fewer conditions, or fewer values with |")
        return fitting_labels(column, condition, self._index.aliases)

    def _fits_ends(self, entities: Rows, condition: Condition) -> NDArray[np.bool_]:
        """Return which of some entities, shape (n,), fit a condition on their name, shape (n,); -1 is no entity."""
        distinct, positions = np.unique(entities, return_inverse=True)
        names = [self._index.about(row)[0] if row >= 0 else "" for row in distinct.tolist()]
        column = FieldColumn("", distinct, np.arange(len(distinct)), names, distinct, distinct)
        return _apply_sign(self._fitting(column, condition)[positions], condition)

    def _fits_where(self, condition: Condition) -> NDArray[np.bool_]:
        """Return which rows fit a condition on a field, name or type of their head, or with "tail." of their tail."""
        side, _, field = condition.field.rpartition(".")
        if side not in {"", "head", "tail"}:
            raise FieldError(f"{condition.field!r} is no field: write FIELD of the subject, or tail.FIELD")
        entities = self.column.tails() if side == "tail" else self.column.heads
        if field in {"name", "head", "tail"}:
            return self._fits_ends(self.column.tails() if field == "tail" else entities, condition)
        if field == "type" and all(field not in names_of(self._schema, term) for term in terms_of(self._index)):
            return self._fits_types(entities, condition)  # no field is called "type", so it is the entity's type
        column = self._field(field)
        if not condition.values and condition.sign in {"=", "!="}:  # "owner=": without a value
            return _apply_sign(~np.isin(entities, column.heads), condition)
        is_fitting_label = self._fitting(column, condition)
        has_fitting_value = np.isin(entities, column.heads[is_fitting_label[column.labels]])
        return _apply_sign(has_fitting_value, condition)

    def _fits_types(self, entities: Rows, condition: Condition) -> NDArray[np.bool_]:
        """Return which of some entities, shape (n,), have one of a condition's types, shape (n,)."""
        types, wanted = self._index.types, list[str]()
        for value in condition.values:
            wanted.append(find_type(self._index, self._schema, value))
            if not wanted[-1] or condition.sign not in {"=", "!="}:
                raise FieldError(f"no type is {condition.sign} {value}; there are: {', '.join(types)}")
        has_type = np.isin(self._index.type_of[entities], [types.index(name) for name in wanted])
        return _apply_sign(has_type & (entities >= 0), condition)  # -1 is no entity

    def _field(self, name: str) -> FieldColumn:
        """Return the column of a field by its name or label; "<" before the name swaps heads and tails."""
        direction = "<" if name.startswith("<") else ""
        return self._index.column(direction + find_field(self._index, self._schema, name.removeprefix("<")))

    # Calculations.

    def _calculate(self, lookup: TripleLookup, rows: Rows) -> Computed:
        """Return what a query computes over the rows that fit its conditions."""
        left_out: Counter[str] = Counter()
        column, value, unit, result_rows = self.column, None, "", rows
        groups = list[RowGroup]()
        if lookup.by:
            groups = self._group_rows(lookup, rows, left_out)
            result_rows = np.unique(np.concatenate([group.rows for group in groups])) if groups else rows[:0]
        elif lookup.do == "count":
            heads = np.unique(column.heads[rows])
            # The rows of a single head are counted by what they say: "25 speeches of Ana".
            value = float(len(heads) if len(heads) != 1 else len(np.unique(column.labels[rows])))
        elif lookup.do == "distinct":
            value = float(len(np.unique(column.labels[rows])))
        elif lookup.do in {"sum", "mean"}:
            value, unit = self._add_up(lookup.do, rows, left_out)
        elif lookup.do != "list":
            result_rows, value, unit = self._find_extreme(lookup.do, rows, left_out, max(lookup.limit, 1))
        entity_type, having, of_type = self._count_coverage()
        return Computed(column, result_rows, tuple(groups), value, unit, len(rows), dict(left_out), having, of_type,
                        entity_type)

    def _count_coverage(self) -> tuple[str, int, int]:
        """Return the most frequent type of the heads, how many entities of it have the field, and how many exist."""
        heads, index = np.unique(self.column.heads), self._index
        if not len(heads):
            return "", 0, 0
        counts = np.bincount(index.type_of[heads], minlength=len(index.types))
        number = int(np.argmax(counts))
        return index.types[number], int(counts[number]), int(np.count_nonzero(index.type_of == number))

    def _read_numbers(self, rows: Rows, left_out: Counter[str]) -> tuple[Rows, NDArray[np.float64], str]:
        """Return the rows whose labels are numbers of the most frequent dimension, these numbers, and their unit."""
        amounts = [self.column.amounts[label] for label in self.column.labels[rows].tolist()]
        dimensions = Counter(amount.dimension for amount in amounts if amount is not None)
        dimension = min(dimensions, key=lambda name: (-dimensions[name], name)) if dimensions else ""
        comparable = [(position, amount) for position, amount in enumerate(amounts)
                      if amount is not None and amount.dimension == dimension]
        units = Counter(amount.unit for _, amount in comparable)
        unit = min(units, key=lambda name: (-units[name], name)) if units else ""
        number_count = dimensions.total()
        left_out.update({"no number": len(amounts) - number_count, "in another unit": number_count - len(comparable)})
        # Figures that are in the unit are used as they are written, so they stay exact.
        factor = next((amount.size / amount.figure for _, amount in comparable
                       if amount.unit == unit and amount.figure), 1.0)
        numbers = [amount.figure if amount.unit == unit else amount.size / factor for _, amount in comparable]
        return rows[[position for position, _ in comparable]], np.array(numbers, float), unit

    def _add_up(self, do: Calculation, rows: Rows, left_out: Counter[str]) -> tuple[float | None, str]:
        """Return the sum or mean of the rows' numbers, and its unit; None if there are no numbers."""
        _, numbers, unit = self._read_numbers(rows, left_out)
        if not len(numbers):
            return None, ""
        return float(numbers.sum() if do == "sum" else numbers.mean()), unit

    def _find_extreme(self, do: Calculation, rows: Rows, left_out: Counter[str],
                      most: int = 1) -> tuple[Rows, float | None, str]:
        """Return the rows with the smallest, largest, first or last values, most extreme first, the value and unit."""
        dates = [self.column.dates[label] for label in self.column.labels[rows].tolist()]
        if do in {"first", "last"} and self.column.holds_dates:
            extreme_dates = sorted({date for date in dates if date}, reverse=do == "last")[:most]
            rank_of = {date: rank for rank, date in enumerate(extreme_dates)}
            left_out["no date"] += dates.count("")
            positions = [position for position, date in enumerate(dates) if date in rank_of]
            return rows[sorted(positions, key=lambda position: rank_of[dates[position]])], None, ""
        number_rows, numbers, unit = self._read_numbers(rows, left_out)
        if not len(numbers):
            return rows[:0], None, ""
        sortable = numbers if do in {"smallest", "first"} else -numbers
        last_extreme = np.unique(sortable)[:most][-1]
        order = np.argsort(sortable, kind="stable")
        extreme_positions = order[sortable[order] <= last_extreme]
        return number_rows[extreme_positions], float(numbers[order[0]]) if most == 1 else None, unit

    # Groups.

    def _group_rows(self, lookup: TripleLookup, rows: Rows, left_out: Counter[str]) -> list[RowGroup]:
        """Return the groups of some rows, each with what the query computes over it."""
        keys, keyed_rows = self._read_keys(lookup.by, rows, left_out)
        groups = []
        rows_by_key: dict[str, list[int]] = {}
        for key, row in zip(keys, keyed_rows.tolist(), strict=True):
            rows_by_key.setdefault(key, []).append(row)
        # If rows are grouped by one end, the different names at the other end are counted.
        counted_end = self.column.labels if lookup.by == "head" else self.column.heads
        for key, row_list in rows_by_key.items():
            group_rows, unit = np.array(row_list, np.intp), ""
            value: float | None = float(len(np.unique(counted_end[group_rows])))
            if lookup.do in {"sum", "mean"}:
                value, unit = self._add_up(lookup.do, group_rows, left_out)
            elif lookup.do == "distinct":
                value = float(len(np.unique(self.column.labels[group_rows])))
            elif lookup.do in EXTREMES:
                group_rows, value, unit = self._find_extreme(lookup.do, group_rows, left_out)
            # An extreme of dates has rows but no value: its date is that of any of the rows.
            date = self.column.dates[self.column.labels[group_rows[0]]] if value is None and len(group_rows) else ""
            if value is not None:
                groups.append(RowGroup(key, group_rows, value, f"{shown_number(value)} {unit}".strip()))
            elif date:
                groups.append(RowGroup(key, group_rows, _date_number(date), date))
        is_ascending = lookup.do in {"smallest", "first"}
        return sorted(groups, key=lambda group: (group.value if is_ascending else -group.value, group.key))

    def _read_keys(self, by: str, rows: Rows, left_out: Counter[str]) -> tuple[Sequence[str], Rows]:
        """Return the key of each row, and the row; a row with several keys is repeated."""
        field, _, period = by.rpartition(".")
        if period not in _PERIODS:
            field, period = by, ""
        if by == "head":
            return [self._index.about(row)[0] for row in self.column.heads[rows].tolist()], rows
        if field in {"", "tail"}:
            texts = self.column.dates if period else self.column.texts
            keys, keyed_rows = [texts[label] for label in self.column.labels[rows].tolist()], rows
        else:
            keys, keyed_rows = self._read_field_keys(field, rows, left_out, dates=bool(period))
        if not period:
            return keys, keyed_rows
        dated = [position for position, date in enumerate(keys) if date]
        left_out["no date"] += len(keys) - len(dated)
        length, suffix = _PERIODS[period], "0s" if period == "decade" else ""
        return [f"{keys[position][:length]}{suffix}" for position in dated], keyed_rows[dated]

    def _read_field_keys(self, name: str, rows: Rows, left_out: Counter[str], *, dates: bool) -> tuple[list[str], Rows]:
        """Return the values that each row's head (or tail, for "tail.FIELD") has of a field, each with its row."""
        side, _, field = name.rpartition(".")
        entities = (self.column.tails() if side == "tail" else self.column.heads)[rows]
        column = self._field(field or name)
        # The heads of a column are sorted, so the values of an entity are in neighbouring rows.
        begins, ends = (np.searchsorted(column.heads, entities, way) for way in ("left", "right"))
        if (pairs := int((ends - begins).sum())) > MOST_PAIRS:
            raise FieldError(f"by {name} there are {pairs:,} pairs of a row and a value, at most {MOST_PAIRS:,} are "
                             "grouped: narrow by head, tail or where")
        left_out[f"no {column.name.replace('_', ' ')}"] += int(np.count_nonzero(begins == ends))
        texts = column.dates if dates else column.texts
        keys, keyed_rows = list[str](), list[int]()
        for row, begin, end in zip(rows.tolist(), begins.tolist(), ends.tolist(), strict=True):
            for label in column.labels[begin:end].tolist():
                keys.append(texts[label])
                keyed_rows.append(row)
        return keys, np.array(keyed_rows, np.intp)


def _date_number(date: str) -> float:
    """Return a date as the number YYYYMMDD, by which dates are sorted; unknown parts are 0, and BC is negative."""
    digits = "".join(character if character.isdigit() else "0" for character in date.lstrip("-") if character != "-")
    return float(digits[:8].ljust(8, "0")) * (-1 if date.startswith("-") else 1)


def _apply_sign(fits: NDArray[np.bool_], condition: Condition) -> NDArray[np.bool_]:
    """Return `fits`, or its negation if the condition's sign is "!="."""
    return ~fits if condition.sign == "!=" else fits


def shown_number(value: float) -> str:
    """Return a number as people write it: 27, 3.5."""
    return f"{value:,.0f}".replace(",", "") if value == int(value) else f"{value:.6g}"

