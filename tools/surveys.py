"""Surveys of a knowledge base: groups of things by a field's value or period, or what a path of relations reaches.

They are the views of UniAI-GraphRAG: by an attribute, by attribute-aware modularity (eq. 3), and by a relation pattern
(eq. 5) that is completed at its boundary (eq. 4). A survey is computed when it is asked for and never stored.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from ..graph_store.graph_index import GraphIndex
from ..schemas.inquiry import Block
from ..schemas.retrieval import Passage
from ..text.dates import parse_date
from ..text.quantities import kind_of
from ..text.table_rows import DOCUMENT, find_rows
from .fact_rows import FactRow, fit_lines, graph_item, head_of, item_cost, row_items, tail_of, triple_rows
from .field_rows import FieldError, FieldRows, Rows, field_rows, read_rows
from .graph_names import LabelledTerms, find_entities, terms_of, unknown_name

TAU = 0.5  # an entity belongs to a set if at least this share of its neighbours are in it (eq. 4)
_PERIOD = re.compile(r"(?P<field>.+)\.(?P<period>year|month|decade)")
_PERIODS = {"year": 4, "month": 7, "decade": 3}  # the characters of an ISO date that make up a period
_LONGEST_DATE = 60  # characters of a value that may be a date
_MOST_REACHED = 500  # entities that a path reaches before it ends
_MOST_VALUES = 12  # different values of a categorical field; a field with more describes each thing individually
_MOST_NAMES = 12  # entities at the boundary of a path that its note names
_MOST_FIELDS, _SHOWN_VALUES = 2, 3  # categorical fields that describe groups, and values of each on a group's line
_MEMBERS = 4  # members that a group's line names
_CITED = 3  # rows of a group whose places its line cites
_MOST_LINKS = 200_000  # facts and values among which groups are found by modularity: these take some twenty seconds
_COVERED = 0.6  # the share of the grouped things that must have a categorical field

_Group = tuple[str, FieldRows]
"""What a group is called, and the rows of a field with its value or period, or those of a group by links."""


def survey_by(index: GraphIndex, terms: LabelledTerms, by: str, tokens: int,
              alpha: float | None = None, among: Rows | None = None) -> list[Block]:
    """Return groups of entities by a field's values or periods (FIELD.year, .month, .decade), one line a group.

    A line has the group's size, its most frequent values of categorical fields and its best connected members.
    `alpha` weighs the field against the graph's facts (`find_attribute_groups`); with None each value is a group.
    `among` are the rows of the entities to group, which are documents; None: all with the field.

    Raises:
        FieldError: there is no such field, or the graph is too large for groups by both.
    """
    match = _PERIOD.fullmatch(by.strip())  # a field with a period behind it
    wanted = match["field"] if match else by.strip()
    found = terms.find(wanted)
    if not found.terms:
        raise FieldError(f"no field is called {wanted!r}; there are: {', '.join(found.near)}")
    name = found.terms[0].name
    rows = field_rows(index, name)
    if among is not None:
        rows = rows.select(np.isin(rows.heads, among))
    groups, undated = _groups_of(index, rows, match["period"] if match else "")
    if alpha is not None:
        groups = _find_modular_groups(index, groups, alpha)
    heads = np.unique(rows.heads)
    categories = _find_categories(index, heads, name)
    label = "" if among is None else f"{rows.name.replace('_', ' ')} "  # documents have several fields at once
    lines = [_build_group_item(index, categories, group, label) for group in groups]
    counted = f"{len(rows.heads)} rows" if among is None else f"{len(heads)} documents"
    also = "" if alpha is None else f" and by facts, alpha {alpha:g}"
    return [Block(title=f"{counted} by {by}{also}", items=_fit(lines, tokens, "groups"),
                  note=f"{undated} left out: no date" if undated else "")]


def survey_documents(index: GraphIndex, terms: LabelledTerms, tokens: int) -> list[Block]:
    """Return groups of the documents by categorical fields and by year, a block each; none if few have any."""
    described_rows = set[int]()  # the rows of the entities that are documents with metadata
    for _, text in index.store.documents.whole_texts():
        for metadata in find_rows(text.partition("\n")[0]):
            if metadata.cells[0].header == DOCUMENT:
                entities = find_entities(index, metadata.cells[0].value).entities
                described_rows.update(row for row in map(index.entity_at, entities) if row is not None)
    documents = np.array(sorted(described_rows), dtype=np.intp)
    if len(documents) < _COVERED * index.store.documents.count_documents():
        return []
    fields = [rows.name for rows in _find_categories(index, documents, "")]
    fields += [f"{name}.year" for name in _find_dated_fields(index, documents)[:1]]
    blocks = list[Block]()
    for number, field in enumerate(fields):
        fields_left = len(fields) - number  # what a field does not need is shared among those behind it
        blocks += survey_by(index, terms, field, tokens // fields_left, among=documents)
        tokens -= sum(map(item_cost, blocks[-1].items))
    return blocks


def _fit(items: Sequence[Passage], tokens: int, kind: str) -> tuple[Passage, ...]:
    """Return the lines that fit a budget; if others are left out, the last line says how many."""
    shown, omitted_count = fit_lines(items, tokens)
    if omitted_count:
        statement = f"{shown[-1].statement} (and {omitted_count} more {kind})"
        shown[-1] = shown[-1].model_copy(update={"statement": statement})
    return tuple(shown)


def _groups_of(index: GraphIndex, rows: FieldRows, period: str) -> tuple[list[_Group], int]:
    """Return rows by value, the largest group first, or by period in order of time; and how many have no period."""
    keys = {text: _group_key(index.columns.texts[text], period) for text in np.unique(rows.texts).tolist()}
    by_key: dict[str, list[int]] = {}
    for number, text in enumerate(rows.texts.tolist()):
        by_key.setdefault(keys[text], []).append(number)
    undated = len(by_key.pop("", ())) if period else 0  # without a period, "" is a value like others
    groups = [(key, rows.select(np.array(numbers, np.intp))) for key, numbers in sorted(by_key.items())]
    return groups if period else _largest_first(groups), undated


def _group_key(value: str, period: str) -> str:
    """Return a value, or the period that its date is in; "" for one without such a date."""
    if not period:
        return value
    date, length = _date_of(value), _PERIODS[period]
    if len(date) < length:
        return ""
    return f"{date[:length]}0s" if period == "decade" else date[:length]


def _largest_first(groups: Sequence[_Group]) -> list[_Group]:
    """Return groups by their numbers of entities, the largest first, and equally large ones by what they are called."""
    return sorted(groups, key=lambda group: (-len(np.unique(group[1].heads)), group[0], group[1].heads.tolist()))


def _date_of(text: str) -> str:
    """Return the normal form of a text that is a date with a year; "" for other texts."""
    date = parse_date(text) if len(text) <= _LONGEST_DATE and kind_of(text) == "date" else ""
    return "" if date.startswith("X") else date


def _find_modular_groups(index: GraphIndex, by_value: Sequence[_Group], alpha: float) -> list[_Group]:
    """Return groups of the entities that have a field, by attribute-aware modularity (eq. 3), the largest first."""
    sizes = [len(rows.heads) for _, rows in by_value]
    if (links := len(index.triples) + sum(sizes)) > _MOST_LINKS:
        raise FieldError(f"there are {links:,} facts and values, and groups by both are found among at most "
                         f"{_MOST_LINKS:,}: leave alpha out")
    if not by_value:
        return []
    names, *columns = zip(*(rows for _, rows in by_value), strict=True)
    rows = FieldRows(names[0], *map(np.concatenate, columns))
    value_numbers = np.repeat(np.arange(len(by_value)), sizes)  # which of `by_value` each row has
    values = np.unique(np.stack([rows.heads, value_numbers], axis=1), axis=0)
    from ..graph_store.tree.detection import find_attribute_groups  # noqa: PLC0415  (scipy is slow to import)

    labels = find_attribute_groups(len(index.entity_row), index.triples[:, [0, 2]], values, alpha)[rows.heads]
    groups = []
    for label in np.unique(labels):
        in_group: NDArray[np.bool_] = labels == label
        counts = sorted(Counter(value_numbers[in_group].tolist()).items(), key=lambda item: (-item[1], item[0]))
        # A group is called by its most frequent values: "Final 12, Draft 3", or "Final" if it has no other.
        most = [(by_value[number][0], count) for number, count in counts[:_SHOWN_VALUES]]
        key = most[0][0] if len(counts) == 1 else ", ".join(f"{value} {count}" for value, count in most)
        groups.append((key, rows.select(in_group)))
    return _largest_first(groups)


def _find_dated_fields(index: GraphIndex, documents: Rows) -> list[str]:
    """Return the attributes that give at least the share `_COVERED` of documents a date, the most frequent first."""
    document_counts = {}
    for term in terms_of(index):
        if term.is_attribute and term.rows >= _COVERED * len(documents):
            rows = field_rows(index, term.name)
            dated = [text for text in np.unique(rows.texts).tolist() if _date_of(index.columns.texts[text])]
            document_counts[term.name] = len(np.intersect1d(documents, rows.heads[np.isin(rows.texts, dated)]))
    by_count = sorted(document_counts, key=lambda name: (-document_counts[name], name))
    return [name for name in by_count if document_counts[name] >= _COVERED * len(documents)]


def _find_categories(index: GraphIndex, heads: Rows, by: str) -> list[FieldRows]:
    """Return at most `_MOST_FIELDS` fields of some entities, except `by`, that have few values but no dates."""
    categories = []
    for term in terms_of(index):
        if term.name == by or term.rows < _COVERED * len(heads):  # too few to cover the entities: spare reading them
            continue
        rows = field_rows(index, term.name)
        rows = rows.select(np.isin(rows.heads, heads))
        texts = np.unique(rows.texts)
        has_date = any(_date_of(index.columns.texts[text]) for text in texts[:_MOST_VALUES].tolist())
        is_covering = len(np.unique(rows.heads)) >= _COVERED * len(heads)
        if 1 < len(texts) <= _MOST_VALUES and not has_date and is_covering:
            categories.append((len(texts), term.name, rows))
    return [rows for _, _, rows in sorted(categories, key=lambda category: category[:2])[:_MOST_FIELDS]]


def _build_group_item(index: GraphIndex, categories: Sequence[FieldRows], group: _Group, field: str) -> Passage:
    """Return a group's line, as in `survey_by`; `field` stands before its name, as "status " before "Final"."""
    key, rows = group
    entities = np.unique(rows.heads)
    described = []
    for category in categories:  # "status: Final 12, Draft 3"
        texts = category.texts[np.isin(category.heads, entities)].tolist()
        counts = Counter(index.columns.texts[text] for text in texts)
        most = sorted(counts, key=lambda text: (-counts[text], text))[:_SHOWN_VALUES]
        listed = ", ".join(f"{text} {counts[text]}" for text in most)
        described += [f"{category.name.replace('_', ' ')}: {listed}"] if most else []
    central = sorted(entities.tolist(), key=lambda row: int(index.ranks[row]))[:_MEMBERS]  # the best connected first
    names = "; ".join(index.labels_of(row).name for row in central)
    more = f" … {len(entities) - len(central)} more" if len(entities) > len(central) else ""
    text = ". ".join(filter(None, [f"{field}{key} ({len(entities)})", *described, f"{names}{more}"]))
    cited = read_rows(index, rows.select(np.arange(min(_CITED, len(rows.heads)))))
    places = [row.places[0] for row in cited if row.places]
    return graph_item(places, text, rows.name, "row", ("",))  # an empty cell: it gives no short answer


def survey_along(index: GraphIndex, terms: LabelledTerms, root: str, along: str, tokens: int) -> list[Block]:
    """Return what a path of relations reaches from the entity called `root` [UniAI-GraphRAG eq. 5].

    `along` are relations separated by "->". "<" before a relation follows it backwards, and "*" at the end repeats the
    last one as often as possible. The note names entities that the path does not reach but most of whose neighbours it
    does [eq. 4].

    Raises:
        FieldError: there is no such relation.
    """
    found = find_entities(index, root)
    starts = [row for entity in found.entities if (row := index.entity_at(entity)) is not None]
    if not starts:
        return [Block(title=root, note=unknown_name(root, found))]
    reached, steps = set(starts), list[tuple[str, list[int]]]()
    frontier, is_cut = set(starts), False  # the entities that the last step reached for the first time
    head_column, tail_column = 0, 2  # of a triple
    for relation in _read_steps(terms, along):
        is_backward = relation.startswith("<")
        begin, end = (tail_column, head_column) if is_backward else (head_column, tail_column)
        of_relation = index.of_relation(relation.removeprefix("<"))
        followed = of_relation[np.isin(index.triples[of_relation, begin], sorted(frontier))]
        ends = index.triples[followed, end]
        is_new = ~np.isin(ends, sorted(reached))
        frontier = set(ends[is_new].tolist())
        is_cut = bool(frontier) and len(reached) > _MOST_REACHED
        if not frontier or is_cut:
            break
        reached |= frontier
        steps.append((relation, followed[is_new].tolist()))
    items = [item for number, step in enumerate(steps, 1) for item in _list_step_items(index, number, *step)]
    # For each entity outside of the set, how many of its neighbours are in the set.
    inside_counts = Counter(
        neighbour for row in reached for neighbour in _find_neighbours(index, row) if neighbour not in reached)
    # One neighbour alone connects nothing to a set, even if it is the only one.
    boundary = {row for row, count in inside_counts.items() if count > 1
                and count / len(_find_neighbours(index, row)) >= TAU}
    notes = [] if items else ["nothing is reached along this path"]
    if is_cut:
        notes.append("there is more beyond these")
    if boundary:
        names = sorted(index.labels_of(row).name for row in boundary)
        notes.append(f"connected to these mostly: {'; '.join(names[:_MOST_NAMES])}")
    return [Block(title=f"{root} along {along}: {len(reached) - len(starts)} reached",
                  items=_fit(items, tokens, "lines"), note="; ".join(notes))]


def _read_steps(terms: LabelledTerms, along: str) -> Iterator[str]:
    """Return the relations of a path, "<" before those followed backwards; a final "*" repeats the last one forever."""
    *begin, end = map(str.strip, along.split("->"))
    is_repeated = bool(begin) and end == "*"
    steps = []
    for part in begin if is_repeated else [*begin, end]:
        names = [term.name for term in terms.find(part.removeprefix("<")).terms if not term.is_attribute]
        if not names:
            known = (term.name for term in terms.terms if not term.is_attribute)
            raise FieldError(f"no relation is called {part!r}; there are: {', '.join(known) or 'none'}")
        steps.append(f"{'<' if part.startswith('<') else ''}{names[0]}")
    return chain(steps, repeat(steps[-1])) if is_repeated else iter(steps)


def _list_step_items(index: GraphIndex, number: int, relation: str, triples: Sequence[int]) -> Iterator[Passage]:
    """Yield the lines of step `number` of a path: for each entity where it begins, what the triples lead to."""
    name, is_backward = relation.removeprefix("<").replace("_", " "), relation.startswith("<")
    start_of, end_of = (tail_of, head_of) if is_backward else (head_of, tail_of)
    by_start: dict[str, list[FactRow]] = {}
    for row in triple_rows(index, triples):
        if row.places:
            by_start.setdefault(start_of(row), []).append(row)
    for start, rows in sorted(by_start.items()):  # an empty cell gives no short answer
        lead = f"{number}. {start} <- {name}: " if is_backward else f"{number}. {start} {name} -> "
        yield from (item.model_copy(update={"kind": "row", "cells": ("",)}) for item in row_items(rows, lead, end_of))


def _find_neighbours(index: GraphIndex, row: int) -> set[int]:
    """Return the other entities to which a fact connects an entity."""
    return set(index.triples[index.columns.incident[row]][:, [0, 2]].reshape(-1).tolist()) - {row}
