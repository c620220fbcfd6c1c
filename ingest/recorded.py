"""Triples that an LLM extracted earlier, read from a file with the passages they came from."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from ..schemas.documents import Chunk, Document, Frozen
from ..schemas.extraction import ExtractedEntity, ExtractedTriple, Extraction
from ..schemas.naming import content_id
from .loaders import IngestError, LoadFailure

_PARTS = 3  # head, relation, tail

RecordedFormat = Literal["hipporag", "triples"]


class RecordedPassage(Frozen):
    """A document of a single chunk and what was extracted from it."""

    document: Document
    chunk: Chunk
    extraction: Extraction


def load_recorded(paths: Sequence[Path], form: RecordedFormat, *,
                  on_failure: Callable[[LoadFailure], None]) -> Iterator[RecordedPassage]:
    """Read recorded triples.

    Args:
        paths: the files.
        form: "hipporag": `{docs: [{title, text, extracted_entities, extracted_triples}]}`; "triples":
            JSON lines `{id, title, text, entities: [{name, type}], triples: [[head, relation, tail]]}`.
        on_failure: told of every record that cannot be used; the others are read.

    Yields:
        One passage for each record, in the file's order.

    Raises:
        IngestError: a file is missing or not of that format.
    """
    for path in paths:
        if not path.is_file():
            raise IngestError(f"there is no file {path}: name one with recorded triples")
        read = _hipporag if form == "hipporag" else _triples
        for number, record in enumerate(read(path, on_failure)):
            try:
                yield _passage(record, f"{path.stem}#{number}")
            except (ValidationError, KeyError, TypeError, ValueError) as error:
                on_failure(LoadFailure(path=f"{path.name}#{number}", reason=f"not a {form} record: {error}"))


def _hipporag(path: Path, _: Callable[[LoadFailure], None]) -> Iterator[dict[str, Any]]:
    try:
        records = json.loads(path.read_text("utf-8"))["docs"]
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise IngestError(f"{path} is not in HippoRAG's format, {{'docs': [...]}}: {error}") from error
    for record in records:
        yield {"title": record["title"], "text": record["text"],
               "entities": [{"name": name} for name in record.get("extracted_entities", ()) if name],
               "triples": record.get("extracted_triples", ())}


def _triples(path: Path, on_failure: Callable[[LoadFailure], None]) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except json.JSONDecodeError as error:
                    on_failure(LoadFailure(path=path.name, reason=f"line {number} is not JSON: {error.msg}"))


def _passage(record: dict[str, Any], default_id: str) -> RecordedPassage:
    document = Document(id=str(record.get("id") or default_id), title=record.get("title") or "",
                        text=record["text"], source="recorded triples")
    if not document.text.strip():
        raise ValueError("its text is empty")
    chunk = Chunk(id=content_id(document.id, document.title, "", document.text, "0"), document_id=document.id,
                  ordinal=0, start=0, end=len(document.text), text=document.text, title=document.title)
    triples = [[str(part).strip() for part in triple] for triple in record.get("triples", ())]
    whole = [triple for triple in triples if len(triple) == _PARTS and all(triple)]
    return RecordedPassage(document=document, chunk=chunk, extraction=Extraction(
        entities=tuple(ExtractedEntity(**entity) for entity in record.get("entities", ())),
        triples=tuple(ExtractedTriple(head=h[:500], relation=r[:200], tail=t[:500]) for h, r, t in whole),
        malformed=tuple(json.dumps(triple, ensure_ascii=False) for triple in triples if triple not in whole)))
