"""The graph schema S = (entity types, relation types, attribute types) of Youtu-GraphRAG eq. 1."""

import json
from importlib import resources
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from .documents import Frozen
from .errors import BanyanError
from .naming import normalise

ANY = "*"
ROOT_TYPE = "Entity"
OPEN_SCHEMA = "open"
MAX_ELEMENT_NAME = 100
ValueKind = Literal["text", "number", "date"]


class SchemaError(BanyanError):
    """A schema that cannot be read or does not hold together; says which part and how to mend it."""


class SchemaElement(Frozen):
    """What the three kinds of element share.

    `name` is the identity and language-neutral; `labels` are its names in other languages, `cues`
    the words by which the rules reasoner knows it, both by language code. All its own names
    count as cues too. Marks before a cue:

    - `<founded` (relation): the words read from tail to head, as in "Nobel founded the company" for
      founded_by. A passive ("was founded by") is derived from the active verb, both ways.
    - `'s capital` (relation): also stands for "its capital", "whose capital", ...
    - `,` (relation): a mark alone must be all that stands between the two names ("Warsaw, Poland").
    - `-ist` (entity type): the ending of a noun.
    - `+syndrome`, `+-itis`, `+项目` (entity type): a term ending so is an entity in lower case too.
    - `*` (entity type): the type of last resort.
    - `{nationality}` (attribute): any word for belonging to a people.
    """

    name: str = Field(min_length=1, max_length=MAX_ELEMENT_NAME)
    description: str = ""
    labels: dict[str, str] = Field(default_factory=dict)
    aliases: tuple[str, ...] = Field(default=(), description="other names that reasoners use for it")
    cues: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    @field_validator("name")
    @classmethod
    def _printable(cls, name: str) -> str:
        if not name.isprintable() or name != name.strip():
            raise ValueError(f"{name!r} must be printable, with no space at either end")
        return name

    def label(self, language: str) -> str:
        """The element's name in a language ("en", "zh"), or its own name where there is none."""
        return self.labels.get(language, self.name)

    def all_names(self) -> tuple[str, ...]:
        """Everything it is called: its name, its labels in every language, its aliases."""
        return (self.name, *self.labels.values(), *self.aliases)

    def all_cues(self) -> tuple[str, ...]:
        """The cue words of every language."""
        return tuple(cue for cues in self.cues.values() for cue in cues)


class EntityType(SchemaElement):
    """A type of entity; an entity of a type also counts as one of its `parent`."""

    parent: str | None = None


class RelationType(SchemaElement):
    """A relation with Phi(r) = (domain, range): the entity types it may go from and to."""

    domain: tuple[str, ...] = (ANY,)
    range: tuple[str, ...] = (ANY,)


class AttributeType(SchemaElement):
    """A describing value of an entity: the types of entity that may have it and the kind of value."""

    owners: tuple[str, ...] = (ANY,)
    kind: ValueKind = "text"


class GraphSchema(Frozen):
    """What may stand in the graph. `open` admits every relation and type (OpenIE, imports)."""

    name: str = Field(min_length=1, max_length=100)
    description: str = ""
    open: bool = False
    entity_types: tuple[EntityType, ...] = ()
    relation_types: tuple[RelationType, ...] = ()
    attribute_types: tuple[AttributeType, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for kind, elements in (("entity type", self.entity_types), ("relation", self.relation_types),
                               ("attribute", self.attribute_types)):
            seen: set[str] = set()
            for element in elements:
                key = normalise(element.name)
                if key in seen:
                    raise ValueError(f"{kind} {element.name!r} stands twice: keep one of them")
                seen.add(key)
        known = {ANY, *(t.name for t in self.entity_types)}
        for entity in self.entity_types:
            self._check(f"entity type {entity.name!r}, parent", (entity.parent or ANY,), known)
            if entity.name in self.ancestors(entity.parent):
                raise ValueError(f"entity type {entity.name!r} is its own ancestor: mend its parent")
        for relation in self.relation_types:
            self._check(f"relation {relation.name!r}, domain", relation.domain, known)
            self._check(f"relation {relation.name!r}, range", relation.range, known)
        for attribute in self.attribute_types:
            self._check(f"attribute {attribute.name!r}, owners", attribute.owners, known)
        return self

    @staticmethod
    def _check(where: str, names: tuple[str, ...], known: set[str]) -> None:
        for name in names:
            if name not in known:
                raise ValueError(f"{where}: there is no entity type {name!r}; add it or name one of "
                                 f"{', '.join(sorted(known))}")

    def entity_type(self, name: str) -> EntityType | None:
        """The entity type of that exact name, or None."""
        return next((t for t in self.entity_types if t.name == name), None)

    def relation_type(self, name: str) -> RelationType | None:
        """The relation type of that exact name, or None."""
        return next((r for r in self.relation_types if r.name == name), None)

    def attribute_type(self, name: str) -> AttributeType | None:
        """The attribute type of that exact name, or None."""
        return next((a for a in self.attribute_types if a.name == name), None)

    def ancestors(self, type_name: str | None) -> list[str]:
        """The type and its parents, nearest first; stops where a chain closes on itself."""
        parents = {t.name: t.parent for t in self.entity_types}
        chain: list[str] = []
        while type_name is not None and type_name not in chain:
            chain.append(type_name)
            type_name = parents.get(type_name)
        return chain

    def is_a(self, type_name: str, allowed: tuple[str, ...]) -> bool:
        """Whether an entity of this type may stand where one of `allowed` is asked for."""
        return ANY in allowed or any(name in allowed for name in self.ancestors(type_name))

    def fits(self, head_type: str, relation: str, tail_type: str) -> bool:
        """Whether a triple is admitted: types and relation in S, and Phi(r) holds (eq. 2)."""
        if self.open:
            return True
        if self.entity_type(head_type) is None or self.entity_type(tail_type) is None:
            return False
        known = self.relation_type(relation)
        return known is not None and self.is_a(head_type, known.domain) and self.is_a(tail_type, known.range)

    def fits_attribute(self, owner_type: str, attribute: str) -> bool:
        """Whether an entity of this type may have this attribute (eq. 2)."""
        if self.open:
            return True
        known = self.attribute_type(attribute)
        return (known is not None and self.entity_type(owner_type) is not None
                and self.is_a(owner_type, known.owners))


def seed_names() -> list[str]:
    """The names of the bundled seed schemas, besides `open`."""
    folder = resources.files(__package__) / "seeds"
    return sorted(item.name.removesuffix(".json") for item in folder.iterdir() if item.name.endswith(".json"))


def open_schema() -> GraphSchema:
    """The schema without bounds: every type and relation is admitted as it comes."""
    return GraphSchema(name=OPEN_SCHEMA, description="Every type and relation is admitted.", open=True)


def load_schema(name_or_path: str) -> GraphSchema:
    """A seed schema by name, `open`, or a schema from a JSON file.

    Args:
        name_or_path: one of `seed_names()`, "open", or the path of a JSON file.

    Returns:
        The validated schema.

    Raises:
        SchemaError: no such seed or file, not JSON, or not a consistent schema.
    """
    if name_or_path == OPEN_SCHEMA:
        return open_schema()
    if name_or_path in seed_names():
        text = (resources.files(__package__) / "seeds" / f"{name_or_path}.json").read_text("utf-8")
    else:
        path = Path(name_or_path)
        if not path.is_file():
            raise SchemaError(f"there is no seed schema or file {name_or_path!r}; seeds are: "
                              f"{', '.join([OPEN_SCHEMA, *seed_names()])}")
        text = path.read_text("utf-8")
    return parse_schema(text, name_or_path)


def parse_schema(text: str, where: str) -> GraphSchema:
    """A schema from JSON text.

    Args:
        text: the JSON.
        where: its name for error messages.

    Raises:
        SchemaError: not JSON or not a consistent schema; names the line or the field.
    """
    try:
        return GraphSchema.model_validate(json.loads(text))
    except json.JSONDecodeError as error:
        raise SchemaError(f"{where}: line {error.lineno}, column {error.colno}: {error.msg}") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "schema"
        raise SchemaError(f"{where}: {field}: {first['msg']}") from error
