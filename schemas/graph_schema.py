"""The graph schema S = (entity types, relation types, attribute types) of Youtu-GraphRAG eq. 1, and a comparison."""

from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from .delta import ELEMENT_KINDS, ElementKind
from .documents import Frozen
from .errors import BanyanError
from .naming import normalise

ANY = "*"
ROOT_TYPE = "Entity"
OPEN_SCHEMA = "open"
AUTO_SCHEMA = "auto"  # asks for an inferred schema, and is its name
MAX_ELEMENT_NAME = 100
MAX_ELEMENTS = 5000  # of each kind: ten times as many as the largest known ontologies have
ValueKind = Literal["text", "number", "date"]
Change = Literal["added", "removed", "changed"]


class SchemaError(BanyanError):
    """A schema that cannot be read or is inconsistent; the message names the part and the fix."""


class RulesHints(Frozen):
    """Hints for the rules reasoner: `cues` are words by language, of a type (`-ist`: an ending) or a relation."""

    cues: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    def all_cues(self) -> tuple[str, ...]:
        """Return the cues of every language."""
        return tuple(cue for cues in self.cues.values() for cue in cues)


class SchemaElement(Frozen):
    """The common fields of the three kinds of element; `name` is the identity and language-neutral."""

    name: str = Field(min_length=1, max_length=MAX_ELEMENT_NAME)
    description: str = ""
    labels: dict[str, str] = Field(default_factory=dict, description="its names in other languages")
    aliases: tuple[str, ...] = Field(default=(), description="other names that reasoners use for it")
    rules: RulesHints = RulesHints()

    @field_validator("name")
    @classmethod
    def _check_printable(cls, name: str) -> str:
        """Return the name; raise ValueError if it could not be told from others where it is shown."""
        if not name.isprintable() or name != name.strip():
            raise ValueError(f"{name!r} must be printable, with no space at either end")
        return name

    def label(self, language: str) -> str:
        """Return the element's label in a language ("en", "zh"), or its name if there is none."""
        return self.labels.get(language, self.name)

    def all_names(self) -> tuple[str, ...]:
        """Return its name, its labels in every language, and its aliases."""
        return (self.name, *self.labels.values(), *self.aliases)


class EntityType(SchemaElement):
    """A type of entity; an entity of the type also counts as one of its `parent`."""

    parent: str | None = None
    last_resort: bool = Field(default=False, description="the type of an entity of which nothing is known")


class RelationType(SchemaElement):
    """A relation with Phi(r) = (domain, range): the entity types of its heads and tails."""

    domain: tuple[str, ...] = (ANY,)
    range: tuple[str, ...] = (ANY,)
    inverse: str | None = Field(default=None, description="the relation that says the same from tail to head")
    symmetric: bool = Field(default=False, description="holds from tail to head as well, as `spouse` does")
    functional: bool = Field(default=False, description="a head has one tail at a time: a later one takes its place")
    inverse_functional: bool = Field(default=False, description="a tail has one head at a time, as of `ceo_of`")
    inverse_aliases: tuple[str, ...] = Field(default=(), description="names that say it from tail to head, as `owns` "
                                                                     "does of `owned_by`")


class AttributeType(SchemaElement):
    """An attribute of entities: the entity types that may have it, and the kind of its values."""

    owners: tuple[str, ...] = (ANY,)
    kind: ValueKind = "text"
    unit: str = Field(default="", description="for numbers: the unit meant where a value names none")
    functional: bool = Field(default=False, description="an entity has one value at a time, as of a price")


class GraphSchema(Frozen):
    """The types, relations and attributes that a graph may contain. `open` admits every type and relation (OpenIE)."""

    name: str = Field(min_length=1, max_length=100)
    description: str = ""
    open: bool = False
    entity_types: tuple[EntityType, ...] = Field(default=(), max_length=MAX_ELEMENTS)
    relation_types: tuple[RelationType, ...] = Field(default=(), max_length=MAX_ELEMENTS)
    attribute_types: tuple[AttributeType, ...] = Field(default=(), max_length=MAX_ELEMENTS)

    @model_validator(mode="after")
    def _check_elements(self) -> Self:
        """Raise ValueError if two elements have one name, or one names an entity type that does not exist."""
        known_types = {ANY, *(entity_type.name for entity_type in self.entity_types)}
        for kind in ELEMENT_KINDS:
            seen_names = set[str]()
            for element in self.elements(kind):
                where = f"{kind.replace('_', ' ')} {element.name!r}"
                if normalise(element.name) in seen_names:
                    raise ValueError(f"{where} occurs twice: keep one of them")
                seen_names.add(normalise(element.name))
                for field in ("parent", "domain", "range", "owners"):  # each kind of element has some of these
                    value = getattr(element, field, None) or ()
                    unknown = {*((value,) if isinstance(value, str) else value)} - known_types
                    if unknown:
                        raise ValueError(f"{where}, {field}: there is no entity type {min(unknown)!r}; add it or name "
                                         f"one of {', '.join(sorted(known_types))}")
        return self

    @model_validator(mode="after")
    def _check_links(self) -> Self:
        """Raise ValueError if an entity type is its own ancestor, or the inverses of relations disagree."""
        parents = {entity_type.name: entity_type.parent for entity_type in self.entity_types}
        for entity in self.entity_types:
            if entity.name in _list_ancestors(entity.parent, parents):
                raise ValueError(f"entity type {entity.name!r} is its own ancestor: fix its parent")
        for relation in self.relation_types:
            where, other = f"relation {relation.name!r}, inverse", self.relation_type(relation.inverse or "")
            if relation.inverse and other is None:
                raise ValueError(f"{where}: there is no relation {relation.inverse!r}; add it or name another one")
            if other and (other is relation or relation.symmetric):
                raise ValueError(f"{where}: a relation that is its own inverse is symmetric: use `symmetric`")
            if other and other.inverse not in {None, relation.name}:
                raise ValueError(f"{where}: the inverse of {other.name!r} is {other.inverse!r}: keep one of the two")
        return self

    def elements(self, kind: ElementKind) -> tuple[SchemaElement, ...]:
        """Return the elements of a kind, in the schema's order."""
        return {"entity_type": self.entity_types, "relation": self.relation_types,
                "attribute": self.attribute_types}[kind]

    def entity_type(self, name: str) -> EntityType | None:
        """Return the entity type with exactly this name, or None."""
        return next((t for t in self.entity_types if t.name == name), None)

    def relation_type(self, name: str) -> RelationType | None:
        """Return the relation type with exactly this name, or None."""
        return next((r for r in self.relation_types if r.name == name), None)

    def attribute_type(self, name: str) -> AttributeType | None:
        """Return the attribute type with exactly this name, or None."""
        return next((a for a in self.attribute_types if a.name == name), None)

    def one_at_a_time(self) -> tuple[dict[str, tuple[bool, bool]], frozenset[str]]:
        """Return by relation whether a head has one tail at a time and a tail one head; and attributes of one value."""
        inverses = {relation.name: relation.inverse for relation in self.relation_types if relation.inverse}
        inverses |= {inverse: name for name, inverse in inverses.items()}  # one of the two may leave it out
        by_name = {relation.name: relation for relation in self.relation_types}
        relations: dict[str, tuple[bool, bool]] = {}
        for relation in self.relation_types:
            # The relations that say the same from tail to head: its inverse, and itself if it is symmetric.
            inverse_relation = by_name.get(inverses.get(relation.name, ""))
            mirrored = [inverse_relation] if inverse_relation else []
            if relation.symmetric:
                mirrored.append(relation)
            has_one_tail = relation.functional or any(other.inverse_functional for other in mirrored)
            has_one_head = relation.inverse_functional or any(other.functional for other in mirrored)
            if has_one_tail or has_one_head:
                relations[relation.name] = has_one_tail, has_one_head
        return relations, frozenset(a.name for a in self.attribute_types if a.functional)

    def ancestors(self, type_name: str | None) -> list[str]:
        """Return the type and its parents, nearest first; a cycle ends the list."""
        return list(_list_ancestors(type_name, {t.name: t.parent for t in self.entity_types}))

    def is_a(self, type_name: str, allowed: tuple[str, ...]) -> bool:
        """Return True if an entity of this type is of one of the `allowed` types."""
        return ANY in allowed or any(name in allowed for name in self.ancestors(type_name))

    def fits(self, head_type: str, relation: str, tail_type: str) -> bool:
        """Return True if a triple is admitted: types and relation in S, and Phi(r) holds (eq. 2)."""
        if self.open:
            return True
        if self.entity_type(head_type) is None or self.entity_type(tail_type) is None:
            return False
        known = self.relation_type(relation)
        return known is not None and self.is_a(head_type, known.domain) and self.is_a(tail_type, known.range)

    def might_fit(self, head_type: str, relation: str, tail_type: str) -> bool:
        """Return True if a triple is admitted, or would be if its entities had more specific types."""
        known = self.relation_type(relation)
        if known is None:
            return False
        for end_type, allowed in ((head_type, known.domain), (tail_type, known.range)):
            is_ancestor_of_allowed = any(end_type in self.ancestors(name) for name in allowed)
            if not self.is_a(end_type, allowed) and not is_ancestor_of_allowed:
                return False
        return True


def _list_ancestors(type_name: str | None, parents: dict[str, str | None]) -> dict[str, None]:
    """Return a type and its ancestors as the keys of a dict, nearest first; a cycle ends the chain."""
    chain: dict[str, None] = {}
    while type_name is not None and type_name not in chain:
        chain[type_name] = None
        type_name = parents.get(type_name)
    return chain


def open_schema() -> GraphSchema:
    """Return the schema without bounds, which admits every type and relation."""
    return GraphSchema(name=OPEN_SCHEMA, description="Every type and relation is admitted.", open=True)


class FieldChange(Frozen):
    """A field of an element before and after."""

    field: str
    before: Any
    after: Any


class ElementChange(Frozen):
    """An element that only one of the schemas has, or that differs between them."""

    change: Change
    kind: ElementKind
    name: str
    fields: tuple[FieldChange, ...] = ()


def compare_schemas(before: GraphSchema, after: GraphSchema) -> list[ElementChange]:
    """Return the changes from one schema to another, by kind, in the later one's order, removals last."""
    changes = []
    for kind in ELEMENT_KINDS:
        old = {element.name: element for element in before.elements(kind)}
        new = {element.name: element for element in after.elements(kind)}
        for name, element in new.items():
            # An added element is compared with an empty one, so its changes are the fields that it sets.
            previous = _flat_fields(old.get(name) or type(element)(name=name))
            fields = tuple(FieldChange(field=field, before=previous[field], after=value)
                           for field, value in _flat_fields(element).items() if previous[field] != value)
            if fields or name not in old:
                change: Change = "changed" if name in old else "added"
                changes.append(ElementChange(change=change, kind=kind, name=name, fields=fields))
        changes += [ElementChange(change="removed", kind=kind, name=name) for name in old if name not in new]
    return changes


def _flat_fields(element: SchemaElement) -> dict[str, Any]:
    """Return the fields of an element by name, with those of `rules` one by one, as `rules.FIELD`."""
    fields = element.model_dump(mode="json", exclude={"rules"})
    return fields | {f"rules.{field}": value for field, value in element.rules.model_dump(mode="json").items()}
