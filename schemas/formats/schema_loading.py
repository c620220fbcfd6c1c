"""Schemas from files: Banyan's own form and two others, in JSON and in YAML."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ..graph_schema import (
    OPEN_SCHEMA,
    AttributeType,
    EntityType,
    FieldPath,
    GraphSchema,
    InconsistencyError,
    RelationType,
    RulesHints,
    SchemaElement,
    SchemaError,
    open_schema,
)
from .foreign_forms import read_plain, read_text2kgbench
from .small_files import SizeError, check_depth, read_text
from .yaml_texts import Position, RepeatedKeyError, json_positions, load_yaml, yaml_positions

YAML_SUFFIXES = frozenset({".yaml", ".yml"})

_PARTS: dict[str, type[SchemaElement]] = {
    "entity_types": EntityType, "relation_types": RelationType, "attribute_types": AttributeType}
_SHOWN = 60
MAX_SCHEMA_BYTES = 10 * 1024 * 1024
"""The largest schema file; the seeds have up to 20 KB, and prompts hold a few hundred elements."""


@dataclass(frozen=True)
class _Read:
    """A decoded text; `places` is computed only for error messages."""

    data: Any
    places: Callable[[], Position]


def seed_names() -> list[str]:
    """Return the names of the bundled seed schemas, without `open`."""
    folder = resources.files("banyan.schemas") / "seeds"
    return sorted(item.name.removesuffix(".json") for item in folder.iterdir() if item.name.endswith(".json"))


def load_schema(name_or_path: str) -> GraphSchema:
    """Load a seed schema by name, `open`, or a schema from a file.

    Raises:
        SchemaError: there is no such seed or file, or `parse_schema` cannot read it.
    """
    if name_or_path == OPEN_SCHEMA:
        return open_schema()
    if name_or_path in seed_names():
        text = (resources.files("banyan.schemas") / "seeds" / f"{name_or_path}.json").read_text("utf-8")
        return parse_schema(text, f"{name_or_path}.json")
    path = Path(name_or_path)
    if not path.is_file():
        raise SchemaError(f"there is no seed schema or file {name_or_path!r}; seeds are: "
                          f"{', '.join([OPEN_SCHEMA, *seed_names()])}")
    return parse_schema(read_text(path, SchemaError, MAX_SCHEMA_BYTES), name_or_path)


def parse_schema(text: str, where: str) -> GraphSchema:
    """Parse a schema: YAML if `where` ends in .yaml or .yml, else JSON.

    The fields determine the form: `concepts` (a Text2KGBench ontology), `Nodes`, `Relations` or `Attributes` (the plain
    form), else Banyan's own form, in which an unknown field is an error.

    Args:
        text: the text.
        where: the name of the text, for messages, for the suffix, and as the name of a schema without one.

    Raises:
        SchemaError: the text cannot be decoded or is not a consistent schema; the message names line and field.
    """
    try:
        read = _yaml(text, where) if Path(where).suffix.lower() in YAML_SUFFIXES else _json(text, where)
    except RepeatedKeyError as error:
        raise SchemaError(f"{where}: line {error.line}, {error.key}: {error}") from error
    except RecursionError as error:
        raise SchemaError(f"{where}: it is nested too deeply for a schema") from error
    except SizeError as error:
        raise SchemaError(f"{where}: {error}") from error
    if not isinstance(read.data, Mapping):
        raise SchemaError(f"{where}: line 1: a schema is a mapping with the fields "
                          f"{', '.join(GraphSchema.model_fields)}, not {_shorten(read.data)}")
    try:
        if "concepts" in read.data:
            return read_text2kgbench(read.data, Path(where).stem)
        if {"Nodes", "Relations", "Attributes"} & set(read.data):
            return read_plain(read.data, Path(where).stem)
        return GraphSchema.model_validate(read.data)
    except ValidationError as error:
        path, message = _explain(error.errors()[0])
        field = ".".join(str(step) for step in path) or "schema"
        raise SchemaError(f"{where}: line {read.places().at(path).line}, {field}: {message}") from error


def _json(text: str, where: str) -> _Read:
    repeated = False

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        mapping = dict(pairs)
        repeated = repeated or len(mapping) < len(pairs)
        return mapping

    try:
        data = json.loads(text, object_pairs_hook=members)
    except json.JSONDecodeError as error:
        raise SchemaError(f"{where}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from error
    except ValueError as error:  # a number of thousands of digits
        raise SchemaError(f"{where}: not JSON: {error}") from error
    check_depth(data)
    if repeated:
        json_positions(text)
        raise SchemaError(f"{where}: a key occurs twice in one mapping: keep one of them")
    return _Read(data, lambda: json_positions(text))


def _yaml(text: str, where: str) -> _Read:
    try:
        data, node = load_yaml(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise SchemaError(f"{where}: {place}not YAML: {error.problem or error.context}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise SchemaError(f"{where}: line {line}: not YAML: {error.reason}") from error
    except SizeError:
        raise
    except ValueError as error:  # a date such as 2020-13-45
        raise SchemaError(f"{where}: not YAML: {error}; put text that looks like a date in quotes") from error
    if node is None:
        raise SchemaError(f"{where}: it is empty")
    places = yaml_positions(node)
    return _Read(data, lambda: places)


def _explain(error: ErrorDetails) -> tuple[FieldPath, str]:
    """Return the path of the first error, and a message for people."""
    path, kind = error["loc"], error["type"]
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, InconsistencyError):
        return cause.path, str(cause)
    if kind == "missing":
        return path, "this field is missing"
    if kind == "extra_forbidden":
        model = RulesHints if "rules" in path else _PARTS[str(path[0])] if len(path) > 1 else GraphSchema
        return path, f"there is no such field; the fields are {', '.join(model.model_fields)}"
    if kind == "string_type":
        return path, f"text is needed, not {_shorten(error['input'])}; if it is meant as text, put it in quotes"
    if kind == "tuple_type":
        return path, f"a list is needed, not {_shorten(error['input'])}; put it in square brackets"
    if kind in {"dict_type", "model_type"}:
        return path, f"a mapping is needed, not {_shorten(error['input'])}"
    return path, str(cause) if isinstance(cause, ValueError) else error["msg"]


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
