"""Files of sentences with gold triples, and of a model's recorded answers, in Text2KGBench's formats."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from ..schemas.documents import Frozen
from ..schemas.formats.small_files import json_lines, validate_record
from .datasets import DatasetError

Triple = tuple[str, str, str]
"""Head, relation, tail."""

Answers = Mapping[str, tuple[Triple, ...]]
"""A model's triples for each sentence, by the sentence's id."""


class GoldCase(Frozen):
    """A sentence and the triples that it states."""

    id: str
    text: str
    triples: tuple[Triple, ...]


class _GoldTriple(BaseModel):
    sub: str
    rel: str
    obj: str


class _Answer(BaseModel):
    id: str
    triples: tuple[Triple, ...]


class _Gold(BaseModel):
    id: str
    sent: str
    triples: tuple[_GoldTriple, ...]


_Record = TypeVar("_Record", _Answer, _Gold)


def load_gold(path: Path) -> list[GoldCase]:
    """Read sentences with their gold triples from JSON lines `{id, sent, triples: [{sub, rel, obj}]}`.

    Raises:
        DatasetError: the file is missing, empty or in another form; the message names line and field.
    """
    cases = [GoldCase(id=record.id, text=record.sent, triples=tuple((t.sub, t.rel, t.obj) for t in record.triples))
             for record in _records(path, _Gold)]
    if not cases:
        raise DatasetError(f"{path} has no sentence: a gold file has lines {{id, sent, triples: [{{sub, rel, obj}}]}}")
    return cases


def load_recorded(path: Path) -> dict[str, tuple[Triple, ...]]:
    """Read a model's triples by sentence id from JSON lines `{id, triples: [[head, relation, tail]]}`.

    Raises:
        DatasetError: the file is missing or in another form; the message names line and field.
    """
    return {record.id: record.triples for record in _records(path, _Answer)}


def _records(path: Path, model: type[_Record]) -> Iterator[_Record]:
    """Yield the records of a file, in which each id must occur once."""
    first: dict[str, str] = {}
    for where, value in json_lines(path, DatasetError):
        record = validate_record(where, value, model, DatasetError)
        if record.id in first:
            raise DatasetError(f"{where}, id: {record.id!r} occurs already in {first[record.id]}: keep one of them")
        first[record.id] = where
        yield record
