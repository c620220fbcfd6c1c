"""Turn the ledger's rows into the columns of a graph.

Each name and type is an entity of its own: entities with several names are resolved later (`resolved_graph`).
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...schemas.naming import entity_id
from ..ledger.extractions import AdmittedRows
from ..store_errors import LedgerDamagedError
from .graph_columns import (
    GraphColumns,
    MentionTable,
    Numbers,
    SupportTable,
    TripleTimeTable,
    ValueTable,
    ValueTimeTable,
    distinct_rows,
    find_firsts,
    select_rows,
    sort_rows,
    starts_of,
    surest_rows,
)

_AT_ONCE = 10_000
# For each column of the tables: t is a text, i an integer, f a float; - is not part of the graph.
_MENTION_COLUMNS = "t-ttii"
_FACT_COLUMNS = "t-ttttttiif"
_VALUE_COLUMNS = "t-tttt-tii-"


class _TextNumbers(dict[str, int]):
    """Numbers of texts; a new text gets the next one."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number


def read_columns(rows: AdmittedRows) -> GraphColumns:
    """Return the graph of some of the ledger's rows, which are read once, as a stream.

    Raises:
        LedgerDamagedError: a fact or a value is about an entity that no row mentions.
    """
    known = _TextNumbers()
    # First number the texts as they come, and then again in sorted order.
    mentions = _read(rows.mentions, _MENTION_COLUMNS, known)
    facts = _read(rows.facts, _FACT_COLUMNS, known)
    values = _read(rows.values, _VALUE_COLUMNS, known)
    empty = known[""]  # the words of the time of a fact that has none
    texts, number = _sort_texts(known)
    mentioned_in, name, kind, *places = _renumber(mentions, _MENTION_COLUMNS, number)
    stated_in, head, head_kind, relation, tail, tail_kind, fact_time, start, end, confidence = _renumber(
        facts, _FACT_COLUMNS, number)
    valued_in, owner, owner_kind, attribute, value, value_time, *value_places = _renumber(
        values, _VALUE_COLUMNS, number)
    ids, types, (entities, heads, tails, owners) = _find_entities(
        texts, [(name, kind), (head, head_kind), (tail, tail_kind), (owner, owner_kind)])
    table = distinct_rows(MentionTable(entities, name, mentioned_in, *places), 3)
    triples, triple = distinct_triples(heads, relation, tails)
    return GraphColumns(
        texts=texts, ids=ids, types=types, names=_most_used(table, len(ids)), triples=triples, mentions=table,
        support=surest_rows(SupportTable(triple, stated_in, start, end, confidence)),
        triple_times=distinct_rows(
            select_rows(TripleTimeTable(triple, fact_time, stated_in, start, end), fact_time != number[empty]), 3),
        values=distinct_rows(ValueTable(owners, attribute, value, valued_in, *value_places), 4),
        value_times=distinct_rows(
            select_rows(ValueTimeTable(owners, attribute, value, value_time, valued_in, *value_places),
                        value_time != number[empty]), 5))


def _read(rows: Iterable[Sequence[Any]], kinds: str, known: _TextNumbers) -> list[NDArray[Any]]:
    """Return rows of the ledger as one array for each column, with numbers in place of texts."""
    read_kinds = kinds.replace("-", "")
    columns: list[list[NDArray[Any]]] = [[] for _ in read_kinds]
    remaining = iter(rows)
    while page := list(islice(remaining, _AT_ONCE)):
        cells = (column for column, kind in zip(zip(*page, strict=True), kinds, strict=True) if kind != "-")
        for column, kind, parts in zip(cells, read_kinds, columns, strict=True):
            parts.append(np.fromiter(map(known.__getitem__, column), np.int32, len(page)) if kind == "t"
                         else np.array(column, np.float64 if kind == "f" else np.int32))
    return [np.concatenate([np.zeros(0, np.float64 if kind == "f" else np.int32), *parts])
            for kind, parts in zip(read_kinds, columns, strict=True)]


def _sort_texts(known: _TextNumbers) -> tuple[list[str], Numbers]:
    """Return the texts, sorted, and for each old number the text's number in the sorted order."""
    listed = list(known)
    order = np.array(sorted(range(len(listed)), key=listed.__getitem__), np.intp)
    number = np.empty(len(listed), np.int32)
    number[order] = np.arange(len(listed), dtype=np.int32)
    return [listed[row] for row in order.tolist()], number


def _renumber(columns: Sequence[NDArray[Any]], kinds: str, number: Numbers) -> list[NDArray[Any]]:
    return [number[column] if kind == "t" else column
            for column, kind in zip(columns, kinds.replace("-", ""), strict=True)]


def _find_entities(texts: Sequence[str], named: Sequence[tuple[Numbers, Numbers]],
                   ) -> tuple[list[str], Numbers, list[Numbers]]:
    """Find the entities that rows of several tables name, and number them."""
    # One number for each pair of a name and a type.
    keys = [name.astype(np.int64) * len(texts) + kind for name, kind in named]
    pairs = np.unique(np.concatenate(keys))
    names, kinds = np.divmod(pairs, max(len(texts), 1))
    # Several spellings of a name can have the same id.
    pair_ids = [entity_id(texts[name], texts[kind]) for name, kind in zip(names.tolist(), kinds.tolist(), strict=True)]
    ids = sorted(set(pair_ids))
    row_of = {entity: row for row, entity in enumerate(ids)}
    rows = np.array([row_of[entity] for entity in pair_ids], np.int32)
    by_table = [rows[np.searchsorted(pairs, table_keys)] for table_keys in keys]
    if len(np.unique(by_table[0])) != len(ids):
        raise LedgerDamagedError("a fact in the ledger is about an entity that no chunk mentions")
    types = np.empty(len(ids), np.int32)
    types[rows] = kinds
    return ids, types, by_table


def _most_used(mentions: MentionTable, entities: int) -> Numbers:
    """Return the name that most chunks use for each entity; of equally frequent ones, the first alphabetically."""
    starts = np.flatnonzero(find_firsts(mentions.entity, mentions.name))
    owners, names = mentions.entity[starts], mentions.name[starts]
    counts = np.diff(starts, append=len(mentions.entity))
    order = sort_rows(owners, -counts, names)
    return names[order[starts_of(owners[order], entities)[:-1]]]


def distinct_triples(heads: Numbers, relations: Numbers, tails: Numbers) -> tuple[Numbers, Numbers]:
    """Return the distinct triples of some facts, shape (triples, 3), sorted, and the row of each fact's triple."""
    order = sort_rows(heads, relations, tails)
    is_first = find_firsts(heads[order], relations[order], tails[order])
    rows = np.empty(len(order), np.int32)
    rows[order] = np.cumsum(is_first, dtype=np.int32) - 1
    return np.stack([heads, relations, tails], axis=1)[order[is_first]], rows
