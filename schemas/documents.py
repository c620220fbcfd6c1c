"""Documents, chunks, the spans that link every fact to its source, and which documents a question is limited to."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

MOST_NAMES = 100  # documents that a request can name one by one
_Name = Annotated[str, Field(min_length=1, max_length=1000)]
DocumentNames = Annotated[list[_Name], Field(max_length=MOST_NAMES, description=(
    "ids, titles or paths of the documents to answer from, or patterns such as `reports/*.pdf`; empty: all"))]
MetadataValues = Annotated[dict[_Name, _Name], Field(max_length=20, description=(
    "metadata of the documents to answer from, as {key: value or pattern}, such as {\"date\": \"2024-*\"}"))]


class Frozen(BaseModel):
    """Base class of immutable values."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceTable(Frozen):
    """A table of a document as it stands there: a row, form or group of fields each with its cells as written."""

    title: str = Field(default="", description="its caption, its sheet, or the heading above it")
    columns: tuple[str, ...] = Field(description='the header as written, "" for a column without one')
    rows: tuple[tuple[str, ...], ...] = Field(description='the cells of each row, "" for an empty one')
    spans: tuple[tuple[int, int], ...] = Field(description="start and end of each row in the document's text")


class Document(Frozen):
    """A source text with its id, which citations and `banyan delete` use: the path relative to the given folder.

    A record of a csv, json or jsonl file has that path with the record's own id or number (see `ingest/metadata.py`).
    """

    id: str = Field(min_length=1, max_length=1000)
    title: str
    text: str
    source: str = Field(description="where it was read from, for people")
    metadata: dict[str, str] = Field(default_factory=dict, description="what it says of itself: author, date, any "
                                     "other field; is a row at the beginning of its text, too")
    pages: tuple[int, ...] = Field(default=(), description="of a printed work: where each page begins in it")
    tables: tuple[SourceTable, ...] = Field(default=(), description="its tables, forms and repeated fields, whole")


class Chunk(Frozen):
    """A part of a document: `text == document.text[start:end]`, offsets in characters."""

    id: str
    document_id: str
    ordinal: int = Field(ge=0, description="position among the document's chunks")
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str
    title: str = Field(description="the document's title")
    heading: str = Field(default="", description="the headings above it, outermost first, ' > ' between")
    opening: str = Field(default="", description="what opens the list or code that it continues: a sentence or a fence")
    said_on: str = Field(default="", description="the date by which the relative dates at its beginning are read")

    def titled_text(self) -> str:
        """Return the text below its context, the title, heading and opening, for embedding and search."""
        context = [part for part in (self.title, self.heading, self.opening) if part]
        return "\n".join([*context, self.text])


class Span(Frozen):
    """A place in a text: characters `start` to `end`, which are equal to `quote`."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    quote: str


class Citation(Frozen):
    """A numbered reference to the source: `document.text[start:end] == quote`."""

    id: int = Field(ge=1)
    document: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    quote: str
    metadata: dict[str, str] = Field(default_factory=dict, description="what the document says of itself")
    page: int | None = Field(default=None, description="of a printed work: the page on which the quote begins")
    status: str = Field(default="", description="what became of the document: superseded or amended by which")
    meant: tuple[str, ...] = Field(default=(), description="the relative dates of the quote with what they mean by the "
                                   "date of their text: yesterday [2024-03-04]")


class Scope(Frozen):
    """Some of a knowledge base's documents; without any condition all of them.

    `documents` are ids, titles or paths, or patterns of them; `where` is metadata that each has, as (key, value or
    pattern), sorted.
    """

    documents: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, documents: Sequence[str] | str = (), where: Mapping[str, str] | None = None) -> "Scope":
        """Return the scope of some documents; a single one may be given as a text."""
        document_names = (documents,) if isinstance(documents, str) else tuple(documents)
        return cls(documents=document_names, where=tuple(sorted((where or {}).items())))

    @property
    def is_everything(self) -> bool:
        """Whether all documents are in it."""
        return not self.documents and not self.where


EVERYTHING = Scope()
