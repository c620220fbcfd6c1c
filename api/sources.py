"""Conversion of the sources that `kb.add` accepts into paths and texts for a build."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from ..agents.construction.state import GivenDocument
from ..ingest.fetching import is_address
from ..ingest.loaders import FORMATS
from ..ingest.reading import IngestError
from ..ingest.source_tables import collected_tables, place_tables
from ..ingest.table_lines import table_lines
from ..schemas.documents import Document, SourceTable
from ..schemas.naming import content_id
from ..text.cleaning import clean_text

Source: TypeAlias = "str | os.PathLike[str] | Document | Mapping[str, Any] | Any"
"""A path, a text, a Banyan or LangChain document, {"id", "title", "text", "metadata"}, or a data frame."""

_LONGEST_NAME = 255
_LONGEST_PATH = 4096
"""The longest file name and path in bytes on common systems; a longer text is not a path."""


def read_sources(sources: Iterable[Source], name: str = "", title: str = "") -> tuple[list[str], list[GivenDocument]]:
    """Sort sources into paths and addresses to read, and documents that were given as text.

    Args:
        sources: see `KnowledgeBase.add`.
        name: the id of a single text or data frame.
        title: the title of that document.

    Raises:
        IngestError: a source has an unsupported type, or `name` or `title` do not apply to it.
    """
    paths: list[str] = []
    documents: list[GivenDocument] = []
    items = list(sources)
    if (name or title) and len(items) != 1:
        raise IngestError(f"`id` and `title` are for a single document, but {len(items)} were given: add them one by "
                          "one, or as documents with their own ids and titles")
    for item in items:
        if isinstance(item, os.PathLike) or (isinstance(item, str) and (is_address(item) or _is_path(item))):
            if name or title:
                raise IngestError(f"{os.fspath(item)} is a path or an address: its documents have their own ids and "
                                  "titles; leave `id` and `title` out")
            is_url = isinstance(item, str) and is_address(item)  # an address stays as it is
            paths.append(str(item) if is_url else str(Path(item).expanduser()))
        else:
            documents.extend(_to_documents(item, name, title))
    return paths, documents


def _is_path(text: str) -> bool:
    longest = max(len(part.encode(errors="replace")) for part in text.split("/"))
    if "\n" in text or "\0" in text or longest > _LONGEST_NAME or len(text.encode(errors="replace")) > _LONGEST_PATH:
        return False  # no file can have this name
    looks_like_path = Path(text).suffix.lower() in FORMATS or (os.sep in text and not any(map(str.isspace, text)))
    return bool(text) and (looks_like_path or os.path.exists(os.path.expanduser(text)))  # noqa: PTH110, PTH111  (never raise)


def _to_documents(item: Source, name: str, title: str) -> list[GivenDocument]:
    if isinstance(item, str):
        return [_make_document(name or f"text-{content_id('text', item)[:12]}", title, item)]
    if isinstance(item, Document):
        return [_make_document(name or item.id, title or item.title, item.text, item.metadata, item.tables)]
    if isinstance(item, Mapping):
        document = {**item, **({"id": name} if name else {}), **({"title": title} if title else {})}
        return [cast("GivenDocument", document)]  # its keys are not checked here, because the build checks them
    if hasattr(item, "page_content"):  # LangChain's Document
        loaded, metadata = cast("Any", item), dict(cast("Any", item).metadata)
        own_id = loaded.id or metadata.pop("source", "") or f"text-{content_id('text', loaded.page_content)[:12]}"
        own_title = str(metadata.pop("title", ""))
        return [_make_document(name or str(own_id), title or own_title, loaded.page_content, metadata)]
    if hasattr(item, "columns") and (hasattr(item, "itertuples") or hasattr(item, "iter_rows")):
        return _from_frame(item, name or "table", title)
    raise IngestError(f"{type(item).__name__} cannot be added: give a path, a text, a Document, {{\"id\", \"text\"}}, "
                      "or a data frame")


def _make_document(name: str, title: str, text: str, metadata: Mapping[str, str] | None = None,
                   tables: Sequence[SourceTable] = ()) -> GivenDocument:
    document = GivenDocument(id=name, text=text)
    if title:
        document["title"] = title
    if metadata:
        document["metadata"] = dict(metadata)
    if tables:
        document["tables"] = [table.model_dump() for table in tables]
    return document


def _from_frame(frame: Any, name: str, title: str) -> list[GivenDocument]:
    columns = [str(column) for column in frame.columns]
    values = frame.itertuples(index=False, name=None) if hasattr(frame, "itertuples") else frame.iter_rows()
    rows = [[_cell_text(value) for value in row] for row in values]
    if "text" not in columns:
        with collected_tables() as tables:
            lines = table_lines(columns, rows, title or name)
            text, placed = place_tables(clean_text("\n".join(lines)), tables)
        return [_make_document(name, title or name, text, tables=placed)]
    documents = []
    for number, row in enumerate(rows):
        record = dict(zip(columns, row, strict=True))
        text = record.pop("text")
        document_id = record.pop("id", "") or f"{name}#{number}"
        own_title = record.pop("title", "") or title
        metadata = {field: value for field, value in record.items() if value}
        documents.append(_make_document(document_id, own_title, text, metadata))
    return documents


def _cell_text(value: Any) -> str:
    """Return a cell of a data frame as text; empty for a missing value, which is None, NaN, NaT or pandas.NA."""
    is_nan = isinstance(value, float) and value != value  # noqa: PLR0124  (only NaN differs from itself)
    is_na = type(value).__name__ == "NAType"  # by its name, because pandas may not be installed
    return "" if value is None or is_nan or is_na or str(value) == "NaT" else str(value)
