"""Manual edits of the graph: an entity's name or type, a fact, a value, and how documents rank."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Literal

from pydantic import Field

from .documents import Frozen
from .naming import canonical_name, entity_id

Name = Annotated[str, Field(min_length=1, max_length=500)]


class EntityRef(Frozen):
    """An entity as the documents name it."""

    name: Name
    type: Annotated[str, Field(max_length=200)]

    @property
    def id(self) -> str:
        """The entity's id in the graph of mentions."""
        return entity_id(self.name, self.type)


class FactRef(Frozen):
    """A fact between two entities."""

    head: EntityRef
    relation: Name
    tail: EntityRef

    def __str__(self) -> str:
        return f"{self.head.name} {self.relation.replace('_', ' ')} {self.tail.name}"


class ValueRef(Frozen):
    """An entity's value of an attribute."""

    entity: EntityRef
    attribute: Name
    value: Annotated[str, Field(min_length=1, max_length=2000)]

    def __str__(self) -> str:
        return f"{self.entity.name} {self.attribute.replace('_', ' ')}: {self.value}"


class Rename(Frozen):
    """A change of the name under which an entity is shown; its original names still find it."""

    kind: Literal["rename"] = "rename"
    entity: EntityRef
    name: Name


class Retype(Frozen):
    """A change of an entity's type in all documents; the new type bounds its facts."""

    kind: Literal["retype"] = "retype"
    entities: tuple[EntityRef, ...] = Field(min_length=1, description="all names of the entity, each with its type")
    type: Name


class FactEdit(Frozen):
    """A rejection of a fact, even if documents state it, or its replacement by another one."""

    kind: Literal["fact"] = "fact"
    fact: FactRef
    corrected: FactRef | None = None


class ValueEdit(Frozen):
    """A rejection of a value, or its replacement by another one."""

    kind: Literal["value"] = "value"
    value: ValueRef
    corrected: Annotated[str, Field(min_length=1, max_length=2000)] | None = None


class Supersede(Frozen):
    """A statement that a document takes the place of an older one; both by id."""

    kind: Literal["supersede"] = "supersede"
    newer: Annotated[str, Field(min_length=1, max_length=1000)]
    older: Annotated[str, Field(min_length=1, max_length=1000)]


class Trust(Frozen):
    """A rank of the documents whose ids match a pattern: where documents differ, the higher rank counts."""

    kind: Literal["trust"] = "trust"
    pattern: Annotated[str, Field(min_length=1, max_length=1000)]
    rank: int = Field(ge=-1000, le=1000)

    def concerns(self, document: str) -> bool:
        """Return True if the pattern is the document's id, or matches it as a file name pattern does."""
        return document == self.pattern or fnmatchcase(document, self.pattern)


Edit = Annotated[Rename | Retype | FactEdit | ValueEdit | Supersede | Trust, Field(discriminator="kind")]


class EditDecision(Frozen):
    """An edit with who decided it, why and when, and who undid it."""

    number: int = Field(ge=1)
    edit: Edit
    who: str
    why: str = ""
    decided_at: str = ""
    undone_by: str = ""
    undone_at: str = ""


def in_words(edit: Edit) -> str:
    """Describe an edit in one line."""
    match edit:
        case Rename():
            return f"rename {edit.entity.name} ({edit.entity.type}) to {edit.name}"
        case Retype():
            return f"retype {edit.entities[0].name} ({edit.entities[0].type}) to {edit.type}"
        case FactEdit():
            return f"correct {edit.fact} to {edit.corrected}" if edit.corrected else f"reject {edit.fact}"
        case ValueEdit():
            return f"correct {edit.value} to {edit.corrected}" if edit.corrected else f"reject {edit.value}"
        case Supersede():
            return f"{edit.newer} supersedes {edit.older}"
        case Trust():
            return f"trust {edit.pattern} by rank {edit.rank}"


def edited_entity(edit: Edit) -> str:
    """Return the id, after an edit, of the entity that it changes or whose fact or value it does; "" for documents."""
    match edit:
        case Rename():
            return edit.entity.id
        case Retype():
            return entity_id(edit.entities[0].name, edit.type)
        case FactEdit():
            return edit.fact.head.id
        case ValueEdit():
            return edit.value.entity.id
        case Supersede() | Trust():
            return ""


def trust_ranks(edits: Iterable[Edit], documents: Iterable[str]) -> dict[str, int]:
    """Return the rank of each document, by id; the last edit that concerns it counts, and without one it is 0."""
    latest_first = [edit for edit in edits if isinstance(edit, Trust)][::-1]
    ranks = dict[str, int]()
    for document in documents:
        ranks[document] = next((edit.rank for edit in latest_first if edit.concerns(document)), 0)
    return ranks


Types = Mapping[tuple[str, str], str]  # the type that a person gave, by canonical name and extracted type


def decided_types(edits: Iterable[Edit]) -> dict[tuple[str, str], str]:
    """Return the types that people gave to entities, by canonical name and extracted type; the last one counts."""
    types: dict[tuple[str, str], str] = {}
    for edit in edits:
        if not isinstance(edit, Retype):
            continue
        for entity in edit.entities:
            name = canonical_name(entity.name)
            # An earlier edit may have given the entity the type that this edit changes.
            for (other, extracted), given in types.items():
                if (other, given) == (name, entity.type):
                    types[other, extracted] = edit.type
            types[name, entity.type] = edit.type
    # A later edit may have given an entity its extracted type back, so nothing is left to change.
    return {(name, extracted): given for (name, extracted), given in types.items() if extracted != given}


def ids_after(types: Types) -> dict[str, str]:
    """Map the former id of each retyped entity to its new id."""
    return {entity_id(name, extracted): entity_id(name, given) for (name, extracted), given in types.items()}
