"""The card of an entity: all its facts, a line for each relation and direction, and for each attribute."""

from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from typing import NamedTuple

from ..graph_store.graph_index import GraphIndex
from ..schemas.inquiry import Block
from ..schemas.lookups import EntityLookup
from ..schemas.naming import canonical_name, label_key
from ..schemas.retrieval import Passage
from .entity_names import find_entities, unknown_name
from .fact_rows import (
    PER_LINE,
    FactRow,
    head_of,
    holding_at,
    row_items,
    split_shared_note,
    tail_of,
    triple_rows,
    value_rows,
)

_MOST_NAMES = 4
_MOST_FACTS = 2000
"""How many facts of an entity are read for its card: more than any budget shows. The note counts the rest."""
Order = Callable[[str], float]
"""Returns how near a relation or attribute is to the question; the nearest lines come first."""


def look_up_entity(index: GraphIndex, lookup: EntityLookup) -> list[Block]:
    """Return the cards of the entities that have a name.

    Raises:
        DateError: the lookup's `at` is no date with a year.
    """
    found = find_entities(index, lookup.entity)
    if not found.entities:
        return [Block(title=lookup.entity, note=unknown_name(lookup.entity, found))]
    return [entity_card(index, entity, relations=lookup.relations, at=lookup.at) for entity in found.entities]


def entity_card(index: GraphIndex, entity: str, *, relations: Sequence[str] = (), at: str = "",
                order: Order | None = None, asked: Collection[str] = ()) -> Block:
    """Return the card of one entity, limited to some relations and attributes and to what holds at a date, if given.

    `order` ranks the lines by their relation or attribute, the first line of each before those that continue a list;
    without it, they are in the order of `_card_lines`. The lines of relations that are `asked` for come first, whole.
    """
    wanted = {label_key(name) for name in relations}
    incident = index.triples_of(entity)
    rows = holding_at([*triple_rows(index, incident[:_MOST_FACTS].tolist()), *value_rows(index, entity)], at)
    rows, shared_note = split_shared_note([row for row in rows if row.places])
    lines = _card_lines(entity, rows)
    chosen = [line for line in lines if label_key(line.label) in wanted] if wanted else lines
    if order:
        chosen = sorted(chosen, key=lambda line: (line.label not in asked, line.is_continued, -order(line.label)))
    limits = [f"only {', '.join(relations)}"] if relations else []
    limits += [f"at {at}"] if at else []
    row = index.entity_at(entity)
    name, entity_type, other_names = index.labels_of(row) if row is not None else (entity, "", ())
    others = [*{canonical_name(other): other for other in other_names if canonical_name(other) != canonical_name(name)
                }.values()]  # those that differ in more than case
    also = f"; also: {', '.join(others[:_MOST_NAMES])}" if others else ""
    title = ", ".join(filter(None, [f"{name} ({entity_type}{also})", shared_note, *limits]))
    notes = []
    if len(incident) > _MOST_FACTS:
        notes.append(f"{len(incident) - _MOST_FACTS} more facts were not read: list them by their relation")
    if wanted and not chosen:
        other_labels = ", ".join(dict.fromkeys(line.label for line in lines))
        notes.append(f"nothing of these relations; it has: {other_labels}" if other_labels
                     else "the graph has no fact of it")
    elif not lines:
        notes.append(f"the graph has no fact of it{' at this date' if at else ''}")
    items = tuple(line.item.model_copy(update={"heading": name}) for line in chosen)  # which its lines do not repeat
    return Block(title=title, items=items, note="; ".join(notes))


class _CardLine(NamedTuple):
    label: str
    item: Passage
    is_continued: bool


def _card_lines(entity: str, rows: Sequence[FactRow]) -> list[_CardLine]:
    """Return the lines of a card; a list of several lines says how many rows it has."""
    as_head, as_tail, as_value = range(3)  # what the entity is of a row, or that it has a value: the order of the lines

    def line_of(row: FactRow) -> tuple[int, str]:
        """Return what the rows of one line have in common; a value has no entity as its second end."""
        role = as_value if not row.ends[1] else as_head if row.ends[0] == entity else as_tail
        return role, row.relation

    lines = list[_CardLine]()
    for (role, relation), group in groupby(sorted(rows, key=lambda row: (*line_of(row), row.head, row.tail)), line_of):
        of_line = list(group)
        count = f" ({len(of_line)} in all)" if len(of_line) > PER_LINE else ""
        label = f"{relation.replace('_', ' ')}{count}"
        lead, side = {as_head: (f"{label} -> ", tail_of), as_tail: (f"<- {label}: ", head_of),
                      as_value: (f"{label}: ", tail_of)}[role]
        items = row_items(of_line, lead, side)
        lines.extend(_CardLine(relation, item, is_continued=number > 0) for number, item in enumerate(items))
    return lines
