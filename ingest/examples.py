"""Sentences with the triples that a user wants read from them: what the rules reasoner learns from."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..schemas.documents import Frozen
from ..schemas.formats.reading import parse_json, read_text
from ..schemas.graph_schema import GraphSchema
from ..schemas.naming import label_key
from .failures import IngestError


class Example(Frozen):
    """A text and the triples it says; it may say others that nobody wrote down."""

    text: str = Field(min_length=1)
    triples: tuple[tuple[str, str, str], ...] = Field(description="(head, relation, tail)")


class _Triple(BaseModel):
    model_config = ConfigDict(extra="ignore")
    sub: str = Field(min_length=1)
    rel: str = Field(min_length=1)
    obj: str = Field(min_length=1)


class _Record(BaseModel):
    model_config = ConfigDict(extra="ignore")
    text: str = Field(min_length=1)
    triples: tuple[_Triple, ...]


def load_examples(path: Path, schema: GraphSchema) -> list[Example]:
    """Read examples from JSON lines.

    Args:
        path: each line `{sent or text, triples: [{sub, rel, obj}]}`, or flat with one triple,
            `{sent or text, sub_label, rel_label, obj_label}`; other keys are ignored.
        schema: whose relations the examples use, under any of their names.

    Returns:
        One example for each distinct text, in the file's order, its triples under the schema's own names.

    Raises:
        IngestError: no such file, a line of another form, or a relation that the schema lacks; names
            the file and the line.
    """
    names = {label_key(name): r.name for r in schema.relation_types for name in r.all_names()}
    by_text: dict[str, dict[tuple[str, str, str], None]] = {}
    for number, record in _records(path):
        triples = by_text.setdefault(record.text, {})
        for triple in record.triples:
            relation = names.get(label_key(triple.rel))
            if relation is None:
                raise IngestError(f"{path}, line {number}: the schema {schema.name!r} has no relation {triple.rel!r}; "
                                  f"it has: {', '.join(sorted(names.values()))}. Add it to the schema, or leave "
                                  "the example out")
            triples[(triple.sub, relation, triple.obj)] = None
    if not by_text:
        raise IngestError(f"{path} holds no example: write one JSON object a line")
    return [Example(text=text, triples=tuple(triples)) for text, triples in by_text.items()]


def _records(path: Path) -> Iterator[tuple[int, _Record]]:
    # Not splitlines: within a JSON string some line separators stand as they are.
    for number, line in enumerate(read_text(path, IngestError).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield number, _Record.model_validate(_nested(parse_json(line)))
        except json.JSONDecodeError as error:
            raise IngestError(f"{path}, line {number}, column {error.colno}: not JSON: {error.msg}") from error
        except ValidationError as error:  # a ValueError too
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"]) or "the line"
            raise IngestError(f"{path}, line {number}: {field}: {first['msg']}; write "
                              '{"text": ..., "triples": [{"sub": ..., "rel": ..., "obj": ...}]}') from error
        except ValueError as error:  # a number of thousands of digits, or nested too deeply
            raise IngestError(f"{path}, line {number}: not usable JSON: {error}") from error


def _nested(record: Any) -> Any:
    """The record with its text under `text` and its triples under `triples`, whichever form it has."""
    if not isinstance(record, dict):
        return record
    text = record.get("text", record.get("sent"))
    if "triples" in record or "rel_label" not in record:
        return {"text": text, "triples": record.get("triples")}
    flat = {"sub": record.get("sub_label"), "rel": record["rel_label"], "obj": record.get("obj_label")}
    return {"text": text, "triples": [flat]}
