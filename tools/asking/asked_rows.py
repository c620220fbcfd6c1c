"""The table that a question asks for, a row an item: what is shown where no model chooses and words it."""

import re
from collections.abc import Iterator, Sequence

from ...schemas.graph_schema import GraphSchema
from ...schemas.inquiry import Block
from ...schemas.lookups import EXTREMES, TripleLookup
from ...schemas.retrieval import Passage, Place
from ...text.content_words import language_of
from ..fact_rows import FactRow, graph_item, split_shared_note
from ..index import RetrievalIndex
from ..schema_names import find_term
from ..table_query import shown_number
from ..tables import ReadTable, cited_rows, fields_beside, filters_text, places_beside, read_table

_LONGEST_SENTENCE = 400
MOST_SHOWN = 20
"""Rows that are shown of an answer; a list of more is opened as a table."""


def asked_rows(index: RetrievalIndex, schema: GraphSchema, question: str, lookup: TripleLookup) -> list[Block]:
    """Return what a question asks for: a line with what was computed, then its rows; nothing if there are none.

    Args:
        index: the knowledge base.
        schema: the schema in force.
        question: the question, in whose language it is said.
        lookup: what it asks for (`asked_table`).
    """
    term = next(iter(find_term(index, schema, lookup.relation).terms), None)
    table = read_table(index, schema, lookup, term) if term else None
    if table is None or not (table.rows or table.computed.groups):
        return []
    if lookup.head.count("|") >= table.computed.total:
        return []  # what is compared has to be there as a whole
    rows, shared = split_shared_note(table.rows)
    items = _list_items(index, schema, table._replace(rows=rows), lookup, question)
    return [Block(title=", ".join(filter(None, [filters_text(lookup), shared])), items=tuple(items), table=lookup)]


def _list_items(index: RetrievalIndex, schema: GraphSchema, table: ReadTable, lookup: TripleLookup,
           question: str) -> Iterator[Passage]:
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
    beside = fields_beside(index, schema, table.rows[:MOST_SHOWN], lookup.show)
    for row in table.rows[:lookup.most_rows or MOST_SHOWN]:
        elsewhere = places_beside(index, schema, row, lookup.show)
        yield _build_row(row, beside.get(row.ends[0], ""), lookup, _label(schema, row.relation, question), elsewhere)
    if lookup.head.count("|") and lookup.do in EXTREMES:
        yield from _list_others_compared(index, schema, table, lookup, question)


def _list_others_compared(index: RetrievalIndex, schema: GraphSchema, table: ReadTable, lookup: TripleLookup,
              question: str) -> Iterator[Passage]:
    """Yield the rows of the things compared that are not the answer: a comparison rests on all of them."""
    shown = {row.head for row in table.rows}
    everything = read_table(index, schema, lookup.model_copy(update={"do": "list"}), table.term)
    for row in everything.rows[:MOST_SHOWN]:
        if row.head not in shown:
            item = _build_row(row, "", lookup, _label(schema, row.relation, question))
            yield item.model_copy(update={"cells": ()})


def _describe_limits(schema: GraphSchema, lookup: TripleLookup, question: str) -> str:
    """Return what limits the rows, in brackets and in the question's language."""
    is_chinese = language_of(question) == "zh"
    colon, comma, brackets = ("：", "，", "（{}）") if is_chinese else (": ", ", ", " ({})")
    stated = [f"{_label(schema, lookup.relation, question)}{colon}{lookup.tail}"] if lookup.tail else []
    for condition in lookup.where:
        field, sign, value = re.split(r"(!?=|[<>]=?)", condition, maxsplit=1) if re.search("[<>=]", condition) else (
            condition, "", "")
        stated.append(f"{_label(schema, field, question)}{colon if sign == '=' else sign}{value}")
    limits = comma.join(filter(None, [lookup.head, *stated])).replace("!=", " ≠ ").replace(f"{colon} ≠", " ≠")
    return brackets.format(limits) if limits else ""


def _note_rest(question: str, shown: int, total: int) -> str:
    if shown >= total:
        return ""
    if language_of(question) == "zh":
        return f"；以下列出 {total} 条中的 {shown} 条"
    return f"; {shown} of {total} rows follow"


def _build_summary(rows: list[FactRow], short: str, text: str) -> Passage:
    return graph_item([row.places[0] for row in rows], text, rows[0].relation, "row", (short,))


def _label(schema: GraphSchema, name: str, question: str) -> str:
    """Return what a relation or attribute is called in the question's language."""
    element = schema.attribute_type(name) or schema.relation_type(name)
    return (element.labels.get(language_of(question)) if element else "") or name.replace("_", " ")


def _build_row(row: FactRow, beside: str, lookup: TripleLookup, label: str, elsewhere: Sequence[Place] = ()) -> Passage:
    """Return one row: the end that the question does not name, with the value that it asks about, as its last cell."""
    asked = row.tail if lookup.head and not lookup.head.count("|") and not lookup.tail else row.head
    value = row.validity.with_note(row.tail)
    told = lookup.do in EXTREMES | {"sum", "mean"} or not (lookup.tail or lookup.head) or (
        "|" in lookup.tail or lookup.tail[:1] in "<>!")
    notes = [f"{label}: {value}"] if told and asked == row.head else []
    notes += [beside] if beside else []
    text = " ".join(f"{asked}{' – ' if notes else ''}{'; '.join(notes)}".split())
    place = row.places[0]
    # A sentence says more than its two ends; a row of a table says too much.
    is_enough = not (elsewhere or place.text.lstrip().startswith("|") or len(place.text) > _LONGEST_SENTENCE)
    return graph_item([place, *elsewhere], " ".join(place.text.split()) if is_enough else text, row.relation, "row",
                      (row.head, row.relation, row.tail, text))
