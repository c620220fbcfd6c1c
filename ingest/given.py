"""Turn texts from a caller into documents, for callers that cannot or may not name files."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..schemas.documents import Document
from ..text.cleaning import clean_text
from ..text.section_lines import headings
from .metadata import DocumentIdError, check_id, clean_metadata, with_date, with_metadata
from .reading import DEFAULT_LIMITS, IngestError, Limits
from .table_lines import with_rows

SOURCE = "given as text"


def given_documents(given: Sequence[Mapping[str, Any]], limits: Limits = DEFAULT_LIMITS) -> list[Document]:
    """Return the given texts as documents, in order, after the same checks as for files.

    Args:
        given: for each document its `id` and `text`, and optionally its `title` (default: the text's first heading)
            and its `metadata`, a mapping of fields.
        limits: the largest number of documents, and the largest size of each.

    Raises:
        IngestError: one of the documents cannot be stored; the message names it and the cause.
    """
    if not isinstance(given, list):
        raise IngestError('`documents` is a list of {"id", "title", "text"}: fix the input')
    if len(given) > limits.documents:
        raise IngestError(f"{len(given):,} documents, more than {limits.documents:,}: give the "
                          "rest in another run")
    documents: dict[str, Document] = {}
    for number, item in enumerate(given):
        document = _document(number, item, limits)
        if document.id in documents:
            raise IngestError(f"`documents[{number}]` repeats the id {document.id!r}: give each document its own")
        documents[document.id] = document
    return list(documents.values())


def _document(number: int, given: Mapping[str, Any], limits: Limits) -> Document:
    """Check one given text and return it as a document; `number` is its place in the list, for messages."""
    where = f"`documents[{number}]`"
    if not _has_expected_fields(given):
        raise IngestError(f'{where} is not {{"id": text, "title": text, "text": text, "metadata": {{name: value}}}} '
                          "(title and metadata may be left out): fix the input")
    if len(given["text"].encode(errors="replace")) > limits.file_bytes:
        raise IngestError(f"the text of {where} is larger than {limits.size()}: split it into smaller documents")
    text = clean_text(given["text"])
    if not text.strip():
        raise IngestError(f"there is no text in {where}: add text or remove the document")
    heading = next(headings(text), None)
    title = " ".join(clean_text(given.get("title") or (heading.title if heading else "")).split())
    try:
        document_id = check_id(given["id"])
    except DocumentIdError as error:
        raise IngestError(f"{where}: {error}") from error
    metadata = with_date(clean_metadata(given.get("metadata") or {}), document_id)
    return Document(id=document_id, title=title, source=SOURCE, metadata=metadata,
                    text=with_metadata(with_rows(text, title), document_id, title, metadata))


def _has_expected_fields(given: object) -> bool:
    return (isinstance(given, dict) and {"id", "text"} <= given.keys() <= {"id", "title", "text", "metadata"}
            and all(isinstance(value, str) for name, value in given.items() if name != "metadata")
            and isinstance(given.get("metadata", {}), dict))
