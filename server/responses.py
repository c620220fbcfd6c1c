"""The responses, streams and shared parameters of the REST API, from whose models its description is generated."""

import json
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Annotated, Any, Generic, Literal, TypeVar, cast

import anyio
from fastapi import Path, Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from ..agents.construction.state import BuildReport
from ..api.python_results import Fact, Source
from ..graph_store.integrity.status import Status
from ..schemas.delta import Candidate, Decided, Decision
from ..schemas.graph_schema import GraphSchema
from ..schemas.retrieval import AnswerRow
from ..subagent.tool_answers import AskResult, DocumentLine, DocumentText
from ..text.times import read_day

_T = TypeVar("_T")
_SEND_TIMEOUT = 60.0
"""Seconds after which a client that reads nothing is disconnected."""
_FAREWELL = 3.0
"""Seconds that a stream has to end when the server stops; fewer than open requests have (cli/commands/serve.py)."""


class Body(BaseModel):
    """The body of a request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Items(BaseModel, Generic[_T]):
    """A complete list."""

    items: list[_T]


class Page(Items[_T], Generic[_T]):
    """A part of the `total` matching items."""

    total: int


class ErrorDetail(BaseModel):
    """The kind of error and its message."""

    type: str
    message: str
    request_id: str = ""


class ErrorBody(BaseModel):
    """The body of every response with a status of 400 or more."""

    error: ErrorDetail


class Ready(BaseModel):
    """The models are loaded."""

    status: Literal["ready"] = "ready"
    reasoner: Literal["rules", "llm"]
    embedding: str


class LocalCommand(BaseModel):
    """How programs on the server's machine start Banyan; empty for clients with a key, who may be elsewhere."""

    command: str = Field(description="the absolute path of `banyan`")
    home: str = Field(description="the home folder, for BANYAN_HOME")


class KnowledgeBaseEntry(BaseModel):
    """A knowledge base with its counts."""

    name: str
    documents: int = 0
    chunks: int = 0
    entities: int = 0
    triples: int = 0
    communities: int = 0
    schema_version: int = 0
    building: str | None = Field(description="id of the build that has not ended")
    problem: str | None = Field(default=None, description="why it cannot be opened; its counts are then 0")


class KnowledgeBaseStatus(Status):
    """A knowledge base with all counts, as `banyan status` reports them."""

    building: str | None = Field(description="id of the build that has not ended")


class ShownDocument(DocumentText):
    """A part of a document's text, for a reader that shows pages beside it."""

    drawn: bool = Field(default=False, description="whether its pages can be drawn, from a PDF file")


class DocumentItem(DocumentLine):
    """A document without its text."""

    chunks: int
    failed: int
    added_at: str


class AskAnswer(AskResult):
    """An answer with its citations."""

    rows: list[AnswerRow] = Field(default=[], description="facts and rows of tables that the answer rests on")
    trace: list[dict[str, Any]] | None = None
    turn: int | None = Field(default=None, description="its number in the conversation, if it is in one")


class Message(BaseModel):
    """A turn of a conversation."""

    role: Literal["user", "assistant"]
    content: str


class ConversationTurn(BaseModel):
    """A question with the answer that was given."""

    number: int
    asked_at: str
    question: str
    documents: list[str] = Field(default=[], description="the documents that the question was limited to; empty: all")
    where: dict[str, str] = Field(default={}, description="their metadata; empty: any")
    answer: AskAnswer
    rating: int = Field(description="1: good, -1: bad, 0: not rated")


class StoredConversation(BaseModel):
    """A conversation, oldest turn first."""

    title: str = ""
    link: str | None = Field(default=None, description="the part of its link that identifies it; none: not shared")
    messages: list[Message]
    turns: list[ConversationTurn] = Field(default=[], description="with citations and trace, if requested")


class ConversationItem(BaseModel):
    """A conversation in a list."""

    name: str = Field(description="the name of its thread")
    title: str
    link: str | None
    started_at: str
    used_at: str


class SharedConversation(BaseModel):
    """A conversation read through its link."""

    kb: str
    title: str
    turns: list[ConversationTurn]


class BuildProgress(BaseModel):
    """The progress of a build."""

    step: str
    done: int
    total: int | None
    file: str = Field(default="", description="the file that is being read")


class BuildError(BaseModel):
    """Why a build failed."""

    type: str
    message: str


class BuildReview(BaseModel):
    """The decisions that a build waits for."""

    candidates: list[Candidate]
    error: str = Field(default="", description="why the previous decisions could not be applied")


BuildStateName = Literal["queued", "running", "waiting", "done", "failed", "cancelled"]


class Build(BaseModel):
    """A build and its state."""

    id: str
    kb: str
    state: BuildStateName
    progress: BuildProgress
    report: BuildReport | None = None
    error: BuildError | None = None
    review: BuildReview | None = None
    created_at: str
    files: list[str]


class Node(BaseModel):
    """An entity in a drawing."""

    id: str
    name: str
    type: str
    degree: int
    support: int = Field(default=0, description="the number of documents that mention it")
    community: str | None = Field(description="id of its finest community")


class Edge(BaseModel):
    """A fact in a drawing, or a link between entities that sentences name together, which has no relation."""

    id: str
    source: str
    target: str
    relation: str
    kind: Literal["fact", "sentence"] = "fact"
    start: str = Field(default="", description="the date from which the fact holds; empty: not known")
    end: str = Field(default="", description="the last date, or that from which a later fact holds")


class Subgraph(BaseModel):
    """Entities and what links them; `total` counts the entities of all pages."""

    nodes: list[Node]
    edges: list[Edge]
    total: int
    communities: dict[str, str] = Field(default={}, description="the names of the entities' communities, by id")


class Count(BaseModel):
    """A name and its number of occurrences."""

    name: str
    count: int


class GraphTypes(BaseModel):
    """Entity types and relations, the most frequent first."""

    entity_types: list[Count]
    relations: list[Count]


class Together(BaseModel):
    """An entity that sentences name together with another one; that is a link, and no fact."""

    entity: Node
    evidence: list[Source]


class EntityAnswer(Node):
    """An entity with its names, attributes, documents and first 50 facts."""

    aliases: list[str]
    attributes: dict[str, list[str]]
    times: dict[str, dict[str, str]] = Field(description="when values hold, by attribute and value")
    documents: list[str]
    facts: tuple[Fact, ...]
    together: list[Together] = Field(description="entities that sentences name with it, without a fact between them")


class CommunityItem(BaseModel):
    """A community of the tree; level 0 is the finest."""

    id: str
    name: str
    summary: str
    size: int
    cohesion: float
    level: int
    keywords: list[str]
    parent: str | None


class Tree(Page[CommunityItem]):
    """Some communities, of `total` that match."""

    levels: int


class CommunityAnswer(CommunityItem):
    """A community with some of its `total` members, the most important first."""

    members: list[Node]
    total: int


class SchemaAnswer(BaseModel):
    """The schema in force."""

    version: int
    graph_schema: GraphSchema = Field(serialization_alias="schema")


class SchemaChange(BaseModel):
    """A version of the schema, and the decisions that led to it."""

    version: int
    decisions: list[Decided]
    who: str
    decided_at: str


class Decisions(Body):
    """A person's decisions."""

    decisions: list[Decision] = Field(max_length=1000, description="empty: all candidates stay pending")
    who: str = Field(min_length=1, max_length=100)


# Checked again, more strictly, where it becomes a folder's name (graph_store/layout.py).
KbName = Annotated[str, Path(pattern=r"^[^\W_]([\w-]{0,62}[^\W_])?$", description="the knowledge base's name")]
KbNames = Annotated[str, Path(pattern=r"^[^\W_][\w,-]*$", max_length=400, description="the knowledge base's name, or "
                              "several with commas between, which are read as one")]
BuildId = Annotated[str, Path(pattern=r"^[A-Za-z0-9.-]{1,64}$", description="the build's id")]
Limit = Annotated[int, Query(ge=1, le=500, description="the maximum number of items")]
Offset = Annotated[int, Query(ge=0, le=2**31, description="the number of items to skip")]
DocumentId = Annotated[str, Query(alias="id", min_length=1, max_length=1000, description="the document's id")]
NodeId = Annotated[str, Query(alias="id", min_length=1, max_length=100)]
TypeName = Annotated[str, Query(alias="type", max_length=200, description="only of this type")]


def _check_date(text: str) -> str:
    if text:
        read_day(text)
    return text


At = Annotated[str, Query(max_length=50, description="only facts that hold at this date: a year, a month or a day"),
               AfterValidator(_check_date)]
_MEANING = {400: "the request cannot be read", 401: "no key, or an unknown one", 403: "the key lacks the scope",
            404: "there is nothing of that name", 409: "not possible in this state", 413: "too large",
            422: "a value is not allowed", 429: "too many requests", 503: "not ready, or too busy",
            504: "not answered in time"}
_ALWAYS = (400, 401, 403, 422, 429, 503)


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe a route's errors, by HTTP status: these, and those that every route has."""
    return {status: {"model": ErrorBody, "description": _MEANING[status]} for status in sorted({*_ALWAYS, *statuses})}


def event(name: str, data: Any) -> ServerSentEvent:
    """Return a server-sent event whose data is a value as JSON."""
    return ServerSentEvent(json.dumps(data, ensure_ascii=False), event=name)


def event_stream(events: AsyncIterator[ServerSentEvent], stop: Callable[[], None] | None = None) -> EventSourceResponse:
    """Return a response that sends events as they occur, and closes the iterator when the client disconnects.

    When the server stops, `stop` is called, to make the events end by themselves within `_FAREWELL` seconds; without
    it the stream is cut off at once.
    """
    # The library sets an event when the server stops; an object whose `set` calls `stop` takes the event's place.
    shutdown_event = cast("anyio.Event", SimpleNamespace(set=stop)) if stop else None
    return EventSourceResponse(events, send_timeout=_SEND_TIMEOUT, shutdown_event=shutdown_event,
                               shutdown_grace_period=_FAREWELL if stop else 0)
