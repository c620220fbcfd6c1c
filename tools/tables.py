"""Looking up tables: the rows of a relation or an attribute, filtered, counted and grouped, as citable lines."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ..graph_store.graph.knowledge_graph import Places
from ..graph_store.graph_index import Dated, GraphIndex
from ..graph_store.index.field_columns import FieldColumn, Rows
from ..schemas.documents import Chunk
from ..schemas.graph_schema import GraphSchema
from ..schemas.inquiry import Block
from ..schemas.lookups import EXTREMES, TripleLookup
from ..schemas.naming import label_key
from ..schemas.retrieval import Passage, Place
from ..text.table_rows import find_rows
from ..text.times import Validity, read_day
from .conditions import Condition, ConditionError, part_condition, read_condition
from .fact_rows import (
    FactRow,
    fit_lines,
    holding_at,
    row_items,
    rows_item,
    sides_by_repetition,
    split_shared_note,
    tail_of,
    triple_rows,
    value_rows,
)
from .schema_names import Term, find_term
from .table_query import Computed, FieldError, compute, find_field, shown_number

_MOST_ROWS = 400
"""How many rows are read in full, with their places: more than a budget shows. The counts are of all rows."""
_MOST_TIMED = 5000
"""How many rows are filtered by time, document or qualifier; a note gives the number of the others."""
_MOST_BESIDE = 20
"""How many values of a further field are shown for a row."""
_CITED = 3
"""How many rows a count or a group cites."""
_NOT_FIELDS = frozenset({"name", "head", "tail", "type"})
"""What conditions may be on besides fields."""
_DOCUMENT = "document"
_DIGITS = re.compile(r"(\d{1,18})")


class ReadTable(NamedTuple):
    """The result of a lookup over one term.

    `rows` are the first rows with their places; a grouped table has none. `unread` is the number of rows that were not
    filtered because there were too many.
    """

    term: Term
    computed: Computed
    rows: list[FactRow]
    unread: int


def look_up_table(index: GraphIndex, schema: GraphSchema, lookup: TripleLookup, tokens: int) -> list[Block]:
    """Return the table that a lookup asks for as blocks of citable lines, one for each term that the lookup names.

    If there is no such relation or attribute, the note names others. If not all lines fit the budget, the note says how
    many there are and how to narrow the lookup.

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


def read_table(index: GraphIndex, schema: GraphSchema, lookup: TripleLookup, term: Term,
               most: int = _MOST_ROWS) -> ReadTable:
    """Compute what a lookup asks of one relation or attribute; the first `most` rows are read in full.

    A condition may also be on a qualifier of rows, which is no field: "network=Ropsten" fits "7280000 (network:
    Ropsten)". And if no row has the tail that is asked for, rows with a qualifier of that value are returned.

    Raises:
        ConditionError, FieldError: a condition cannot be read, or is about a field that does not exist.
        DateError: `at` is no date with a year.
    """
    unread = 0
    lookup, qualifier_conditions = _split_where(index, schema, lookup)

    def keep(column: FieldColumn, rows: Rows) -> Rows:
        """Return the rows that fit the date, the document and the qualifiers of the lookup."""
        nonlocal unread
        if not (lookup.at or lookup.document or qualifier_conditions):
            return rows
        unread = max(0, len(rows) - _MOST_TIMED)
        kept_rows = _filter_by_date_and_document(index, column, rows[:_MOST_TIMED], lookup)
        for condition in qualifier_conditions:
            kept_rows = _filter_by_qualifier(index, schema, column, kept_rows, condition)
        return kept_rows

    if lookup.at:
        read_day(lookup.at)  # a wrong date is an error even if no row fits
    computed = compute(index, schema, lookup, term.name, keep)
    tail = part_condition(lookup.tail)
    if not computed.total and tail.sign == "=" and tail.values:
        without_tail = lookup.model_copy(update={"tail": ""})
        computed = compute(index, schema, without_tail, term.name, lambda column, rows: _filter_by_qualifier(
            index, schema, column, keep(column, rows), tail))
    if lookup.by or not most:  # groups show no rows
        return ReadTable(term, computed, [], unread)
    rows = _sort_by_name(index, computed)
    rows = _sort_by_value(computed, rows) if _is_ranking(lookup) else rows
    first_rows = _read_rows(index, computed.column, rows[:most])
    return ReadTable(term, computed, [row for row in first_rows if row.places], unread)


def _sort_by_name(index: GraphIndex, computed: Computed) -> Rows:
    """Return the rows in the order of their heads' names, then of their labels."""
    column, rows = computed.column, computed.rows
    head_keys = {row: natural_key(index.about(row)[0]) for row in np.unique(column.heads[rows]).tolist()}
    label_keys = {label: natural_key(column.texts[label]) for label in np.unique(column.labels[rows]).tolist()}
    return np.array(sorted(rows.tolist(), key=lambda row: (head_keys[int(column.heads[row])],
                                                           label_keys[int(column.labels[row])])), np.intp)


def _sort_by_value(computed: Computed, rows: Rows) -> Rows:
    """Return the rows of an extreme, the most extreme first; rows of one value keep their order."""
    labels = computed.column.labels
    rank_of = {label: rank for rank, label in enumerate(dict.fromkeys(labels[computed.rows].tolist()))}
    return rows[np.argsort([rank_of[label] for label in labels[rows].tolist()], kind="stable")]


def _filter_by_date_and_document(index: GraphIndex, column: FieldColumn, rows: Rows, lookup: TripleLookup) -> Rows:
    """Return the rows that hold at the lookup's date and that one of its documents states."""
    allowed = index.documents_with([lookup.document]) if lookup.document else None
    kept_rows = []
    for row in rows.tolist():
        holding = holding_at(_read_rows(index, column, np.array([row])), lookup.at)
        if holding and (allowed is None or not allowed.isdisjoint(holding[0].documents)):
            kept_rows.append(row)
    return np.array(kept_rows, np.intp)


def _split_where(index: GraphIndex, schema: GraphSchema, lookup: TripleLookup,
                 ) -> tuple[TripleLookup, list[Condition]]:
    """Return a lookup with only its conditions on fields, and its conditions on qualifiers."""
    on_qualifiers = {}
    for text in lookup.where:
        condition = read_condition(text)
        may_be_qualifier = (condition.sign == "=" and condition.values and "." not in condition.field
                            and condition.field not in _NOT_FIELDS)
        if may_be_qualifier and not find_term(index, schema, condition.field.removeprefix("<")).terms:
            on_qualifiers[text] = condition
    on_fields = tuple(text for text in lookup.where if text not in on_qualifiers)
    return lookup.model_copy(update={"where": on_fields}), [*on_qualifiers.values()]


def _filter_by_qualifier(index: GraphIndex, schema: GraphSchema, column: FieldColumn, rows: Rows,
                         wanted: Condition) -> Rows:
    """Return the rows that have a qualifier whose value contains one of the condition's values."""
    field, wanted_values = label_key(wanted.field), [label_key(value) for value in wanted.values]
    qualifiers_of_row = {row: _read_qualifiers(index, column, row) for row in rows[:_MOST_TIMED].tolist()}
    # If other conditions left no row, the names are those of all rows of the column.
    all_qualifiers = qualifiers_of_row.values() or [_read_qualifiers(index, column, row)
                                                    for row in range(min(len(column.heads), _MOST_TIMED))]
    names = {name for qualifiers in all_qualifiers for name, _ in qualifiers}
    if field and field not in map(label_key, names):
        near = find_term(index, schema, wanted.field).near
        beside = f"; beside these rows stand: {', '.join(sorted(names))}" if names else ""
        raise FieldError(f"no field is called {wanted.field!r}; there are: {', '.join(near)}{beside}")
    fitting_rows = []
    for row, qualifiers in qualifiers_of_row.items():
        texts = [label_key(value if field else f"{name}: {value}") for name, value in qualifiers
                 if field in {"", label_key(name)}]
        if any(wanted_value in text for wanted_value in wanted_values for text in texts):
            fitting_rows.append(row)
    return np.array(fitting_rows, np.intp)


def _read_qualifiers(index: GraphIndex, column: FieldColumn, row: int) -> list[tuple[str, str]]:
    """Return the qualifiers of a row of a column as (name, value), such as ("network", "Ropsten")."""
    triple = int(column.triples[row])
    if triple >= 0:
        validity = index.dated(triple).validity
    else:  # -1: the row is a value of an attribute
        dated = index.dated_values(index.entity_row.at(int(column.heads[row])))
        validity = dated.get((column.name, column.texts[int(column.labels[row])]), Dated()).validity
    return _list_qualifiers(validity)


def _list_qualifiers(validity: Validity) -> list[tuple[str, str]]:
    """Return the qualifiers with which a fact holds."""
    parts = [part.partition(": ") for time in validity.times for part in time.qualifiers.split("; ") if part]
    return [(name, value or name) for name, _, value in parts]


def _read_rows(index: GraphIndex, column: FieldColumn, rows: Rows) -> Iterator[FactRow]:
    """Yield some rows of a column with their names, times and places."""
    for row in rows.tolist():
        triple = int(column.triples[row])
        if triple >= 0:
            yield from triple_rows(index, [triple])
        else:  # -1: the row is a value of an attribute
            entity, value, places = _read_value(index, column, row)
            yield from value_rows(index, entity, {column.name: {value: places}})


def _read_value(index: GraphIndex, column: FieldColumn, row: int) -> tuple[str, str, Places]:
    """Return the entity's id and the value of a row of an attribute, and the places in chunks that state it."""
    entity, value = index.entity_row.at(int(column.heads[row])), column.texts[int(column.labels[row])]
    return entity, value, index.values(entity).get(column.name, {}).get(value, {})


def contexts(index: GraphIndex, table: ReadTable) -> Iterator[str]:
    """Yield the context of each row of a table: the document's id and title, the headings, and a table's first header.

    Only the first `_MOST_ROWS` rows are read.
    """
    column = table.computed.column
    for row in table.computed.rows[:_MOST_ROWS].tolist():
        triple = int(column.triples[row])
        if triple >= 0:
            spans = [(chunk, start, end) for chunk, (start, end, _) in index.support_of(triple).items()]
        else:  # -1: the row is a value of an attribute
            spans = [(chunk, *span) for chunk, span in sorted(_read_value(index, column, row)[2].items())]
        yield " ".join(_context(index.chunks[index.chunk_row[chunk]], start, end) for chunk, start, end in spans)


def _context(chunk: Chunk, start: int, end: int) -> str:
    """Return the context of characters `start` to `end` of a chunk; a table's first header says what its rows are."""
    first_header = next((line.cells[0].header for line in find_rows(chunk.text[start:end])), "")
    return f"{chunk.document_id} {chunk.title} {chunk.heading} {first_header}"


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that compares the numbers in names as numbers, so that EIP-20 comes before EIP-100."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _DIGITS.split(name) if part)


def _build_block(index: GraphIndex, schema: GraphSchema, table: ReadTable, lookup: TripleLookup,
                 tokens: int) -> Block:
    """Return a table as a block: its size and filters as the title, citable lines, and notes on what is missing."""
    computed, filters = table.computed, filters_text(lookup)
    rows, shared_note = split_shared_note(table.rows[:lookup.most_rows])
    ranking = f"{lookup.do} {lookup.limit}" if _is_ranking(lookup) and lookup.limit > 1 else ""
    description = "; ".join(filter(None, [f"{computed.total} rows", filters, ranking, shared_note, coverage(computed)]))
    title = f"{table.term.name.replace('_', ' ')} ({description})"
    items = [*_list_counts(index, table, lookup), *(_list_lines(index, schema, rows, lookup) if not lookup.by else ())]
    shown, omitted_count = fit_lines(items, tokens)
    # Every row shows its documents and qualifiers, so asking for these is no error.
    always_shown = {_DOCUMENT, *(label_key(name) for row in table.rows for name, _ in _list_qualifiers(row.validity))}
    unknown = [f"no field is called {name!r}" for name in lookup.show
               if label_key(name) not in always_shown and not is_field(index, schema, name)]
    notes = [*_list_notes(table, lookup, len(items), omitted_count), *unknown]
    return Block(title=title, items=tuple(shown), note="; ".join(notes))


def _is_ranking(lookup: TripleLookup) -> bool:
    """Return True if a lookup asks for rows in the order of their values."""
    return lookup.do in EXTREMES and not lookup.by


def filters_text(lookup: TripleLookup) -> str:
    """Return the conditions on a table's rows and their grouping as text: "tail 2020, status=Final, by year"."""
    conditions = _conditions_text(lookup)
    return ", ".join(filter(None, [conditions, f"by {lookup.by}" if lookup.by else ""]))


def _conditions_text(lookup: TripleLookup) -> str:
    """Return the conditions on a table's rows as text."""
    named = [f"{name} {value}" for name, value in (("head", lookup.head), ("tail", lookup.tail),
                                                   ("document", lookup.document), ("at", lookup.at)) if value]
    return ", ".join([*named, *lookup.where])


def _list_notes(table: ReadTable, lookup: TripleLookup, line_count: int, omitted_count: int) -> Iterator[str]:
    """Yield notes on what a table does not show: further groups, lines without room, rows that were left out."""
    computed, conditions = table.computed, _conditions_text(lookup)
    further_groups = computed.groups[len(computed.leading(lookup.limit)):]
    if further_groups:  # the next group's value shows that it does not tie with the last one shown
        yield f"{len(further_groups)} more groups, the next one {further_groups[0].key}: {further_groups[0].text}"
    if omitted_count:
        yield (f"{line_count - omitted_count} of {line_count} lines shown, {computed.total} rows in all: "
               "narrow by head, tail, where or at")
    elif not computed.total and not table.unread:
        yield f"no row has {conditions}; without it there are {table.term.rows}" if conditions else "no rows"
    yield from notes_of(table)


def coverage(computed: Computed) -> str:
    """Return how many entities of the heads' type have the field, in words; "" if all have it."""
    if not computed.total or computed.having == computed.of_type:
        return ""
    return f"{computed.having} of {computed.of_type} {computed.type} entities have it"


def notes_of(table: ReadTable) -> Iterator[str]:
    """Yield notes on the rows that a table's numbers leave out."""
    computed = table.computed
    if table.unread:
        yield f"{table.unread} more rows were not read: narrow by head or tail"
    yield from (f"{count} rows left out: {reason}" for reason, count in computed.left_out.items() if count)


def _list_counts(index: GraphIndex, table: ReadTable, lookup: TripleLookup) -> Iterator[Passage]:
    """Yield a line for what was computed, or for each group."""
    computed = table.computed
    if computed.value is not None:
        unit = f" {computed.unit}" if computed.unit else ""
        # Two queries may give the same number; their conditions tell the lines apart.
        limits = f" ({filters})" if (filters := filters_text(lookup)) else ""
        result = f"{lookup.do}{limits}: {shown_number(computed.value)}{unit}"
        yield from _cite_rows(index, computed.column, computed.rows, result)
    for group in computed.leading(lookup.limit):
        verb = "" if lookup.do in {"list", "count"} else f"{lookup.do} "
        yield from _cite_rows(index, computed.column, group.rows, f"{group.key}: {verb}{group.text}")


def _cite_rows(index: GraphIndex, column: FieldColumn, rows: Rows, text: str) -> Iterator[Passage]:
    """Yield a line about some rows, which cites the first few; nothing if none of these has a place."""
    cited = cited_rows(index, column, rows)
    if cited:
        yield rows_item(cited, text, len(rows))


def cited_rows(index: GraphIndex, column: FieldColumn, rows: Rows) -> list[FactRow]:
    """Return the first few of some rows of a column, which are cited for all of them."""
    return [row for row in _read_rows(index, column, rows[:_CITED]) if row.places]


def _list_lines(index: GraphIndex, schema: GraphSchema, rows: Sequence[FactRow], lookup: TripleLookup,
                ) -> Iterator[Passage]:
    """Yield rows as lines, one or more for each name at the end that has fewer different names."""
    if not rows:
        return
    further_fields = fields_beside(index, schema, rows,
                                   [name for name in lookup.show if is_field(index, schema, name)])
    shared_end, other_end = sides_by_repetition(rows)
    arrow = " <- " if shared_end is tail_of else " -> "
    ordered = rows if _is_ranking(lookup) else sorted(
        rows, key=lambda row: (natural_key(shared_end(row)), natural_key(other_end(row))))
    for name, group in groupby(ordered, shared_end):
        yield from row_items(list(group), f"{' '.join(name.split())}{arrow}", other_end, further_fields)


def places_beside(index: GraphIndex, schema: GraphSchema, row: FactRow, fields: Sequence[str]) -> list[Place]:
    """Return where the values that a row's head has in some fields are stated, except within the row's own place."""
    row_place, places = row.places[0], list[Place]()
    for field in fields:
        column = index.column(find_field(index, schema, field))
        begin, end = _rows_of(column, index.entity_row[row.ends[0]])
        places += [fact.places[0] for fact in cited_rows(index, column, np.arange(begin, end))]

    def is_in_row(place: Place) -> bool:
        row_end = row_place.start + len(row_place.text)
        return place.document == row_place.document and row_place.start <= place.start < row_end

    return [place for place in dict.fromkeys(places) if not is_in_row(place)]


def _rows_of(column: FieldColumn, entity: int) -> tuple[int, int]:
    """Return where the rows of an entity begin and end in a column; `entity` is its row in the index."""
    begin, end = (int(np.searchsorted(column.heads, entity, way)) for way in ("left", "right"))
    return begin, end


def values_of(column: FieldColumn, entity: int) -> tuple[str, ...]:
    """Return the values of a field that an entity, given by its row in the index, has.

    If they are very many, the first and the number of the others are returned.
    """
    begin, end = _rows_of(column, entity)
    shown = tuple(column.texts[label] for label in column.labels[begin:min(end, begin + _MOST_BESIDE)].tolist())
    omitted_count = end - begin - len(shown)
    return (*shown, f"... and {omitted_count:,} more") if omitted_count else shown


def is_field(index: GraphIndex, schema: GraphSchema, name: str) -> bool:
    """Return True if a relation or attribute has a name."""
    return bool(find_term(index, schema, name).terms)


def fields_beside(index: GraphIndex, schema: GraphSchema, rows: Sequence[FactRow], fields: Sequence[str],
                  ) -> dict[str, str]:
    """Return the values of some fields of each row's head, in words ("status: Final; owner: Ana"), by the head's id.

    Raises:
        FieldError: there is no such field.
    """
    texts_by_head: dict[str, list[str]] = {}
    for field in fields:
        column = index.column(find_field(index, schema, field))
        for head in dict.fromkeys(row.ends[0] for row in rows):
            if values := values_of(column, index.entity_row[head]):
                texts_by_head.setdefault(head, []).append(f"{field.replace('_', ' ')}: {', '.join(values)}")
    return {head: "; ".join(texts) for head, texts in texts_by_head.items()}

