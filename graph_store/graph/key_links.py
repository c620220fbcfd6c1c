"""Links that the data itself declares: a field whose values are the keys of other documents or rows.

`requires: 2718` in one document and `eip: 2718` in another, or a column `manager_id` with the values of `id`: such
values become triples, whose relation is the field's name, and are no values any more. A value that is nobody's key
stays one. Everything follows from all values together, so it is derived from the rows and never stored.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...schemas.naming import label_key
from .graph_columns import (
    GraphColumns,
    Numbers,
    Rows,
    SupportTable,
    TripleTimeTable,
    ValueTable,
    ValueTimeTable,
    distinct_rows,
    find_firsts,
    join_rows,
    select_rows,
    sort_rows,
    surest_rows,
)
from .row_columns import distinct_triples

_LEAST_KEYS = 3
"""The fewest things that have a key: two values that differ are not yet one."""
_LEAST_LINKS = 2
"""The fewest distinct keys that a field refers to."""
_NEARLY_ALL = 0.9
"""The share of a field's distinct values that are keys, if it is a field of references. Others are of documents that
are not here."""
_LISTED = 1.5
"""The mean number of values from which a field is one of lists."""
_LONGEST_KEY = 40
_IDENTIFYING = frozenset(["id", "ids", "no", "nr", "number", "numbers", "key", "keys", "code", "codes", "sku", "isbn",
                          "编号", "号码", "代码"])
"""Last words of fields that identify, and of those that refer to such: "part no", "manager id"."""
_REFERRING = frozenset("""ref refs reference references requires required replaces replaced supersedes superseded
    obsoletes obsoleted updates depends dependency dependencies parent manager supervisor predecessor successor
    duplicates 引用 替代 取代 依赖 上级""".split())  # noqa: SIM905
"""Words of fields that refer to others, however many of these are here. Otherwise whole numbers are keys only in lists:
a quantity may be anybody's number."""


def link_keys(columns: GraphColumns, declined: Collection[str] = ()) -> GraphColumns:
    """Return a graph in which references are triples.

    Args:
        columns: the graph of mentions.
        declined: the fields that a person decided to be no references.
    """
    values = columns.values
    if not len(values.entity):
        return columns
    firsts = find_firsts(values.entity, values.attribute, values.value)
    facts = np.stack([values.entity, values.attribute, values.value], axis=1)[firsts]
    kinds = columns.types[facts[:, 0]]
    keys = _find_keys(columns, facts, kinds)
    target = np.full(len(values.entity), -1, np.int32)
    for attribute in np.unique(facts[:, 1]).tolist():
        if columns.texts[attribute] in declined:
            continue
        own = facts[facts[:, 1] == attribute]
        fitting = [key for key in keys if key.attribute != attribute and _refers(columns, own, key)]
        if fitting:
            # Of several keys that of the field's name counts, then the one that most of its values are.
            key = min(fitting, key=lambda key: (-_in_common(columns, attribute, key), -_known(own, key)))
            rows = np.flatnonzero(values.attribute == attribute)
            target[rows] = key.owners_of(values.value[rows])
    # What refers to itself says nothing.
    target[target == values.entity] = -1
    return _with_links(columns, target) if (target >= 0).any() else columns


class _Key:
    """A field that tells its owners of one type apart: each has one value, and no two the same."""

    def __init__(self, attribute: int, owners: Numbers, values: Numbers, *, numeric: bool) -> None:
        order = np.argsort(values)
        self.attribute, self.numeric = attribute, numeric
        self.owners, self._values = owners[order], values[order]

    def owners_of(self, values: Numbers) -> Numbers:
        """Return the owner of each value; -1 of those that are nobody's."""
        places = np.minimum(np.searchsorted(self._values, values), len(self._values) - 1)
        return np.where(self._values[places] == values, self.owners[places], -1).astype(np.int32)


def _find_keys(columns: GraphColumns, facts: NDArray[np.int32], kinds: Numbers) -> list[_Key]:
    """Return the fields that are keys; those of the most owners first."""
    order = sort_rows(facts[:, 1], kinds, facts[:, 0])
    attributes, types, owners, values = facts[order, 1], kinds[order], facts[order, 0], facts[order, 2]
    starts = np.flatnonzero(find_firsts(attributes, types))
    found = []
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
        held = values[start:end]
        if end - start >= _LEAST_KEYS and len(np.unique(owners[start:end])) == len(np.unique(held)) == end - start:
            texts = [columns.texts[value] for value in held.tolist()]
            names = [columns.texts[columns.names[owner]] for owner in owners[start:end].tolist()]
            if _identifies(columns.texts[int(attributes[start])], texts, names):
                found.append(_Key(int(attributes[start]), owners[start:end], held,
                                  numeric=all(text.isdecimal() for text in texts)))
    return sorted(found, key=lambda key: -len(key.owners))


def _identifies(field: str, values: Sequence[str], names: Sequence[str]) -> bool:
    """Return True if the different values of a field are keys: codes, or numbers that say so by name or in names."""
    if not all(len(value) <= _LONGEST_KEY and " " not in value and any(map(str.isdigit, value)) for value in values):
        return False
    in_names = sum(value in name for value, name in zip(values, names, strict=True))
    coded = not any(value.replace(".", "").replace(",", "").isdecimal() for value in values)
    return coded or _ends_identifying(field) or in_names >= _NEARLY_ALL * len(values)


def _ends_identifying(field: str) -> bool:
    return label_key(field).rpartition(" ")[2] in _IDENTIFYING


def _known(facts: NDArray[np.int32], key: _Key) -> int:
    """Return how many of a field's values are keys."""
    return int(np.count_nonzero(key.owners_of(np.unique(facts[:, 2])) >= 0))


def _in_common(columns: GraphColumns, attribute: int, key: _Key) -> int:
    """Return how many words a field's name has in common with that of a key."""
    return len(set(label_key(columns.texts[attribute]).split()) & set(
        label_key(columns.texts[key.attribute]).split()))


def _refers(columns: GraphColumns, facts: NDArray[np.int32], key: _Key) -> bool:
    """Return True if a field's values are the keys of others."""
    field = columns.texts[int(facts[0, 1])]
    said, known = set(label_key(field).split()), _known(facts, key)
    if known < _LEAST_LINKS or said & _REFERRING:
        return known >= _LEAST_LINKS
    if _ends_identifying(field) and len(said) > 1:
        return known >= _NEARLY_ALL * len(np.unique(facts[:, 2]))
    owners, counts = np.unique(facts[:, 0], return_counts=True)
    # A list of whole numbers in rows that have such a number themselves.
    listed = counts.mean() >= _LISTED and np.isin(owners, key.owners).mean() > 1 / 2
    return bool(known >= _NEARLY_ALL * len(np.unique(facts[:, 2])) and (listed or not key.numeric))


def _with_links(columns: GraphColumns, target: Numbers) -> GraphColumns:
    """Return the graph with a triple in place of each value that has a target's row, shape (values,)."""
    values, times = columns.values, columns.value_times
    linked = np.flatnonzero(target >= 0)
    ends = (values.entity[linked], values.attribute[linked], target[linked])
    triples, row = distinct_triples(*(np.concatenate(pair) for pair in zip(columns.triples.T, ends, strict=True)))
    old, new = row[:len(columns.triples)], row[len(columns.triples):]
    stated = SupportTable(new, values.chunk[linked], values.start[linked], values.end[linked], np.ones(len(linked)))
    triple_of = dict(zip(_keys(values, linked), new.tolist(), strict=True))
    moved = np.array([key in triple_of for key in _keys(times, np.arange(len(times.entity)))], bool)
    moving = select_rows(times, moved)
    dated = TripleTimeTable(np.array([triple_of[key] for key in _keys(times, np.flatnonzero(moved))], np.int32),
                            moving.words, moving.chunk, moving.start, moving.end)
    support = columns.support._replace(triple=old[columns.support.triple])
    triple_times = columns.triple_times._replace(triple=old[columns.triple_times.triple])
    return replace(columns, triples=triples, support=surest_rows(join_rows(support, stated)),
                   triple_times=distinct_rows(join_rows(triple_times, dated), 3),
                   values=select_rows(values, target < 0), value_times=select_rows(times, ~moved))


def _keys(table: ValueTable | ValueTimeTable, rows: Rows) -> list[tuple[int, int, int]]:
    """Return the entity, attribute and value of some rows."""
    return list(zip(*(column[rows].tolist() for column in table[:3]), strict=True))
