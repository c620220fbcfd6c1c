"""The retrieval graph: a question in, an answer with checked citations out.

    condense -> decompose -> [entity_search | triple_search | community_search | dfs_search] per sub-query
                             [survey] per batch of reports, for questions about the whole corpus
             -> fuse -> reflect -> (new sub-queries: search again, at most `max_rounds`) -> answer

Read from top to bottom. What is searched next is decided in `planning` and `chaining`; each step leaves
a `TraceStep` in the state.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer, Send

from ...graph_store.bounding.labels import Bounds
from ...graph_store.knowledge_base import KnowledgeBase
from ...models.reasoner import Reasoner
from ...runtime.budgets import charged
from ...schemas.references import literal
from ...schemas.retrieval import (
    ROUTES,
    Evidence,
    Passage,
    QuotedDraft,
    Route,
    SubAnswer,
    SubQuery,
)
from ...schemas.trace import TraceStep
from ...tools.retriever import Retriever
from ..contexts import check_context
from ..model_choice import check_models
from ..nodes import traced_node
from ..resources import Resources, default_resources
from ..serving import charged_to_client, is_served
from . import tracing
from .chaining import following, merged, names_known_to, next_parts, searchable, waits
from .citing import cite, within_budget
from .context import build_context
from .memory import remembered
from .planning import Caps, Plan, distinct, in_schema, key, plan_round
from .presenting import is_hinted, present_quotes, with_notes, with_spelling
from .readings import Readings
from .reranking import reranked
from .spelling import respelt
from .state import (
    MAX_EARLIER,
    MAX_QUESTION,
    AskContext,
    AskInput,
    AskOutput,
    AskState,
    Found,
    QuestionError,
    SearchInput,
    SurveyInput,
)
from .survey import is_survey, points, report_batches


class _Nodes:
    """The nodes, over the resources of a process."""

    def __init__(self, resources: Resources | None) -> None:
        self._given = resources
        self._prepared: dict[str, Bounds] = {}
        self._readings = Readings()
        self._hinted = False
        """Whether this process was told already that a model would help."""

    @property
    def _resources(self) -> Resources:
        return self._given or default_resources()

    def charged_to_client(self) -> AbstractContextManager[None]:
        """Entered for each run of a node: its calls are taken from its client's allowance."""
        return charged_to_client(self._resources.allowance_of)

    def _reasoner(self, state: AskState | SurveyInput, context: AskContext) -> Reasoner:
        return self._resources.reasoner(state["knowledge_base"], context.models)

    def _retriever(self, state: AskState | SearchInput | SurveyInput) -> Retriever:
        """The retriever that the question began with, whatever was published meanwhile."""
        return self._readings.get(state["reading"]) or self._resources.retriever(state["knowledge_base"])

    def _knowledge_base(self, state: AskState | SurveyInput) -> KnowledgeBase:
        return self._retriever(state).index.store

    def _context(self, state: AskState) -> list[Passage]:
        """The best passages, facts and reports, as many as the budget holds; of a survey, its points."""
        if state["surveyed"]:
            found = [Passage(**data) for data in state["surveyed"]]
            return within_budget(sorted(found, key=lambda item: (-item.score, item.statement)),
                                 self._resources.settings.context_tokens)
        # What `reflect` was given `answer` is given, too.
        evidence = state["asked"], state["found"], state["ranking"]
        return self._readings.context(state["reading"], evidence, lambda: self._built_context(state))

    def _built_context(self, state: AskState) -> list[Passage]:
        retriever = self._retriever(state)
        queries = retriever.queries([SubQuery(**data) for data in state["asked"]])
        evidence = [Evidence(**item) for found in state["found"] for item in found["evidence"]]
        settings = self._resources.settings
        return build_context(retriever, state["ranking"][:settings.context_passages], queries, evidence,
                             settings.context_tokens)

    def _caps(self, context: AskContext) -> Caps:
        """The context's caps; those that it does not set are the settings'."""
        settings = self._resources.settings
        most = Caps(rounds=settings.max_rounds, sub_queries=settings.max_sub_queries,
                    sub_queries_in_all=settings.max_sub_queries_in_all, tool_calls=settings.max_tool_calls)
        given = {"rounds": context.max_rounds, "sub_queries": context.max_sub_queries,
                 "sub_queries_in_all": context.max_sub_queries_in_all, "tool_calls": context.max_tool_calls}
        caps = replace(most, **{name: value for name, value in given.items() if value is not None})
        # A client of a server may lower them: what a question may cost is not its decision.
        return caps.at_most(most) if is_served() else caps

    def _in_schema(self, state: AskState, parts: Sequence[SubQuery]) -> tuple[list[SubQuery], list[str]]:
        """Sub-queries in the terms of the schema in force, with notes of what was mapped or dropped."""
        schema = self._knowledge_base(state).schemas.current()
        bounds = self._prepared.get(state["knowledge_base"])
        if bounds is None or bounds.schema != schema:
            self._prepared[state["knowledge_base"]] = bounds = self._resources.bounds(schema)
        mapped = [in_schema(part, bounds) for part in parts]
        return [part for part, _ in mapped], [note for _, notes in mapped for note in notes]

    def condense(self, state: AskState, runtime: Runtime[AskContext]) -> dict[str, Any]:
        """Make the question stand alone: a follow-up is rewritten from the conversation before it."""
        context = runtime.context or AskContext()
        check_context(context)
        name = state.get("knowledge_base") or context.knowledge_base
        earlier, question = _conversation(state)
        self._resources.knowledge_base(name)
        # Wrong settings are reported before anything is paid for.
        self._caps(context)
        check_models(context.models, self._resources.settings, served=is_served())
        self._resources.reranker  # noqa: B018
        if earlier:
            question = self._resources.reasoner(name, context.models).condense(question, earlier)
        question, replaced = respelt(literal(question), self._resources.retriever(name).index)
        step = TraceStep(step="question", text=tracing.short(question))
        # An earlier question of the thread may have been asked with its trace.
        old_trace: dict[str, Any] = {"trace": []} if state.get("trace") else {}
        reading = self._readings.begin(self._resources.retriever(name))
        return {"knowledge_base": name, "reading": reading, "question": question, "respelt": replaced,
                "hinted": is_hinted(earlier), "asked": [], "history": [],
                "planned": [], "round_start": 0, "searches": [], "found": [], "surveyed": [], "ranking": [],
                "iterations": 0, "steps": [tracing.data(step)], **old_trace}

    def decompose(self, state: AskState, runtime: Runtime[AskContext]) -> dict[str, Any]:
        """Break the question into atomic sub-queries in the schema's terms."""
        context, whole = runtime.context or AskContext(), SubQuery(question=state["question"])
        caps, parts, notes = self._caps(context), list[SubQuery](), list[str]()
        if context.decompose:
            schema = self._knowledge_base(state).schemas.current()
            proposed = self._reasoner(state, context).decompose(whole.question, schema, caps.sub_queries)
            parts, notes = self._in_schema(state, proposed[:caps.sub_queries])
        # The whole question is searched as well: a decomposition that went wrong must not hide it.
        first, *others = distinct([whole, *searchable(parts)])
        if not others:
            hop = self._retriever(state).second_hop(first, 0)
            others = [hop] if hop else []
        plan = following(plan_round([first, *others], (), 0, context.routes, caps), parts)
        return {"asked": _asked(plan), "searches": list(plan.searches), "iterations": 1,
                "planned": [part.model_dump() for part in parts],
                "history": [SubAnswer(question=part.question).model_dump() for part in parts],
                "steps": [tracing.data(tracing.decomposed(plan, notes))]}

    def begin(self, state: AskState) -> list[Send]:
        """The first searches; for a question about the whole corpus also one survey for each batch of reports."""
        # One step for all of them: two ways to `fuse`, of different lengths, would reflect and answer twice.
        return [*self._searches(state), *self._surveys(state)] or [Send("fuse", state)]

    def _surveys(self, state: AskState) -> list[Send]:
        if not is_survey([SubQuery(**data) for data in state["planned"]]):
            return []
        retriever, tokens = self._retriever(state), self._resources.settings.context_tokens
        (query,) = retriever.queries([SubQuery(question=state["question"])])
        return [Send("survey", SurveyInput(knowledge_base=state["knowledge_base"], reading=state["reading"],
                                           question=state["question"], batch=[item.model_dump() for item in batch]))
                for batch in report_batches(retriever, query, tokens)]

    def survey(self, state: SurveyInput, runtime: Runtime[AskContext]) -> dict[str, Any]:
        """What some of the reports say to the question: claims that cite soundly."""
        context = runtime.context or AskContext()
        items = [Passage(**data) for data in state["batch"]]
        draft = self._reasoner(state, context).answer(state["question"], [], items, context.mode)
        found = points(draft, items, self._knowledge_base(state).documents)
        return {"surveyed": [item.model_dump() for item in found],
                "steps": [tracing.data(tracing.surveyed(len(items), found))]}

    def _searches(self, state: AskState) -> list[Send]:
        """One search for each route that is switched on, for all new sub-queries that take it."""
        numbers: dict[Route, list[int]] = {}
        for number, route in state["searches"]:
            numbers.setdefault(route, []).append(number)
        return [
            Send(f"{route}_search", SearchInput(knowledge_base=state["knowledge_base"], reading=state["reading"],
                                                round=state["iterations"], asked=state["asked"], numbers=wanted))
            for route, wanted in numbers.items()
        ]

    def search(self, route: Route, state: SearchInput) -> dict[str, Any]:
        """Search one route for the sub-queries that take it."""
        retriever = self._retriever(state)
        queries = retriever.queries([SubQuery(**data) for data in state["asked"]])
        found, steps = list[Found](), list[dict[str, Any]]()
        for number in state["numbers"]:
            evidence = retriever.search(route, queries[number])
            found.append(Found(number=number, route=route, evidence=[item.model_dump() for item in evidence]))
            steps.append(tracing.data(tracing.searched(retriever, (state["round"], number, route), evidence)))
        return {"found": found, "steps": steps}

    def fuse(self, state: AskState, runtime: Runtime[AskContext]) -> dict[str, Any]:
        """Rank the passages by the evidence for all sub-queries so far."""
        retriever, switches = self._retriever(state), (runtime.context or AskContext()).switches
        queries = retriever.queries([SubQuery(**data) for data in state["asked"]])
        evidence: list[list[Evidence]] = [[] for _ in queries]
        for found in sorted(state.get("found", []), key=lambda f: (f["number"], f["route"])):
            evidence[found["number"]].extend(Evidence(**item) for item in found["evidence"])
        ranking = retriever.ranking(retriever.rank(queries, evidence, switches), self._resources.settings.top_k)
        ranking, how = self._reranked(retriever, [query.text for query in queries if not query.follows], ranking)
        return {"ranking": ranking,
                "steps": [tracing.data(tracing.fused(retriever, state["iterations"], ranking, how))]}

    def _reranked(self, retriever: Retriever, questions: Sequence[str],
                  ranking: list[tuple[str, float]]) -> tuple[list[tuple[str, float]], str]:
        """The ranking, its best passages reordered by a cross-encoder if one is set, and a note on that."""
        reranker, best = self._resources.reranker, self._resources.settings.rerank_passages
        if reranker is None:
            return ranking, ""
        passages = [retriever.passage(*ranked) for ranked in ranking[:best]]
        texts = [f"{passage.title}\n{passage.text}".strip() for passage in passages]
        with charged(account=retriever.account):
            ranking = reranked(reranker, questions, texts, ranking)
        return ranking, f"the best {len(texts)} reordered by the cross-encoder"

    def reflect(self, state: AskState, runtime: Runtime[AskContext]) -> dict[str, Any]:
        """Judge the evidence; ask for what is missing, never what was asked before."""
        context, start = runtime.context or AskContext(), len(state["asked"])
        if not context.agent or state["surveyed"]:
            return {"round_start": start}
        history = [SubAnswer(**data) for data in state["history"]]
        passages = self._context(state)
        schema = self._knowledge_base(state).schemas.current()
        reflection = self._reasoner(state, context).reflect(state["question"], history, passages, schema)
        caps, is_name = self._caps(context), names_known_to(self._retriever(state))
        known = merged(history, reflection.sub_answers, is_name, caps.sub_queries)
        known = remembered(known, state, "" if reflection.sufficient else reflection.missing)
        update: dict[str, Any] = {"round_start": start, "history": [item.model_dump() for item in known]}
        if reflection.sufficient:
            step = tracing.reflected(state["iterations"], "", known, None, sufficient=True)
            return update | {"steps": [tracing.data(step)]}
        plan, notes = self._next_round(state, reflection.sub_queries, known, context)
        step = tracing.reflected(state["iterations"], reflection.missing, known, plan, sufficient=False, notes=notes)
        new = [part for _, part in plan.new]
        return update | {
            "iterations": state["iterations"] + bool(new), "asked": [*state["asked"], *_asked(plan)],
            "searches": list(plan.searches), "steps": [tracing.data(step)],
            "planned": [*state["planned"], *(part.model_dump() for part in new)],
            "history": [*update["history"], *(SubAnswer(question=part.question).model_dump() for part in new)]}

    def _next_round(self, state: AskState, proposed: Sequence[SubQuery], known: Sequence[SubAnswer],
                    context: AskContext) -> tuple[Plan, list[str]]:
        """What is searched next within the caps, and notes of what is not."""
        caps, asked = self._caps(context), [SubQuery(**data) for data in state["asked"]]
        planned = [SubQuery(**data) for data in state["planned"]]
        parts, notes = self._in_schema(state, next_parts(
            proposed, planned, known, {key(part.question) for part in asked}, names_known_to(self._retriever(state)),
            caps.sub_queries))
        if state["iterations"] == caps.rounds:
            left = [f"cap of {caps.rounds} rounds: left out {part.question!r}" for part in parts]
            return Plan((), (), ()), left
        plan = plan_round(parts, asked, len(state["found"]), context.routes, caps)
        still = [item.question for item in known if waits(item.question) and not item.answer]
        if not plan.new:
            notes += [f"{question!r} waits for an answer that was not found" for question in still]
        return plan, notes

    def go_on(self, state: AskState) -> list[Send] | str:
        """Search again if there are new sub-queries, else answer."""
        if len(state["asked"]) == state["round_start"]:
            return "answer"
        return self._searches(state) or [Send("fuse", state)]

    def answer(self, state: AskState, runtime: Runtime[AskContext]) -> dict[str, Any]:
        """Answer from the passages, check every citation against its source, or abstain."""
        context, passages = runtime.context or AskContext(), self._context(state)
        history = [SubAnswer(**data) for data in state["history"]]
        draft = self._reasoner(state, context).answer(state["question"], history, passages, context.mode)
        documents = self._knowledge_base(state).documents
        below = self._resources.settings.abstain_below if context.abstain_below is None else context.abstain_below
        checked = cite(draft, passages, documents, context.mode, below)
        quoted = isinstance(draft, QuotedDraft)
        if quoted or checked.abstained:
            # Where a model found no answer the quotes that come closest are shown, found without it.
            found = draft if quoted else self._resources.finder.find(state["question"], passages)
            below = 1.0 if not quoted else 0.0 if context.mode == "open" else below
            checked = present_quotes(state["question"], found, passages, documents, below).model_copy(
                update={} if quoted else {"confidence": checked.confidence})
        if checked.abstained:
            hint = not (self._hinted or state["hinted"] or self._resources.settings.llm_base_url)
            self._hinted = self._hinted or hint
            checked = with_notes(checked, state["question"], self._retriever(state), hint=hint)
        checked = with_spelling(checked, state["respelt"], state["question"])
        self._readings.end(state["reading"])
        step = tracing.data(tracing.answered(state["iterations"], checked))
        return {"answer": checked.answer, "abstained": checked.abstained,
                "confidence": round(checked.confidence, 4), "short": checked.short,
                "citations": [citation.model_dump() for citation in checked.citations],
                # The rest of a question is no question of its own.
                "sub_queries": [data["question"] for data in state["asked"]
                                if waits(data["question"]) or not data["follows"]],
                "messages": [AIMessage(checked.answer)], "steps": [step],
                **({"trace": [*state["steps"], step]} if context.trace else {})}


def _conversation(state: AskState) -> tuple[list[tuple[str, str]], str]:
    """The earlier turns as (role, text), the newest as far as they are read, and the question.

    Raises:
        QuestionError: there is no question, or it is no text, or too long to be one.
    """
    messages = list(state.get("messages") or ())
    question = state.get("question") or ""
    if not isinstance(question, str):
        raise QuestionError(f"the question is a text, not {type(question).__name__}: fix the input")
    if messages and isinstance(messages[-1], HumanMessage):
        question = messages.pop().text
    question = question.strip()
    if not question:
        raise QuestionError("the question is empty: ask something")
    if len(question) > MAX_QUESTION:
        raise QuestionError(f"the question has {len(question):,} characters, at most {MAX_QUESTION:,} are read: "
                            "shorten it, or add the text as a document")
    roles = {"human": "user", "ai": "assistant"}
    earlier, room = list[tuple[str, str]](), MAX_EARLIER
    for message in reversed([m for m in messages if m.type in roles]):
        earlier.append((roles[message.type], message.text[:room]))
        room -= len(earlier[-1][1])
        if not room:
            break
    return earlier[::-1], question


def _asked(plan: Plan) -> list[dict[str, Any]]:
    return [part.model_dump() for _, part in plan.new]


def build_graph(resources: Resources | None = None, checkpointer: Checkpointer = None,
                ) -> CompiledStateGraph[AskState, AskContext, AskInput, AskOutput]:
    """The retrieval graph.

    Args:
        resources: models and open knowledge bases; none: those of this process's environment.
        checkpointer: keeps conversations by thread, unless the server brings its own; False: within another
            graph, nothing is kept with that one's state.
    """
    nodes = _Nodes(resources)
    node = partial(traced_node, within=nodes.charged_to_client)
    searches = {route: f"{route}_search" for route in ROUTES}
    graph = StateGraph(AskState, context_schema=AskContext, input_schema=AskInput, output_schema=AskOutput)
    graph.add_node("condense", node(nodes.condense, "condense"))
    graph.add_node("decompose", node(nodes.decompose, "decompose"))
    for route, name in searches.items():
        graph.add_node(name, node(partial(nodes.search, route), name), input_schema=SearchInput)
    graph.add_node("survey", node(nodes.survey, "survey"), input_schema=SurveyInput)
    graph.add_node("fuse", node(nodes.fuse, "fuse"))
    graph.add_node("reflect", node(nodes.reflect, "reflect"))
    graph.add_node("answer", node(nodes.answer, "answer"))
    graph.add_edge(START, "condense")
    graph.add_edge("condense", "decompose")
    graph.add_conditional_edges("decompose", nodes.begin, [*searches.values(), "survey", "fuse"])
    for name in (*searches.values(), "survey"):
        graph.add_edge(name, "fuse")
    graph.add_edge("fuse", "reflect")
    graph.add_conditional_edges("reflect", nodes.go_on, [*searches.values(), "fuse", "answer"])
    graph.add_edge("answer", END)
    return graph.compile(checkpointer=checkpointer, name="retrieval")


graph = build_graph()
