"""Documents, chunks and the spans that tie every fact to its source."""

from pydantic import BaseModel, ConfigDict, Field


class Frozen(BaseModel):
    """Base of values that are made once and then only read."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Document(Frozen):
    """One source text with its identity.

    `id` is what citations and `banyan delete` name: the path relative to the folder given; for a record of a csv,
    json or jsonl file that path with the record's own id or number (see `ingest/document_ids.py`).
    """

    id: str = Field(min_length=1, max_length=1000)
    title: str
    text: str
    source: str = Field(description="where it was read from, for people")
    metadata: dict[str, str] = Field(default_factory=dict, description="what it says of itself: author, date, any "
                                     "other field; stands as a row at the beginning of its text, too")
    pages: tuple[int, ...] = Field(default=(), description="of a printed work: where each page begins in it")


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

    def titled_text(self) -> str:
        """The text with the title and heading that give it context: what is embedded and searched."""
        lead = [part for part in (self.title, self.heading) if part]
        return "\n".join([*lead, self.text])


class Span(Frozen):
    """Where something stands in a text: characters `start` to `end` of it, which read `quote`."""

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
