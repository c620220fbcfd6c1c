"""Chains of facts between two entities, or from one: a depth-first search [Y eq. 10]."""

from collections.abc import Collection, Sequence

from ..schemas.inquiry import Block
from ..schemas.lookups import PathLookup
from ..schemas.naming import label_key
from ..schemas.retrieval import Passage
from .entity_names import FoundEntities, find_entities
from .fact_rows import graph_item, triple_rows
from .index import RetrievalIndex
from .line_budget import fit_lines

MAX_HOPS = 4
"""Links between two entities; longer chains connect anything with anything."""
_ONE_WAY_HOPS = 12
"""Links of chains along given relations that never turn round: what rests on what."""
_OPEN_HOPS = 2
"""Links of chains that may end anywhere."""
_MOST_PATHS = 30
_MOST_LINKS = 200
"""Links of one entity that are followed: through a hub everything is connected."""
_MOST_STEPS = 20_000
"""Links of one search; where a bound ended it, the note says that there may be more chains."""

_Path = tuple[int, ...]
"""The rows of its triples."""


def look_up_paths(index: RetrievalIndex, lookup: PathLookup, tokens: int) -> list[Block]:
    """Return the shortest chains of facts between two entities, or all short ones from one entity.

    Args:
        index: the knowledge base.
        lookup: where the chains begin and end, and along which relations.
        tokens: the budget, estimated tokens.
    """
    start, end = find_entities(index, lookup.start), find_entities(index, lookup.end) if lookup.end else None
    title = f"{lookup.start} … {lookup.end}" if lookup.end else f"{lookup.start} …"
    if lookup.along:
        title = f"{title} along {', '.join(lookup.along)}"
    unknown = [(name, found) for name, found in ((lookup.start, start), (lookup.end, end))
               if found is not None and not found.entities]
    if unknown:
        return [Block(title=title, note=" ".join(_describe_unknown(*item) for item in unknown))]
    along = frozenset(map(label_key, lookup.along))
    found, cut = _one_way_paths(index, start.entities, end.entities, along) if end and along else ([], False)
    if not found:
        found, cut = _find_paths(index, start.entities, end.entities if end else None, along)
    shown, left = fit_lines([_item(index, entity, path) for entity, path in found], tokens)
    note = f"{left} more chains: name the other end or the relations" if left else (
        "" if found else f"no chain of at most {MAX_HOPS if end else _OPEN_HOPS} facts")
    if cut:
        note = "; ".join(filter(None, [note, "the search ended at its bounds, so there may be more"]))
    return [Block(title=title, items=tuple(shown), note=note)]


def _describe_unknown(name: str, found: FoundEntities) -> str:
    near = f" names like it: {'; '.join(found.near)}." if found.near else ""
    return f"No entity is named {name!r}.{near}"


def _find_paths(index: RetrievalIndex, starts: Sequence[str], ends: Collection[str] | None, along: Collection[str],
                ) -> tuple[list[tuple[str, _Path]], bool]:
    """Return (start, path) breadth first, and whether a bound ended the search.

    No path visits an entity twice, and all to given ends are shortest ones.
    """
    beam: list[tuple[str, str, tuple[str, ...], _Path]] = [(start, start, (start,), ()) for start in starts]
    found, steps, cut = list[tuple[str, _Path]](), 0, False
    for _ in range(MAX_HOPS if ends is not None else _OPEN_HOPS):
        longer = []
        for start, here, visited, path in beam:
            links = index.incident(here)
            cut = cut or len(links) > _MOST_LINKS
            for row, other in _links(index, here, links[:_MOST_LINKS].tolist(), along):
                if steps == _MOST_STEPS:
                    return found, True
                steps += 1
                if other in visited:
                    continue
                longer.append((start, other, (*visited, other), (*path, row)))
                if ends is None or other in ends:
                    if len(found) == _MOST_PATHS:
                        return found, True
                    found.append((start, (*path, row)))
        if found and ends is not None:
            break
        beam = longer
    return found, cut


def _one_way_paths(index: RetrievalIndex, starts: Sequence[str], ends: Collection[str], along: Collection[str],
                   ) -> tuple[list[tuple[str, _Path]], bool]:
    """Return the shortest chains that follow relations from head to tail all along, or else from tail to head."""
    cut = False
    for side in (0, 2):
        reached = set(starts)
        beam: list[tuple[str, str, _Path]] = [(start, start, ()) for start in starts]
        for _ in range(_ONE_WAY_HOPS):
            longer = [(start, other, (*path, row)) for start, here, path in beam
                      for row, other in _links(index, here, index.incident(here).tolist(), along)
                      if index.edges[row][side] == here and other not in reached]
            if found := [(start, path) for start, here, path in longer if here in ends]:
                return found[:_MOST_PATHS], len(found) > _MOST_PATHS
            cut = cut or len(longer) > _MOST_STEPS
            # Of each entity all shortest chains are kept, as far as there is room.
            beam = longer[:_MOST_STEPS]
            reached.update(here for _, here, _ in beam)
            if not beam:
                break
    return [], cut


def _links(index: RetrievalIndex, entity: str, rows: Sequence[int], along: Collection[str]) -> list[tuple[int, str]]:
    edges = [(row, index.edges[row]) for row in rows]
    return [(row, tail if head == entity else head) for row, (head, relation, tail) in edges
            if not along or label_key(relation) in along]


def _item(index: RetrievalIndex, start: str, path: _Path) -> Passage:
    rows = list(triple_rows(index, path))
    here, chain = start, index.name(start)
    for row in rows:
        forward = row.ends[0] == here
        link = row.validity.with_note(row.relation.replace("_", " "))
        chain += f" -{link}-> {row.tail}" if forward else f" <-{link}- {row.head}"
        here = row.ends[1] if forward else row.ends[0]
    places = [place.model_copy(update={"member": f"{row.head} {row.tail}"}) for row in rows for place in row.places[:1]]
    documents = ", ".join(dict.fromkeys(place.document for place in places))
    return graph_item(places, f"{chain} ({documents})")
