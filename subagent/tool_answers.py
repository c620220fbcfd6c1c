"""The inputs and outputs of Banyan's tools, with the descriptions that agents see."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from ..schemas.delta import Candidate
from ..schemas.documents import Citation, Frozen
from ..schemas.records import TableInfo
from ..schemas.retrieval import Grade


class RetrievedPassage(Frozen):
    """A passage of a document: `text` is the document from character `start` to `end`."""

    document: str = Field(description="the document's id")
    title: str
    start: int
    end: int
    text: str
    score: float = Field(description="weight for this query; higher is better")


class SearchResult(Frozen):
    """The result of a search, best passages first."""

    passages: tuple[RetrievedPassage, ...]


class AskResult(BaseModel, frozen=True):
    """An answer in which every citation was found in its source."""

    answer: str = Field(description="with [1], [2] behind each claim, a claim a line")
    abstained: bool = Field(description="whether the documents do not answer the question")
    confidence: float = Field(description="the chance that the passages answer the question, 0 to 1")
    short: str = Field(description="the answer in the fewest words, where it has such")
    grade: Grade = Field(default="none", description="found (passages alone), stated, inferred (the answer says which "
                                                     "link is not stated), or none")
    citations: tuple[Citation, ...]
    sub_queries: tuple[str, ...] = Field(description="the question, and what was looked up for it")
    iterations: int = Field(description="rounds: the first look, and those of lookups")


class KnowledgeBases(Frozen):
    """All knowledge bases."""

    names: tuple[str, ...]
    default: str = Field(description="used where a call names none; empty: the only one, if there is one")


class DocumentLine(Frozen):
    """A document of a knowledge base, without its text."""

    id: str
    title: str
    characters: int


class DocumentList(Frozen):
    """Some of a knowledge base's documents, by id."""

    total: int
    documents: tuple[DocumentLine, ...]


class TableList(Frozen):
    """Some of the tables that SQL can read."""

    total: int
    tables: tuple[TableInfo, ...]


class DocumentText(Frozen):
    """A part of a document's text."""

    id: str
    title: str
    start: int
    end: int
    characters: int = Field(description="length of the whole text")
    text: str = Field(description="characters `start` to `end`")
    pages: list[int] = Field(default=[], description="of a printed work: where each page of the whole begins")


class AddedDocument(Frozen):
    """What a knowledge base holds after a document was added."""

    knowledge_base: str
    document: str
    documents: int
    chunks: int
    chunks_failed: int = Field(description="passages whose extraction failed")
    entities: int
    triples: int
    schema_version: int
    stopped: str = Field(description="why the build stopped before its end; empty: it did not")


class SchemaInForce(BaseModel, frozen=True, populate_by_name=True):
    """The schema of a knowledge base."""

    version: int
    graph_schema: dict[str, Any] = Field(
        alias="schema", description="entity types, relations with domain and range, attributes")


class Candidates(Frozen):
    """Elements that documents use and the schema lacks, strongest first."""

    total: int
    candidates: tuple[Candidate, ...]


class SchemaDecided(Frozen):
    """The result of decisions on a schema."""

    version: int
    changed: bool


DocumentId = Annotated[str, Field(min_length=1, max_length=1000)]
