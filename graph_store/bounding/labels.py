"""Look up extracted labels in a schema prepared for bounding."""

from functools import cached_property
from typing import NamedTuple

from ...schemas.delta import ELEMENT_KINDS, ElementKind
from ...schemas.edits import Types
from ...schemas.extraction import RepairKind
from ...schemas.graph_schema import ROOT_TYPE, GraphSchema
from ...schemas.naming import label_key
from .words import stems


class Known(NamedTuple):
    """The name of the schema element that a label refers to, and the repair by which it was found, if any."""

    name: str
    repair: RepairKind | None = None
    backward: bool = False  # the label states the relation from tail to head, as an inverse alias does


class Bounds:
    """A schema prepared for looking up labels; built once for many chunks."""

    def __init__(self, schema: GraphSchema, types: Types | None = None) -> None:
        """Prepare a schema; `types` are those that people assigned to entities."""
        self.schema = schema
        self._decided = types or {}
        self._names: dict[ElementKind, dict[str, str]] = {}
        """The name of the element that has each name or alias, by key; names take precedence over aliases."""
        for kind in ELEMENT_KINDS:
            names = self._names[kind] = {label_key(element.name): element.name for element in schema.elements(kind)}
            for element in schema.elements(kind):
                for label in element.all_names():
                    names.setdefault(label_key(label), element.name)
        self._positions = {t.name: position for position, t in enumerate(schema.entity_types)}
        self._backward = {label_key(alias): r.name for r in reversed(schema.relation_types)  # so the first one wins
                          for alias in r.inverse_aliases}
        self._first_inverses: dict[str, str] = {}  # of each relation whose inverse the schema lists before it
        relation_positions = {relation.name: position for position, relation in enumerate(schema.relation_types)}
        for relation in schema.relation_types:
            if relation.inverse:
                first, second = sorted((relation.name, relation.inverse), key=relation_positions.__getitem__)
                self._first_inverses.setdefault(second, first)  # several may name it; the first one that does counts

    def find(self, kind: ElementKind, label: str) -> Known | None:
        """Return the element that has a label as name or alias, else as inverse alias, else inflected; or None."""
        key = label_key(label)
        if name_in_schema := self._names[kind].get(key):
            return Known(name_in_schema)
        if kind == "relation" and key in self._backward:
            return Known(self._backward[key], backward=True)
        if self.schema.open:  # it admits every label as it is
            name = label.strip() or (ROOT_TYPE if kind == "entity_type" else "")
            return Known(name) if name else None
        with_same_stems = self._stems[kind].get(stems(key), set())
        is_unique = len(with_same_stems) == 1  # of several elements, none is more likely meant
        return Known(min(with_same_stems), "mapped_label") if is_unique else None

    @cached_property
    def _stems(self) -> dict[ElementKind, dict[tuple[str, ...], set[str]]]:
        """The names of the elements that have each label, by kind and the stems of the label."""
        stemmed: dict[ElementKind, dict[tuple[str, ...], set[str]]] = {kind: {} for kind in self._names}
        for kind, names in self._names.items():
            for key, name in names.items():
                stemmed[kind].setdefault(stems(key), set()).add(name)
        return stemmed

    def entity_type(self, label: str) -> str | None:
        """Return the schema's name for an entity type given any of its labels, or None if unknown."""
        known = self.find("entity_type", label)
        return known.name if known else None

    def apply_decision(self, name: str, known: Known) -> Known:
        """Return the type that a person assigned to a canonical name if the schema has it, else the extracted type."""
        decided_name = self._decided.get((name, known.name))
        decided = self.find("entity_type", decided_name) if decided_name else None
        return decided if decided and decided.repair is None else known  # a similar label is not what they chose

    def is_type_name(self, name: str) -> bool:
        """Return True if a name is a type's name: a film extracted as "film" is not an entity."""
        return label_key(name) in self._names["entity_type"]

    def position(self, type_name: str) -> int:
        """Return a type's position in the schema; types that it does not list share the position after the last."""
        return self._positions.get(type_name, len(self._positions))

    def stored_relation(self, relation: str, head_type: str, tail_type: str, *, is_sorted: bool) -> str | None:
        """Return the relation under which a fact is stored with its ends exchanged; None to store it unchanged."""
        inverse = self._first_inverses.get(relation)
        if inverse and self.schema.fits(tail_type, inverse, head_type):
            return inverse
        element = self.schema.relation_type(relation)
        # The ends of a symmetric relation are stored in order, so that a fact is the same from either end.
        has_unsorted_ends = element is not None and element.symmetric and not is_sorted
        return relation if has_unsorted_ends and self.schema.fits(tail_type, relation, head_type) else None

    @cached_property
    def last_resort(self) -> str | None:
        """The type of an entity about which nothing is known: the root type, else the schema's own, else None."""
        if self.schema.open or ROOT_TYPE in self._positions:
            return ROOT_TYPE
        return next((entity_type.name for entity_type in self.schema.entity_types if entity_type.last_resort), None)
