"""Look up extracted labels in a schema prepared for bounding."""

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import NamedTuple

from ...schemas.delta import ELEMENT_KINDS, ElementKind, LabelKind
from ...schemas.edits import Types
from ...schemas.extraction import Extraction, RepairKind
from ...schemas.graph_schema import ROOT_TYPE, GraphSchema, SchemaElement
from ...schemas.naming import label_key
from .similar_labels import SimilarLabels
from .words import head_endings, stems, without_voice

ALIAS = "alias"
"""An attribute with this name or label gives another name of its owner."""


class Known(NamedTuple):
    """The element that a label refers to, and the repair that found it.

    `backward`: the label states the relation from tail to head. `one_way`: it may do so, which is known
    only if the types of head and tail fit in just one direction.
    """

    name: str
    repair: RepairKind | None = None
    one_way: bool = False
    backward: bool = False


class Bounds:
    """A schema prepared for looking up labels; built once for many chunks.

    Args:
        schema: the schema in force.
        similar: compares labels with the schema's by embedding; without it, only inflected forms of a
            name are recognised.
        types: the types that people assigned to entities.
    """

    def __init__(self, schema: GraphSchema, similar: SimilarLabels | None = None, types: Types | None = None) -> None:
        self.schema = schema
        self._decided = types or {}
        self._similar = similar
        self._names = {kind: _names(schema.elements(kind)) for kind in ELEMENT_KINDS}
        self._found: dict[tuple[ElementKind, str], Known | None] = {}
        self._positions = {t.name: position for position, t in enumerate(schema.entity_types)}
        self._backward = {label_key(alias): r.name for r in reversed(schema.relation_types)
                          for alias in r.inverse_aliases}

    def find(self, kind: ElementKind, label: str) -> Known | None:
        """Return the element that a label refers to, or None if the schema has none.

        An open schema admits every label unchanged, and a blank entity type as `ROOT_TYPE`.
        """
        at = (kind, label)
        if at not in self._found:
            self._found[at] = self._find(kind, label)
        return self._found[at]

    def remember(self, labels: Iterable[tuple[LabelKind, str]]) -> None:
        """Encode in one batch the labels that will have to be compared by embedding."""
        if self._similar and not self.schema.open:
            self._similar.remember((kind, label) for kind, label in labels
                                   if kind != "name" and label_key(label) not in self._names[kind])

    def entity_type(self, label: str) -> str | None:
        """Return the schema's name for an entity type given any of its labels, or None if unknown."""
        known = self.find("entity_type", label)
        return known.name if known else None

    def apply_decision(self, name: str, known: Known) -> Known:
        """Return the type that a person assigned to a canonical name if the schema has it, else the extracted type."""
        wanted = self._decided.get((name, known.name))
        given = self.find("entity_type", wanted) if wanted else None
        return given if given and given.repair is None else known

    def _find(self, kind: ElementKind, label: str) -> Known | None:
        key = label_key(label)
        exact = self._names[kind].get(key)
        if exact is not None:
            return Known(exact)
        if kind == "relation" and key in self._backward:
            return Known(self._backward[key], backward=True)
        if self.schema.open:
            name = label.strip() or (ROOT_TYPE if kind == "entity_type" else "")
            return Known(name) if name else None
        if not any(character.isalnum() for character in key):
            return None
        return (self._find_inflected(kind, key) or (self._find_lifted_type(key) if kind == "entity_type" else None)
                or self._find_similar(kind, key))

    def _find_inflected(self, kind: ElementKind, key: str) -> Known | None:
        stemmed = stems(key)
        same = self._stems[kind].get(stemmed, set())
        if len(same) == 1:
            return Known(min(same), "mapped_label")
        if same or kind != "relation":
            return None
        active = {name for known, names in self._stems[kind].items() if without_voice(known) == without_voice(stemmed)
                  for name in names}
        return Known(min(active), "mapped_label", one_way=True) if len(active) == 1 else None

    def _find_lifted_type(self, key: str) -> Known | None:
        for ending in head_endings(key):
            same = self._stems["entity_type"].get(ending, set())
            if len(same) == 1:
                return Known(min(same), "lifted_type")
        return None

    def _find_similar(self, kind: ElementKind, key: str) -> Known | None:
        name = self._similar.duplicate_of(kind, key) if self._similar else None
        return Known(name, "mapped_label", one_way=kind == "relation") if name else None

    @cached_property
    def _stems(self) -> dict[ElementKind, dict[tuple[str, ...], set[str]]]:
        """The elements of each kind by the stems of their labels."""
        stemmed: dict[ElementKind, dict[tuple[str, ...], set[str]]] = {}
        for kind, names in self._names.items():
            stemmed[kind] = {}
            for key, name in names.items():
                stemmed[kind].setdefault(stems(key), set()).add(name)
        return stemmed

    def is_type_name(self, name: str) -> bool:
        """Return True if a name is a type's name: a film extracted as "film" is not an entity."""
        known = self._names["entity_type"]
        return bool(known) and label_key(name) in known

    def is_alias(self, attribute: str) -> bool:
        """Return True if an attribute label gives another name of its owner."""
        known = self.find("attribute", attribute)
        if known is None:
            return False
        element = self.schema.attribute_type(known.name)
        return ALIAS in map(label_key, element.all_names() if element else [known.name])

    def position(self, type_name: str) -> int:
        """Return a type's position in the schema; types that it does not list share the position after the last."""
        return self._positions.get(type_name, len(self._positions))

    def first_of_pair(self, relation: str) -> str | None:
        """Return a relation's inverse if the schema lists it first: facts are then stored under the inverse."""
        element, relations = self.schema.relation_type(relation), self.schema.relation_types
        if element is None:
            return None
        inverse = element.inverse or next((r.name for r in relations if r.inverse == relation), None)
        first = next(r.name for r in relations if r.name in {relation, inverse})
        return None if first == relation else first

    def stored_relation(self, relation: str, head_type: str, tail_type: str, *, is_sorted: bool) -> str | None:
        """Return the relation under which a fact is stored with its ends exchanged; None if it is stored as it is.

        `is_sorted`: the ends are in the order in which those of a symmetric relation are stored.
        """
        element, first = self.schema.relation_type(relation), self.first_of_pair(relation)
        if first and self.schema.fits(tail_type, first, head_type):
            return first
        is_turned = element and element.symmetric and not is_sorted and self.schema.fits(tail_type, relation, head_type)
        return relation if is_turned else None

    @cached_property
    def last_resort(self) -> str | None:
        """The type of an entity of which nothing is known: the root type, else the schema's type of last resort."""
        if self.schema.open or ROOT_TYPE in self._positions:
            return ROOT_TYPE
        return next((t.name for t in self.schema.entity_types if t.last_resort), None)

    def meaning(self, kind: LabelKind, label: str) -> Hashable:
        """Return everything about a label that bounding depends on, to compare with another schema's.

        If it is equal for all of `extracted_labels(extraction)`, both schemas bound the extraction to the same result.
        """
        if kind == "name":
            return self.is_type_name(label)
        known = self.find(kind, label)
        if known is None:
            return None if kind == "entity_type" else self.last_resort
        if kind == "entity_type":
            return known, self._type_meaning(known.name)
        element = (self.schema.attribute_type(known.name) if kind == "attribute"
                   else self.schema.relation_type(known.name))
        if element is None:
            return known, self.schema.open
        asked = element.owners if kind == "attribute" else (*element.domain, *element.range)  # type: ignore[union-attr]
        first = self.schema.relation_type(self.first_of_pair(known.name) or "") if kind == "relation" else None
        return (known, element.model_dump_json(exclude={"rules"}), first and first.model_dump_json(), self.last_resort,
                tuple(self._type_meaning(name) for name in asked))

    def _type_meaning(self, name: str) -> Hashable:
        return name, tuple(self.schema.ancestors(name)), self._positions.get(name), self.schema.open


def extracted_names(extraction: Extraction) -> set[str]:
    """Return the names of an extraction's entities and of the ends of its facts."""
    return {*(e.name for e in extraction.entities), *(end for t in extraction.triples for end in (t.head, t.tail)),
            *(a.entity for a in extraction.attributes)}


def extracted_labels(extraction: Extraction) -> set[tuple[LabelKind, str]]:
    """Return the labels of an extraction that bounding looks up in the schema, with their kinds."""
    labels: set[tuple[LabelKind, str]] = {("name", name) for name in extracted_names(extraction)}
    labels |= {("entity_type", entity.type) for entity in extraction.entities}
    labels |= {("relation", triple.relation) for triple in extraction.triples}
    return labels | {("attribute", attribute.attribute) for attribute in extraction.attributes}


def _names(elements: tuple[SchemaElement, ...]) -> dict[str, str]:
    # An element's own name takes precedence over another's alias.
    known: dict[str, str] = {label_key(element.name): element.name for element in elements}
    for element in elements:
        for name in element.all_names():
            known.setdefault(label_key(name), element.name)
    return known
