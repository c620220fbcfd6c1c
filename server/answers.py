"""What the REST API answers: the models from which its description is made."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from ..agents.construction.state import BuildReport
from ..graph_store.integrity.status import Status
from ..schemas.delta import Candidate
from ..schemas.documents import Citation


class ErrorDetail(BaseModel):
    """What went wrong."""

    type: str
    message: str
    request_id: str = ""


class ErrorBody(BaseModel):
    """Every answer with a status from 400 on."""

    error: ErrorDetail


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Ready(BaseModel):
    """The models are loaded."""

    status: Literal["ready"] = "ready"
    reasoner: Literal["rules", "llm"]
    embedding: str


class KnowledgeBaseEntry(BaseModel):
    """A knowledge base in numbers."""

    name: str
    documents: int
    chunks: int
    entities: int
    triples: int
    communities: int
    schema_version: int
    building: str | None = Field(description="id of the build that is not over")
    problem: str | None = Field(default=None, description="why it cannot be opened; its numbers are then 0")


class KnowledgeBases(BaseModel):
    """All knowledge bases, by name."""

    items: list[KnowledgeBaseEntry]


class KnowledgeBaseStatus(Status):
    """A knowledge base in all numbers, as `banyan status` reports it."""

    building: str | None = Field(description="id of the build that is not over")


class DocumentItem(BaseModel):
    """A document without its text."""

    id: str
    title: str
    characters: int
    chunks: int
    failed: int
    added_at: str


class DocumentPage(BaseModel):
    """Some documents, of `total` that were looked for."""

    total: int
    items: list[DocumentItem]


class DocumentText(BaseModel):
    """A part of a document: `text` is its characters `start` to `end`, of `characters` in all."""

    id: str
    title: str
    text: str
    start: int
    end: int
    characters: int


class AskAnswer(BaseModel):
    """An answer with its citations."""

    answer: str
    abstained: bool
    confidence: float
    short: str
    citations: list[Citation]
    sub_queries: list[str]
    iterations: int
    trace: list[dict[str, Any]] | None = None


class Message(BaseModel):
    """A turn of a conversation."""

    role: Literal["user", "assistant"]
    content: str


class Conversation(BaseModel):
    """A conversation, oldest turn first."""

    messages: list[Message]


class BuildProgress(BaseModel):
    """How far a build is."""

    step: str
    done: int
    total: int | None


class BuildError(BaseModel):
    """Why a build failed."""

    type: str
    message: str


class BuildReview(BaseModel):
    """What a build waits for a person to decide on."""

    candidates: list[Candidate]
    error: str = Field(default="", description="why the decisions before could not be carried out")


BuildStateName = Literal["queued", "running", "waiting", "done", "failed", "cancelled"]


class Build(BaseModel):
    """A build and how it stands."""

    id: str
    kb: str
    state: BuildStateName
    progress: BuildProgress
    report: BuildReport | None = None
    error: BuildError | None = None
    review: BuildReview | None = None
    created_at: str
    files: list[str]


class Builds(BaseModel):
    """Builds, newest first."""

    items: list[Build]
