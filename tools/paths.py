"""Chains of facts between two entities, or from one: a depth-first search [Y eq. 10]."""

from collections.abc import Collection, Sequence

from ..graph_store.graph_index import GraphIndex
from ..schemas.inquiry import Block
from ..schemas.lookups import PathLookup
from ..schemas.naming import label_key
from ..schemas.retrieval import Passage
from .entity_names import find_entities, unknown_name
from .fact_rows import graph_item, triple_rows

MAX_HOPS = 4
"""The most facts of a chain between two entities; longer chains connect anything with anything."""
_OPEN_HOPS = 2
"""The most facts of a chain without a given end."""
_MOST_PATHS = 30
_MOST_LINKS = 200
"""How many facts of one entity are followed: through a hub, everything is connected."""
_MOST_STEPS = 20_000
"""How many facts one search follows. If a bound ends it, the note says that there may be more chains."""

_Path = tuple[int, ...]
"""A chain, as the rows of its triples in the index."""


def look_up_paths(index: GraphIndex, lookup: PathLookup) -> list[Block]:
    """Return the shortest chains of facts between two entities, or all short ones from one entity."""
    start = find_entities(index, lookup.start)
    end = find_entities(index, lookup.end) if lookup.end else None
    title = f"{lookup.start} … {lookup.end}" if lookup.end else f"{lookup.start} …"
    if lookup.along:
        title = f"{title} along {', '.join(lookup.along)}"
    unknown = [(name, entities) for name, entities in ((lookup.start, start), (lookup.end, end))
               if entities is not None and not entities.entities]
    if unknown:
        return [Block(title=title, note="; ".join(unknown_name(*item) for item in unknown))]
    along = frozenset(map(label_key, lookup.along))
    paths, is_cut = _find_paths(index, start.entities, end.entities if end else None, along)
    notes = ["" if paths else f"no chain of at most {MAX_HOPS if end else _OPEN_HOPS} facts",
             "the search ended at its bounds, so there may be more" if is_cut else ""]
    return [Block(title=title, items=tuple(_item(index, entity, path) for entity, path in paths),
                  note="; ".join(filter(None, notes)))]


def _find_paths(index: GraphIndex, starts: Sequence[str], ends: Collection[str] | None, along: Collection[str],
                ) -> tuple[list[tuple[str, _Path]], bool]:
    """Search for chains breadth first; no chain visits an entity twice."""
    # Unfinished chains: (start, last entity, all entities, path).
    unfinished: list[tuple[str, str, tuple[str, ...], _Path]] = [(start, start, (start,), ()) for start in starts]
    paths = list[tuple[str, _Path]]()
    step_count, is_cut = 0, False
    for _ in range(MAX_HOPS if ends is not None else _OPEN_HOPS):
        longer = []
        for start, last, visited, path in unfinished:
            incident = index.triples_of(last)
            is_cut = is_cut or len(incident) > _MOST_LINKS
            for row in incident[:_MOST_LINKS].tolist():
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
        if paths and ends is not None:
            break
        unfinished = longer
    return paths, is_cut


def _item(index: GraphIndex, start: str, path: _Path) -> Passage:
    """Return a chain as a citable line: "A -works at-> B <-owns- C (a.md, b.md)"."""
    rows = list(triple_rows(index, path))
    last, chain = start, index.name(start)
    for row in rows:
        is_forward = row.ends[0] == last
        link = row.validity.with_note(row.relation.replace("_", " "))
        chain += f" -{link}-> {row.tail}" if is_forward else f" <-{link}- {row.head}"
        last = row.ends[1] if is_forward else row.ends[0]
    places = [place.model_copy(update={"member": f"{row.head} {row.tail}"}) for row in rows for place in row.places[:1]]
    documents = ", ".join(dict.fromkeys(place.document for place in places))
    return graph_item(places, f"{chain} ({documents})")
