"""Documents that a caller has read itself: texts, and passages whose facts a model found earlier (recorded triples)."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from ..schemas.documents import Chunk, Document, Frozen, SourceTable
from ..schemas.extraction import ExtractedEntity, ExtractedTriple, Extraction
from ..text.cleaning import clean_text
from ..text.section_lines import headings
from .chunking import chunk_id
from .folder_files import report_failure
from .loaders import make_document
from .metadata import check_id, clean_metadata, record_id
from .reading import DEFAULT_LIMITS, IngestError, Limits, LoadFailure, UnreadableError, decode, read_bytes
from .records import BadRecordError, Record, parse, read_jsonl, read_records

SOURCE = "given as text"
RecordedFormat = Literal["hipporag", "triples"]
_LONGEST_NAME, _LONGEST_RELATION = 500, 200  # the limits of `ExtractedTriple`


class _Given(Frozen):
    """A document as a caller gives it."""

    id: str
    text: str
    title: str = ""
    metadata: dict[Any, Any] | None = None
    tables: tuple[SourceTable, ...] = Field((), description="those that Banyan found in the text when it was stored")


def given_documents(given: Sequence[Mapping[str, Any]], limits: Limits = DEFAULT_LIMITS) -> list[Document]:
    """Return the given texts as documents, in order, after the same checks as for files.

    Each has its `id` and `text`, and optionally its `title` (default: the text's first heading) and its `metadata`, a
    mapping of fields. One that cannot be stored, or one too many, is an IngestError with its place and the cause.
    """
    if not isinstance(given, list):
        raise IngestError('`documents` is a list of {"id", "title", "text"}: fix the input')
    if len(given) > limits.documents:
        raise IngestError(f"{len(given):,} documents, more than {limits.documents:,}: give the rest in another run")
    documents: dict[str, Document] = {}
    for number, item in enumerate(given):
        where = f"`documents[{number}]`"
        try:
            document = _check_document(where, item, limits)
        except UnreadableError as error:
            raise IngestError(f"{where}: {error}") from error
        if document.id in documents:
            raise IngestError(f"{where} repeats the id {document.id!r}: give each document its own")
        documents[document.id] = document
    return list(documents.values())


def _check_document(where: str, item: Mapping[str, Any], limits: Limits) -> Document:
    """Check one given text and return it as a document; `where` is its place in the list, for messages."""
    try:
        given = _Given.model_validate(item)
    except ValidationError as error:
        raise IngestError(f'{where} is not {{"id": text, "title": text, "text": text, "metadata": {{name: value}}}} '
                          "(title and metadata may be left out; `tables` are those that Banyan found): fix the input"
                          ) from error
    if len(given.text.encode(errors="replace")) > limits.file_bytes:
        raise IngestError(f"the text of {where} is larger than {limits.size()}: split it into smaller documents")
    for table in given.tables:
        are_in_text = all(0 <= start <= end <= len(given.text) for start, end in table.spans)
        if len(table.spans) != len(table.rows) or not are_in_text:
            raise IngestError(f"{where}: the places of the rows in its `tables` are not in its text: leave them out")
    first_heading = next((heading.title for heading in headings(given.text)), "")
    title = " ".join(clean_text(given.title or first_heading).split())
    return make_document(check_id(given.id), title, given.text, SOURCE, clean_metadata(given.metadata or {}),
                         stored=given.tables)


class RecordedPassage(Frozen):
    """A document of a single chunk, and its extraction."""

    document: Document
    chunk: Chunk
    extraction: Extraction


def load_recorded(paths: Sequence[Path], form: RecordedFormat, *, on_failure: Callable[[LoadFailure], None],
                  limits: Limits = DEFAULT_LIMITS) -> Iterator[RecordedPassage]:
    """Read recorded triples.

    The form "hipporag" is `{docs: [{title, text, extracted_entities, extracted_triples}]}`, and "triples" JSON lines
    `{id, title, text, entities: [{name, type}], triples: [[head, relation, tail]]}`. A triple may have a fourth part:
    the words that say when it holds. `on_failure` is called for every record that cannot be used; the others are read.
    A file that is missing, too large or in another format is an IngestError.
    """
    places: dict[str, str] = {}  # of the first record with each id
    for path in paths:
        if not path.is_file():
            raise IngestError(f"{path} does not exist: name a file with recorded triples")
        try:
            records = _read_recorded(path.resolve(), form, limits)
        except UnreadableError as error:
            raise IngestError(f"{path} cannot be read: {error}") from error
        for record in records:
            if isinstance(record, str):
                report_failure(on_failure, str(path), record)
                continue
            where = f"{path}, record {record.number}"
            try:
                passage = _passage_of(record, path.name)
            except (ValidationError, TypeError, ValueError) as error:
                report_failure(on_failure, str(path), f"record {record.number}: not a {form} record: {error}")
                continue
            first_place = places.setdefault(passage.document.id, where)
            if first_place == where:
                yield passage
            else:
                report_failure(on_failure, where, f"the id {passage.document.id!r} was already given by "
                               f"{first_place}: rename one")


def _read_recorded(path: Path, form: RecordedFormat, limits: Limits) -> Iterable[Record | str]:
    """Return the records of a file, or why one cannot be used."""
    data = read_bytes(path, limits)
    if form == "triples":  # if no line has a `text`, `read_jsonl` returns a table in place of records
        return read_jsonl(data, limits, path.stem).records or ["no record in it has a `text`"]
    try:
        docs = list(parse(decode(data))["docs"])
    except (BadRecordError, KeyError, TypeError) as error:
        raise IngestError(f"{path} is not in HippoRAG's format, {{'docs': [...]}}: {error}") from error
    return read_records(((f"record {number}", record) for number, record in enumerate(docs)), limits)


def _passage_of(record: Record, file: str) -> RecordedPassage:
    """Return a record as a document of one chunk with its extraction."""
    document = Document(id=record_id(file, record.id, record.number), title=record.title, text=clean_text(record.text),
                        source="recorded triples")
    chunk = Chunk(id=chunk_id(document.id, document.title, "", document.text, 0), document_id=document.id,
                  ordinal=0, start=0, end=len(document.text), text=document.text, title=document.title)
    fields: Mapping[str, Any] = record.metadata  # what the record has besides id, title and text
    triples: list[ExtractedTriple] = []
    malformed: list[str] = []
    for triple in fields.get("triples") or fields.get("extracted_triples") or ():
        parts = [str(part).strip() for part in triple]
        if len(parts) in {3, 4} and all(parts[:3]):  # the fourth part is the time
            head, relation, tail, *time = parts
            triples.append(ExtractedTriple(head=head[:_LONGEST_NAME], relation=relation[:_LONGEST_RELATION],
                                           tail=tail[:_LONGEST_NAME], time="".join(time)))
        else:
            malformed.append(json.dumps(parts, ensure_ascii=False))
    # HippoRAG's entities are names alone.
    named = [{"name": name} for name in fields.get("extracted_entities") or () if name]
    entities = [ExtractedEntity(**entity) for entity in fields.get("entities") or named]
    extraction = Extraction(entities=tuple(entities), triples=tuple(triples), malformed=tuple(malformed))
    return RecordedPassage(document=document, chunk=chunk, extraction=extraction)
