"""What a view is asked for with: a short text such as `attribute:founded:decade`.

    attribute:NAME                          one group for each value; a date's year, a number's quarter
    attribute:NAME:year|decade|century      a date's period
    attribute:NAME:10                       a number's quantile, of ten
    attribute:NAME:value                    the exact value
    relation:NAME                           one group for each tail of the relation; ^NAME or <NAME: head

Names are the schema's own, its labels in any language or its aliases.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from ...schemas.errors import BanyanError
from ...schemas.graph_schema import GraphSchema, RelationType, ValueKind
from ...schemas.naming import label_key, normalise
from ...text.values import kind_of
from ..graph.knowledge_graph import KnowledgeGraph

Period = Literal["year", "decade", "century"]
By = Literal["value", "quantile"] | Period
FORMS = "attribute:NAME, attribute:NAME:decade, relation:NAME"
_PERIODS: dict[str, Period] = {period: period for period in get_args(Period)}
_INVERSE = ("^", "<")
_USUAL: dict[ValueKind, By] = {"text": "value", "date": "year", "number": "quantile"}
_QUANTILES = 4
"""The coarsest split that tells the middle from both ends."""
_FEWEST_QUANTILES = 2


class ViewError(BanyanError):
    """A view that cannot be made of this graph; names what there is."""


@dataclass(frozen=True)
class AttributeSpec:
    """Group by an attribute's value.

    Attributes:
        view: the spec as text.
        names: the attribute; several where an open schema has several spellings of one name.
        kind: of its values.
        unit: for numbers: the unit meant where a value names none.
        by: the exact value, a period of dates, or a quantile of numbers.
        quantiles: how many.
    """

    view: str
    names: tuple[str, ...]
    kind: ValueKind = "text"
    unit: str = ""
    by: By = "value"
    quantiles: int = _QUANTILES


@dataclass(frozen=True)
class RelationSpec:
    """Group by the other ends of relations: `forward` ones lead from head to tail, `backward` ones to the head."""

    view: str
    forward: tuple[str, ...]
    backward: tuple[str, ...]


ViewSpec = AttributeSpec | RelationSpec


def parse_view(text: str, schema: GraphSchema, graph: KnowledgeGraph) -> ViewSpec:
    """Read a view's text; an open schema has the attributes and relations of the graph as well.

    Raises:
        ViewError: no such view, attribute or relation; the message names those that exist.
    """
    view = normalise(text)
    dimension, _, rest = view.partition(":")
    names = _Names(view, schema, graph)
    match dimension.strip():
        case "attribute":
            return names.attribute(rest)
        case "relation":
            return names.relation(rest)
        case _:
            raise ViewError(f"there is no view {text!r}: say one of {FORMS}")


class _Names:
    """The attributes and relations that a view may name."""

    def __init__(self, view: str, schema: GraphSchema, graph: KnowledgeGraph) -> None:
        self._view, self._schema, self._graph = view, schema, graph
        self._attributes = _by_key((a.name, a.all_names()) for a in schema.attribute_types)
        self._relations = _by_key((r.name, r.all_names()) for r in schema.relation_types)
        if schema.open:
            self._attributes = _by_key(((a, (a,)) for a in graph.attribute_names()), self._attributes)
            self._relations = _by_key(((r, (r,)) for r in graph.relations()), self._relations)

    def attribute(self, spec_text: str) -> AttributeSpec:
        name, by = spec_text, ""
        if label_key(spec_text) not in self._attributes:
            name, _, by = spec_text.rpartition(":") if ":" in spec_text else (spec_text, "", "")
        names = self._find("attribute", name, self._attributes)
        spec = self._describe(names)
        by = by.strip()
        if not by:
            return spec
        view = f"{spec.view}:{by}"
        if by == "value":
            return replace(spec, view=view, by="value")
        if spec.kind == "date" and by in _PERIODS:
            return replace(spec, view=view, by=_PERIODS[by])
        if spec.kind == "number" and by.isdecimal() and int(by) >= _FEWEST_QUANTILES:
            return replace(spec, view=view, quantiles=int(by))
        allowed = {"date": [*_PERIODS], "number": ["a number of quantiles"], "text": []}[spec.kind]
        raise ViewError(f"view {self._view!r}: a {spec.kind} is not grouped by {by!r}: say one of "
                        f"{', '.join((*allowed, 'value'))}, or nothing")

    def _describe(self, names: tuple[str, ...]) -> AttributeSpec:
        known = self._schema.attribute_type(names[0])
        kind = known.kind if known else _usual_kind(self._graph, names)
        return AttributeSpec(f"attribute:{names[0]}", names, kind, known.unit if known else "", _USUAL[kind])

    def relation(self, name_given: str) -> RelationSpec:
        name_given = name_given.strip()
        back = name_given.startswith(_INVERSE)
        names = self._find("relation", name_given.lstrip("".join(_INVERSE)), self._relations)
        backward = tuple(name for relation in names for name in self._read_backward(relation))
        forward, backward = (backward, names) if back else (names, backward)
        return RelationSpec(f"relation:{'^' if back else ''}{names[0]}", forward, backward)

    def _read_backward(self, name: str) -> list[str]:
        """Relations that say the same from tail to head: facts are stored under one of them alone."""
        known: RelationType | None = self._schema.relation_type(name)
        if known is None:
            return []
        if known.symmetric:
            return [name]
        return [r.name for r in self._schema.relation_types if r.name == known.inverse or r.inverse == name]

    def _find(self, kind: str, name: str, among: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        found = among.get(label_key(name))
        if found is None:
            exist = ", ".join(sorted({names[0] for names in among.values()})) or "none"
            raise ViewError(f"view {self._view!r}: there is no {kind} {name.strip()!r}; there are: {exist}")
        return found


def _by_key(elements: Iterable[tuple[str, tuple[str, ...]]],
            known: Mapping[str, tuple[str, ...]] | None = None) -> dict[str, tuple[str, ...]]:
    """Names by the key of each of their labels; an element's own name goes before another's alias."""
    elements = list(elements)
    by_key = dict(known or {})
    for name, _ in elements:
        key = label_key(name)
        by_key[key] = tuple(dict.fromkeys((*by_key.get(key, ()), name)))
    for name, labels in elements:
        for label in labels:
            by_key.setdefault(label_key(label), (name,))
    return by_key


def _usual_kind(graph: KnowledgeGraph, names: tuple[str, ...]) -> ValueKind:
    """Return the kind of most values of an attribute that no schema describes."""
    kinds: list[ValueKind] = [kind_of(value) for _, held in graph.values_of(names) for value, _ in held]
    return max(("text", "date", "number"), key=kinds.count)
