"""Resolve the columns of a graph: entities with several names become one node, with what persons changed applied."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ...schemas.graph_schema import GraphSchema
from .graph_columns import (
    GraphColumns,
    Numbers,
    Rows,
    ValueTable,
    ValueTimeTable,
    distinct_rows,
    select_rows,
    surest_rows,
)
from .laid_edits import NodeEdits
from .row_columns import distinct_triples

_Values = TypeVar("_Values", ValueTable, ValueTimeTable)


def resolve_columns(mentions: GraphColumns, node_ids: Mapping[str, str], types: Mapping[str, str], edits: NodeEdits,
                    schema: GraphSchema | None) -> GraphColumns:
    """Resolve a graph of mentions.

    Args:
        mentions: the graph, in which each name and type is an entity.
        node_ids: the id of each alias's node, by the alias's id; both are in the graph.
        types: the types of nodes that have aliases.
        edits: what persons changed, by nodes.
        schema: what corrected triples have to fit; None admits all.
    """
    own = mentions.with_texts(_new_texts(types, edits))
    row_of = {entity: row for row, entity in enumerate(own.ids)} if node_ids or edits else {}
    to = np.arange(len(own.ids))
    to[[row_of[alias] for alias in node_ids]] = [row_of[node] for node in node_ids.values()]
    nodes = np.unique(to)
    node_of = np.searchsorted(nodes, to).astype(np.int32)
    if len(nodes) == len(to) and not edits:
        return own
    place = {entity: int(node_of[row]) for entity, row in row_of.items()}
    resolved = replace(own, ids=[own.ids[row] for row in nodes.tolist()],
                       types=_replace_texts(own, own.types[nodes], types, place),
                       names=_replace_texts(own, own.names[nodes], edits.names, place))
    resolved = _resolve_triples(resolved, node_of, edits, schema, place)
    mentioned = own.mentions._replace(entity=node_of[own.mentions.entity])
    values = own.values._replace(entity=node_of[own.values.entity])
    times = own.value_times._replace(entity=node_of[own.value_times.entity])
    return replace(resolved, mentions=distinct_rows(mentioned, 3),
                   values=distinct_rows(_correct_values(own, values, edits, place), 4),
                   value_times=distinct_rows(_correct_values(own, times, edits, place), 5))


def _new_texts(types: Mapping[str, str], edits: NodeEdits) -> Iterable[str]:
    yield from types.values()
    yield from edits.names.values()
    yield from (instead[1] for instead in edits.facts.values() if instead)
    yield from (value for of_node in edits.values.values() for value in of_node.values() if value is not None)


def _replace_texts(columns: GraphColumns, numbers: Numbers, texts: Mapping[str, str],
                   place: Mapping[str, int]) -> Numbers:
    """Return the numbers of nodes' texts, with those of some nodes replaced."""
    numbers = numbers.copy()
    for node, text in texts.items():
        if node in place:
            numbers[place[node]] = columns.number_of(text)
    return numbers


def _resolve_triples(columns: GraphColumns, node_of: Numbers, edits: NodeEdits, schema: GraphSchema | None,
                     place: Mapping[str, int]) -> GraphColumns:
    """Return the graph with the triples of nodes, as far as they hold."""
    heads, relations, tails = node_of[columns.triples[:, 0]], columns.triples[:, 1], node_of[columns.triples[:, 2]]
    holds = np.ones(len(heads), bool)
    corrected = np.stack([heads, relations, tails], axis=1)
    for (head, relation, tail), instead in edits.facts.items():
        if head in place and tail in place:
            stated = _rows_with(heads, relations, tails, (place[head], columns.number_of(relation), place[tail]))
            if instead and _fits(columns, instead, schema, place):
                corrected[stated] = place[instead[0]], columns.number_of(instead[1]), place[instead[2]]
            else:
                holds[stated] = False
    held = np.flatnonzero(holds)
    triples, row = distinct_triples(*corrected[held].T)
    # A triple between an entity and itself under another name says nothing.
    between = columns.triples[held, 0] != columns.triples[held, 2]
    empty = (triples[:, 0] == triples[:, 2]) & (np.bincount(row, weights=between, minlength=len(triples)) > 0)
    number = np.where(empty, -1, np.cumsum(~empty) - 1).astype(np.int32)
    triple_of = np.full(len(holds), -1, np.int32)
    triple_of[held] = number[row]
    support = columns.support._replace(triple=triple_of[columns.support.triple])
    times = columns.triple_times._replace(triple=triple_of[columns.triple_times.triple])
    return replace(columns, triples=triples[~empty],
                   support=surest_rows(select_rows(support, support.triple >= 0)),
                   triple_times=distinct_rows(select_rows(times, times.triple >= 0), 3))


def _rows_with(heads: Numbers, relations: Numbers, tails: Numbers, key: tuple[int, int, int]) -> Rows:
    return np.flatnonzero((heads == key[0]) & (relations == key[1]) & (tails == key[2]))


def _fits(columns: GraphColumns, key: tuple[str, str, str], schema: GraphSchema | None,
          place: Mapping[str, int]) -> bool:
    """Return True if a person's correction of a triple is between existing nodes and fits the schema."""
    head, relation, tail = key
    if head not in place or tail not in place:
        return False
    types = [columns.texts[columns.types[place[end]]] for end in (head, tail)]
    return schema is None or schema.fits(types[0], relation, types[1])


def _correct_values(columns: GraphColumns, table: _Values, edits: NodeEdits, place: Mapping[str, int]) -> _Values:
    """Return the values of nodes, or their times, with those that persons corrected."""
    values, holds = table.value.copy(), np.ones(len(table.value), bool)
    for node, decided in edits.values.items():
        stated: Rows = np.flatnonzero(table.entity == place.get(node, -1))
        for (attribute, value), instead in decided.items() if len(stated) else ():
            rows = stated[(table.attribute[stated] == columns.number_of(attribute))
                          & (table.value[stated] == columns.number_of(value))]
            if instead is None:
                holds[rows] = False
            else:
                values[rows] = columns.number_of(instead)
    return select_rows(table._replace(value=values), holds)
