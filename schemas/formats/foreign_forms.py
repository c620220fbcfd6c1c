"""Schemas written for other systems: Text2KGBench's ontologies and the plain form of Youtu-GraphRAG."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from ..graph_schema import ANY, MAX_ELEMENT_NAME, ROOT_TYPE, AttributeType, EntityType, GraphSchema, RelationType
from ..naming import normalise


def _printable(name: str) -> str:
    if not name.isprintable():
        raise ValueError(f"{name!r} must be printable")
    return name


_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_ELEMENT_NAME),
                  AfterValidator(_printable)]
_Title = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_ELEMENT_NAME)]


class _Foreign(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Concept(_Foreign):
    qid: str = ""
    label: _Name


class _Relation(_Foreign):
    label: _Name
    domain: str = ""
    range: str = ""


class _Ontology(_Foreign):
    title: _Title = ""
    id: _Title = ""
    concepts: tuple[_Concept, ...]
    relations: tuple[_Relation, ...] = ()


class _Plain(_Foreign):
    name: _Title = ""
    nodes: tuple[_Name, ...] = Field(default=(), alias="Nodes")
    relations: tuple[_Name, ...] = Field(default=(), alias="Relations")
    attributes: tuple[_Name, ...] = Field(default=(), alias="Attributes")


def read_text2kgbench(data: Mapping[str, Any], name: str) -> GraphSchema:
    """Read a Text2KGBench ontology: `{title, id, concepts: [{qid, label}], relations: [{label, domain, range}]}`.

    Concepts become entity types with their labels. A qid that two concepts share refers to both. An empty qid, or one
    that is not among the concepts, means any type. Relations with the same name become one with all their domains and
    ranges. If an end may be of any type, the root type is added, so other entities have a type too.

    Args:
        data: the decoded file.
        name: the name of the schema, if the ontology has neither title nor id.

    Raises:
        ValidationError: a field is missing or has another type.
    """
    ontology = _Ontology.model_validate(data)
    labels = _distinct(concept.label for concept in ontology.concepts)
    if normalise(ROOT_TYPE) in labels:
        labels[normalise(ROOT_TYPE)] = ROOT_TYPE
    types: dict[str, set[str]] = {}
    for concept in ontology.concepts:
        types.setdefault(concept.qid, set()).add(labels[normalise(concept.label)])
    ends: dict[str, tuple[str, set[str], set[str]]] = {}
    for relation in ontology.relations:
        _, domain, range_ = ends.setdefault(normalise(relation.label), (relation.label, set(), set()))
        domain |= (types.get(relation.domain) if relation.domain else None) or {ANY}
        range_ |= (types.get(relation.range) if relation.range else None) or {ANY}
    relations = tuple(RelationType(name=label, domain=_ends(domain), range=_ends(range_))
                      for label, domain, range_ in ends.values())
    if any(ANY in (*relation.domain, *relation.range) for relation in relations):
        labels.setdefault(normalise(ROOT_TYPE), ROOT_TYPE)
    return GraphSchema(name=ontology.title or ontology.id or name, relation_types=relations,
                       entity_types=tuple(EntityType(name=label) for label in labels.values()))


def _ends(types: set[str]) -> tuple[str, ...]:
    return (ANY,) if ANY in types else tuple(sorted(types))


def read_plain(data: Mapping[str, Any], name: str) -> GraphSchema:
    """Read the plain form, `{"Nodes": [...], "Relations": [...], "Attributes": [...]}`, which has names only.

    Relations may go from any type to any type, any type may have any attribute, and values are text.

    Raises:
        ValidationError: a field has another type.
    """
    plain = _Plain.model_validate(data)
    return GraphSchema(
        name=plain.name or name,
        entity_types=tuple(EntityType(name=label) for label in _distinct(plain.nodes).values()),
        relation_types=tuple(RelationType(name=label) for label in _distinct(plain.relations).values()),
        attribute_types=tuple(AttributeType(name=label) for label in _distinct(plain.attributes).values()))


def _distinct(labels: Iterable[str]) -> dict[str, str]:
    """Return the first spelling of each label, by its normalised form."""
    spellings: dict[str, str] = {}
    for label in labels:
        spellings.setdefault(normalise(label), label)
    return spellings
