"""Lookups of facts: the card of an entity, chains of facts [Y eq. 10], and the rows of a relation or an attribute."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ..graph_store.graph_index import GraphIndex
from ..schemas.inquiry import Block
from ..schemas.lookups import EntityLookup, PathLookup, TripleLookup
from ..schemas.naming import canonical_name, label_key
from ..schemas.retrieval import Passage
from ..text.times import read_day
from . import fact_rows
from .field_rows import FieldRows, field_rows, named_by, read_rows
from .graph_names import LabelledTerms, Term, find_entities, unknown_name

_MOST_NAMES = 4  # how many other names of an entity its card has
_MOST_FACTS = 2000  # how many facts of an entity are read for its card: more than any budget shows
_MAX_HOPS, _OPEN_HOPS = 4, 2
"""The most facts of a chain between two entities, where longer ones connect anything with anything; of an open one."""
# If one of these two bounds ends a search, the note says that there may be more chains.
_MOST_PATHS = 30
_MOST_STEPS = 20_000  # how many facts one search follows
_MOST_ROWS = 400  # how many rows are read in full, with their places: more than a budget shows
_MOST_TIMED = 5000  # how many rows are filtered by time or document; a note gives the number of the others
_DIGITS = re.compile(r"(\d{1,18})")  # a group, so that a split of a name has its numbers too
_Path = tuple[int, ...]  # a chain, as the rows of its triples in the index


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
                order: Callable[[str], float] | None = None, asked: Collection[str] = ()) -> Block:
    """Return the card of one entity, limited to some relations and attributes and to what holds at a date, if given.

    `order` tells how near a relation or attribute is to the question. It ranks the lines, the first line of each before
    those that continue a list; without it, they are in the order of `_card_lines`. The lines of relations that are
    `asked` for come first, whole.
    """
    wanted = {label_key(name) for name in relations}
    incident = index.triples_of(entity)  # those of which it is the head or the tail
    facts = fact_rows.triple_rows(index, incident[:_MOST_FACTS].tolist())
    rows = fact_rows.holding_at([*facts, *fact_rows.value_rows(index, entity)], at)
    lines = _card_lines(entity, [row for row in rows if row.places])  # what no document in sight supports is not cited
    chosen = [line for line in lines if not wanted or label_key(line.relation) in wanted]
    if order:
        chosen.sort(key=lambda line: (line.relation not in asked, line.continues_list, -order(line.relation)))
    limits = [f"only {', '.join(relations)}"] if relations else []
    limits += [f"at {at}"] if at else []
    row = index.entity_at(entity)
    name, entity_type, all_names = index.labels_of(row) if row is not None else (entity, "", ())
    by_canonical_name = {canonical_name(other): other for other in all_names}  # of names that differ in case alone, one
    others = [other for canonical, other in by_canonical_name.items() if canonical != canonical_name(name)]
    also = f"; also: {', '.join(others[:_MOST_NAMES])}" if others else ""
    title = ", ".join([f"{name} ({entity_type}{also})", *limits])
    notes = []
    if len(incident) > _MOST_FACTS:
        notes.append(f"{len(incident) - _MOST_FACTS} more facts were not read: list them by their relation")
    if wanted and not chosen:
        other_labels = ", ".join(dict.fromkeys(line.relation for line in lines))
        notes.append(f"nothing of these relations; it has: {other_labels}" if other_labels
                     else "the graph has no fact of it")
    elif not lines:
        notes.append(f"the graph has no fact of it{' at this date' if at else ''}")
    # A cited line needs the name, which the lines of a card do not repeat.
    items = tuple(line.item.model_copy(update={"heading": name}) for line in chosen)
    return Block(title=title, items=items, note="; ".join(notes))


class _CardLine(NamedTuple):
    """A line of a card; a list of more than `PER_LINE` rows is continued in further lines."""

    relation: str
    item: Passage
    continues_list: bool


def _card_lines(entity: str, rows: Sequence[fact_rows.FactRow]) -> list[_CardLine]:
    """Return the lines of a card: where the entity is the head, where it is the tail, then its values."""
    as_head, as_tail, as_value = range(3)

    def line_of(row: fact_rows.FactRow) -> tuple[int, str]:
        """Return what the rows of one line have in common; a value has no entity as its second end."""
        if not row.ends[1]:
            return as_value, row.relation
        return as_head if row.ends[0] == entity else as_tail, row.relation

    lines = list[_CardLine]()
    for (role, relation), group in groupby(sorted(rows, key=lambda row: (*line_of(row), row.head, row.tail)), line_of):
        of_line = list(group)
        count = f" ({len(of_line)} in all)" if len(of_line) > fact_rows.PER_LINE else ""
        label = f"{relation.replace('_', ' ')}{count}"
        lead, side = {as_head: (f"{label} -> ", fact_rows.tail_of), as_tail: (f"<- {label}: ", fact_rows.head_of),
                      as_value: (f"{label}: ", fact_rows.tail_of)}[role]
        items = fact_rows.row_items(of_line, lead, side)
        lines.extend(_CardLine(relation, item, continues_list=number > 0) for number, item in enumerate(items))
    return lines


def look_up_paths(index: GraphIndex, lookup: PathLookup) -> list[Block]:
    """Return the shortest chains of facts between two entities, or all short ones from one entity."""
    start = find_entities(index, lookup.start)
    end = find_entities(index, lookup.end) if lookup.end else None
    title = f"{lookup.start} … {lookup.end}" if lookup.end else f"{lookup.start} …"
    if lookup.along:
        title = f"{title} along {', '.join(lookup.along)}"
    unknown = [unknown_name(name, found) for name, found in ((lookup.start, start), (lookup.end, end))
               if found is not None and not found.entities]
    if unknown:
        return [Block(title=title, note="; ".join(unknown))]
    along = frozenset(map(label_key, lookup.along))
    paths, is_cut = _find_paths(index, start.entities, end.entities if end else None, along)
    notes = ["" if paths else f"no chain of at most {_MAX_HOPS if end else _OPEN_HOPS} facts",
             "the search ended at its bounds, so there may be more" if is_cut else ""]
    return [Block(title=title, items=tuple(_chain_item(index, entity, path) for entity, path in paths),
                  note="; ".join(filter(None, notes)))]


def _find_paths(index: GraphIndex, starts: Sequence[str], ends: Collection[str] | None, along: Collection[str],
                ) -> tuple[list[tuple[str, _Path]], bool]:
    """Search for chains breadth first, no entity twice in one; return (start, path)s, and whether there may be more."""
    # With `ends` None, any chain from a start counts. `along` are the folded relations to follow; empty for all.
    # Unfinished chains: (start, last entity, all entities, path).
    unfinished: list[tuple[str, str, tuple[str, ...], _Path]] = [(start, start, (start,), ()) for start in starts]
    paths = list[tuple[str, _Path]]()
    step_count = 0
    for _ in range(_MAX_HOPS if ends is not None else _OPEN_HOPS):
        longer = []
        for start, last, visited, path in unfinished:
            for row in index.triples_of(last).tolist():
                head, relation, tail = index.edge(row)
                if along and label_key(relation) not in along:
                    continue
                other = tail if head == last else head
                if step_count == _MOST_STEPS:
                    return paths, True
                step_count += 1
                if other in visited:
                    continue
                longer.append((start, other, (*visited, other), (*path, row)))
                if ends is None or other in ends:
                    if len(paths) == _MOST_PATHS:
                        return paths, True
                    paths.append((start, (*path, row)))
        if paths and ends is not None:  # longer ones tell less of how the two are connected
            break
        unfinished = longer
    return paths, False


def _chain_item(index: GraphIndex, start: str, path: _Path) -> Passage:
    """Return a chain as a citable line: "A -works at-> B <-owns- C (a.md, b.md)"."""
    rows = list(fact_rows.triple_rows(index, path))
    last, chain = start, index.name(start)
    for row in rows:
        is_forward = row.ends[0] == last
        link = row.validity.with_note(row.relation.replace("_", " "))
        chain += f" -{link}-> {row.tail}" if is_forward else f" <-{link}- {row.head}"
        last = row.ends[1] if is_forward else row.ends[0]
    # Each fact's first place is cited, for the names of both of its ends.
    places = [place.model_copy(update={"member": f"{row.head} {row.tail}"}) for row in rows for place in row.places[:1]]
    documents = ", ".join(dict.fromkeys(place.document for place in places))
    return fact_rows.graph_item(places, f"{chain} ({documents})")


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
        blocks += [_rows_block(index, term, lookup) for term in found.terms]
        if not found.terms:
            known = f"There are: {', '.join(found.near)}." if found.near else "The graph has no rows at all."
            blocks.append(Block(title=label, note=f"No relation or attribute has this name. {known}"))
    return blocks


def _rows_block(index: GraphIndex, term: Term, lookup: TripleLookup) -> Block:
    """Return the rows of one term as a block: their number and the filters as the title, lines, and what is missing."""
    rows, unread = _fitting_rows(index, term, lookup)
    total = len(rows.heads)
    filled = {name: value for name in ("head", "tail", "document", "at") if (value := getattr(lookup, name))}
    filters = ", ".join(f"{name} {value}" for name, value in filled.items())
    # Rows are in the order of their heads' names, then of what they lead to.
    texts = index.columns.texts
    head_keys = {row: natural_key(index.labels_of(row).name) for row in np.unique(rows.heads).tolist()}
    end_keys = {text: natural_key(texts[text]) for text in np.unique(rows.texts).tolist()}
    keys = [(head_keys[head], end_keys[text])
            for head, text in zip(rows.heads.tolist(), rows.texts.tolist(), strict=True)]
    order = sorted(range(total), key=keys.__getitem__)[:_MOST_ROWS]
    first = rows.select(np.array(order, np.intp))  # only these are read with their places
    facts = [row for row in read_rows(index, first) if row.places]
    description = f"{total} rows; {filters}" if filters else f"{total} rows"
    unread += max(0, total - _MOST_ROWS)
    note = f"{unread} more rows were not read: narrow by head or tail" if unread else ""
    if not total and not unread:
        note = f"no row has {filters}; without it there are {term.rows}" if filters else "no rows"
    return Block(title=f"{term.name.replace('_', ' ')} ({description})", items=tuple(_row_lines(facts)), note=note,
                 table=lookup)


def _fitting_rows(index: GraphIndex, term: Term, lookup: TripleLookup) -> tuple[FieldRows, int]:
    """Return the rows that fit a lookup, and how many are beyond `_MOST_TIMED` if it names a date or a document."""
    rows = field_rows(index, term.name)
    if lookup.head:
        rows = rows.select(named_by(index, rows, lookup.head, heads=True))
    if lookup.tail:
        rows = rows.select(named_by(index, rows, lookup.tail, heads=False))
    if not (lookup.at or lookup.document):
        return rows, 0
    allowed = index.documents_with([lookup.document]) if lookup.document else None
    fitting = []
    # Each row is read with its places and times, which takes long.
    for number, row in enumerate(read_rows(index, rows.select(np.arange(min(len(rows.heads), _MOST_TIMED))))):
        if fact_rows.holding_at([row], lookup.at) and (allowed is None or not allowed.isdisjoint(row.documents)):
            fitting.append(number)
    return rows.select(np.array(fitting, np.intp)), max(0, len(rows.heads) - _MOST_TIMED)


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that compares the numbers in names as numbers, so that EIP-20 comes before EIP-100."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _DIGITS.split(name) if part)


def _row_lines(rows: Sequence[fact_rows.FactRow]) -> Iterator[Passage]:
    """Yield rows as lines, one or more for each name at the end that has fewer different names: "Acme -> Ann; Bo"."""
    if not rows:
        return
    shared_end, other_end = fact_rows.sides_by_repetition(rows)
    arrow = " <- " if shared_end is fact_rows.tail_of else " -> "
    ordered = sorted(rows, key=lambda row: (natural_key(shared_end(row)), natural_key(other_end(row))))
    for name, group in groupby(ordered, shared_end):
        yield from fact_rows.row_items(list(group), f"{' '.join(name.split())}{arrow}", other_end)
