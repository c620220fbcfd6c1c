"""The card of an entity: what the graph knows of it, a line for each relation and direction, and each attribute."""

from collections.abc import Callable, Sequence
from itertools import groupby

from ..schemas.inquiry import Block
from ..schemas.lookups import EntityLookup
from ..schemas.naming import label_key
from ..schemas.retrieval import Passage
from ..text.tokens import estimate_tokens
from .entity_names import find_entities
from .fact_rows import (
    FactRow,
    head_of,
    holding_at,
    row_items,
    split_shared_note,
    tail_of,
    triple_rows,
    value_rows,
)
from .index import RetrievalIndex
from .line_budget import fit_lines

_MOST_NAMES, _MOST_LABELS = 4, 8
_MOST_FACTS = 2000
"""Facts of one entity that are read for its card, more than any budget shows; the note counts the rest."""
Order = Callable[[str], float]
"""Returns how near a relation or attribute is to what is asked; the nearest lines come first."""


def look_up_entity(index: RetrievalIndex, lookup: EntityLookup, tokens: int) -> list[Block]:
    """Return the cards of the entities that have a name.

    Args:
        index: the knowledge base.
        lookup: the name, and the relations and the date that limit the card.
        tokens: the budget, estimated tokens, shared by namesakes.

    Raises:
        DateError: `at` is no date with a year.
    """
    found = find_entities(index, lookup.entity)
    if not found.entities:
        near = f"Names like it: {'; '.join(found.near)}." if found.near else "No name is like it."
        return [Block(title=lookup.entity, note=f"No entity has this name. {near}")]
    share = tokens // len(found.entities)
    return [entity_card(index, entity, share, relations=lookup.relations, at=lookup.at) for entity in found.entities]


def entity_card(index: RetrievalIndex, entity: str, tokens: int, *, relations: Sequence[str] = (), at: str = "",
                order: Order | None = None) -> Block:
    """Return the card of one entity; lines that do not fit the budget are counted and named in the note."""
    wanted = {label_key(name) for name in relations}
    incident = index.incident(entity)
    rows = holding_at([*triple_rows(index, incident[:_MOST_FACTS].tolist()),
                       *value_rows(index, entity)], at)
    rows, shared = split_shared_note([row for row in rows if row.places])
    lines = _lines(entity, rows)
    chosen = [line for line in lines if label_key(line[0]) in wanted] if wanted else lines
    if order:
        chosen = sorted(chosen, key=lambda line: -order(line[0]))
    limits = [f"only {', '.join(relations)}"] if relations else []
    limits += [f"at {at}"] if at else []
    title = ", ".join(filter(None, [_title(index, entity), shared, *limits]))
    shown, left = fit_lines([item for _, item in chosen], tokens - estimate_tokens(title))
    notes = []
    if left:
        labels = dict.fromkeys(label for label, _ in chosen[len(shown):])
        notes.append(f"{left} more lines: {', '.join([*labels][:_MOST_LABELS])}")
    if len(incident) > _MOST_FACTS:
        notes.append(f"{len(incident) - _MOST_FACTS} more facts were not read: list them by their relation")
    if wanted and not chosen:
        known = ", ".join(dict.fromkeys(label for label, _ in lines))
        notes.append(f"nothing of these relations; it has: {known}" if known else "the graph has no fact of it")
    elif not lines:
        notes.append(f"the graph has no fact of it{' at this date' if at else ''}")
    return Block(title=title, items=tuple(shown), note="; ".join(notes))


def _title(index: RetrievalIndex, entity: str) -> str:
    row = index.entity_at(entity)
    name, kind, *others = index.about(row) if row is not None else (entity, "")
    also = f"; also: {', '.join(others[:_MOST_NAMES])}" if others else ""
    return f"{name} ({kind}{also})"


def _lines(entity: str, rows: Sequence[FactRow]) -> list[tuple[str, Passage]]:
    """Return the lines as (relation or attribute, item): facts that lead on, that lead here, then values."""

    def place(row: FactRow) -> tuple[int, str]:
        return (2 if not row.ends[1] else 0 if row.ends[0] == entity else 1), row.relation

    lines = list[tuple[str, Passage]]()
    for (way, relation), group in groupby(sorted(rows, key=lambda row: (*place(row), row.head, row.tail)), place):
        label = relation.replace("_", " ")
        lead, side = {0: (f"{label} -> ", tail_of), 1: (f"<- {label}: ", head_of), 2: (f"{label}: ", tail_of)}[way]
        lines.extend((relation, item) for item in row_items(list(group), lead, side))
    return lines
