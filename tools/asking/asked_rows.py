"""Showing the table that a question asks for, one item a row: without a model, these rows are the answer."""

import re
from collections.abc import Iterator, Sequence

from ...graph_store.graph_index import GraphIndex
from ...schemas.graph_schema import GraphSchema
from ...schemas.inquiry import Block
from ...schemas.lookups import EXTREMES, TripleLookup
from ...schemas.retrieval import Passage, Place
from ...text.languages import phrase_language
from ..fact_rows import FactRow, graph_item, split_shared_note
from ..schema_names import find_term
from ..table_query import shown_number
from ..tables import ReadTable, cited_rows, fields_beside, filters_text, places_beside, read_table

_LONGEST_SENTENCE = 400
MOST_SHOWN = 20
"""How many rows an answer shows; a longer list can be opened as a table."""


def asked_rows(index: GraphIndex, schema: GraphSchema, question: str, lookup: TripleLookup) -> list[Block]:
    """Return a block with what a question asks for, in its language: a line with what was computed, then the rows.

    Empty if there are no rows, or if a comparison lacks a row for one of the things it compares. `lookup` is what
    `asked_table` read the question as.
    """
    term = next(iter(find_term(index, schema, lookup.relation).terms), None)
    table = read_table(index, schema, lookup, term) if term else None
    if table is None or not (table.rows or table.computed.groups):
        return []
    compared_count = lookup.head.count("|") + 1
    if table.computed.total < compared_count:
        return []
    rows, shared = split_shared_note(table.rows)
    items = _list_items(index, schema, table._replace(rows=rows), lookup, question)
    return [Block(title=", ".join(filter(None, [filters_text(lookup), shared])), items=tuple(items), table=lookup)]


def _list_items(index: GraphIndex, schema: GraphSchema, table: ReadTable, lookup: TripleLookup,
                question: str) -> Iterator[Passage]:
    """Yield the items of a table: the groups of a grouped one, else the computed number and then the rows."""
    computed = table.computed
    for group in computed.leading(lookup.limit)[:MOST_SHOWN]:
        text = f"{group.key}: {group.text}"
        yield _build_summary(cited_rows(index, computed.column, group.rows), text, text)
    if lookup.by:
        return
    if computed.value is not None and lookup.do not in EXTREMES:
        unit = f" {computed.unit}" if computed.unit else ""
        number = f"{shown_number(computed.value)}{unit}"
        more = _note_rest(question, min(len(table.rows), MOST_SHOWN), computed.total)
        yield _build_summary(table.rows[:3], number, f"{number}{_describe_limits(schema, lookup, question)}{more}")
    further_fields = fields_beside(index, schema, table.rows[:MOST_SHOWN], lookup.show)
    for row in table.rows[:lookup.most_rows or MOST_SHOWN]:
        places = places_beside(index, schema, row, lookup.show)
        yield _build_row(row, further_fields.get(row.ends[0], ""), lookup, _label(schema, row.relation, question),
                         places)
    is_comparison = "|" in lookup.head and lookup.do in EXTREMES
    if is_comparison:
        yield from _list_others_compared(index, schema, table, lookup, question)


def _list_others_compared(index: GraphIndex, schema: GraphSchema, table: ReadTable, lookup: TripleLookup,
                          question: str) -> Iterator[Passage]:
    """Yield the rows of the compared things that did not win, because the answer rests on all of them."""
    shown_heads = {row.head for row in table.rows}
    all_compared = read_table(index, schema, lookup.model_copy(update={"do": "list"}), table.term)
    for row in all_compared.rows[:MOST_SHOWN]:
        if row.head not in shown_heads:
            item = _build_row(row, "", lookup, _label(schema, row.relation, question))
            yield item.model_copy(update={"cells": ()})


def _describe_limits(schema: GraphSchema, lookup: TripleLookup, question: str) -> str:
    """Return the conditions on the rows in brackets and in the question's language: " (status: Final)"."""
    is_chinese = phrase_language(question) == "zh"
    colon, comma, brackets = ("：", "，", "（{}）") if is_chinese else (": ", ", ", " ({})")
    conditions = [f"{_label(schema, lookup.relation, question)}{colon}{lookup.tail}"] if lookup.tail else []
    for condition in lookup.where:
        has_sign = re.search("[<>=]", condition)
        field, sign, value = re.split(r"(!?=|[<>]=?)", condition, maxsplit=1) if has_sign else (condition, "", "")
        conditions.append(f"{_label(schema, field, question)}{colon if sign == '=' else sign}{value}")
    limits = comma.join(filter(None, [lookup.head, *conditions])).replace("!=", " ≠ ").replace(f"{colon} ≠", " ≠")
    return brackets.format(limits) if limits else ""


def _note_rest(question: str, shown: int, total: int) -> str:
    """Return a note, in the question's language, that only some of the rows follow; "" if all do."""
    if shown >= total:
        return ""
    if phrase_language(question) == "zh":
        return f"；以下列出 {total} 条中的 {shown} 条"
    return f"; {shown} of {total} rows follow"


def _build_summary(rows: list[FactRow], short: str, text: str) -> Passage:
    """Return an item with a text about several rows, which cites the first place of each; `short` is its only cell."""
    return graph_item([row.places[0] for row in rows], text, rows[0].relation, "row", (short,))


def _label(schema: GraphSchema, name: str, question: str) -> str:
    """Return the label of a relation or attribute in the question's language, or its name if it has none."""
    element = schema.attribute_type(name) or schema.relation_type(name)
    return (element.labels.get(phrase_language(question)) if element else "") or name.replace("_", " ")


def _build_row(row: FactRow, further_fields: str, lookup: TripleLookup, label: str,
               further_places: Sequence[Place] = ()) -> Passage:
    """Return one row as an item; its last cell is the short answer."""
    has_single_head = bool(lookup.head) and "|" not in lookup.head
    asked_end = row.tail if has_single_head and not lookup.tail else row.head
    has_single_tail = bool(lookup.tail) and "|" not in lookup.tail and lookup.tail[0] not in "<>!"
    is_tail_open = not has_single_tail or lookup.do in EXTREMES | {"sum", "mean"}
    notes = [f"{label}: {row.validity.with_note(row.tail)}"] if is_tail_open and asked_end == row.head else []
    notes += [further_fields] if further_fields else []
    short = " ".join(f"{asked_end}{' – ' if notes else ''}{'; '.join(notes)}".split())
    place = row.places[0]
    # A sentence of prose is shown whole: it says more than the row. A line of a table would be too much.
    is_line_of_table = place.text.lstrip().startswith("|")
    is_shown_whole = not (further_places or is_line_of_table or len(place.text) > _LONGEST_SENTENCE)
    return graph_item([place, *further_places], " ".join(place.text.split()) if is_shown_whole else short,
                      row.relation, "row", (row.head, row.relation, row.tail, short))
