"""What passes between the nodes of the retrieval graph: sub-queries, evidence, reflection, answer."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from .documents import Citation, Frozen

Route = Literal["entity", "triple", "community", "dfs"]
ROUTES: tuple[Route, ...] = ("entity", "triple", "community", "dfs")
Mode = Literal["reject", "open"]


class SubQuery(Frozen):
    """One atomic question with the schema elements it uses and the routes it should take.

    `question` may hold `#1`, `#2`, ... for the answers of earlier sub-queries (from 1).
    """

    question: str = Field(min_length=1)
    entity_types: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    routes: tuple[Route, ...] = ROUTES


class Evidence(Frozen):
    """Something a route found.

    `chunk_ids` are the chunks that support it, `entity_ids` the entities it is about, `score` lies
    in 0..1 within its route, and `path` says for people how it was reached.
    """

    route: Route
    text: str
    score: float
    chunk_ids: tuple[str, ...] = ()
    entity_ids: tuple[str, ...] = ()
    path: tuple[str, ...] = ()


class Passage(Frozen):
    """A chunk as the reasoner sees it when it reflects and answers; offsets in the document."""

    chunk_id: str
    document: str
    title: str
    text: str
    start: int
    score: float


class SubAnswer(Frozen):
    """A sub-query and what was found for it; `answer` is empty where nothing was."""

    question: str
    answer: str = ""


class Reflection(BaseModel):
    """Whether the evidence suffices, and if not, what to look for next."""

    model_config = ConfigDict(extra="ignore")

    sufficient: bool
    missing: str = ""
    sub_answers: list[SubAnswer] = Field(default_factory=list)
    sub_queries: list[SubQuery] = Field(default_factory=list)


class Claim(BaseModel):
    """One sentence of an answer with the quotes that support it."""

    model_config = ConfigDict(extra="ignore")

    text: str
    quotes: list["Quote"] = Field(default_factory=list)


class Quote(BaseModel):
    """Words of a passage, verbatim. `passage` counts from 1 in the order they were given."""

    model_config = ConfigDict(extra="ignore")

    passage: int
    words: str


class DraftAnswer(BaseModel):
    """What a reasoner answers, before its quotes are checked against the sources."""

    model_config = ConfigDict(extra="ignore")

    answerable: bool
    claims: list[Claim] = Field(default_factory=list)
    confidence: float = Field(default=1.0, ge=0, le=1)


class Answer(Frozen):
    """The checked answer: every citation's quote stands in its document."""

    answer: str
    abstained: bool
    citations: tuple[Citation, ...] = ()
    sub_queries: tuple[str, ...] = ()
    iterations: int = 0


class CommunityDigest(Frozen):
    """What a reasoner reads to name and summarise a community: its keywords and strongest facts."""

    keywords: tuple[str, ...]
    facts: tuple[str, ...]


class CommunitySummary(BaseModel):
    """A community's name and description."""

    model_config = ConfigDict(extra="ignore")

    name: str
    summary: str


Claim.model_rebuild()
