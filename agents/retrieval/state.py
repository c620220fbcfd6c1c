"""What goes into the retrieval graph, what comes out, and what passes between its nodes."""

from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict

from ...schemas.documents import Frozen
from ...schemas.errors import BanyanError
from ...schemas.retrieval import ROUTES, DraftAnswer, Evidence, Mode, Passage, Route, SubAnswer, SubQuery, Switches
from ...schemas.scope import Scope
from ..model_choice import AskStep

MAX_QUESTION = 10_000
MAX_EARLIER = 20_000
"""Characters of the conversation before a question that are read, the newest: some ten turns, and what a follow-up
refers to is in the last ones."""


class QuestionError(BanyanError):
    """A question that cannot be asked: empty or too long."""


@dataclass(kw_only=True)
class AskContext:
    """How a question is to be answered."""

    knowledge_base: str = field(default="", metadata={"description": "the knowledge base's name, where the input "
                                                      "names none"})
    documents: tuple[str, ...] = field(default=(), metadata={"description": "ids, titles or paths of the documents to "
                                                             "answer from, or patterns such as `reports/*.pdf`; none: "
                                                             "all"})
    where: dict[str, str] = field(default_factory=dict, metadata={"description": "metadata of the documents to answer "
                                  "from, as {key: value or pattern}"})
    mode: Mode = field(default="reject", metadata={"description": "reject: abstain without evidence; open: own "
                                                   "knowledge allowed, and marked"})
    agent: bool = field(default=True, metadata={"description": "judge the evidence and search again for what is "
                                                   "missing; else one round"})
    decompose: bool = field(default=True, metadata={"description": "split the question into sub-queries"})
    routes: tuple[Route, ...] = field(default=ROUTES, metadata={"description": "routes switched on"})
    dense: bool = field(default=True, metadata={"description": "passages are also found by their vectors"})
    lexical: bool = field(default=True, metadata={"description": "passages are also found by their words"})
    spreading: bool = field(default=True, metadata={"description": "evidence reaches what it is connected to"})
    beta: float | None = field(default=None, metadata={"description": "share of the graph routes against communities, "
                                                       "0 to 1; none: by the question"})
    abstain_below: float | None = field(default=None, metadata={"description": "confidence below which mode reject "
                                                                "abstains; none: as set"})
    max_rounds: int | None = field(default=None, metadata={"description": "cap on rounds of retrieval; none: as set, "
                                                             "and through a server at most that, as for the others"})
    max_sub_queries: int | None = field(default=None, metadata={"description": "cap on sub-queries of a round; none: "
                                                                  "as set"})
    max_sub_queries_in_all: int | None = field(default=None, metadata={"description": "cap on sub-queries of all "
                                                                         "rounds, the question among them"})
    max_tool_calls: int | None = field(default=None, metadata={"description": "cap on searches over all rounds; one "
                                                                 "search is one sub-query along one route"})
    models: dict[AskStep, str] = field(default_factory=dict, metadata={"description": "steps that another LLM than the "
                                       "configured one is to do; through a server, one that it offers"})
    instructions: str = field(default="", metadata={"description": "how a model is to word the answer: tone, length, "
                              "format, language; beside the knowledge base's own instructions"})
    trace: bool = field(default=False, metadata={"description": "answer with every step taken, in short texts"})

    @property
    def scope(self) -> Scope:
        """The documents that the question is limited to."""
        return Scope.of(self.documents, self.where)

    @property
    def switches(self) -> Switches:
        """What is on in retrieval."""
        return Switches(routes=self.routes, dense=self.dense, lexical=self.lexical, spreading=self.spreading,
                        beta=self.beta)


class AskInput(TypedDict, total=False):
    """What is asked: a question, or a conversation that ends with one."""

    knowledge_base: Annotated[str, Field(description="the knowledge base's name; left out: the context's")]
    question: Annotated[str, Field(description="the question, where no messages are given")]
    messages: Annotated[list[AnyMessage], Field(description=(
        "a conversation that ends with the question; follow-ups are understood from what was said before")),
        add_messages]


class AskOutput(TypedDict, total=False):
    """The answer."""

    answer: Annotated[str, Field(description="the answer, with [1], [2], ... where it cites")]
    abstained: Annotated[bool, Field(description="whether the documents do not answer the question")]
    confidence: Annotated[float, Field(description=(
        "the chance that the passages answer the question, 0 to 1; an answer that abstains has one too"))]
    short: Annotated[str, Field(description="the answer in the fewest words, where it has such")]
    citations: Annotated[list[dict[str, Any]], Field(description=(
        "{id, document, start, end, quote}: `quote` stands in the document at these characters"))]
    sub_queries: Annotated[list[str], Field(description="what was searched for")]
    iterations: Annotated[int, Field(description="rounds of retrieval")]
    messages: Annotated[list[AnyMessage], Field(description="the conversation with the answer"), add_messages]
    trace: Annotated[list[dict[str, Any]], Field(description="every step, where the context asks for it")]


class Found(Frozen):
    """What one route found for one sub-query."""

    number: int
    route: Route
    evidence: tuple[Evidence, ...]


_T = TypeVar("_T")


def _gather(old: list[_T], new: list[_T]) -> list[_T]:
    """Add up what parallel searches found; an empty update begins a new question."""
    return [*old, *new] if new else []


def _append_steps(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add steps; the step "question" begins a new trace."""
    return new if new and new[0]["step"] == "question" else [*old, *new]


class AskState(AskInput, AskOutput, total=False):
    """What passes between the nodes. Sub-queries are numbered over all rounds from 0."""

    revision: str
    """Which state of the knowledge base the question is answered from; see `question_states`."""
    scope: Scope
    """Which of its documents."""
    respelt: list[tuple[str, str]]
    """Words of the question that were taken for others, as (asked, meant)."""
    hinted: bool
    """Whether the conversation was already informed that a model would help."""
    asked: list[SubQuery]
    """All sub-queries so far, in the words in which they were searched."""
    history: list[SubAnswer]
    """Sub-queries as asked of the reasoner, with the answers found."""
    planned: list[SubQuery]
    """The same sub-queries in the same order; some wait for answers of others."""
    round_start: int
    """The number of the first sub-query of the current round."""
    searches: list[tuple[int, Route]]
    """What the current round searches: a sub-query's number and a route."""
    found: Annotated[list[Found], _gather]
    surveyed: Annotated[list[Passage], _gather]
    """What reports say to a question about the whole corpus."""
    ranking: list[tuple[str, float]]
    """The best chunks for all sub-queries as (id, weight), best first."""
    followed: list[tuple[str, float]]
    """The best chunks for the sub-queries of the current round alone, where a model has read those of earlier ones."""
    fused: int
    """The last round whose evidence is ranked."""
    shown: list[Passage]
    """The items of the last prompt; empty where new ones were searched since."""
    seen: list[str]
    """The keys of all items shown so far."""
    kept: list[Passage]
    """The items that the last reflection relied on."""
    draft: DraftAnswer | None
    """The answer of a reflection that found the evidence sufficient."""
    steps: Annotated[list[dict[str, Any]], _append_steps]
    """Every step so far as `TraceStep` data."""


class SearchInput(TypedDict):
    """What one search is sent."""

    knowledge_base: str
    revision: str
    scope: Scope
    round: int
    asked: list[SubQuery]
    """All sub-queries so far."""
    numbers: list[int]
    """Which of them are searched."""


class SurveyInput(TypedDict):
    """What one call of the map step is sent."""

    knowledge_base: str
    revision: str
    scope: Scope
    question: str
    batch: list[Passage]
    """Reports and facts."""
    is_all: bool
    """Whether there is no other batch: then a model answers from it at once."""
