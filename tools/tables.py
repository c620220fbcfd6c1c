"""Tables: the rows of a relation or an attribute, filtered, counted and grouped, as lines that can be cited."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ..graph_store.graph.knowledge_graph import Places
from ..schemas.documents import Chunk
from ..schemas.graph_schema import GraphSchema
from ..schemas.inquiry import Block
from ..schemas.lookups import TripleLookup
from ..schemas.naming import label_key
from ..schemas.retrieval import Passage, Place
from ..text.table_rows import find_rows
from ..text.times import read_day
from .conditions import Condition, ConditionError, part_condition, read_condition
from .fact_rows import (
    FactRow,
    holding_at,
    row_items,
    rows_item,
    sides_by_repetition,
    split_shared_note,
    tail_of,
    triple_rows,
    value_rows,
)
from .field_columns import FieldColumn, Rows
from .index import RetrievalIndex
from .line_budget import fit_lines
from .schema_names import Term, find_term
from .table_query import Computed, FieldError, compute, find_field, shown_number

_MOST_ROWS = 400
"""Rows that are put into words, more than a budget shows; all are counted."""
_MOST_TIMED = 5000
"""Rows whose time or documents are read; those beyond are counted in the note."""
_MOST_BESIDE = 100
"""Values of a field that are shown beside each row."""
_CITED = 3
"""Rows of a count or a group that can be cited."""
_OF_ROWS = frozenset({"name", "head", "tail", "type"})
"""What conditions are on besides fields."""
_DOCUMENT = "document"
_DIGITS = re.compile(r"(\d{1,18})")


class ReadTable(NamedTuple):
    """What a lookup found: what was computed, the rows in words, and what was left unread."""

    term: Term
    computed: Computed
    rows: list[FactRow]
    unread: int


def look_up_table(index: RetrievalIndex, schema: GraphSchema, lookup: TripleLookup, tokens: int) -> list[Block]:
    """Return the rows that a lookup asks for, or the terms that there are instead of an unknown one.

    Args:
        index: the knowledge base.
        schema: the schema in force, by whose labels fields are found.
        lookup: the relation or attribute, the filters, and what to compute.
        tokens: the budget, estimated tokens. What does not fit is counted, and the note says how to narrow it.

    Raises:
        DateError: `at` is no date with a year.
    """
    found = find_term(index, schema, lookup.relation)
    if not found.terms:
        known = f"There are: {', '.join(found.near)}." if found.near else "The graph has no rows at all."
        return [Block(title=lookup.relation, note=f"No relation or attribute has this name. {known}")]
    blocks, share = [], tokens // len(found.terms)
    for term in found.terms:
        try:
            blocks.append(_build_block(index, schema, read_table(index, schema, lookup, term), lookup, share))
        except (ConditionError, FieldError) as error:
            blocks.append(Block(title=lookup.relation, note=str(error)))
    return blocks


def read_table(index: RetrievalIndex, schema: GraphSchema, lookup: TripleLookup, term: Term,
               most: int = _MOST_ROWS) -> ReadTable:
    """Compute what a lookup asks of one relation or attribute.

    Where no row leads to the tail that is asked for, those count that hold with it: "7280000 (network: Ropsten)". So do
    they for a condition on what is no field but stands beside rows ("network=Ropsten").

    Raises:
        ConditionError, FieldError: a condition cannot be read, or is about a field that there is not.
        DateError: `at` is no date with a year.
    """
    unread = 0
    lookup, beside = _split_where(index, schema, lookup)

    def keep(column: FieldColumn, rows: Rows) -> Rows:
        nonlocal unread
        if not (lookup.at or lookup.document or beside):
            return rows
        unread = max(0, len(rows) - _MOST_TIMED)
        kept = _filter_by_date_and_document(index, column, rows[:_MOST_TIMED], lookup)
        for condition in beside:
            kept = _filter_by_qualifier(index, schema, column, kept, condition)
        return kept

    if lookup.at:
        read_day(lookup.at)  # a wrong date is an error even if no row fits
    computed = compute(index, schema, lookup, term.name, keep)
    wanted = part_condition(lookup.tail)
    if not computed.total and wanted.sign == "=" and wanted.values:
        of_any = lookup.model_copy(update={"tail": ""})
        computed = compute(index, schema, of_any, term.name, lambda column, rows: _filter_by_qualifier(
            index, schema, column, keep(column, rows), wanted))
    if lookup.by:  # groups show no rows
        return ReadTable(term, computed, [], unread)
    listed = _read_rows(index, computed.column, _sort_by_name(index, computed)[:most])
    return ReadTable(term, computed, [row for row in listed if row.places], unread)


def _sort_by_name(index: RetrievalIndex, computed: Computed) -> Rows:
    """Return the rows in the order of their heads' names, then of what they lead to."""
    column, rows = computed.column, computed.rows
    heads = {row: natural_key(index.about(row)[0]) for row in np.unique(column.heads[rows]).tolist()}
    tails = {label: natural_key(column.texts[label]) for label in np.unique(column.labels[rows]).tolist()}
    return np.array(sorted(rows.tolist(), key=lambda row: (heads[int(column.heads[row])],
                                                           tails[int(column.labels[row])])), np.intp)


def _filter_by_date_and_document(index: RetrievalIndex, column: FieldColumn, rows: Rows, lookup: TripleLookup) -> Rows:
    """Return the rows that hold at the lookup's date, and those of its documents."""
    allowed = index.documents_with([lookup.document]) if lookup.document else None
    kept = []
    for row in rows.tolist():
        holding = holding_at(_read_rows(index, column, np.array([row])), lookup.at)
        if holding and (allowed is None or not allowed.isdisjoint(holding[0].documents)):
            kept.append(row)
    return np.array(kept, np.intp)


def _split_where(index: RetrievalIndex, schema: GraphSchema, lookup: TripleLookup,
                 ) -> tuple[TripleLookup, list[Condition]]:
    """Split a lookup's conditions: those on fields stay, those on what no field is called may stand beside rows."""
    beside = {text: condition for text in lookup.where if (condition := read_condition(text)).sign == "="
              and condition.values and "." not in condition.field and condition.field not in _OF_ROWS
              and not find_term(index, schema, condition.field.removeprefix("<")).terms}
    left = tuple(text for text in lookup.where if text not in beside)
    return lookup.model_copy(update={"where": left}), [*beside.values()]


def _filter_by_qualifier(index: RetrievalIndex, schema: GraphSchema, column: FieldColumn, rows: Rows,
                         wanted: Condition) -> Rows:
    """Return the rows with a qualifier, of the condition's name if it has one, that has one of its values.

    Raises:
        FieldError: no qualifier has the condition's name.
    """
    field, parts = label_key(wanted.field), [label_key(value) for value in wanted.values]
    held = {row: _read_qualifiers(index, column, row) for row in rows[:_MOST_TIMED].tolist()}
    # Where other conditions left no row, any row of the column tells which names there are.
    of_rows = held.values() or [_read_qualifiers(index, column, row)
                                for row in range(min(len(column.heads), _MOST_TIMED))]
    names = {name for qualifiers in of_rows for name, _ in qualifiers}
    if field and field not in map(label_key, names):
        near = find_term(index, schema, wanted.field).near
        beside = f"; beside these rows stand: {', '.join(sorted(names))}" if names else ""
        raise FieldError(f"no field is called {wanted.field!r}; there are: {', '.join(near)}{beside}")
    compared = {row: [label_key(value if field else f"{name}: {value}") for name, value in qualifiers
                  if field in {"", label_key(name)}] for row, qualifiers in held.items()}
    return np.array([row for row, values in compared.items()
                     if any(part in value for part in parts for value in values)], np.intp)


def _read_qualifiers(index: RetrievalIndex, column: FieldColumn, row: int) -> list[tuple[str, str]]:
    """Return what a row of a column holds with; see `_list_qualifiers`."""
    return [qualifier for one in _read_rows(index, column, np.array([row])) for qualifier in _list_qualifiers(one)]


def _list_qualifiers(row: FactRow) -> list[tuple[str, str]]:
    """Return what a row holds with, as (name, value): ("network", "Ropsten")."""
    parts = [part.partition(": ") for time in row.validity.times for part in time.qualifiers.split("; ") if part]
    return [(name, value or name) for name, _, value in parts]


def _read_rows(index: RetrievalIndex, column: FieldColumn, rows: Rows) -> Iterator[FactRow]:
    for row in rows.tolist():
        if (triple := int(column.triples[row])) >= 0:
            yield from triple_rows(index, [triple])
        else:
            entity, value, held = _read_value(index, column, row)
            yield from value_rows(index, entity, {column.name: {value: held}})


def _read_value(index: RetrievalIndex, column: FieldColumn, row: int) -> tuple[str, str, Places]:
    """Return the entity and the value of a row, and where chunks state it."""
    entity, value = index.entity_row.at(int(column.heads[row])), column.texts[int(column.labels[row])]
    return entity, value, index.attributes(entity).get(column.name, {}).get(value, {})


def contexts(index: RetrievalIndex, table: ReadTable) -> Iterator[str]:
    """Yield what stands above each row of a table: its document's id and title, headings, and what its line is of."""
    column = table.computed.column
    for row in table.computed.rows[:_MOST_ROWS].tolist():
        if (triple := int(column.triples[row])) >= 0:
            spans = list(index.spans(triple))
        else:
            spans = [(chunk, *span) for chunk, span in sorted(_read_value(index, column, row)[2].items())]
        yield " ".join(_read_above(index.chunks[index.chunk_row[chunk]], start, end) for chunk, start, end in spans)


def _read_above(chunk: Chunk, start: int, end: int) -> str:
    first = next((line.cells[0].header for line in find_rows(chunk.text[start:end])), "")
    return f"{chunk.document_id} {chunk.title} {chunk.heading} {first}"


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return what names sort by: their numbers as numbers, so that EIP-20 comes before EIP-100."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _DIGITS.split(name) if part)


def _build_block(index: RetrievalIndex, schema: GraphSchema, table: ReadTable, lookup: TripleLookup,
                 tokens: int) -> Block:
    computed, filters = table.computed, filters_text(lookup)
    rows, shared = split_shared_note(table.rows[:lookup.most_rows])
    told = "; ".join(filter(None, [f"{computed.total} rows", filters, shared, coverage(computed)]))
    title = f"{table.term.name.replace('_', ' ')} ({told})"
    items = [*_list_counts(index, table, lookup), *(_list_lines(index, schema, rows, lookup) if not lookup.by else ())]
    shown, left = fit_lines(items, tokens)
    # Documents and qualifiers stand beside all rows anyway.
    beside = {_DOCUMENT, *(label_key(name) for row in table.rows for name, _ in _list_qualifiers(row))}
    unknown = [f"no field is called {name!r}" for name in lookup.show
               if label_key(name) not in beside and not is_field(index, schema, name)]
    notes = [*_list_notes(table, lookup, len(items), left), *unknown]
    return Block(title=title, items=tuple(shown), note="; ".join(notes))


def filters_text(lookup: TripleLookup) -> str:
    """Return what limits a table's rows, and how they are grouped, in words."""
    named = [f"{name} {value}" for name, value in (("head", lookup.head), ("tail", lookup.tail),
                                                   ("document", lookup.document), ("at", lookup.at)) if value]
    return ", ".join([*named, *lookup.where, *([f"by {lookup.by}"] if lookup.by else [])])


def _list_notes(table: ReadTable, lookup: TripleLookup, lines: int, left: int) -> Iterator[str]:
    computed, filters = table.computed, filters_text(lookup)
    behind = computed.groups[len(computed.leading(lookup.limit)):]
    if behind:  # so that nobody looks again for what might tie with the last one
        yield f"{len(behind)} more groups, the next one {behind[0].key}: {behind[0].text}"
    if left:
        yield f"{lines - left} of {lines} lines shown, {computed.total} rows in all: narrow by head, tail, where or at"
    elif not computed.total and not table.unread:
        yield f"no row has {filters}; without it there are {table.term.rows}" if filters else "no rows"
    yield from notes_of(table)


def coverage(computed: Computed) -> str:
    """Return how many entities of the subjects' type have the field, in words; "" if all do."""
    if not computed.total or computed.having == computed.of_type:
        return ""
    return f"{computed.having} of {computed.of_type} {computed.type} entities have it"


def notes_of(table: ReadTable) -> Iterator[str]:
    """Yield what was left out of a table."""
    computed = table.computed
    if table.unread:
        yield f"{table.unread} more rows were not read: narrow by head or tail"
    yield from (f"{count} rows left out: {why}" for why, count in computed.left_out.items() if count)


def _list_counts(index: RetrievalIndex, table: ReadTable, lookup: TripleLookup) -> Iterator[Passage]:
    """Yield a line for what was computed, or for each group."""
    computed = table.computed
    if computed.value is not None:
        unit = f" {computed.unit}" if computed.unit else ""
        # Two counts of one number are two lines: each says of what it is.
        limits = f" ({filters})" if (filters := filters_text(lookup)) else ""
        result = f"{lookup.do}{limits}: {shown_number(computed.value)}{unit}"
        yield from _cite_rows(index, computed.column, computed.rows, result)
    for group in computed.leading(lookup.limit):
        verb = "" if lookup.do in {"list", "count"} else f"{lookup.do} "
        yield from _cite_rows(index, computed.column, group.rows, f"{group.key}: {verb}{group.text}")


def _cite_rows(index: RetrievalIndex, column: FieldColumn, rows: Rows, text: str) -> Iterator[Passage]:
    cited = cited_rows(index, column, rows)
    if cited:
        yield rows_item(cited, text, len(rows))


def cited_rows(index: RetrievalIndex, column: FieldColumn, rows: Rows) -> list[FactRow]:
    """Return the first of some rows of a column, which are cited for all of them."""
    return [row for row in _read_rows(index, column, rows[:_CITED]) if row.places]


def _list_lines(index: RetrievalIndex, schema: GraphSchema, rows: Sequence[FactRow], lookup: TripleLookup,
           ) -> Iterator[Passage]:
    """Yield rows as lines, grouped by the end that repeats most."""
    if not rows:
        return
    beside = fields_beside(index, schema, rows, [name for name in lookup.show if is_field(index, schema, name)])
    key, other = sides_by_repetition(rows)
    arrow = " <- " if key is tail_of else " -> "
    ordered = sorted(rows, key=lambda row: (natural_key(key(row)), natural_key(other(row))))
    for name, group in groupby(ordered, key):
        yield from row_items(list(group), f"{' '.join(name.split())}{arrow}", other, beside)


def places_beside(index: RetrievalIndex, schema: GraphSchema, row: FactRow, fields: Sequence[str]) -> list[Place]:
    """Return where it stands what a row's subject has of some fields, without what stands at the row's own place."""
    own, found = row.places[0], list[Place]()
    for field in fields:
        column = index.column(find_field(index, schema, field))
        begin, end = _rows_of(column, index.entity_row[row.ends[0]])
        found += [one.places[0] for one in cited_rows(index, column, np.arange(begin, end))]
    return [place for place in dict.fromkeys(found) if place.document != own.document or not (
        own.start <= place.start < own.start + len(own.text))]


def _rows_of(column: FieldColumn, entity: int) -> tuple[int, int]:
    """Return where the rows of the entity of a row begin and end in a column."""
    begin, end = (int(np.searchsorted(column.heads, entity, way)) for way in ("left", "right"))
    return begin, end


def values_of(column: FieldColumn, entity: int) -> tuple[str, ...]:
    """Return what the entity of a row has of a field; of very many values the first, and how many more there are."""
    begin, end = _rows_of(column, entity)
    shown = tuple(column.texts[label] for label in column.labels[begin:min(end, begin + _MOST_BESIDE)].tolist())
    left = end - begin - len(shown)
    return (*shown, f"... and {left:,} more") if left else shown


def is_field(index: RetrievalIndex, schema: GraphSchema, name: str) -> bool:
    """Return True if a relation or attribute has a name."""
    return bool(find_term(index, schema, name).terms)


def fields_beside(index: RetrievalIndex, schema: GraphSchema, rows: Sequence[FactRow], fields: Sequence[str],
                  ) -> dict[str, str]:
    """Return what each row's subject has of some fields, in words, by the subject's id.

    Raises:
        FieldError: there is no such field.
    """
    found: dict[str, list[str]] = {}
    for field in fields:
        column = index.column(find_field(index, schema, field))
        for entity in dict.fromkeys(row.ends[0] for row in rows):
            if held := values_of(column, index.entity_row[entity]):
                found.setdefault(entity, []).append(f"{field.replace('_', ' ')}: {', '.join(held)}")
    return {entity: "; ".join(texts) for entity, texts in found.items()}

