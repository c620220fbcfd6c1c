"""Sentences with their triples, from which the rules reasoner learns."""

from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, Field, model_validator

from ..schemas.documents import Frozen
from ..schemas.formats.reading import json_lines, validated
from ..schemas.graph_schema import GraphSchema
from ..schemas.naming import label_key
from .failures import IngestError


class Example(Frozen):
    """A text and triples that it states; it may state others."""

    text: str = Field(min_length=1)
    triples: tuple[tuple[str, str, str], ...] = Field(description="(head, relation, tail)")


class _Triple(BaseModel):
    sub: str = Field(min_length=1)
    rel: str = Field(min_length=1)
    obj: str = Field(min_length=1)


class _Record(BaseModel):
    text: str = Field(min_length=1, validation_alias=AliasChoices("text", "sent"))
    triples: tuple[_Triple, ...]

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, record: dict[str, Any]) -> dict[str, Any]:
        """A record of one triple has it as a list."""
        if "triples" in record or "rel_label" not in record:
            return record
        flat = {"sub": record.get("sub_label"), "rel": record["rel_label"], "obj": record.get("obj_label")}
        return {**record, "triples": [flat]}


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
    for where, value in json_lines(path, IngestError):
        record = validated(where, value, _Record, IngestError)
        triples = by_text.setdefault(record.text, {})
        for triple in record.triples:
            relation = names.get(label_key(triple.rel))
            if relation is None:
                raise IngestError(f"{where}: the schema {schema.name!r} has no relation {triple.rel!r}; "
                                  f"it has: {', '.join(sorted(names.values()))}. Add it to the schema, or leave "
                                  "the example out")
            triples[(triple.sub, relation, triple.obj)] = None
    if not by_text:
        raise IngestError(f"{path} holds no example: write one JSON object a line")
    return [Example(text=text, triples=tuple(triples)) for text, triples in by_text.items()]
