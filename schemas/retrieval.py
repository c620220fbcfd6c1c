"""The values passed between the nodes of the retrieval graph: evidence, claims, answers."""

from pathlib import PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator

from .documents import Citation, Frozen
from .naming import canonical_name
from .records import Basis

Route = Literal["entity", "triple", "community"]
ROUTES: tuple[Route, ...] = ("entity", "triple", "community")
"""What the graph adds to the ranking of passages: names, near facts, near communities."""
Mode = Literal["reject", "strict", "open"]
"""reject: stated and inferred answers, told apart; strict: stated ones alone; open: own knowledge allowed, marked."""
Grade = Literal["found", "stated", "inferred", "none"]
"""How an answer is supported: passages that may hold it are found, every link is stated, one is not, or none is."""
Kind = Literal["passage", "fact", "row", "report", "opening", "table"]
"""A row is a fact of the table that a question asks for: without a model, it is the answer."""


class Switches(Frozen):
    """The parts of retrieval that are on; by default all of them."""

    routes: tuple[Route, ...] = ROUTES
    dense: bool = True  # the chunks' own scores by vectors
    lexical: bool = True  # those by words
    spreading: bool = True  # the walk; without it, seeds weigh only the passages that mention them
    beta: float | None = Field(default=None, ge=0, le=1)
    """The fixed weight of names and near facts against communities; None: by the question (eq. 9)."""


EVERYTHING = Switches()


class Place(Frozen):
    """Words of a document that support an item; `member` is the part of a line that they support, such as a value."""

    document: str
    start: int
    text: str
    member: str = ""


class Passage(Frozen):
    """A numbered item of the evidence: a chunk, or what the graph says, with its offset in the document."""

    chunk_id: str
    document: str
    title: str
    text: str  # of a passage, what is read; of another kind, the words of the first of its `places`
    start: int  # the offset of `text` in the document
    score: float
    kind: Kind = "passage"
    heading: str = ""
    about: str = ""  # the document's metadata
    said_on: str = ""  # the date by which the relative dates of a passage are read
    status: str = ""  # what became of the document: "superseded by Policy 2023", "trusted less than Policy"
    is_outdated: bool = False  # the document is not in force for the question
    is_trusted_less: bool = False  # an item of a document with a higher rank is beside it
    statement: str = ""  # what is read of any kind but a passage
    cells: tuple[str, ...] = ()  # head, relation, tail and time of a single fact, or a query's row as a short answer
    places: tuple[Place, ...] = ()  # the words that support the statement
    basis: Basis | None = None  # what a row of a query's result rests on
    base: str = ""  # the knowledge base that it is from, if several are asked
    part: str = ""  # "continued" or "goes on" of a list or table that is also in the passage before or behind it
    is_excerpt: bool = False  # it is a part of its chunk, which a search in its document shows whole

    @property
    def key(self) -> str:
        """A text that is equal for equal items: the statement and its query, or a passage's chunk, start and length."""
        query = self.basis.query if self.basis else ""
        if self.statement or query:
            return f"{self.base}{self.statement}{query}"
        return f"{self.chunk_id}:{self.start}:{len(self.text)}"

    @property
    def header(self) -> str:
        """The line above the item's text in a prompt: its document, title, headings and metadata."""
        # Of document and title, one is left out if the other one says it. The number of a record says nothing.
        is_numbered_record = self.document.rpartition("#")[2].isdecimal()
        if not self.title:
            name = self.document
        elif self.title == self.document or is_numbered_record:
            name = self.title
        elif canonical_name(self.title) == canonical_name(PurePosixPath(self.document).stem):
            name = self.document
        else:
            name = f"{self.document}: {self.title}"
        headings = self.heading.split(" > ")
        # A document's first heading is mostly its title.
        if canonical_name(headings[0]) == canonical_name(self.title):
            headings = headings[1:]
        if self.status:
            name += f" [{self.status}]"
        place = " > ".join(filter(None, [name, *headings]))
        if self.part:
            place += f" [{self.part}]"
        return f"{place} ({self.about})" if self.about else place


class Quote(BaseModel):
    """An item that supports a claim, by its number from 1; of a passage also the words, verbatim."""

    item: int
    words: str = ""

    @model_validator(mode="before")
    @classmethod
    def _read_number(cls, given: Any) -> Any:
        """Return the fields of a quote; a number alone, as models write for an item without words, is its item."""
        return {"item": given} if isinstance(given, int | str) else given


class Claim(BaseModel):
    """One sentence of an answer with its quotes; `unstated`: the link of an inferred claim that the evidence lacks."""

    text: str
    quotes: list[Quote] = Field(default_factory=list)
    unstated: str = ""


class DraftAnswer(BaseModel):
    """A reasoner's answer before its quotes are checked against the sources."""

    thought: str = ""  # which weighs the evidence first
    answerable: bool
    claims: list[Claim] = Field(default_factory=list)
    short: str = ""  # the answer in the fewest words ("Warsaw"), or empty if it needs sentences
    confidence: float = Field(default=1.0, ge=0, le=1)  # the probability that it is right


class QuotedDraft(DraftAnswer):
    """A draft in the documents' words: its claims are quotes from passages or cells of tables, not sentences."""

    quoted: Literal[True] = True  # tells such a draft from another as plain data, as it is in the graph's state
    asks_back: str = ""  # what to ask the user instead, as nothing says what a pronoun of the question means


class AnswerRow(Frozen):
    """A line of the graph that supports an answer: a fact, or a row of a table."""

    text: str = Field(description="the line as it was read")
    cells: tuple[str, ...] = Field(description="head, relation, tail and time of a single fact; else empty")
    documents: tuple[str, ...] = Field(description="the ids of the documents that state it")


class StructuredAnswer(Frozen):
    """A checked answer as data, for agents that read `structured_response`; its quotes are in their documents."""

    answer: str = Field(description="with [1], [2] behind each claim, a claim a line")
    abstained: bool = Field(description="whether the documents do not answer the question")
    short: str = Field(default="", description="the answer in the fewest words, where it has such")
    grade: Grade = Field(default="none", description="found (passages alone), stated, inferred (the answer says which "
                                                     "link is not stated), or none: that of its least supported claim")
    citations: tuple[Citation, ...] = ()
    rows: tuple[AnswerRow, ...] = Field(default=(), description="facts and rows of tables that the answer rests on")


class Answer(StructuredAnswer):
    """The checked answer with the probability that the passages answer the question, which an abstention has, too."""

    confidence: float = 0.0


class CommunityDigest(Frozen):
    """The input for summarising a community: its keywords and strongest facts, each once."""

    keywords: tuple[str, ...]
    facts: tuple[str, ...]
    connections: tuple[str, ...] = ()  # facts that lead to other communities
    kind: str = ""  # the type of most keywords

    @property
    def statements(self) -> tuple[str, ...]:
        """All facts, in the order in which a reasoner reads them."""
        return (*self.facts, *self.connections)

    @property
    def texts(self) -> tuple[str, ...]:
        """All that a reasoner reads."""
        return (*self.keywords, *self.statements)


class CommunitySummary(BaseModel):
    """A community's name and description."""

    name: str
    summary: str
    shown: tuple[str, ...] = ()
    """The names and statements of all communities of the call that made it; empty if it had this one alone."""
