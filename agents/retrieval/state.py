"""What goes into the retrieval graph, what comes out, and what passes between its nodes."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, get_args

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict

from ...config import AskStep, Settings
from ...schemas.documents import Scope
from ...schemas.errors import BanyanError
from ...schemas.inquiry import Block, Round
from ...schemas.lookups import TOOLS, Lookup, Tool
from ...schemas.retrieval import ROUTES, DraftAnswer, Grade, Mode, QuotedDraft, Switches
from ..nodes import add_or_reset

ToolName = Literal["entity", "triple", "table", "dfs", "community", "passage"]
TOOL_NAMES: tuple[ToolName, ...] = get_args(ToolName)
"""The short names under which lookups are switched on: the first word of each tool's name."""
MAX_QUESTION = 10_000  # characters
MAX_EARLIER = 20_000  # characters of the conversation before a question, the newest, are read: some ten turns


class QuestionError(BanyanError):
    """A question that cannot be asked: empty or too long."""


@dataclass(kw_only=True)
class AskContext:
    """How a question is to be answered."""

    knowledge_base: Annotated[str, Field(description="the knowledge base's name, or several with commas between, where "
                                                     "the input names none; none: BANYAN_KB, or the only one")] = ""
    documents: Annotated[tuple[str, ...], Field(description=(
        "ids, titles or paths of the documents to answer from, or patterns such as `reports/*.pdf`; none: all"))] = ()
    where: Annotated[dict[str, str], Field(description=(
        "metadata of the documents to answer from, as {key: value or pattern}"))] = field(default_factory=dict)
    mode: Annotated[Mode, Field(description="reject: abstain without evidence; strict: and where one link is not "
                                            "stated; open: own knowledge allowed, and marked")] = "reject"
    agent: Annotated[bool, Field(description="look further for what is missing; else one round of lookups")] = True
    decompose: Annotated[bool, Field(description="let the model choose the first lookups; else one search")] = True
    routes: Annotated[tuple[ToolName, ...], Field(description="lookups switched on")] = TOOL_NAMES
    dense: Annotated[bool, Field(description="passages are also found by their vectors")] = True
    lexical: Annotated[bool, Field(description="passages are also found by their words")] = True
    spreading: Annotated[bool, Field(description="evidence reaches what it is connected to")] = True
    beta: Annotated[float | None, Field(description="share of the graph routes, 0 to 1; none: by the question")] = None
    abstain_below: Annotated[float | None, Field(description="confidence below which it abstains; none: as set")] = None
    max_rounds: Annotated[int | None, Field(description="cap on rounds of lookups after the first look; none: as set, "
                                                        "and through a server at most that")] = None
    max_tool_calls: Annotated[int | None, Field(description="cap on lookups over all rounds; none: as set, and through "
                                                            "a server at most that")] = None
    models: Annotated[dict[AskStep, str], Field(description="other models by step; through a server, those it offers"
                                                )] = field(default_factory=dict)
    instructions: Annotated[str, Field(description="how a model is to word the answer: tone, length, format, language; "
                                                   "beside the knowledge base's own instructions")] = ""
    trace: Annotated[bool, Field(description="answer with every step taken, in short texts")] = False

    @property
    def scope(self) -> Scope:
        """The documents that the question is limited to."""
        return Scope.of(self.documents, self.where)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the lookups that are switched on; their order is that of `TOOLS`."""
        return tuple(tool for tool in TOOLS if tool.partition("_")[0] in self.routes)

    @property
    def switches(self) -> Switches:
        """The parts of the search for passages that are switched on."""
        return Switches(routes=tuple(route for route in ROUTES if route in self.routes), dense=self.dense,
                        lexical=self.lexical, spreading=self.spreading, beta=self.beta)


class AskInput(TypedDict, total=False):
    """What is asked: a question, or a conversation that ends with one."""

    knowledge_base: Annotated[str, Field(description="the knowledge base's name, or several with commas "
                                                   "between; left out: the context's, BANYAN_KB, or the only one")]
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
    grade: Annotated[Grade, Field(description=(
        "found: passages that may hold the answer; stated: the documents state every link of the answer; "
        "inferred: the answer says which one they do not; none"))]
    citations: Annotated[list[dict[str, Any]], Field(description=(
        "{id, document, start, end, quote}: `quote` stands in the document at these characters; of several knowledge "
        "bases, a document is called BASE/DOCUMENT"))]
    structured_response: Annotated[dict[str, Any], Field(description=(
        "the answer, its grade, citations and rows as one object (`StructuredAnswer`), for agents that read it under "
        "this name"))]
    sub_queries: Annotated[list[str], Field(description="the question, and what was looked up for it")]
    iterations: Annotated[int, Field(description="rounds: the first look, and those of lookups")]
    messages: Annotated[list[AnyMessage], Field(description=(
        "the conversation with the lookups, as tool calls and their results in brief, and the answer")), add_messages]
    trace: Annotated[list[dict[str, Any]], Field(description="every step, where the context asks for it")]


def _append_steps(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Append steps; an update that begins with the step "question" starts a new trace instead."""
    return new if new and new[0]["step"] == "question" else [*old, *new]


class AskState(AskInput, AskOutput, total=False):
    """What passes between the nodes. Between two of them it is plain data; see `as_node`."""

    named: str  # the knowledge base that the input names, or an earlier one of the thread; "" if it was chosen
    revision: str  # the ticket for the snapshot that the question is answered from; see `Snapshots.begin_question`
    scope: Scope  # which of its documents
    rounds: list[Round]  # the first look, then each round of lookups with what it found
    next_round: Round  # the thought and the lookups of the round under way
    terms: str  # the relations and attributes that the question may mean, for every prompt
    omitted: list[tuple[str, str]]  # lookups that the reasoner wants in that round but that are not made, and why not
    found: Annotated[list[list[Block]], add_or_reset]  # what each lookup of that round found, in their order
    dropped: list[int]  # the numbers of the items that no longer fit the budget
    draft: DraftAnswer | QuotedDraft | None  # the answer before its citations are checked
    shown: tuple[str, str]  # the id of the message whose chunks show the answer already, and their text; "" if none
    steps: Annotated[list[dict[str, Any]], _append_steps]  # every step so far as `TraceStep` data


class LookupInput(TypedDict):
    """What one lookup is sent."""

    knowledge_base: str
    revision: str
    scope: Scope
    question: str
    round: int
    call: str  # the id of the tool call that stands for the lookup in the conversation
    lookup: Lookup
    seen: list[str]  # the chunks that were shown before


class CapError(BanyanError):
    """A cap on a question's cost allows no lookup at all."""


class Caps(NamedTuple):
    """Limits on what one question may cost: rounds of lookups after the first look, and lookups over all rounds."""

    rounds: int
    tool_calls: int


def caps_of(context: AskContext, settings: Settings, *, served: bool) -> Caps:
    """Return the context's caps, where it sets none the settings'; raise CapError if one is below 1.

    A client of a server (`served`) may only lower them. With the agent off, only `decompose` asks for a round.
    """
    def cap(name: str, requested: int | None, configured: int) -> int:
        if requested is not None and requested < 1:
            raise CapError(f"{name} is {requested}, which allows no lookup: give 1 or more")
        chosen = requested or configured
        return min(chosen, configured) if served else chosen

    rounds = cap("max_rounds", context.max_rounds, settings.max_rounds)
    return Caps(rounds if context.agent else int(context.decompose),
                cap("max_tool_calls", context.max_tool_calls, settings.max_tool_calls))
