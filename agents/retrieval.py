"""The retrieval graph: a question in, an answer with checked citations out.

    condense -> decompose -> [entity_search | triple_search | community_search | dfs_search] per sub-query
             -> fuse -> reflect -> (new sub-queries: search again, at most `max_rounds`) -> answer

Read from top to bottom.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send
from typing_extensions import TypedDict

from ..models.reasoner import Reasoner
from ..schemas.errors import BanyanError
from ..schemas.naming import normalise
from ..schemas.retrieval import (
    ROUTES,
    Evidence,
    Mode,
    Passage,
    Route,
    SubAnswer,
    SubQuery,
)
from ..tools.retriever import Retriever
from .citing import cite, within_budget
from .resources import Resources, default_resources

MAX_QUESTION = 10_000
_PLACE = re.compile(r"#\d")


class QuestionError(BanyanError):
    """A question that cannot be asked: empty or too long."""


@dataclass(kw_only=True)
class AskContext:
    """How a question is to be answered."""

    knowledge_base: str = field(default="", metadata={"description": "used where the input names none"})
    mode: Mode = field(default="reject", metadata={"description": "reject: abstain without evidence; open: own "
                                                   "knowledge allowed, and marked"})
    agent: bool = field(default=True, metadata={"description": "decompose and reflect; else one round"})
    routes: tuple[Route, ...] = field(default=ROUTES, metadata={"description": "routes switched on"})
    max_rounds: int | None = field(default=None, metadata={"description": "cap on rounds of retrieval"})
    max_sub_queries: int | None = field(default=None, metadata={"description": "cap on sub-queries of a round"})


class AskInput(TypedDict, total=False):
    """What is asked: a question, or a conversation that ends with one."""

    knowledge_base: str
    question: str
    messages: Annotated[list[AnyMessage], add_messages]


class AskOutput(TypedDict, total=False):
    """The answer."""

    answer: str
    abstained: bool
    citations: list[dict[str, Any]]
    """{id, document, start, end, quote}"""
    sub_queries: list[str]
    iterations: int
    messages: Annotated[list[AnyMessage], add_messages]


class Found(TypedDict):
    """What one route found for one sub-query."""

    number: int
    route: str
    evidence: list[dict[str, Any]]


def _gathered(old: list[Found], new: list[Found]) -> list[Found]:
    """Add up what parallel searches found; an empty update begins a new question."""
    return [*old, *new] if new else []


class AskState(AskInput, AskOutput, total=False):
    """What passes between the nodes. Sub-queries are numbered over all rounds from 0."""

    asked: list[dict[str, Any]]
    """All sub-queries so far, as `SubQuery` data, in the words in which they were searched."""
    history: list[dict[str, Any]]
    """Sub-queries as asked of the reasoner, with the answers found, as `SubAnswer` data."""
    round_start: int
    """The number of the first sub-query of the current round."""
    found: Annotated[list[Found], _gathered]
    ranking: list[tuple[str, float]]
    """The best chunks as (id, weight), best first."""


class SearchInput(TypedDict):
    """What one search is sent."""

    knowledge_base: str
    number: int
    sub_query: dict[str, Any]


class _Nodes:
    """The nodes, over the resources of a process."""

    def __init__(self, resources: Resources | None) -> None:
        self._given = resources

    @property
    def _resources(self) -> Resources:
        return self._given or default_resources()

    def _reasoner(self, state: AskState | SearchInput) -> Reasoner:
        return self._resources.reasoner(state["knowledge_base"])

    def _retriever(self, state: AskState | SearchInput) -> Retriever:
        return self._resources.retriever(state["knowledge_base"])

    def _passages(self, state: AskState) -> list[Passage]:
        """The best passages, as many as the context's budget holds."""
        retriever = self._retriever(state)
        ranked = [retriever.passage(*item) for item in state["ranking"] if item[0] in retriever.index.chunk_row]
        return within_budget(ranked, self._resources.settings.context_tokens)

    def condense(self, state: AskState, runtime: Runtime[AskContext]) -> dict[str, Any]:
        """Make the question stand alone: a follow-up is rewritten from the conversation before it."""
        name = state.get("knowledge_base") or (runtime.context or AskContext()).knowledge_base
        earlier, question = _conversation(state)
        self._resources.knowledge_base(name)
        if earlier:
            question = self._resources.reasoner(name).condense(question, earlier)
        return {"knowledge_base": name, "question": question, "asked": [], "history": [], "round_start": 0,
                "found": [], "ranking": [], "iterations": 0}

    def decompose(self, state: AskState, runtime: Runtime[AskContext]) -> dict[str, Any]:
        """Break the question into atomic sub-queries in the schema's terms."""
        context, question = runtime.context or AskContext(), state["question"]
        whole = SubQuery(question=question)
        if not context.agent:
            return {"asked": [whole.model_dump()], "iterations": 1}
        limit = context.max_sub_queries or self._resources.settings.max_sub_queries
        schema = self._resources.knowledge_base(state["knowledge_base"]).schemas.current()
        parts = self._reasoner(state).decompose(question, schema, limit)[:limit]
        _progress("decompose", [part.question for part in parts])
        # The whole question is searched as well: a decomposition that went wrong must not hide it.
        return {"asked": [part.model_dump() for part in _distinct([whole, *_ready(parts)])],
                "history": [SubAnswer(question=part.question).model_dump() for part in parts], "iterations": 1}

    def fan_out(self, state: AskState, runtime: Runtime[AskContext]) -> list[Send]:
        """One search for each new sub-query and each of its routes that is switched on."""
        context = runtime.context or AskContext()
        sends = [
            Send(f"{route}_search", SearchInput(knowledge_base=state["knowledge_base"], number=number,
                                                sub_query=data))
            for number, data in enumerate(state["asked"]) if number >= state["round_start"]
            for route in SubQuery(**data).routes if route in context.routes
        ]
        return sends or [Send("fuse", state)]

    def search(self, route: Route, state: SearchInput) -> dict[str, Any]:
        """What one route finds for one sub-query."""
        retriever = self._retriever(state)
        query = retriever.queries([SubQuery(**state["sub_query"])])[0]
        evidence = retriever.search(route, query)
        return {"found": [Found(number=state["number"], route=route,
                                evidence=[item.model_dump() for item in evidence])]}

    def entity_search(self, state: SearchInput) -> dict[str, Any]:
        """The entity route."""
        return self.search("entity", state)

    def triple_search(self, state: SearchInput) -> dict[str, Any]:
        """The triple route."""
        return self.search("triple", state)

    def community_search(self, state: SearchInput) -> dict[str, Any]:
        """The community route."""
        return self.search("community", state)

    def dfs_search(self, state: SearchInput) -> dict[str, Any]:
        """The path route."""
        return self.search("dfs", state)

    def fuse(self, state: AskState) -> dict[str, Any]:
        """Rank the passages by all that was found for all sub-queries so far."""
        retriever = self._retriever(state)
        queries = retriever.queries([SubQuery(**data) for data in state["asked"]])
        evidence: list[list[Evidence]] = [[] for _ in queries]
        for found in sorted(state.get("found", []), key=lambda f: (f["number"], f["route"])):
            evidence[found["number"]].extend(Evidence(**item) for item in found["evidence"])
        ranking = retriever.ranking(retriever.rank(queries, evidence), self._resources.settings.top_k)
        _progress("fuse", [retriever.passage(*ranked).title for ranked in ranking[:5]])
        return {"ranking": ranking}

    def reflect(self, state: AskState, runtime: Runtime[AskContext]) -> dict[str, Any]:
        """Judge the evidence; ask for what is missing, never what was asked before."""
        context, settings = runtime.context or AskContext(), self._resources.settings
        rounds = context.max_rounds or settings.max_rounds
        start = len(state["asked"])
        if not context.agent or state["iterations"] > rounds:
            return {"round_start": start}
        history = [SubAnswer(**data) for data in state["history"]]
        passages = self._passages(state)
        schema = self._resources.knowledge_base(state["knowledge_base"]).schemas.current()
        said = self._reasoner(state).reflect(state["question"], history, passages, schema)
        known = [*said.sub_answers, *history[len(said.sub_answers):]]
        if said.sufficient or state["iterations"] == rounds:
            return {"round_start": start, "history": [item.model_dump() for item in known]}
        limit = context.max_sub_queries or settings.max_sub_queries
        asked = {normalise(data["question"]) for data in state["asked"]}
        new = [part for part in _distinct(_ready(said.sub_queries)) if normalise(part.question) not in asked][:limit]
        _progress("reflect", [part.question for part in new])
        return {"round_start": start, "iterations": state["iterations"] + bool(new),
                "asked": [*state["asked"], *(part.model_dump() for part in new)],
                "history": [item.model_dump() for item in
                            (*known, *(SubAnswer(question=part.question) for part in new))]}

    def go_on(self, state: AskState, runtime: Runtime[AskContext]) -> list[Send] | str:
        """Search again if there are new sub-queries, else answer."""
        return self.fan_out(state, runtime) if len(state["asked"]) > state["round_start"] else "answer"

    def answer(self, state: AskState, runtime: Runtime[AskContext]) -> dict[str, Any]:
        """Answer from the passages, check every citation against its source, or abstain."""
        context, passages = runtime.context or AskContext(), self._passages(state)
        history = [SubAnswer(**data) for data in state["history"]]
        draft = self._reasoner(state).answer(state["question"], history, passages, context.mode)
        documents = self._resources.knowledge_base(state["knowledge_base"]).documents
        checked = cite(draft, passages, documents, context.mode)
        return {"answer": checked.answer, "abstained": checked.abstained,
                "citations": [citation.model_dump() for citation in checked.citations],
                "sub_queries": [data["question"] for data in state["asked"]],
                "messages": [AIMessage(checked.answer)]}


def _conversation(state: AskState) -> tuple[list[tuple[str, str]], str]:
    """The earlier turns as (role, text), and the question.

    Raises:
        QuestionError: there is no question, or it is too long to be one.
    """
    messages = list(state.get("messages") or ())
    question = state.get("question") or ""
    if messages and isinstance(messages[-1], HumanMessage):
        question = messages.pop().text
    question = question.strip()
    if not question:
        raise QuestionError("the question is empty: ask something")
    if len(question) > MAX_QUESTION:
        raise QuestionError(f"the question has {len(question):,} characters, at most {MAX_QUESTION:,} are read: "
                            "shorten it, or add the text as a document")
    roles = {"human": "user", "ai": "assistant"}
    return [(roles[m.type], m.text) for m in messages if m.type in roles], question


def _ready(parts: Sequence[SubQuery]) -> list[SubQuery]:
    """The sub-queries that can be searched now: one that waits for an answer (`#1`) is filled by `reflect`."""
    return [part for part in parts if not _PLACE.search(part.question)]


def _distinct(parts: Sequence[SubQuery]) -> list[SubQuery]:
    """The sub-queries without repetitions; a part equal to an earlier one gives it its schema elements."""
    return list({normalise(part.question): part for part in parts}.values())


def _progress(step: str, found: Sequence[str]) -> None:
    get_stream_writer()({"step": step, "found": list(found)})


def build_graph(resources: Resources | None = None, checkpointer: BaseCheckpointSaver[str] | None = None,
                ) -> CompiledStateGraph[AskState, AskContext, AskInput, AskOutput]:
    """The retrieval graph.

    Args:
        resources: models and open knowledge bases; none: those of this process's environment.
        checkpointer: keeps conversations by thread, unless the server brings its own.
    """
    nodes = _Nodes(resources)
    searches = [f"{route}_search" for route in ROUTES]
    graph = StateGraph(AskState, context_schema=AskContext, input_schema=AskInput, output_schema=AskOutput)
    graph.add_node("condense", nodes.condense)
    graph.add_node("decompose", nodes.decompose)
    graph.add_node("entity_search", nodes.entity_search, input_schema=SearchInput)
    graph.add_node("triple_search", nodes.triple_search, input_schema=SearchInput)
    graph.add_node("community_search", nodes.community_search, input_schema=SearchInput)
    graph.add_node("dfs_search", nodes.dfs_search, input_schema=SearchInput)
    graph.add_node("fuse", nodes.fuse)
    graph.add_node("reflect", nodes.reflect)
    graph.add_node("answer", nodes.answer)
    graph.add_edge(START, "condense")
    graph.add_edge("condense", "decompose")
    graph.add_conditional_edges("decompose", nodes.fan_out, [*searches, "fuse"])
    for search in searches:
        graph.add_edge(search, "fuse")
    graph.add_edge("fuse", "reflect")
    graph.add_conditional_edges("reflect", nodes.go_on, [*searches, "fuse", "answer"])
    graph.add_edge("answer", END)
    return graph.compile(checkpointer=checkpointer, name="retrieval")


graph = build_graph()
