"""Links that the data itself declares: a field whose values are the keys of other documents or rows.

`requires: 2718` beside `eip: 2718`, or a column `manager_id` with values of `id`, become triples whose relation is the
field's name. A value that is nobody's key stays one. This is derived from all values together, and never stored.
"""

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
    distinct_triples,
    find_firsts,
    keep_surest_rows,
    select_rows,
    sort_rows,
)

_LEAST_KEYS = 3
"""The fewest things that have a key: two values that differ are not yet one."""
_LEAST_LINKS = 2
"""The fewest distinct keys that a field refers to."""
_NEARLY_ALL = 0.9
"""The share of a field's distinct values that are keys, if it is a field of references. Others are of documents that
are not here."""
_LEAST_LIST_LENGTH = 1.5
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


def link_keys(columns: GraphColumns) -> GraphColumns:
    """Turn the values of fields that refer to keys into triples."""
    values = columns.values
    if not len(values.entity):
        return columns
    firsts = find_firsts(values.entity, values.attribute, values.value)
    facts = np.stack([values.entity, values.attribute, values.value], axis=1)[firsts]
    keys = _find_keys(columns, facts, columns.types[facts[:, 0]])
    target = np.full(len(values.entity), -1, np.int32)  # -1: the value stays a value
    for attribute in np.unique(facts[:, 1]).tolist():
        field_facts = facts[facts[:, 1] == attribute]
        fitting = [key for key in keys if key.attribute != attribute and _refers_to(columns, field_facts, key)]
        if fitting:
            # Prefer the key whose name is most like the field's, then the key to which most of its values refer.
            field_words = _words_of(columns, attribute)
            best = min(fitting, key=lambda key: (-len(field_words & _words_of(columns, key.attribute)),
                                                 -_count_references(field_facts, key)))
            rows = np.flatnonzero(values.attribute == attribute)
            target[rows] = best.owners_of(values.value[rows])
    target[target == values.entity] = -1  # a link from an entity to itself says nothing
    return _turn_into_triples(columns, target) if (target >= 0).any() else columns


class _KeyField:
    """A field that identifies the entities of one type: each has one value, and no two have the same one."""

    def __init__(self, attribute: int, owners: Numbers, values: Numbers, *, numeric: bool) -> None:
        """Sort the owners by their values; `numeric` means that all values are whole numbers."""
        order = np.argsort(values)
        self.attribute, self.numeric = attribute, numeric
        self.owners, self._values = owners[order], values[order]

    def owners_of(self, values: Numbers) -> Numbers:
        """Return the row of the entity that each value identifies, or -1 if it identifies none."""
        places = np.minimum(np.searchsorted(self._values, values), len(self._values) - 1)
        return np.where(self._values[places] == values, self.owners[places], -1).astype(np.int32)


def _find_keys(columns: GraphColumns, facts: NDArray[np.int32], kinds: Numbers) -> list[_KeyField]:
    """Return the fields that are keys of the entities of a type; those of the most entities first."""
    order = sort_rows(facts[:, 1], kinds, facts[:, 0])
    attributes = facts[order, 1]
    types = kinds[order]
    owners = facts[order, 0]
    values = facts[order, 2]
    starts = np.flatnonzero(find_firsts(attributes, types))
    keys = []
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
        field_owners, field_values = owners[start:end], values[start:end]
        # Each entity has one value, and each value belongs to one entity.
        is_unique = len(np.unique(field_owners)) == len(np.unique(field_values)) == end - start
        texts = [columns.texts[value] for value in field_values.tolist()]
        # Keys are short words with digits.
        if not is_unique or end - start < _LEAST_KEYS or not all(
                len(text) <= _LONGEST_KEY and " " not in text and any(map(str.isdigit, text)) for text in texts):
            continue
        names = [columns.texts[columns.names[owner]] for owner in field_owners.tolist()]
        in_names = sum(text in name for text, name in zip(texts, names, strict=True))
        has_numbers = any(text.replace(".", "").replace(",", "").isdecimal() for text in texts)
        if (not has_numbers or in_names >= _NEARLY_ALL * len(texts)
                or _ends_identifying(columns.texts[int(attributes[start])])):
            keys.append(_KeyField(int(attributes[start]), field_owners, field_values,
                                  numeric=all(text.isdecimal() for text in texts)))
    return sorted(keys, key=lambda key: -len(key.owners))


def _ends_identifying(field: str) -> bool:
    return label_key(field).rpartition(" ")[2] in _IDENTIFYING


def _words_of(columns: GraphColumns, field: int) -> set[str]:
    return set(label_key(columns.texts[field]).split())


def _count_references(facts: NDArray[np.int32], key: _KeyField) -> int:
    return int(np.count_nonzero(key.owners_of(np.unique(facts[:, 2])) >= 0))


def _refers_to(columns: GraphColumns, facts: NDArray[np.int32], key: _KeyField) -> bool:
    """Return True if the values of a field (`facts`) refer to the entities of a key, and do not equal it by chance."""
    field_words, references = _words_of(columns, int(facts[0, 1])), _count_references(facts, key)
    if references < _LEAST_LINKS:
        return False
    if field_words & _REFERRING:
        return True
    if references < _NEARLY_ALL * len(np.unique(facts[:, 2])):
        return False
    if not key.numeric or (_ends_identifying(columns.texts[int(facts[0, 1])]) and len(field_words) > 1):
        return True
    # Of whole numbers under any other name, only lists refer to keys, if most of their owners have such a key, too.
    owners, counts = np.unique(facts[:, 0], return_counts=True)
    return bool(counts.mean() >= _LEAST_LIST_LENGTH and np.isin(owners, key.owners).mean() > 1 / 2)


def _turn_into_triples(columns: GraphColumns, target: Numbers) -> GraphColumns:
    """Return the graph in which values with a `target` are triples; it is an entity's row for each value, or -1."""
    values, times = columns.values, columns.value_times
    linked = np.flatnonzero(target >= 0)
    link_triples = (values.entity[linked], values.attribute[linked], target[linked])
    triples, row = distinct_triples(*(np.concatenate(pair)
                                      for pair in zip(columns.triples.T, link_triples, strict=True)))
    old_rows, link_rows = row[:len(columns.triples)], row[len(columns.triples):]
    link_support = SupportTable(link_rows, values.chunk[linked], values.start[linked], values.end[linked],
                                np.ones(len(linked)))
    triple_of = dict(zip(_value_keys(values, linked), link_rows.tolist(), strict=True))
    is_link_time = np.array([key in triple_of for key in _value_keys(times, np.arange(len(times.entity)))], bool)
    link_times = select_rows(times, is_link_time)
    time_rows = [triple_of[key] for key in _value_keys(times, np.flatnonzero(is_link_time))]
    link_triple_times = TripleTimeTable(np.array(time_rows, np.int32), link_times.words, link_times.chunk,
                                        link_times.start, link_times.end)
    support = columns.support._replace(triple=old_rows[columns.support.triple])
    triple_times = columns.triple_times._replace(triple=old_rows[columns.triple_times.triple])
    all_support, all_times = (map(np.concatenate, zip(*tables, strict=True)) for tables in (
        (support, link_support), (triple_times, link_triple_times)))
    return replace(columns, triples=triples, support=keep_surest_rows(SupportTable(*all_support)),
                   triple_times=distinct_rows(TripleTimeTable(*all_times), keys=3),
                   values=select_rows(values, target < 0), value_times=select_rows(times, ~is_link_time))


def _value_keys(table: ValueTable | ValueTimeTable, rows: Rows) -> list[tuple[int, int, int]]:
    return list(zip(*(column[rows].tolist() for column in table[:3]), strict=True))
