"""Surveys of the whole: groups by a field's value or period, or what a path of relations reaches.

The views of UniAI-GraphRAG: attribute-based, by attribute-aware modularity (eq. 3), and by a relation pattern (eq. 5),
completed at the boundary (eq. 4). They are computed when they are asked for and never stored; reports that were written
on groups are found by what they were written from.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np

from ..graph_store.ledger.communities import GROUP, TreeCommunity
from ..graph_store.tree.community_digests import identified
from ..schemas.graph_schema import GraphSchema
from ..schemas.inquiry import Block
from ..schemas.lookups import TripleLookup
from ..schemas.retrieval import CommunitySummary, Passage
from ..text.table_rows import DOCUMENT, find_rows
from .entity_names import find_entities
from .fact_rows import FactRow, graph_item, head_of, row_items, tail_of, triple_rows
from .field_columns import FieldColumn, Rows
from .index import RetrievalIndex
from .line_budget import fit_lines, item_cost
from .schema_names import find_term, terms_of
from .table_query import Computed, FieldError, RowGroup, compute, find_field
from .tables import cited_rows

TAU = 0.5
"""The share of an entity's neighbours from which it belongs to what they are in (eq. 4)."""
_PERIOD = re.compile(r"(?P<field>.+)\.(?P<period>year|month|decade)")
_MOST_REACHED = 500
_KINDS = 12
"""The most values of a field that tells groups apart: one with more describes each thing for itself."""
_TELLING, _SHOWN_KINDS = 2, 3
_MEMBERS = 4
_KEYWORDS = 5
_MOST_LINKS = 200_000
"""Facts and values of the graph in which groups are found by modularity: these take some twenty seconds."""
MOST_DESCRIBED = 100
"""Groups of a survey, the first ones, that have reports."""
_COVERED = 0.6
"""The share of the things grouped that have a telling field."""


class _Grouping(NamedTuple):
    """The groups that a survey is of, the entities that are grouped, by their rows, and the groups' common fields."""

    computed: Computed
    groups: list[RowGroup]
    heads: Rows
    telling: list[FieldColumn]


def survey_by(index: RetrievalIndex, schema: GraphSchema, by: str, tokens: int,
              alpha: float | None = None, among: Rows | None = None) -> list[Block]:
    """Return the groups of a field's values or periods, each with its size, kinds and best connected members.

    Args:
        index: the knowledge base.
        schema: the schema in force, by whose labels fields are found.
        by: a field, or FIELD.year, FIELD.month or FIELD.decade.
        tokens: the budget, estimated tokens.
        alpha: the weight of the field beside the graph (`attribute_groups`); None makes a group of each value.
        among: the rows of the documents to count; None counts the field's rows.

    Raises:
        FieldError: there is no such field, or the graph is too large for groups by both.
    """
    grouping = _read_grouping(index, schema, by, alpha, among)
    computed, label = grouping.computed, "" if among is None else f"{grouping.computed.column.name.replace('_', ' ')} "
    reports = index.store.communities.group_reports()
    items = [_build_group_item(index, grouping, group, label, reports if number < MOST_DESCRIBED else {})
             for number, group in enumerate(grouping.groups)]
    shown, hidden = fit_lines(items, tokens)
    notes = [f"{count} left out: {why}" for why, count in computed.left_out.items() if count]
    counted = f"{computed.total} rows" if among is None else f"{len(grouping.heads)} documents"
    also = "" if alpha is None else f" and by facts, alpha {alpha:g}"
    return [Block(title=f"{counted} by {by}{also}", items=_note_rest(shown, hidden, "groups"), note="; ".join(notes))]


def described_groups(index: RetrievalIndex, schema: GraphSchema, by: str, alpha: float | None,
                     most: int) -> list[TreeCommunity]:
    """Return the first groups of a survey as communities, whose ids are made from what their reports rest on.

    Raises:
        FieldError: see `survey_by`.
    """
    grouping = _read_grouping(index, schema, by, alpha)
    return [_build_community(index, grouping.computed.column, group) for group in grouping.groups[:most]]


def _build_community(index: RetrievalIndex, column: FieldColumn, group: RowGroup) -> TreeCommunity:
    graph, members = index.graph, [index.entity_row.at(row) for row in np.unique(column.heads[group.rows]).tolist()]
    keywords = sorted(members, key=lambda member: (-graph.degree(member), member))[:_KEYWORDS]
    found = identified(graph, TreeCommunity(id="", members=tuple(members), keywords=tuple(keywords)))
    return found.model_copy(update={"id": f"{GROUP}{found.id}"})


def survey_documents(index: RetrievalIndex, schema: GraphSchema, tokens: int) -> list[Block]:
    """Return the groups of the documents by the fields that tell them apart, and by year; nothing without such a field.

    Args:
        index: the knowledge base.
        schema: the schema in force.
        tokens: the budget, estimated tokens.
    """
    documents = np.array(sorted(_find_document_entities(index)), dtype=np.intp)
    if len(documents) < _COVERED * len(index.store.documents.entries()):
        return []
    fields = [column.name for column in _find_telling_fields(index, documents, "")]
    fields += [f"{name}.year" for name in _find_dated_fields(index, documents)[:1]]
    blocks = list[Block]()
    for left, field in zip(range(len(fields), 0, -1), fields, strict=True):
        blocks += survey_by(index, schema, field, tokens // left, among=documents)
        tokens -= sum(map(item_cost, blocks[-1].items))
    return blocks


def _find_document_entities(index: RetrievalIndex) -> set[int]:
    """Return the rows of the entities that documents with metadata are."""
    rows = (row for _, text in index.store.documents.whole_texts()
            for row in find_rows(text.partition("\n")[0]) if row.cells[0].header == DOCUMENT)
    entities = (entity for row in rows for entity in find_entities(index, row.cells[0].value).entities)
    return {at for entity in entities if (at := index.entity_at(entity)) is not None}


def _note_rest(shown: list[Passage], hidden: int, kind: str) -> tuple[Passage, ...]:
    """Return lines, the last of which says how many more there are: without a model, lines alone are an answer."""
    if not hidden:
        return tuple(shown)
    last = shown[-1]
    return (*shown[:-1], last.model_copy(update={"statement": f"{last.statement} (and {hidden} more {kind})"}))


def _read_grouping(index: RetrievalIndex, schema: GraphSchema, by: str, alpha: float | None = None,
              among: Rows | None = None) -> _Grouping:
    match = _PERIOD.fullmatch(by.strip())
    # Without a period, the value itself is the group.
    field, period = (match["field"], match["period"]) if match else (by.strip(), "tail")
    name = find_field(index, schema, field)
    computed = compute(index, schema, TripleLookup(relation=name, by=period), name)
    heads = np.unique(computed.column.heads) if among is None else np.intersect1d(computed.column.heads, among)
    if alpha is None:
        groups = _limit_groups(computed, heads)
        if match:
            groups.sort(key=lambda group: group.key)
    else:
        groups = _find_modular_groups(index, computed, alpha)
    return _Grouping(computed, groups, heads, _find_telling_fields(index, heads, name))


def _limit_groups(computed: Computed, heads: Rows) -> list[RowGroup]:
    """Return the groups with only the rows of some subjects, the largest first."""
    own = (group._replace(rows=group.rows[np.isin(computed.column.heads[group.rows], heads)])
           for group in computed.groups)
    return sorted((group for group in own if len(group.rows)), key=lambda group: -len(group.rows))


def _find_modular_groups(index: RetrievalIndex, computed: Computed, alpha: float) -> list[RowGroup]:
    """Return the groups of a field's subjects by modularity (eq. 3), the largest first; each key has its values.

    All entities have a part in finding them: an author who is no subject links what is.

    Raises:
        FieldError: the graph is too large.
    """
    heads, rows = computed.column.heads, np.concatenate([computed.rows[:0], *(one.rows for one in computed.groups)])
    keys = np.repeat(np.arange(len(computed.groups)), [len(group.rows) for group in computed.groups])
    if (links := len(index.triples) + len(rows)) > _MOST_LINKS:
        raise FieldError(f"there are {links:,} facts and values, and groups by both are found among at most "
                         f"{_MOST_LINKS:,}: leave alpha out")
    values = np.unique(np.stack([heads[rows], keys], axis=1), axis=0)
    from ..graph_store.tree.clusters import attribute_groups  # noqa: PLC0415  (scipy is slow to import)

    labels = attribute_groups(len(index.entity_row), index.triples[:, [0, 2]], values, alpha)[heads[rows]]
    found = []
    for label in np.unique(labels):
        own = labels == label
        counts = sorted(Counter(keys[own].tolist()).items(), key=lambda one: (-one[1], one[0]))
        key = ", ".join(f"{computed.groups[key].key}{f' {count}' if len(counts) > 1 else ''}"
                         for key, count in counts[:_SHOWN_KINDS])
        found.append(RowGroup(key, rows[own], float(len(np.unique(heads[rows[own]]))), ""))
    return sorted(found, key=lambda group: (-group.value, group.key, group.rows.tolist()))


def _find_dated_fields(index: RetrievalIndex, documents: Rows) -> list[str]:
    """Return the fields that give most documents a date, the one of most documents first."""
    dated = {}
    for term in terms_of(index):
        if term.is_attribute and term.rows >= _COVERED * len(documents):
            column = index.column(term.name)
            has_date = np.array([bool(date) for date in column.dates], dtype=bool)
            dated[term.name] = len(np.intersect1d(documents, column.heads[has_date[column.labels]]))
    most = sorted(dated, key=lambda name: (-dated[name], name))
    return [name for name in most if dated[name] >= _COVERED * len(documents)]


def _find_telling_fields(index: RetrievalIndex, heads: Rows, by: str) -> list[FieldColumn]:
    """Return the fields of few values, no dates, that most of some things have; the one of fewest values first."""
    columns = [index.column(term.name) for term in terms_of(index) if term.name != by and term.rows >= len(heads) / 2]
    found = []
    for column in columns:
        own = np.isin(column.heads, heads)
        kinds = np.unique(column.labels[own])
        is_dated = any(column.dates[label] for label in kinds[:_KINDS])
        if 1 < len(kinds) <= _KINDS and not is_dated and len(np.unique(column.heads[own])) >= _COVERED * len(heads):
            found.append(column)
    return sorted(found, key=lambda column: (len(column.texts), column.name))[:_TELLING]


def _build_group_item(index: RetrievalIndex, grouping: _Grouping, group: RowGroup, field: str,
                reports: Mapping[str, CommunitySummary]) -> Passage:
    column = grouping.computed.column
    entities = np.unique(column.heads[group.rows])
    kinds = [_describe_kinds(one, entities) for one in grouping.telling]
    central = sorted(entities.tolist(), key=lambda row: int(index.browsing.ranks[row]))[:_MEMBERS]
    names = "; ".join(index.about(row)[0] for row in central)
    more = f" … {len(entities) - len(central)} more" if len(entities) > len(central) else ""
    report = reports.get(_build_community(index, column, group).id) if reports else None
    text = ". ".join(filter(None, [f"{field}{group.key} ({len(entities)})", *kinds, f"{names}{more}",
                                   report.summary if report else ""]))
    places = [row.places[0] for row in cited_rows(index, column, group.rows)]
    return graph_item(places, text, column.name, "row", ("",))


def _describe_kinds(column: FieldColumn, entities: Rows) -> str:
    counts = Counter(column.texts[label] for label in column.labels[np.isin(column.heads, entities)].tolist())
    most = sorted(counts, key=lambda text: (-counts[text], text))[:_SHOWN_KINDS]
    return f"{column.name.replace('_', ' ')}: {', '.join(f'{text} {counts[text]}' for text in most)}" if most else ""


def survey_along(index: RetrievalIndex, schema: GraphSchema, root: str, along: str, tokens: int) -> list[Block]:
    """Return what a path of relations reaches from an entity [UniAI-GraphRAG eq. 5], completed by eq. 4.

    Args:
        index: the knowledge base.
        schema: the schema in force.
        root: the entity where the path begins.
        along: relations with "->" between; "<" before one follows it backwards, "*" goes on along the last one.
        tokens: the budget, estimated tokens.

    Raises:
        FieldError: there is no such relation.
    """
    found = find_entities(index, root)
    starts = [row for entity in found.entities if (row := index.entity_at(entity)) is not None]
    if not starts:
        near = f" Names like it: {'; '.join(found.near)}." if found.near else ""
        return [Block(title=root, note=f"No entity has this name.{near}")]
    reached, steps = set(starts), list[tuple[str, list[int]]]()
    frontier, is_cut = set(starts), False
    for relation in _read_steps(index, schema, along):
        triples, frontier = _follow(index, relation, frontier, reached)
        is_cut = bool(frontier) and len(reached) > _MOST_REACHED
        if not frontier or is_cut:
            break
        reached |= frontier
        steps += [(relation, triples)] if triples else []
    items = [item for number, step in enumerate(steps, 1) for item in _list_step_items(index, number, *step)]
    boundary = _find_boundary(index, reached) - set(starts)
    shown, left = fit_lines(items, tokens)
    notes = [] if items else ["nothing is reached along this path"]
    if is_cut:
        notes.append("there is more beyond these")
    if boundary:
        names = sorted(index.about(row)[0] for row in boundary)
        notes.append(f"connected to these mostly: {'; '.join(names[:_KINDS])}")
    return [Block(title=f"{root} along {along}: {len(reached) - len(starts)} reached",
                  items=_note_rest(shown, left, "lines"), note="; ".join(notes))]


def _read_steps(index: RetrievalIndex, schema: GraphSchema, along: str) -> Iterator[str]:
    """Return the relations of a path, "<" before those followed backwards; a final "*" repeats the last one forever.

    Raises:
        FieldError: there is no such relation.
    """
    *begin, end = map(str.strip, along.split("->"))
    steps = [_read_step(index, schema, part) for part in (begin if begin and end == "*" else [*begin, end])]
    return chain(steps, repeat(steps[-1])) if len(steps) == len(begin) else iter(steps)


def _read_step(index: RetrievalIndex, schema: GraphSchema, part: str) -> str:
    found = find_term(index, schema, part.removeprefix("<"))
    names = [term.name for term in found.terms if not term.is_attribute]
    if not names:
        known = (term.name for term in terms_of(index) if not term.is_attribute)
        raise FieldError(f"no relation is called {part!r}; there are: {', '.join(known) or 'none'}")
    return f"{'<' if part.startswith('<') else ''}{names[0]}"


def _follow(index: RetrievalIndex, relation: str, frontier: set[int], reached: set[int]) -> tuple[list[int], set[int]]:
    """Return the triples of a relation that lead on from some entities, and the entities that are new."""
    column = index.column(relation)
    rows = np.flatnonzero(np.isin(column.heads, sorted(frontier)))
    ends = column.tails()[rows]
    fresh = (ends >= 0) & ~np.isin(ends, sorted(reached))
    return sorted(column.triples[rows[fresh]].tolist()), set(ends[fresh].tolist())


def _list_step_items(index: RetrievalIndex, number: int, relation: str, triples: Sequence[int]) -> Iterator[Passage]:
    """Yield the lines of a path's step: of each entity that it leads on from, what it leads to."""
    name, is_backward = relation.removeprefix("<").replace("_", " "), relation.startswith("<")
    start_of, side = (tail_of, head_of) if is_backward else (head_of, tail_of)
    by_start: dict[str, list[FactRow]] = {}
    for row in triple_rows(index, triples):
        if row.places:
            by_start.setdefault(start_of(row), []).append(row)
    for start, own in sorted(by_start.items()):
        arrow = f"{number}. {start} <- {name}: " if is_backward else f"{number}. {start} {name} -> "
        yield from (item.model_copy(update={"kind": "row", "cells": ("",)}) for item in row_items(own, arrow, side))


def _find_boundary(index: RetrievalIndex, reached: set[int]) -> set[int]:
    """Return the outside entities of whose neighbours at least the share `TAU`, and two, are reached (eq. 4)."""
    within = Counter(end for row in reached for end in _find_neighbours(index, row) if end not in reached)
    return {row for row, count in within.items() if count > 1 and count / len(_find_neighbours(index, row)) >= TAU}


def _find_neighbours(index: RetrievalIndex, row: int) -> set[int]:
    ends = index.triples[index.incident_at(row)][:, [0, 2]]
    return set(ends.reshape(-1).tolist()) - {row}
