"""Read and write schema files in JSON, in Banyan's own form; read Text2KGBench's ontologies, too."""

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, StringConstraints, ValidationError

from .. import graph_schema
from ..graph_schema import ANY, OPEN_SCHEMA, ROOT_TYPE, EntityType, GraphSchema, RelationType, SchemaError
from ..naming import normalise
from .small_files import parse_lines, read_text

MAX_SCHEMA_BYTES = 10 * 1024 * 1024  # the seeds have up to 20 KB, and prompts hold a few hundred elements


def seed_names() -> list[str]:
    """Return the names of the bundled seed schemas, without `open`."""
    folder = resources.files("banyan.schemas") / "seeds"
    return sorted(item.name.removesuffix(".json") for item in folder.iterdir() if item.name.endswith(".json"))


def load_schema(name_or_path: str) -> GraphSchema:
    """Load a seed schema by name, `open`, or a schema from a file, or raise SchemaError."""
    if name_or_path == OPEN_SCHEMA:
        return graph_schema.open_schema()
    if name_or_path in seed_names():
        text = (resources.files("banyan.schemas") / "seeds" / f"{name_or_path}.json").read_text("utf-8")
        return parse_schema(text, f"{name_or_path}.json")
    path = Path(name_or_path)
    if not path.is_file():
        raise SchemaError(f"there is no seed schema or file {name_or_path!r}; seeds are: "
                          f"{', '.join([OPEN_SCHEMA, *seed_names()])}")
    return parse_schema(read_text(path, SchemaError, MAX_SCHEMA_BYTES), name_or_path)


def parse_schema(text: str, where: str) -> GraphSchema:
    """Parse a schema, or raise SchemaError, which names element and field; `where` is the file's name."""
    data = parse_lines(text, where, SchemaError)
    if not isinstance(data, Mapping):
        raise SchemaError(f"{where}: a schema is a mapping with the fields {', '.join(GraphSchema.model_fields)}")
    try:
        if "concepts" in data:  # no schema of Banyan's own form has this field
            return _read_text2kgbench(data, Path(where).stem)
        return GraphSchema.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        cause = first["msg"].removeprefix("Value error, ")  # as pydantic calls an error of a validator
        if first["type"] == "extra_forbidden":
            cause = "there is no such field; docs/schema.md lists them"
        raise SchemaError(": ".join(filter(None, (where, ".".join(map(str, first["loc"])), cause)))) from error


_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=graph_schema.MAX_ELEMENT_NAME)]


class _Concept(BaseModel):
    qid: str = ""
    label: _Name


class _Relation(BaseModel):
    label: _Name
    domain: str = ""
    range: str = ""


class _Ontology(BaseModel):
    title: _Name | Literal[""] = ""
    id: _Name | Literal[""] = ""
    concepts: tuple[_Concept, ...]
    relations: tuple[_Relation, ...] = ()


def _read_text2kgbench(data: Mapping[str, Any], name: str) -> GraphSchema:
    """Read a Text2KGBench ontology: `{title, id, concepts: [{qid, label}], relations: [{label, domain, range}]}`.

    A qid that two concepts share refers to both; an empty or unknown one means any type, and adds the root type.
    """
    ontology = _Ontology.model_validate(data)
    labels: dict[str, str] = {}  # the first spelling of each label, by its normalised form
    for concept in ontology.concepts:
        labels.setdefault(normalise(concept.label), concept.label)
    if normalise(ROOT_TYPE) in labels:  # a concept "entity", in any spelling, is the root type
        labels[normalise(ROOT_TYPE)] = ROOT_TYPE
    types: dict[str, set[str]] = {}
    for concept in ontology.concepts:
        types.setdefault(concept.qid, set()).add(labels[normalise(concept.label)])
    # The label, the domain and the range of each relation, by its normalised label.
    ends: dict[str, tuple[str, set[str], set[str]]] = {}
    for relation in ontology.relations:
        _, domain, range_ = ends.setdefault(normalise(relation.label), (relation.label, set(), set()))
        domain |= (types.get(relation.domain) if relation.domain else None) or {ANY}
        range_ |= (types.get(relation.range) if relation.range else None) or {ANY}
    # Beside "any type", other types say nothing.
    relations = tuple(RelationType(name=label, domain=(ANY,) if ANY in domain else tuple(sorted(domain)),
                                   range=(ANY,) if ANY in range_ else tuple(sorted(range_)))
                      for label, domain, range_ in ends.values())
    if any(ANY in (*relation.domain, *relation.range) for relation in relations):
        labels.setdefault(normalise(ROOT_TYPE), ROOT_TYPE)
    return GraphSchema(name=ontology.title or ontology.id or name, relation_types=relations,
                       entity_types=tuple(EntityType(name=label) for label in labels.values()))


def dump_schema(schema: GraphSchema) -> str:
    """Return a schema as JSON with a line break at its end, without fields that have their default."""
    return json.dumps(schema.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False, indent=2) + "\n"
