"""What `kb.add` takes, as what a build is given: paths, and documents as text."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from ..agents.construction.state import GivenDocument
from ..ingest.failures import IngestError
from ..ingest.fetching import is_address
from ..ingest.loaders import FORMATS
from ..ingest.tables import table_lines
from ..schemas.documents import Document
from ..schemas.naming import content_id

Source: TypeAlias = "str | os.PathLike[str] | Document | Mapping[str, Any] | Any"
"""A path, a text, a document of Banyan's or LangChain's, {"id", "title", "text", "metadata"}, or a data frame."""

_LONGEST_NAME = 255
"""Bytes of a file's name on the usual file systems; what is longer is no path."""


def read_sources(sources: Iterable[Source], name: str = "", title: str = "") -> tuple[list[str], list[GivenDocument]]:
    """Sort what is to be added.

    Args:
        sources: see `KnowledgeBase.add`.
        name: the id of the one document that is given as text or data frame.
        title: its title.

    Returns:
        The paths, and the documents that are given as text.

    Raises:
        IngestError: something is none of what can be added, or it cannot be named so; says which.
    """
    paths: list[str] = []
    documents: list[GivenDocument] = []
    items = list(sources)
    if (name or title) and len(items) != 1:
        raise IngestError(f"`id` and `title` are those of one document, and {len(items)} things are added: add them "
                          "one by one, or as documents that have their own")
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
    """Whether a text names a file or folder, or reads as if it should: then a missing one is an error, and no text."""
    if "\n" in text or "\0" in text or any(len(part.encode(errors="replace")) > _LONGEST_NAME
                                           for part in text.split("/")):
        return False
    path = Path(text).expanduser()
    looks = path.suffix.lower() in FORMATS or (os.sep in text and not any(map(str.isspace, text)))
    return bool(text) and (looks or path.exists())


def _documents(item: Source, name: str, title: str) -> list[GivenDocument]:
    if isinstance(item, str):
        return [_given(name or f"text-{content_id('text', item)[:12]}", title, item)]
    if isinstance(item, Document):
        return [_given(name or item.id, title or item.title, item.text, item.metadata)]
    if isinstance(item, Mapping):
        given = {**item, **({"id": name} if name else {}), **({"title": title} if title else {})}
        return [cast("GivenDocument", given)]  # checked as every given document is
    if hasattr(item, "page_content"):  # LangChain's Document
        return [_of_langchain(item, name, title)]
    if hasattr(item, "columns") and (hasattr(item, "itertuples") or hasattr(item, "iter_rows")):
        return _of_frame(item, name or "table", title)
    raise IngestError(f"{type(item).__name__} cannot be added: give a path, a text, a Document, {{\"id\", \"text\"}}, "
                      "or a data frame")


def _given(name: str, title: str, text: str, metadata: Mapping[str, str] | None = None) -> GivenDocument:
    given = GivenDocument(id=name, text=text)
    if title:
        given["title"] = title
    if metadata:
        given["metadata"] = dict(metadata)
    return given


def _of_langchain(item: Any, name: str, title: str) -> GivenDocument:
    """A document whose `source` is its id where it has none, as its loaders have it."""
    metadata = dict(item.metadata)
    own = str(item.id or metadata.pop("source", "") or f"text-{content_id('text', item.page_content)[:12]}")
    return _given(name or own, title or str(metadata.pop("title", "")), item.page_content, metadata)


def _of_frame(frame: Any, name: str, title: str) -> list[GivenDocument]:
    """A data frame's documents, by the rule for csv files: each row with a `text` is one, else it is one table."""
    columns = [str(column) for column in frame.columns]
    rows = [[_cell(value) for value in row] for row in _rows(frame)]
    if "text" not in columns:
        return [_given(name, title or name, "\n".join(table_lines(columns, rows, title or name)))]
    documents = []
    for number, row in enumerate(rows):
        record = dict(zip(columns, row, strict=True))
        text = record.pop("text")
        documents.append(_given(record.pop("id", "") or f"{name}#{number}", record.pop("title", "") or title, text,
                                {field: value for field, value in record.items() if value}))
    return documents


def _rows(frame: Any) -> Iterable[Sequence[Any]]:
    """The rows of pandas' frames, or of those of Polars."""
    if hasattr(frame, "itertuples"):
        return cast("Iterable[Sequence[Any]]", frame.itertuples(index=False, name=None))
    return cast("Iterable[Sequence[Any]]", frame.iter_rows())


def _cell(value: Any) -> str:
    # A missing value is None, or one that differs from itself, as NaN and NaT do; pandas.NA says nothing either way.
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value):  # noqa: PLR0124
        return ""
    return "" if str(value) == "NaT" else str(value)
