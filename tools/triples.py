"""Looking up the rows of a relation or an attribute by parts of names, as citable lines."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from ..graph_store.graph_index import GraphIndex
from ..schemas.inquiry import Block
from ..schemas.lookups import TripleLookup
from ..schemas.retrieval import Passage
from ..text.times import read_day
from .fact_rows import FactRow, holding_at, row_items, sides_by_repetition, split_shared_note, tail_of
from .field_rows import FieldRows, field_rows, named_by, read_rows
from .schema_names import LabelledTerms, Term

_MOST_ROWS = 400
"""How many rows are read in full, with their places: more than a budget shows."""
_MOST_TIMED = 5000
"""How many rows are filtered by time or document; a note gives the number of the others."""
_DIGITS = re.compile(r"(\d{1,18})")


def look_up_triples(index: GraphIndex, terms: LabelledTerms, lookup: TripleLookup) -> list[Block]:
    """Return the rows that a lookup asks for as blocks of citable lines, one for each term that the lookup names.

    Relations may be several, A|B. If there is no such relation or attribute, the note names others.

    Raises:
        DateError: `at` is no date with a year.
    """
    if lookup.at:
        read_day(lookup.at)  # a wrong date is an error even if no row fits
    blocks = list[Block]()
    for label in filter(str.strip, lookup.relation.split("|")):
        found = terms.find(label)
        blocks += [_block(index, term, lookup) for term in found.terms]
        if not found.terms:
            known = f"There are: {', '.join(found.near)}." if found.near else "The graph has no rows at all."
            blocks.append(Block(title=label, note=f"No relation or attribute has this name. {known}"))
    return blocks


def _block(index: GraphIndex, term: Term, lookup: TripleLookup) -> Block:
    """Return the rows of one term as a block: their number and the filters as the title, lines, and what is missing."""
    rows, unread = _fitting_rows(index, term, lookup)
    total = len(rows.heads)
    named = {name: getattr(lookup, name) for name in ("head", "tail", "document", "at")}
    filters = ", ".join(f"{name} {value}" for name, value in named.items() if value)
    # Rows are in the order of their heads' names, then of what they lead to.
    texts = index.columns.texts
    heads = {row: natural_key(index.labels_of(row).name) for row in np.unique(rows.heads).tolist()}
    ends = {text: natural_key(texts[text]) for text in np.unique(rows.texts).tolist()}
    keys = [(heads[head], ends[text]) for head, text in zip(rows.heads.tolist(), rows.texts.tolist(), strict=True)]
    order = sorted(range(total), key=keys.__getitem__)[:_MOST_ROWS]
    first = rows.select(np.array(order, np.intp))
    facts, shared_note = split_shared_note([row for row in read_rows(index, first) if row.places])
    description = "; ".join(filter(None, [f"{total} rows", filters, shared_note]))
    unread += max(0, total - _MOST_ROWS)
    note = f"{unread} more rows were not read: narrow by head or tail" if unread else ""
    if not total and not unread:
        note = f"no row has {filters}; without it there are {term.rows}" if filters else "no rows"
    return Block(title=f"{term.name.replace('_', ' ')} ({description})", items=tuple(_lines(facts)), note=note,
                 table=lookup)


def _fitting_rows(index: GraphIndex, term: Term, lookup: TripleLookup) -> tuple[FieldRows, int]:
    """Return the rows that fit a lookup, and how many were not read for their date and document."""
    rows = field_rows(index, term.name)
    for part, heads in ((lookup.head, True), (lookup.tail, False)):
        if part:
            rows = rows.select(named_by(index, rows, part, heads=heads))
    if not (lookup.at or lookup.document):
        return rows, 0
    allowed = index.documents_with([lookup.document]) if lookup.document else None
    fitting = []
    for number in range(min(len(rows.heads), _MOST_TIMED)):
        holding = holding_at(read_rows(index, rows.select(np.array([number]))), lookup.at)
        if holding and (allowed is None or not allowed.isdisjoint(holding[0].documents)):
            fitting.append(number)
    return rows.select(np.array(fitting, np.intp)), max(0, len(rows.heads) - _MOST_TIMED)


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that compares the numbers in names as numbers, so that EIP-20 comes before EIP-100."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _DIGITS.split(name) if part)


def _lines(rows: Sequence[FactRow]) -> Iterator[Passage]:
    """Yield rows as lines, one or more for each name at the end that has fewer different names."""
    if not rows:
        return
    shared_end, other_end = sides_by_repetition(rows)
    arrow = " <- " if shared_end is tail_of else " -> "
    ordered = sorted(rows, key=lambda row: (natural_key(shared_end(row)), natural_key(other_end(row))))
    for name, group in groupby(ordered, shared_end):
        yield from row_items(list(group), f"{' '.join(name.split())}{arrow}", other_end)
