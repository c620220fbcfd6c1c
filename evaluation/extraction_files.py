"""Files of sentences with gold triples, and of a model's recorded answers, in Text2KGBench's forms."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..schemas.documents import Frozen
from ..schemas.formats.reading import parse_json, read_text
from .datasets import DatasetError

Triple = tuple[str, str, str]
"""Head, relation, tail."""

Answers = Mapping[str, tuple[Triple, ...]]
"""A model's triples for each sentence, by the sentence's id."""

_PARTS = 3


class GoldCase(Frozen):
    """A sentence and the triples that it states."""

    id: str
    text: str
    triples: tuple[Triple, ...]


def load_gold(path: Path) -> list[GoldCase]:
    """Sentences with their gold triples.

    Args:
        path: JSON lines `{id, sent, triples: [{sub, rel, obj}]}`.

    Raises:
        DatasetError: the file is missing, empty or not of that form; names line and field.
    """
    cases = []
    for where, identifier, record in _records(path):
        triples = [_gold_triple(part, f"{where}, triples.{number}")
                   for number, part in enumerate(_list(record, "triples", where))]
        cases.append(GoldCase(id=identifier, text=_text(record, "sent", where), triples=tuple(triples)))
    if not cases:
        raise DatasetError(f"{path} has no sentence: a gold file has lines {{id, sent, triples: [{{sub, rel, obj}}]}}")
    return cases


def load_recorded(path: Path) -> dict[str, tuple[Triple, ...]]:
    """A model's recorded triples, by the sentence's id.

    Args:
        path: JSON lines `{id, triples: [[head, relation, tail]]}`; other fields are not read.

    Raises:
        DatasetError: the file is missing or not of that form; names line and field.
    """
    return {identifier: tuple(_said_triple(part, f"{where}, triples.{number}")
                              for number, part in enumerate(_list(record, "triples", where)))
            for where, identifier, record in _records(path)}


def _records(path: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """File and line, id and record of each line that is not blank; an id stands once."""
    if not path.is_file():
        raise DatasetError(f"there is no file {path}")
    text = read_text(path, DatasetError)
    first: dict[str, str] = {}
    # Not splitlines: within a JSON string some line separators stand as they are.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}: line {number}"
        try:
            record = parse_json(line)
        except json.JSONDecodeError as error:
            raise DatasetError(f"{where}, column {error.colno}: not JSON: {error.msg}") from error
        except ValueError as error:  # a number of thousands of digits, or nested too deeply
            raise DatasetError(f"{where}: not usable JSON: {error}") from error
        if not isinstance(record, dict):
            raise DatasetError(f"{where}: an object is needed, not {line.strip()[:60]!r}")
        identifier = _text(record, "id", where)
        if identifier in first:
            raise DatasetError(f"{where}, id: {identifier!r} stands on {first[identifier]} already: keep one of them")
        first[identifier] = f"line {number}"
        yield where, identifier, record


def _text(record: Mapping[str, Any], field: str, where: str) -> str:
    if not isinstance(record.get(field), str):
        raise DatasetError(f"{where}, {field}: text is needed, not {record.get(field)!r}")
    return str(record[field])


def _list(record: Mapping[str, Any], field: str, where: str) -> list[Any]:
    if not isinstance(record.get(field), list):
        raise DatasetError(f"{where}, {field}: a list is needed, not {record.get(field)!r}")
    return list(record[field])


def _gold_triple(part: Any, where: str) -> Triple:
    if not isinstance(part, dict):
        raise DatasetError(f"{where}: {{sub, rel, obj}} is needed, not {part!r}")
    return _text(part, "sub", where), _text(part, "rel", where), _text(part, "obj", where)


def _said_triple(part: Any, where: str) -> Triple:
    if not isinstance(part, list) or len(part) != _PARTS or not all(isinstance(name, str) for name in part):
        raise DatasetError(f"{where}: [head, relation, tail] is needed, three texts, not {part!r}")
    return part[0], part[1], part[2]
