"""The rows of a relation or an attribute: from an entity to another one, or to a value."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graph_store.graph.graph_columns import find_firsts, select_rows
from ..graph_store.graph_index import GraphIndex
from ..schemas.errors import BanyanError
from ..schemas.naming import label_key
from .fact_rows import FactRow, triple_rows, value_rows

Rows = NDArray[np.intp]


class FieldError(BanyanError):
    """A field that does not exist, or that cannot be used in this way."""


class FieldRows(NamedTuple):
    """The distinct rows of a field, in the order of their heads; each array has the shape (n,)."""

    name: str  # the relation or attribute, or both of one name
    heads: Rows  # the entity that each row begins at
    texts: Rows  # the numbers, in `GraphColumns.texts`, of the names or values that they lead to
    tails: Rows  # the entities that they lead to, -1 for a value
    triples: Rows  # the triple that each row is, -1 for a value

    def select(self, rows: Rows | NDArray[np.bool_]) -> "FieldRows":
        """Return some of the rows."""
        return FieldRows(self.name, self.heads[rows], self.texts[rows], self.tails[rows], self.triples[rows])


def field_rows(index: GraphIndex, name: str) -> FieldRows:
    """Return the rows of a relation and an attribute of a name; none if there is neither."""
    columns, triples = index.columns, index.of_relation(name)
    values = select_rows(columns.values, columns.values.attribute == columns.number_of(name))
    values = select_rows(values, find_firsts(values.entity, values.value))  # several places may state a value
    no_entity = np.full(len(values.entity), -1, np.intp)
    tails = index.triples[triples, 2]
    rows = FieldRows(name, np.concatenate([index.triples[triples, 0], values.entity]).astype(np.intp),
                     np.concatenate([columns.names[tails], values.value]).astype(np.intp),
                     np.concatenate([tails, no_entity]).astype(np.intp),
                     np.concatenate([triples, no_entity]).astype(np.intp))
    return rows.select(np.argsort(rows.heads, kind="stable"))


def read_rows(index: GraphIndex, rows: FieldRows) -> Iterator[FactRow]:
    """Yield rows with their names, times and places."""
    for head, text, triple in zip(rows.heads.tolist(), rows.texts.tolist(), rows.triples.tolist(), strict=True):
        if triple >= 0:
            yield from triple_rows(index, [triple])
        else:  # a value of an attribute
            entity, value = index.entity_row.at(head), index.columns.texts[text]
            places = index.values(entity).get(rows.name, {}).get(value, {})
            yield from value_rows(index, entity, {rows.name: {value: places}})


def named_by(index: GraphIndex, rows: FieldRows, part: str, *, heads: bool) -> NDArray[np.bool_]:
    """Return which rows have an end with a name, shape (n,): the head, or else what they lead to.

    `part` is a name, or several with "|" between. Ends with exactly this name are preferred, then those in which a word
    begins with it, then those that contain it.
    """
    entities = rows.heads if heads else rows.tails
    texts = np.zeros_like(entities) if heads else rows.texts  # a head has no text of its own
    # The names of an end are compared once, however many rows have it.
    distinct_ends, positions = np.unique(np.stack([entities, texts], axis=1), axis=0, return_inverse=True)
    names = list[list[str]]()
    for entity, text in distinct_ends.tolist():
        named = [] if heads else [index.columns.texts[text]]
        if entity >= 0:
            named += [index.labels_of(entity).name, *index.aliases(entity)]
        names.append([*map(label_key, named)])
    fits = np.zeros(len(entities), bool)
    for wanted in filter(None, map(label_key, part.split("|"))):
        fits |= _ends_named(names, wanted)[positions.reshape(-1)]
    return fits


def _ends_named(names: Sequence[Sequence[str]], wanted: str) -> NDArray[np.bool_]:
    """Return which ends have a name as `named_by` prefers them, shape (ends,)."""
    # Scripts without spaces have no beginnings of words. A word may be longer than the name, a number may not.
    word_start = r"(?<![^\W_])" if wanted[0].isascii() else ""
    form = re.compile(f"{word_start}{re.escape(wanted)}" + (r"(?!\d)" if wanted[-1].isdigit() else ""))
    for is_match in (wanted.__eq__, form.search, lambda name: wanted in name):
        found = np.array([any(is_match(name) for name in ends) for ends in names], bool)
        if found.any():
            return found
    return np.zeros(len(names), bool)
