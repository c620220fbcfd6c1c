"""The rows of a relation or attribute, filtered and grouped by the end that repeats."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ..schemas.graph_schema import GraphSchema
from ..schemas.inquiry import Block
from ..schemas.lookups import TripleLookup
from ..schemas.retrieval import Passage
from .document_names import documents_with
from .fact_rows import FactRow, holding_at, row_items, sides_by_repetition, tail_of, triple_rows, value_rows
from .index import RetrievalIndex
from .line_budget import fit_lines
from .schema_names import Term, find_term, fits_part

_MOST_ROWS = 5000
"""Rows of one term that are read, far more than a budget shows; those beyond are counted in the note."""


def look_up_table(index: RetrievalIndex, schema: GraphSchema, lookup: TripleLookup, tokens: int) -> list[Block]:
    """Return the rows that a lookup asks for, or the terms that there are instead of an unknown one.

    Args:
        index: the knowledge base.
        schema: the schema in force, by whose labels the relation is found.
        lookup: the relation or attribute, and the filters.
        tokens: the budget, estimated tokens. What does not fit is counted, and the note says how to narrow it.

    Raises:
        DateError: `at` is no date with a year.
    """
    found = find_term(index, schema, lookup.relation)
    if not found.terms:
        known = f"There are: {', '.join(found.near)}." if found.near else "The graph has no rows at all."
        return [Block(title=lookup.relation, note=f"No relation or attribute has this name. {known}")]
    return [_table(index, term, lookup, tokens // len(found.terms)) for term in found.terms]


def _table(index: RetrievalIndex, term: Term, lookup: TripleLookup, tokens: int) -> Block:
    allowed = documents_with(index, [lookup.document]) if lookup.document else None
    read, unread = _read_rows(index, term, lookup)
    fitting = [row for row in holding_at(read, lookup.at)
               if row.places and (allowed is None or not allowed.isdisjoint(row.documents))]
    title, notes = term.name.replace("_", " "), list[str]()
    items = list(_grouped(fitting))
    shown, left = fit_lines(items, tokens)
    filters = [f"{name} {value}" for name, value in (("head", lookup.head), ("tail", lookup.tail),
                                                     ("document", lookup.document), ("at", lookup.at)) if value]
    if left:
        notes.append(f"{len(items) - left} of {len(items)} lines shown, {len(fitting)} rows in all: "
                     "narrow by head, tail, document or at")
    elif not fitting and not unread:
        notes.append(f"no row has {' and '.join(filters)}; without it there are {term.rows}" if filters else "no rows")
    if unread:
        notes.append(f"{unread} more {'owners' if term.is_attribute else 'rows'} were not read: narrow by head or tail")
    return Block(title=f"{title} ({len(fitting)} rows{'; ' if filters else ''}{', '.join(filters)})",
                 items=tuple(shown), note="; ".join(notes))


def _read_rows(index: RetrievalIndex, term: Term, lookup: TripleLookup) -> tuple[list[FactRow], int]:
    """Return the rows of a term whose ends fit, and how many rows or owners beyond `_MOST_ROWS` were not read."""
    if term.is_attribute:
        owners = [entity for entity in index.owners(term.name) if fits_part(lookup.head, _names(index, entity))]
        values = [row for entity in owners[:_MOST_ROWS] for row in value_rows(index, entity, [term.name])
                  if fits_part(lookup.tail, [row.tail])]
        return values, max(len(owners) - _MOST_ROWS, 0)
    fitting = [row for row in index.of_relations([term.name]).tolist()
               if fits_part(lookup.head, _names(index, index.ends(row)[0]))
               and fits_part(lookup.tail, _names(index, index.ends(row)[1]))]
    return list(triple_rows(index, fitting[:_MOST_ROWS])), max(len(fitting) - _MOST_ROWS, 0)


def _names(index: RetrievalIndex, entity: str) -> Sequence[str]:
    row = index.entity_at(entity)
    if row is None:
        return [entity]
    name, _, *others = index.about(row)
    return [name, *others]


def _grouped(rows: Sequence[FactRow]) -> Iterator[Passage]:
    """Yield the lines of a table: grouped by the end that repeats most."""
    if not rows:
        return
    key, other = sides_by_repetition(rows)
    arrow = " <- " if key is tail_of else " -> "
    ordered = sorted(rows, key=lambda row: (key(row), other(row)))
    for name, group in groupby(ordered, key):
        yield from row_items(list(group), f"{' '.join(name.split())}{arrow}", other)
