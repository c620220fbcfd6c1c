"""What passes between the nodes of the retrieval graph: sub-queries, evidence, reflection, answer."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from .documents import Citation, Frozen

Route = Literal["entity", "triple", "community", "dfs"]
ROUTES: tuple[Route, ...] = ("entity", "triple", "community", "dfs")
Mode = Literal["reject", "open"]


class Switches(Frozen):
    """What is on in retrieval; by default everything.

    `dense` and `lexical` are the chunks' own scores by vector and by words, `spreading` the walk over
    the entity-chunk graph (off: seeds weigh the passages that mention them and no others), and `beta`
    a fixed share of the graph routes (None: by the question, UniAI-GraphRAG eq. 9).
    """

    routes: tuple[Route, ...] = ROUTES
    dense: bool = True
    lexical: bool = True
    spreading: bool = True
    beta: float | None = Field(default=None, ge=0, le=1)


EVERYTHING = Switches()


class SubQuery(Frozen):
    """One atomic question with the schema elements it uses and the routes it should take.

    `question` may refer to the answers of earlier sub-queries (`schemas/references.py`). `follows` are the
    numbers (from 0, among all that are searched) of those sub-queries: what is found for them stands in
    for their answers while these are not known.
    """

    question: str = Field(min_length=1)
    entity_types: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    routes: tuple[Route, ...] = ROUTES
    follows: tuple[int, ...] = ()


class Evidence(Frozen):
    """Something a route found.

    `chunk_ids` are the chunks that support it, `entity_ids` the entities it is about, `score` lies
    in 0..1 within its route, `path` says for people how it was reached, and `community_id` is set where
    the evidence is a community as a whole.
    """

    route: Route
    text: str
    score: float
    chunk_ids: tuple[str, ...] = ()
    entity_ids: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    community_id: str = ""


class TypedFact(Frozen):
    """A date or number that the graph has of an entity, stated in a passage.

    `entities` are the entity's names, `asked_by` the names and cue words of the attribute, `value` the
    source's words, `normal` their normal form; `start` and `end` are where the chunk states it.
    """

    entities: tuple[str, ...]
    asked_by: tuple[str, ...]
    value: str
    normal: str
    start: int
    end: int


class Passage(Frozen):
    """A chunk as the reasoner sees it when it reflects and answers; offsets in the document.

    `about` is what its document says of itself: author, date, source. `facts` are the typed values that the graph has
    from this chunk. With a `statement` it is no passage but a fact of the graph or a report: the reasoner reads the
    statement, and `text` is the stretch of the source that supports it.
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
        """What stands above its text in a prompt."""
        return f"{self.title} ({self.about})" if self.about else self.title


class SubAnswer(Frozen):
    """A sub-query and what was found for it; `answer` is empty where nothing was.

    `missing` is what the last reflection missed.
    """

    question: str
    answer: str = ""
    missing: str = ""


class Quote(BaseModel):
    """Words of a passage, verbatim. `passage` counts from 1 in the order they were given."""

    model_config = ConfigDict(extra="ignore")

    passage: int
    words: str


class Claim(BaseModel):
    """One sentence of an answer with the quotes that support it."""

    model_config = ConfigDict(extra="ignore")

    text: str
    quotes: list[Quote] = Field(default_factory=list)


class DraftAnswer(BaseModel):
    """What a reasoner answers, before its quotes are checked against the sources.

    `answerable` says whether the passages hold anything to answer with, `confidence` how likely the
    answer is right: whether it is shown is for the caller to decide. `short` is the answer itself in
    the fewest words ("Warsaw"), empty where it takes sentences. `thought` weighs the evidence first.
    """

    model_config = ConfigDict(extra="ignore")

    thought: str = ""
    answerable: bool
    claims: list[Claim] = Field(default_factory=list)
    confidence: float = Field(default=1.0, ge=0, le=1)
    short: str = ""


class Reflection(BaseModel):
    """Whether the evidence suffices: if so the answer, if not what to look for next.

    `draft` is the answer that the same call gave; None: `Reasoner.answer` is to be asked. `keep` are the numbers, from
    1, of the items that an answer will need: they are shown again beside what is found next.
    """

    model_config = ConfigDict(extra="ignore")

    sufficient: bool
    missing: str = ""
    sub_answers: list[SubAnswer] = Field(default_factory=list)
    sub_queries: list[SubQuery] = Field(default_factory=list)
    draft: DraftAnswer | None = None
    keep: list[int] = Field(default_factory=list)


class QuotedDraft(DraftAnswer):
    """A draft whose claims are quotes that were found, not sentences that were written."""


class Answer(Frozen):
    """The checked answer: every citation's quote stands in its document.

    `confidence` is the chance that the passages answer the question, 0 where nothing does; an answer
    that abstains carries it too. `short` is as in `DraftAnswer`.
    """

    answer: str
    abstained: bool
    confidence: float = 0.0
    short: str = ""
    citations: tuple[Citation, ...] = ()
    sub_queries: tuple[str, ...] = ()
    iterations: int = 0


class CommunityDigest(Frozen):
    """What a reasoner reads to name and summarise a community: its keywords and strongest facts.

    `kind` is the entity type of most of its keywords.
    """

    keywords: tuple[str, ...]
    facts: tuple[str, ...]
    kind: str = ""


class CommunitySummary(BaseModel):
    """A community's name and description."""

    model_config = ConfigDict(extra="ignore")

    name: str
    summary: str
