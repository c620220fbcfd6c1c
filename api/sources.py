"""Conversion of the sources that `kb.add` accepts into paths and texts for a build."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from ..agents.construction.state import GivenDocument
from ..ingest.fetching import is_address
from ..ingest.loaders import FORMATS
from ..ingest.reading import IngestError
from ..ingest.table_lines import table_lines
from ..schemas.documents import Document
from ..schemas.naming import content_id

Source: TypeAlias = "str | os.PathLike[str] | Document | Mapping[str, Any] | Any"
"""A path, a text, a Banyan or LangChain document, {"id", "title", "text", "metadata"}, or a data frame."""

_LONGEST_NAME = 255
"""The longest file name in bytes on common file systems; a longer text is not a path."""


def read_sources(sources: Iterable[Source], name: str = "", title: str = "") -> tuple[list[str], list[GivenDocument]]:
    """Sort sources into paths and documents.

    Args:
        sources: see `KnowledgeBase.add`.
        name: the id of a single text or data frame.
        title: the title of that document.

    Returns:
        The paths, and the documents that were given as text.

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
            paths.append(item if isinstance(item, str) and is_address(item) else str(Path(item).expanduser()))
        else:
            documents.extend(_documents(item, name, title))
    return paths, documents


def _is_path(text: str) -> bool:
    """Return True if a text names a file or looks as if it should, so a missing file is an error."""
    if "\n" in text or "\0" in text or any(len(part.encode(errors="replace")) > _LONGEST_NAME
                                           for part in text.split("/")):
        return False
    path = Path(text).expanduser()
    looks = path.suffix.lower() in FORMATS or (os.sep in text and not any(map(str.isspace, text)))
    return bool(text) and (looks or path.exists())


def _documents(item: Source, name: str, title: str) -> list[GivenDocument]:
    if isinstance(item, str):
        return [_document(name or f"text-{content_id('text', item)[:12]}", title, item)]
    if isinstance(item, Document):
        return [_document(name or item.id, title or item.title, item.text, item.metadata)]
    if isinstance(item, Mapping):
        document = {**item, **({"id": name} if name else {}), **({"title": title} if title else {})}
        return [cast("GivenDocument", document)]  # the build checks every document that it is given
    if hasattr(item, "page_content"):  # LangChain's Document
        return [_of_langchain(item, name, title)]
    if hasattr(item, "columns") and (hasattr(item, "itertuples") or hasattr(item, "iter_rows")):
        return _of_frame(item, name or "table", title)
    raise IngestError(f"{type(item).__name__} cannot be added: give a path, a text, a Document, {{\"id\", \"text\"}}, "
                      "or a data frame")


def _document(name: str, title: str, text: str, metadata: Mapping[str, str] | None = None) -> GivenDocument:
    document = GivenDocument(id=name, text=text)
    if title:
        document["title"] = title
    if metadata:
        document["metadata"] = dict(metadata)
    return document


def _of_langchain(item: Any, name: str, title: str) -> GivenDocument:
    """Convert a LangChain document; without an id, its `source`, which LangChain's loaders set, becomes the id."""
    metadata = dict(item.metadata)
    document_id = str(item.id or metadata.pop("source", "") or f"text-{content_id('text', item.page_content)[:12]}")
    return _document(name or document_id, title or str(metadata.pop("title", "")), item.page_content, metadata)


def _of_frame(frame: Any, name: str, title: str) -> list[GivenDocument]:
    """Convert a data frame by the rule for csv files: rows with a `text` are documents, otherwise it is one table."""
    columns = [str(column) for column in frame.columns]
    rows = [[_cell(value) for value in row] for row in _rows(frame)]
    if "text" not in columns:
        return [_document(name, title or name, "\n".join(table_lines(columns, rows, title or name)))]
    documents = []
    for number, row in enumerate(rows):
        record = dict(zip(columns, row, strict=True))
        text = record.pop("text")
        documents.append(_document(record.pop("id", "") or f"{name}#{number}", record.pop("title", "") or title, text,
                                   {field: value for field, value in record.items() if value}))
    return documents


def _rows(frame: Any) -> Iterable[Sequence[Any]]:
    """Return the rows of a pandas or Polars data frame."""
    if hasattr(frame, "itertuples"):
        return cast("Iterable[Sequence[Any]]", frame.itertuples(index=False, name=None))
    return cast("Iterable[Sequence[Any]]", frame.iter_rows())


def _cell(value: Any) -> str:
    # A missing value is None, or differs from itself (NaN, NaT); comparing pandas.NA gives neither True nor False.
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value):  # noqa: PLR0124
        return ""
    return "" if str(value) == "NaT" else str(value)
