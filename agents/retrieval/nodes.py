"""The nodes of the retrieval graph, over the resources of a process."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime
from langgraph.types import Send

from ...graph_store.bounding.labels import Bounds
from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.ledger.instructions import check_instructions
from ...models.reasoner import Reasoner
from ...schemas.graph_schema import GraphSchema
from ...schemas.references import literal
from ...schemas.retrieval import DraftAnswer, Evidence, Passage, QuotedDraft, Reflection, Route, SubAnswer, SubQuery
from ...schemas.scope import Scope
from ...schemas.trace import TraceStep
from ...tools.langchain_tools import call_route
from ...tools.retriever import EVIDENCE, Retriever
from ..contexts import check_context
from ..model_choice import check_models
from ..nodes import in_busy_thread
from ..resources import Resources, default_resources
from ..served_runs import charged_to_client, is_served
from . import trace_steps
from .chaining import following, merged, names_known_to, next_parts, searchable, waits, without_rewordings
from .citing import cite
from .claims import showing_claims
from .context import build_context
from .conversation import read_conversation
from .evidence import answering_first, choose_evidence, item_key, relied_on
from .planning import Caps, Plan, caps_of, distinct, in_schema, key, plan_round, with_elements
from .presenting import is_hinted, present_quotes, with_notes, with_spelling
from .question_states import QuestionStates
from .reranking import rerank
from .schema_terms import relevant_schema
from .simple_questions import is_simple
from .spelling import respelt
from .state import AskContext, AskState, Found, SearchInput, SurveyInput
from .survey import MOST_CALLS, OPENINGS_SHARE, is_survey, points, report_batches, surveyed_items

_KEPT_SHARE = 1 / 2
"""At most this share of a prompt repeats earlier evidence."""
_MORE = 2
"""Factor on the token budget for reports, and for reasoners that cost nothing."""


class RetrievalNodes:
    """The nodes."""

    def __init__(self, resources: Resources | None) -> None:
        self._given = resources
        self._prepared: dict[str, Bounds] = {}
        self._states = QuestionStates()
        self._hinted = False
        """Whether this process was already informed that a model would help."""

    @property
    def _resources(self) -> Resources:
        return self._given or default_resources()

    def charged_to_client(self) -> AbstractContextManager[None]:
        """Entered for each run of a node: its calls are taken from its client's allowance."""
        return charged_to_client(self._resources.allowance_of)

    def _reasoner(self, state: AskState | SurveyInput, context: AskContext) -> Reasoner:
        return self._resources.reasoner(state["knowledge_base"], context.models)

    def _answering(self, state: AskState | SurveyInput, context: AskContext) -> Reasoner:
        """Return the reasoner with the knowledge base's and the question's instructions for wording answers."""
        reasoner = self._reasoner(state, context)
        wanted = (self._resources.knowledge_base(state["knowledge_base"]).instructions.get(), context.instructions)
        instructions = "\n".join(filter(None, wanted)) if reasoner.reasons else ""
        return reasoner.with_instructions(instructions) if instructions else reasoner

    def _retriever(self, state: AskState | SearchInput | SurveyInput) -> Retriever:
        """Return the retriever that the question began with, even if a build published meanwhile.

        It reads a frozen state (`agents/readers.py`). In another process, or after an hour, it is the newest one.
        """
        name = state["knowledge_base"]
        return self._states.get(name, state["revision"]) or self._resources.retriever(name, state["scope"])

    def _knowledge_base(self, state: AskState | SurveyInput) -> KnowledgeBase:
        return self._retriever(state).index.store

    def _items(self, state: AskState, *, reasons: bool) -> list[Passage]:
        """Return the evidence for a reasoner within the token budget: a survey's points, or what the routes found."""
        settings = self._resources.settings
        if state["surveyed"]:
            return surveyed_items(state["surveyed"], _MORE * settings.context_tokens, reasons=reasons)
        retriever, start = self._retriever(state), state["round_start"]
        queries = retriever.queries(state["asked"])
        evidence = [item for found in state["found"] for item in found.evidence]
        ranking = state["ranking"][:settings.context_passages]
        if not reasons:
            return build_context(retriever, ranking, queries, evidence, _MORE * settings.context_tokens)
        seen = set(state["seen"])
        if start:
            ranking, again = answering_first(retriever, queries[start:], state["followed"])
            seen -= again - {item_key(item) for item in state["kept"]}
        return choose_evidence(retriever, ranking[:settings.context_passages], queries[start:], evidence,
                               settings.context_tokens, state["kept"], seen)

    def _caps(self, context: AskContext) -> Caps:
        return caps_of(context, self._resources.settings, served=is_served())

    def _abstain_below(self, context: AskContext) -> float:
        return self._resources.settings.abstain_below if context.abstain_below is None else context.abstain_below

    def _in_schema(self, state: AskState, parts: Sequence[SubQuery]) -> tuple[list[SubQuery], list[str]]:
        """Sub-queries in the terms of the schema in force, with notes of what was mapped or dropped."""
        schema = self._knowledge_base(state).schemas.current()
        bounds = self._prepared.get(state["knowledge_base"])
        if bounds is None or bounds.schema != schema:
            self._prepared[state["knowledge_base"]] = bounds = self._resources.bounds(schema)
        mapped = [in_schema(part, bounds) for part in parts]
        return [part for part, _ in mapped], [note for _, notes in mapped for note in notes]

    async def condense(self, state: AskState, runtime: Runtime[AskContext]) -> AskState:
        """Check the input, and rewrite a follow-up to make sense without the conversation before it."""
        context = runtime.context or AskContext()
        check_context(context)
        name = state.get("knowledge_base") or context.knowledge_base
        earlier, question = read_conversation(state)
        await in_busy_thread(self._check, name, context)
        if earlier:
            reasoner = await in_busy_thread(self._resources.reasoner, name, context.models)
            question = await reasoner.acondense(question, earlier)
        return await in_busy_thread(self._start_question, state, name, context.scope, question, earlier)

    def _check(self, name: str, context: AskContext) -> None:
        """Report wrong settings before anything is paid for."""
        check_instructions(context.instructions)
        self._resources.retriever(name, context.scope)
        self._caps(context)
        check_models(context.models, self._resources.settings, served=is_served())
        self._resources.reranker  # noqa: B018

    def _start_question(self, state: AskState, name: str, scope: Scope, question: str,
                        earlier: list[tuple[str, str]]) -> AskState:
        """Return the state of a new question."""
        retriever = self._resources.retriever(name, scope)
        question, replaced = respelt(literal(question), retriever.index)
        step = TraceStep(step="question", text=trace_steps.short(question))
        # An earlier question of the thread may have been asked with its trace.
        old_trace: AskState = {"trace": []} if state.get("trace") else {}
        return {"knowledge_base": name, "revision": self._states.begin(name, retriever), "scope": scope,
                "question": question, "respelt": replaced,
                "hinted": is_hinted(earlier), "asked": [], "history": [],
                "planned": [], "round_start": 0, "searches": [], "found": [], "surveyed": [], "ranking": [],
                "followed": [], "fused": 0, "shown": [], "seen": [], "kept": [], "draft": None,
                "iterations": 0, "steps": [trace_steps.data(step)], **old_trace}

    async def decompose(self, state: AskState, runtime: Runtime[AskContext]) -> AskState:
        """Break the question into atomic sub-queries in the schema's terms; a plainly simple one stays whole."""
        context, question = runtime.context or AskContext(), state["question"]
        reasoner, limit = await in_busy_thread(self._reasoner, state, context), self._caps(context).sub_queries
        whole, proposed = SubQuery(question=question), list[SubQuery]()
        if context.decompose:
            whole, schema = await in_busy_thread(self._whole_question, state, reasons=reasoner.reasons)
            proposed = (await reasoner.adecompose(question, schema, limit))[:limit] if schema else []
        return await in_busy_thread(self._first_round, state, context, whole, proposed)

    def _whole_question(self, state: AskState, *, reasons: bool) -> tuple[SubQuery, GraphSchema | None]:
        """Return the whole question, and the schema to decompose it with; None: it is plainly simple."""
        retriever, question = self._retriever(state), state["question"]
        schema, whole = self._knowledge_base(state).schemas.current(), SubQuery(question=question)
        if not reasons:
            return whole, schema
        if is_simple(question, retriever.index.names.find(question)):
            return with_elements(whole, schema), None
        return whole, relevant_schema(retriever, schema, question)

    def _first_round(self, state: AskState, context: AskContext, whole: SubQuery,
                     proposed: Sequence[SubQuery]) -> AskState:
        """Return the state with what is searched first."""
        caps, reasoner, retriever = self._caps(context), self._reasoner(state, context), self._retriever(state)
        parts, notes = self._in_schema(state, proposed)
        # Where a reflection will know the answers, what waits for one is searched then, with the name written out.
        is_filled_later = reasoner.reasons and context.agent and caps.rounds > 1
        ready = [part for part in parts if not waits(part.question)] if is_filled_later else searchable(parts)
        # The whole question is searched as well: a decomposition that went wrong must not hide it.
        first, *others = distinct([whole, *ready])
        if not others:
            hop = retriever.second_hop(first, 0)
            others = [hop] if hop else []
        plan = following(plan_round([first, *others], (), 0, context.routes, caps), parts)
        return {"asked": [part for _, part in plan.new], "searches": list(plan.searches), "iterations": 1,
                "planned": parts, "history": [SubAnswer(question=part.question) for part in parts],
                "steps": [trace_steps.data(trace_steps.trace_decomposition(plan, notes))]}

    def begin(self, state: AskState, runtime: Runtime[AskContext]) -> list[Send]:
        """Send the first searches, and one survey for each batch of reports if the question is about the whole."""
        # One step for all of them: two ways to `fuse`, of different lengths, would reflect and answer twice.
        surveys = self._surveys(state, runtime.context or AskContext())
        return [*self._searches(state), *surveys] or [Send("fuse", state)]

    def _surveys(self, state: AskState, context: AskContext) -> list[Send]:
        if not is_survey(state["planned"]):
            return []
        retriever, tokens = self._retriever(state), _MORE * self._resources.settings.context_tokens
        (query,) = retriever.queries([SubQuery(question=state["question"])])
        reasons = self._reasoner(state, context).reasons
        # A model sees what each document is about wherever the calls of the map step have room for it.
        batches = report_batches(retriever, query, tokens, MOST_CALLS / 2 if reasons else OPENINGS_SHARE)
        return [Send("survey", SurveyInput(knowledge_base=state["knowledge_base"], revision=state["revision"],
                                           scope=state["scope"], question=state["question"], batch=batch,
                                           is_all=len(batches) == 1))
                for batch in batches]

    async def survey(self, state: SurveyInput, runtime: Runtime[AskContext]) -> AskState:
        """Answer the question from one batch of reports; return the claims whose citations hold."""
        context, items = runtime.context or AskContext(), state["batch"]
        reasoner = await in_busy_thread(self._reasoner, state, context)
        if state["is_all"] and reasoner.reasons:
            return {"surveyed": items, "steps": [trace_steps.data(trace_steps.trace_survey(len(items), items))]}
        draft = await reasoner.aanswer(state["question"], [], items, context.mode)
        found = await in_busy_thread(lambda: points(draft, items, self._knowledge_base(state).documents))
        return {"surveyed": found, "steps": [trace_steps.data(trace_steps.trace_survey(len(items), found))]}

    def _searches(self, state: AskState) -> list[Send]:
        """Make a search for each route that is switched on, for all new sub-queries that take it."""
        numbers: dict[Route, list[int]] = {}
        for number, route in state["searches"]:
            numbers.setdefault(route, []).append(number)
        return [
            Send(f"{route}_search", SearchInput(knowledge_base=state["knowledge_base"], revision=state["revision"],
                                                scope=state["scope"], round=state["iterations"], asked=state["asked"],
                                                numbers=wanted))
            for route, wanted in numbers.items()
        ]

    def search(self, route: Route, state: SearchInput) -> AskState:
        """Search one route for the sub-queries that take it, by the tool that other agents call."""
        retriever = self._retriever(state)
        queries = retriever.queries(state["asked"])
        found, steps = list[Found](), list[dict[str, Any]]()
        for number in state["numbers"]:
            evidence = call_route(retriever, route, queries[number], EVIDENCE)
            found.append(Found(number=number, route=route, evidence=tuple(evidence)))
            step = trace_steps.trace_search(retriever, (state["round"], number, route), evidence)
            steps.append(trace_steps.data(step))
        return {"found": found, "steps": steps}

    def fuse(self, state: AskState, runtime: Runtime[AskContext]) -> AskState:
        """Rank the passages by the evidence for all sub-queries so far, and by that of the current round alone."""
        retriever, context, start = self._retriever(state), runtime.context or AskContext(), state["round_start"]
        queries = retriever.queries(state["asked"])
        evidence: list[list[Evidence]] = [[] for _ in queries]
        for found in sorted(state.get("found", []), key=lambda f: (f.number, f.route)):
            evidence[found.number].extend(found.evidence)
        top = self._resources.settings.top_k
        ranking = retriever.ranking(retriever.rank(queries, evidence, context.switches), top)
        reorder = partial(rerank, self._resources.reranker, retriever,
                          best=self._resources.settings.rerank_passages)
        ranking, how = reorder([query.text for query in queries if not query.follows], ranking)
        followed: list[tuple[str, float]] = []
        if start and self._reasoner(state, context).reasons:
            new = queries[start:]
            followed = retriever.ranking(retriever.rank(new, evidence[start:], context.switches), top)
            followed, how = reorder([query.text for query in new], followed)
        step = trace_steps.trace_ranking(retriever, state["iterations"], followed or ranking, how)
        return {"ranking": ranking, "followed": followed, "fused": state["iterations"],
                "steps": [trace_steps.data(step)]}

    async def reflect(self, state: AskState, runtime: Runtime[AskContext]) -> AskState:
        """Judge the evidence: answer if it suffices, else ask for what is missing, never what was asked before.

        A model is not asked after the last round: what it asked for before is found, and `answer` reads it.
        """
        context = runtime.context or AskContext()
        reasoner = await in_busy_thread(self._answering, state, context)
        ends = reasoner.reasons and state["iterations"] >= self._caps(context).rounds
        if not context.agent or state["surveyed"] or ends:
            return {"searches": []}
        items, kb, schema = await in_busy_thread(self._to_reflect, state, reasoner)
        with showing_claims(items, kb.documents, context.mode) as shown:
            reflection = await reasoner.areflect(state["question"], state["history"], items, schema)
            shown.settle(reflection.draft, self._abstain_below(context))
        return await in_busy_thread(self._apply_reflection, state, context, items, reflection)

    def _to_reflect(self, state: AskState, reasoner: Reasoner) -> tuple[list[Passage], KnowledgeBase, GraphSchema]:
        """Return what a reflection takes: the evidence, where its sources are, and the schema."""
        kb = self._knowledge_base(state)
        return self._items(state, reasons=reasoner.reasons), kb, kb.schemas.current()

    def _apply_reflection(self, state: AskState, context: AskContext, items: list[Passage],
                          reflection: Reflection) -> AskState:
        """Return the state after a reflection."""
        known = merged(state["history"], reflection.sub_answers, names_known_to(self._retriever(state)),
                       self._caps(context).sub_queries)
        missing = "" if reflection.sufficient else reflection.missing
        known = [step.model_copy(update={"missing": "" if step.answer else missing}) for step in known]
        update: AskState = {"history": known, "shown": items, "draft": reflection.draft}
        if reflection.sufficient:
            step = trace_steps.trace_reflection(state["iterations"], "", known, None, sufficient=True)
            return {**update, "steps": [trace_steps.data(step)]}
        plan, notes = self._next_round(state, reflection.sub_queries, known, context)
        step = trace_steps.trace_reflection(state["iterations"], missing, known, plan, sufficient=False, notes=notes)
        update["steps"] = [trace_steps.data(step)]
        if plan.new:
            return update | self._start_round(state, plan, known, items, reflection)
        reasons = self._reasoner(state, context).reasons
        if reasons and context.mode == "reject" and not (reflection.keep or reflection.sub_queries):
            # It says that nothing bears on the question and names nothing to look for: asking again would not help.
            update["draft"] = DraftAnswer(thought=missing, answerable=False, confidence=0.0)
        return update

    def _start_round(self, state: AskState, plan: Plan, known: Sequence[SubAnswer], items: Sequence[Passage],
                     reflection: Reflection) -> AskState:
        """Return the state of a new round."""
        new = [part for _, part in plan.new]
        room = int(_KEPT_SHARE * self._resources.settings.context_tokens)
        return {"iterations": state["iterations"] + 1, "round_start": len(state["asked"]),
                "asked": [*state["asked"], *new], "searches": list(plan.searches), "planned": [*state["planned"], *new],
                "history": [*known, *(SubAnswer(question=part.question) for part in new)],
                "shown": [], "seen": list(dict.fromkeys([*state["seen"], *map(item_key, items)])),
                "kept": relied_on(reflection, items, room)}

    def _next_round(self, state: AskState, proposed: Sequence[SubQuery], known: Sequence[SubAnswer],
                    context: AskContext) -> tuple[Plan, list[str]]:
        """Plan the next round within the caps; return the plan and notes on what was left out."""
        caps, asked = self._caps(context), state["asked"]
        ready = partial(next_parts, planned=state["planned"], known=known,
                        searched={key(part.question) for part in asked},
                        is_name=names_known_to(self._retriever(state)), limit=caps.sub_queries)
        parts = ready(proposed)
        if self._reasoner(state, context).reasons:
            # What waits no longer is searched even if a model asks for something else.
            schema = self._knowledge_base(state).schemas.current()
            parts += without_rewordings(ready([]), parts)
            parts = [with_elements(part, schema) for part in distinct(parts)]
        parts, notes = self._in_schema(state, parts)
        if state["iterations"] == caps.rounds:
            left = [f"cap of {caps.rounds} rounds: left out {part.question!r}" for part in parts]
            return Plan((), (), ()), left
        plan = plan_round(parts, asked, len(state["found"]), context.routes, caps)
        if not plan.new:
            notes += [f"{item.question!r} waits for an answer that was not found" for item in known
                      if waits(item.question) and not item.answer]
        return plan, notes

    def go_on(self, state: AskState) -> list[Send] | str:
        """Search again if `reflect` began a new round, else answer."""
        if state["fused"] == state["iterations"]:
            return "answer"
        return self._searches(state) or [Send("fuse", state)]

    async def answer(self, state: AskState, runtime: Runtime[AskContext]) -> AskState:
        """Check every citation against its source, or abstain; a model is asked where no reflection answered."""
        context, draft, items = runtime.context or AskContext(), state["draft"], state["shown"]
        if draft is None:
            reasoner = await in_busy_thread(self._answering, state, context)
            items = items or await in_busy_thread(self._items, state, reasons=reasoner.reasons)
            documents = (await in_busy_thread(self._knowledge_base, state)).documents
            with showing_claims(items, documents, context.mode) as shown:
                draft = await reasoner.aanswer(state["question"], state["history"], items, context.mode)
                shown.settle(draft, self._abstain_below(context))
        return await in_busy_thread(self._check_answer, state, context, draft, items)

    def _check_answer(self, state: AskState, context: AskContext, draft: DraftAnswer,
                      items: Sequence[Passage]) -> AskState:
        """Return the answer with every citation checked, or an abstention.

        The confidence is the draft's: a model's own, or the rules' (`models/rules/answers.py`). `cite` abstains if it
        is below `abstain_below` or no claim has a sound quote; then the closest quotes are shown.
        """
        documents, below = self._knowledge_base(state).documents, self._abstain_below(context)
        checked = cite(draft, items, documents, context.mode, below)
        if isinstance(draft, QuotedDraft):
            least = 0.0 if context.mode == "open" else below
            checked = present_quotes(state["question"], draft, items, documents, least)
        elif checked.abstained:
            # Where a model found no answer, the closest quotes are shown; they are found without it.
            closest = self._resources.finder.find(state["question"], items)
            shown = present_quotes(state["question"], closest, items, documents, 1.0)
            checked = shown.model_copy(update={"confidence": checked.confidence})
        if checked.abstained:
            hint = not (self._hinted or state["hinted"] or self._resources.settings.llm_base_url)
            self._hinted = self._hinted or hint
            checked = with_notes(checked, state["question"], self._retriever(state), hint=hint)
        checked = with_spelling(checked, state["respelt"], state["question"])
        self._states.end(state["knowledge_base"], state["revision"])
        step = trace_steps.data(trace_steps.trace_answer(state["iterations"], checked))
        return {"answer": checked.answer, "abstained": checked.abstained,
                "confidence": round(checked.confidence, 4), "short": checked.short,
                "citations": [citation.model_dump() for citation in checked.citations],
                # Without the second hop that was added: a question without its names, which nobody would ask.
                "sub_queries": [part.question for part in state["asked"] if waits(part.question) or not part.follows],
                "messages": [AIMessage(checked.answer)], "steps": [step],
                **({"trace": [*state["steps"], step]} if context.trace else {})}
