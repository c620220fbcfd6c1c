"""Build views by an attribute's value or by a relation's other end (UniAI-GraphRAG section 3.2, attribute-based).

Each entity is in one group. Among several values, the one supported by most chunks counts, then the first in
the groups' order. A date less precise than the requested period keeps its own period ("1990-1999" is listed
among the years). Units are not converted, so numbers are grouped within their unit.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

from ...schemas.naming import canonical_name
from ...text.dates import years_of
from ...text.quantities import figures_of
from ...text.values import parse_value
from ..graph.knowledge_graph import KnowledgeGraph
from .view_spec import AttributeSpec, RelationSpec, ViewSpec

Key = TypeVar("Key", bound=Hashable)

_YEARS: dict[str, int] = {"year": 1, "decade": 10, "century": 100}


class Group(NamedTuple):
    """A group of a view: the name of what its entities share, and their sorted ids.

    `rest` marks the group of the entities that the view does not cover.
    """

    name: str
    members: tuple[str, ...]
    rest: bool = False


View = list[Group]
"""A partition: each entity of the graph is in exactly one group, and no group is empty."""


@dataclass(frozen=True, order=True)
class _Place:
    """A value's place in the order of groups: by `unit`, then `order`; `key` distinguishes equal ones."""

    unit: str
    order: tuple[Decimal | int, ...]
    key: str


def build_view(graph: KnowledgeGraph, spec: ViewSpec) -> View:
    """Return the view of a graph: its groups in order, then the entities without the attribute or relation."""
    if isinstance(spec, AttributeSpec):
        return _by_attribute(graph, spec)
    return _by_relation(graph, spec)


def _by_attribute(graph: KnowledgeGraph, spec: AttributeSpec) -> View:
    names: dict[_Place, Counter[str]] = {}
    chosen: dict[str, _Place] = {}
    for entity, values in graph.values_of(spec.names):
        support: dict[_Place, set[str]] = {}
        for value, chunks in values:
            place = _place(value, spec)
            if place is not None:
                support.setdefault(place, set()).update(chunks)
                names.setdefault(place, Counter())[place.key if spec.kind != "text" else value] += len(chunks)
        if support:
            chosen[entity] = min(support, key=lambda place: (-len(support[place]), place))
    title = {place: min(spellings, key=lambda name: (-spellings[name], name)) for place, spellings in names.items()}
    if spec.by == "quantile":
        return _by_quantile(graph, spec, chosen)
    return _partition(graph, chosen, title.__getitem__, lambda place: place, spec.names[0])


def _by_relation(graph: KnowledgeGraph, spec: RelationSpec) -> View:
    support: dict[str, dict[str, set[str]]] = {}
    for key in graph.iterate_edges({*spec.forward, *spec.backward}):
        head, relation, tail = key
        if head != tail and relation in spec.forward:
            support.setdefault(head, {}).setdefault(tail, set()).update(graph.triple_support(key))
        if head != tail and relation in spec.backward:
            support.setdefault(tail, {}).setdefault(head, set()).update(graph.triple_support(key))
    order = {end: (graph.entity_text(end), end) for ends in support.values() for end in ends}
    chosen = {entity: min(ends, key=lambda end: (-len(ends[end]), order[end])) for entity, ends in support.items()}
    return _partition(graph, chosen, lambda end: graph.entity(end).name, order.__getitem__,
                      spec.view.partition(":")[2])


def _partition(graph: KnowledgeGraph, keys: Mapping[str, Key], title: Callable[[Key], str],
               order: Callable[[Key], Any], name: str) -> View:
    """Group entities by keys, and those that have none as the ones without `name`.

    `order` returns the value to sort a group by, different for different keys.
    """
    members: dict[Key, list[str]] = {}
    for entity in sorted(keys):
        members.setdefault(keys[entity], []).append(entity)
    groups = [Group(title(key), tuple(members[key])) for key in sorted(members, key=order)]
    without = tuple(entity for entity in graph.entity_ids() if entity not in keys)
    return [*groups, Group(f"without {name}", without, rest=True)] if without else groups


def _place(value: str, spec: AttributeSpec) -> _Place | None:
    """Return a value's place in the order of groups, or None if it is not of the attribute's kind."""
    if spec.kind == "text":
        return _Place("", (), canonical_name(value))
    normal = parse_value(value, spec.kind, spec.unit)
    if not normal:
        return None
    if spec.kind == "number":
        return _Place(*figures_of(normal), normal)
    years = years_of(normal)
    if spec.by == "value":
        return _Place("", years or (), normal)
    return _Place("", *_in_period(years, _YEARS[spec.by])) if years else None


def _in_period(years: tuple[int, int], width: int) -> tuple[tuple[int, int], str]:
    """Return the period that contains the years, or the years if none does, with its name."""
    first, last = years
    if first // width == last // width:
        first = first // width * width
        last = first + width - 1
    return (first, last), _period(first, last)


def _period(first: int, last: int) -> str:
    """Format years as people write them; year 0 is 1 BC."""
    if last <= 0:
        first, last = 1 - first, 1 - last
        return f"{first} BC" if first == last else f"{first}–{last} BC"
    if first <= 0:
        return f"{1 - first} BC – {last}"
    return str(first) if first == last else f"{first}–{last}"


def _by_quantile(graph: KnowledgeGraph, spec: AttributeSpec, chosen: Mapping[str, _Place]) -> View:
    """Group by quantile; equal numbers stay together, so a group may have more than its share."""
    ends: dict[tuple[str, int], tuple[_Place, _Place]] = {}
    quantile: dict[_Place, tuple[str, int]] = {}
    counts = Counter(chosen.values())
    totals = Counter(place.unit for place in chosen.values())
    below: Counter[str] = Counter()
    for place in sorted(counts):
        key = (place.unit, spec.quantiles * below[place.unit] // totals[place.unit])
        below[place.unit] += counts[place]
        quantile[place] = key
        ends[key] = (ends.get(key, (place,))[0], place)

    def title(key: tuple[str, int]) -> str:
        low, high = ends[key]
        return low.key if low == high else f"{low.key} – {high.key}"

    return _partition(graph, {entity: quantile[place] for entity, place in chosen.items()}, title, lambda key: key,
                      spec.names[0])
