"""Links that the data itself declares: a field whose values are the keys of other documents or rows.

`requires: 2718` beside `eip: 2718`, or a column `manager_id` with values of `id`, become triples whose relation is the
field's name. A value that is nobody's key stays one. This is derived from all values together, and never stored.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...schemas.naming import label_key
from ...text.lexicon import read_patterns
from . import graph_columns
from .graph_columns import GraphColumns, Numbers, SupportTable, TripleTimeTable, find_firsts, select_rows

_LEAST_KEYS = 3  # the fewest entities that a key tells apart: two values may differ by chance
_LEAST_LINKS = 2  # the fewest distinct keys that a field refers to
_NEARLY_ALL = 0.9  # the share of a field's distinct values that have to be keys; others may be of missing documents
_LONGEST_KEY = 40  # characters; longer values without spaces are addresses rather than keys
_FORMS = read_patterns("entity_names.toml")
_IDENTIFYING, _REFERRING = frozenset(_FORMS["identifying"].split()), frozenset(_FORMS["referring"].split())


class _KeyField(NamedTuple):
    """A field that identifies the entities of one type: each has one value, and no two have the same one."""

    attribute: int
    owner_of: dict[int, int]  # the row of the entity that each value, given by number, identifies
    is_numeric: bool  # true if all values are whole numbers


def link_keys(columns: GraphColumns) -> GraphColumns:
    """Turn the values of fields that refer to keys into triples."""
    values = columns.values
    is_first = find_firsts(values.entity, values.attribute, values.value)
    facts = np.stack(values[:3], axis=1)[is_first]  # an entity, an attribute and a value each, whatever chunks state it
    keys = _find_keys(columns, facts)
    target = np.full(len(values.entity), -1, np.int32)  # -1: the value stays a value
    for attribute in np.unique(facts[:, 1]).tolist() if keys else ():
        field_words = _words_of(columns, attribute)
        field_values = np.unique(facts[facts[:, 1] == attribute, 2]).tolist()
        fitting = [key for key in keys if key.attribute != attribute and _refers_to(field_words, field_values, key)]
        if fitting:
            # Prefer the key whose name is most like the field's, then that of most entities.
            best = max(fitting, key=lambda key: len({*field_words}.intersection(_words_of(columns, key.attribute))))
            rows = np.flatnonzero(values.attribute == attribute)
            target[rows] = [best.owner_of.get(value, -1) for value in values.value[rows].tolist()]
    target[target == values.entity] = -1  # a link from an entity to itself says nothing
    return _turn_into_triples(columns, target) if (target >= 0).any() else columns


def _find_keys(columns: GraphColumns, facts: Numbers) -> list[_KeyField]:
    """Return the fields that are keys of the entities of a type, of some facts, shape (n, 3); most entities first."""
    types = columns.types[facts[:, 0]]
    order = graph_columns.sort_rows(facts[:, 1], types, facts[:, 0])
    facts, types = facts[order], types[order]
    starts = np.flatnonzero(find_firsts(facts[:, 1], types))
    keys = []
    for field_facts in np.split(facts, starts[1:]):
        owners, (attribute, *_), values = field_facts.T.tolist() if len(field_facts) else ([], [0], [])
        texts = [columns.texts[value] for value in values]
        # Each entity has one value, and each value belongs to one entity; keys are short, and have a digit.
        is_unique = len(texts) >= _LEAST_KEYS and len({*owners}) == len({*values}) == len(texts)
        look_like_keys = all(
            len(text) <= _LONGEST_KEY and " " not in text and any(map(str.isdigit, text)) for text in texts)
        if not is_unique or not look_like_keys:
            continue
        # Numbers may be quantities: they are keys if the field's or the entities' names say so.
        names = [columns.texts[columns.names[owner]] for owner in owners]
        keys_in_names = sum(text in name for text, name in zip(texts, names, strict=True))  # as in "RFC 822"
        has_numbers = any(text.replace(".", "").replace(",", "").isdecimal() for text in texts)
        is_named_key = _words_of(columns, attribute)[-1] in _IDENTIFYING or keys_in_names >= _NEARLY_ALL * len(texts)
        if is_named_key or not has_numbers:
            keys.append(_KeyField(attribute, dict(zip(values, owners, strict=True)), all(map(str.isdecimal, texts))))
    return sorted(keys, key=lambda key: -len(key.owner_of))


def _words_of(columns: GraphColumns, field: int) -> list[str]:
    """Return the words of the name of a field, given by number; at least an empty one, so that there is a last word."""
    return label_key(columns.texts[field]).split() or [""]


def _refers_to(field_words: list[str], values: list[int], key: _KeyField) -> bool:
    """Return True if the distinct values of a field refer to the entities of a key, and do not equal it by chance."""
    references = sum(value in key.owner_of for value in values)
    # "manager id" refers to others; "id" alone is a key of its own entities.
    names_other_key = field_words[-1] in _IDENTIFYING and len(field_words) > 1
    # A quantity may be anybody's number, so whole numbers need a field whose name refers to something.
    may_refer = references >= _NEARLY_ALL * len(values) and (names_other_key or not key.is_numeric)
    return references >= _LEAST_LINKS and (may_refer or not _REFERRING.isdisjoint(field_words))


def _turn_into_triples(columns: GraphColumns, target: Numbers) -> GraphColumns:
    """Return the graph in which values with a `target`, an entity's row or -1 for each value, are triples instead."""
    values, value_times, support, times = columns.values, columns.value_times, columns.support, columns.triple_times
    links = select_rows(values, target >= 0)
    link_triples = np.stack([links.entity, links.attribute, target[target >= 0]], axis=1)
    triples, new_rows = graph_columns.distinct_triples(*np.concatenate([columns.triples, link_triples]).T)
    old_triple, link_triple = np.split(new_rows, [len(columns.triples)])  # the new row of each old triple and each link
    confidence = np.ones(len(link_triple))  # a link is declared by the data itself
    link_support = (link_triple, links.chunk, links.start, links.end, confidence)
    # The times of the values that are links become times of their triples.
    triple_of = dict(zip(map(tuple, np.stack(links[:3], axis=1).tolist()), link_triple.tolist(), strict=True))
    timed_values = map(tuple, np.stack(value_times[:3], axis=1).tolist())
    time_triple = np.array([triple_of.get(value, -1) for value in timed_values], np.int32)
    is_link_time = time_triple >= 0
    link_times = (time_triple[is_link_time], *select_rows(value_times, is_link_time)[3:])
    old_support = support._replace(triple=old_triple[support.triple])
    old_times = times._replace(triple=old_triple[times.triple])
    all_support = SupportTable(*map(np.concatenate, zip(old_support, link_support, strict=True)))
    all_times = TripleTimeTable(*map(np.concatenate, zip(old_times, link_times, strict=True)))
    return replace(columns, triples=triples, support=graph_columns.keep_surest_rows(all_support),
                   triple_times=graph_columns.distinct_rows(all_times),
                   values=select_rows(values, target < 0), value_times=select_rows(value_times, ~is_link_time))
