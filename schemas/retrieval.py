"""The values passed between the nodes of the retrieval graph: sub-queries, evidence, reflection, answer."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from .documents import Citation, Frozen

Route = Literal["entity", "triple", "community", "dfs"]
ROUTES: tuple[Route, ...] = ("entity", "triple", "community", "dfs")
"""The routes of retrieval; CONTRIBUTING.md says how to add one."""
Mode = Literal["reject", "open"]


class Switches(Frozen):
    """The parts of retrieval that are on; by default all of them.

    `dense` and `lexical` are the chunks' own scores by vector and by words. `spreading` is the walk over the
    entity-chunk graph; without it, seeds only weigh the passages that mention them. `beta` is a fixed share of the
    graph routes; None means that the question decides (UniAI-GraphRAG eq. 9).
    """

    routes: tuple[Route, ...] = ROUTES
    dense: bool = True
    lexical: bool = True
    spreading: bool = True
    beta: float | None = Field(default=None, ge=0, le=1)


EVERYTHING = Switches()


class SubQuery(Frozen):
    """One atomic question with its schema elements and routes.

    `question` may refer to the answers of earlier sub-queries (`schemas/references.py`). `follows` are the numbers of
    those sub-queries, from 0 among all that are searched; until their answers are known, their findings replace them.
    """

    question: str = Field(min_length=1)
    entity_types: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    routes: tuple[Route, ...] = ROUTES
    follows: tuple[int, ...] = ()


class Evidence(Frozen):
    """A finding of a route.

    `chunk_ids` are the chunks that support it, and `entity_ids` are the entities that it is about. `score` is between 0
    and 1 within its route. `path` describes for people how it was reached. `community_id` is set if the evidence is a
    community as a whole.
    """

    route: Route
    text: str
    score: float
    chunk_ids: tuple[str, ...] = ()
    entity_ids: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    community_id: str = ""


class TypedFact(Frozen):
    """A date or number of an entity in the graph that a passage states.

    `entities` are the entity's names, `asked_by` are the names and cue words of the attribute, `value` is the wording
    of the source, and `normal` is its normal form. `start` and `end` are the place in the chunk.
    """

    entities: tuple[str, ...]
    asked_by: tuple[str, ...]
    value: str
    normal: str
    start: int
    end: int


class Passage(Frozen):
    """A chunk as the reasoner sees it when it reflects and answers, with offsets in the document.

    `about` is the document's metadata: author, date, source. `facts` are the typed values in the graph from this chunk.
    With a `statement`, it is a fact of the graph or a report instead of a passage: the reasoner reads the statement,
    and `text` is the part of the source that supports it.
    """

    chunk_id: str
    document: str
    title: str
    text: str
    start: int
    score: float
    facts: tuple[TypedFact, ...] = ()
    statement: str = ""
    about: str = ""

    @property
    def header(self) -> str:
        """The line above its text in a prompt."""
        return f"{self.title} ({self.about})" if self.about else self.title


class SubAnswer(Frozen):
    """A sub-query and its answer; `answer` is empty if none was found.

    `missing` is what the last reflection missed.
    """

    question: str
    answer: str = ""
    missing: str = ""


class Quote(BaseModel):
    """Words of a passage, verbatim. `passage` counts from 1 in the given order."""

    model_config = ConfigDict(extra="ignore")

    passage: int
    words: str


class Claim(BaseModel):
    """One sentence of an answer with the quotes that support it."""

    model_config = ConfigDict(extra="ignore")

    text: str
    quotes: list[Quote] = Field(default_factory=list)


class DraftAnswer(BaseModel):
    """A reasoner's answer before its quotes are checked against the sources.

    `answerable` is True if the passages contain an answer. `confidence` is the probability that the answer is right;
    the caller decides whether to show it. `short` is the answer in the fewest words ("Warsaw"), or empty if it needs
    sentences. `thought` weighs the evidence first.
    """

    model_config = ConfigDict(extra="ignore")

    thought: str = ""
    answerable: bool
    claims: list[Claim] = Field(default_factory=list)
    short: str = ""
    confidence: float = Field(default=1.0, ge=0, le=1)


class Reflection(BaseModel):
    """A judgement whether the evidence suffices: if so the answer, if not what to search for next.

    `draft` is the answer that the same call gave, or None to ask `Reasoner.answer`. `keep` lists the numbers, from 1,
    of the items that an answer will need: they are shown again beside what is found next.
    """

    model_config = ConfigDict(extra="ignore")

    sufficient: bool
    missing: str = ""
    sub_answers: list[SubAnswer] = Field(default_factory=list)
    sub_queries: list[SubQuery] = Field(default_factory=list)
    draft: DraftAnswer | None = None
    keep: list[int] = Field(default_factory=list)


class QuotedDraft(DraftAnswer):
    """A draft in the documents' words: its claims are quotes from passages or cells of tables, not sentences."""


class Answer(Frozen):
    """The checked answer: every citation's quote is in its document.

    `confidence` is the probability that the passages answer the question, or 0 without an answer; an answer that
    abstains has it too. `short` is as in `DraftAnswer`.
    """

    answer: str
    abstained: bool
    confidence: float = 0.0
    short: str = ""
    citations: tuple[Citation, ...] = ()
    sub_queries: tuple[str, ...] = ()
    iterations: int = 0


class CommunityDigest(Frozen):
    """The input for naming and summarising a community: its keywords and strongest facts, none of them twice.

    `connections` are facts that lead to other communities; `kind` is the entity type of most keywords.
    """

    keywords: tuple[str, ...]
    facts: tuple[str, ...]
    connections: tuple[str, ...] = ()
    kind: str = ""

    @property
    def statements(self) -> tuple[str, ...]:
        """All facts, in the order in which a reasoner reads them."""
        return (*self.facts, *self.connections)


class CommunitySummary(BaseModel):
    """A community's name and description."""

    model_config = ConfigDict(extra="ignore")

    name: str
    summary: str
