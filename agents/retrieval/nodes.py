"""The nodes of the retrieval graph, over the resources of a process."""

import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Literal

from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langgraph.graph.message import push_message
from langgraph.types import Command, Send

from ...graph_store.layout import choose_name
from ...graph_store.ledger.notes import check_instructions
from ...models.reasoner import Reasoner
from ...runtime.threads import in_thread
from ...schemas.inquiry import Inquiry, Judgement, Round, StepName, TraceStep, items_of
from ...schemas.lookups import LONGEST, Lookup, PassageLookup, Tool, lookup_arguments, lookup_text
from ...schemas.retrieval import Answer, DraftAnswer, QuotedDraft
from ...tools.langchain_tools import call_tool
from ...tools.several_bases import Retrievers, first_look_at
from ..nodes import check_context, check_models, is_seen_by_client, is_served
from ..resources import Resources, default_resources
from ..snapshots import JoinedSnapshots
from . import streaming, wording
from .cited_message import answer_chunk, answer_message
from .citing import cite
from .evidence import ROUND_SHARE, completed_round, dropped_numbers, terms_of_bases, useful_tools
from .state import MAX_QUESTION, AskContext, AskState, LookupInput, caps_of
from .streaming import showing_claims, withdraw_message

Next = Command[Tool | Literal["reflect", "answer"]]  # the state after a judgement, and where it leads
_UNANSWERED = DraftAnswer(answerable=False, confidence=0.0)
_ABOVE_ANY_CONFIDENCE = 2.0  # as `abstain_below`, it has a draft's quotes shown as the closest ones, not as an answer


class RetrievalNodes:
    """The nodes, in their order, and below them what several of them do."""

    def __init__(self, resources: Resources | None) -> None:
        self._given = resources

    @property
    def _resources(self) -> Resources:
        return self._given or default_resources()

    def abandon(self, state: AskState | LookupInput) -> None:
        """Release the snapshot of a question after one of its steps failed or was cancelled."""
        self._resources.snapshots.end_question(state.get("revision", ""))

    async def condense(self, state: AskState, context: AskContext) -> AskState:
        """Check the input, and rewrite a follow-up to make sense without the conversation before it."""
        check_context(context)
        named = state.get("knowledge_base") or ""
        earlier, question = wording.read_conversation(state)
        with ExitStack() as leases:
            snapshots = await in_thread(self._open, leases, named, context)
            if earlier:
                reasoner = await in_thread(self._resources.reasoner, snapshots.payer, context.models, snapshots.calls)
                rewritten = await reasoner.condense(question, earlier)
                # A rewrite longer than any question is a model's error, and every later call would pay for it.
                question = rewritten if len(rewritten) <= MAX_QUESTION else question
            revision = await in_thread(self._resources.snapshots.begin_question, snapshots)
        # The thread's state keeps the trace of an earlier question that asked for one: it is not this question's.
        without_trace: AskState = {"trace": []} if state.get("trace") else {}
        return {"named": named, "knowledge_base": ",".join(snapshots.by_name), "revision": revision,
                "scope": context.scope, "question": question, "rounds": [],
                "next_round": Round(), "omitted": [], "found": [], "terms": "", "dropped": [],
                "draft": None, "shown": ("", ""),
                "steps": [streaming.stream_step(TraceStep(step="question", text=streaming.short(question)))],
                **without_trace}

    def _open(self, leases: ExitStack, named: str, context: AskContext) -> JoinedSnapshots:
        """Lease the snapshots to answer from until `leases` closes; raise an error if the question chooses wrongly."""
        settings = self._resources.settings
        names = choose_name(named or context.knowledge_base, settings, is_seen_by_client)
        check_instructions(context.instructions)
        snapshots = leases.enter_context(self._resources.snapshots_of(names, context.scope))
        # These are called for their errors alone, so that a wrong choice is reported before a call is paid.
        caps_of(context, settings, served=is_served())
        check_models(context.models, settings, served=is_served())
        self._resources.reranker  # noqa: B018 - the property loads it
        return snapshots

    def first_look(self, state: AskState, context: AskContext) -> AskState:
        """Find passages, short cards and tables for the question, without calling a model."""
        question = state["question"]
        with self._snapshots(state) as snapshots:
            can_reason = self._resources.reasoner(snapshots.payer, context.models, snapshots.calls).can_reason
            # Without a reasoner that asks for lookups no other round needs a share of the budget.
            tokens = self._round_tokens if can_reason else self._resources.settings.context_tokens
            blocks = first_look_at(snapshots.retrievers, question, tokens, context.tools, context.switches,
                                   reasons=can_reason)
            terms = ""
            if can_reason:  # the schema's terms are for the prompts of a model
                terms = terms_of_bases(snapshots.retrievers, question, are_tables_shown="table_query" in context.tools)
        return {"rounds": [Round(blocks=tuple(blocks))], "terms": terms,
                "steps": [streaming.stream_step(streaming.trace_found(1, None, blocks))]}

    async def decompose(self, state: AskState, context: AskContext) -> Next:
        """Answer from the first look, or say what to look up [Youtu-GraphRAG 3.3: sub-queries in the schema's terms].

        With decomposition off, the question itself is searched first, without calling the model.
        """
        # Without the agent and decomposition a question may make no lookup at all (see `caps_of`).
        is_searched_first = context.agent and not context.decompose and "passage_search" in context.tools
        if is_searched_first and (await in_thread(self._reasoner, state, context)).can_reason:
            judgement = Judgement(lookups=[PassageLookup(query=state["question"][:LONGEST])])
            return self._apply(state, context, "decompose", judgement, {})
        return await self._judge(state, context, "decompose", {})

    async def look_up(self, state: LookupInput, context: AskContext) -> AskState:
        """Make one lookup by its LangChain tool, and return what it found with a step of the trace."""
        @contextmanager
        def lease() -> Iterator[Retrievers]:
            with self._snapshots(state) as snapshots:
                yield snapshots.retrievers

        blocks = await call_tool(lease, state["lookup"], tokens=self._round_tokens, question=state["question"],
                                 seen=state["seen"], switches=context.switches)
        step = streaming.trace_found(state["round"], state["lookup"], blocks)
        message = ToolMessage(streaming.found_text(step), tool_call_id=state["call"], name=state["lookup"].tool)
        return {"found": [blocks], "messages": [message], "steps": [streaming.stream_step(step)]}

    async def reflect(self, state: AskState, context: AskContext) -> Next:
        """Append what the lookups found to the evidence, and answer or choose further lookups."""
        under_way = state["next_round"]
        newest = completed_round(state["rounds"], under_way, state["found"], self._round_tokens, state["omitted"])
        rounds = [*state["rounds"], newest]
        dropped = dropped_numbers(rounds, state["dropped"], self._resources.settings.context_tokens)
        changes: AskState = {"rounds": rounds, "dropped": dropped}
        return await self._judge({**state, **changes}, context, "reflect", changes)

    def answer(self, state: AskState, context: AskContext) -> AskState:
        """Check every citation against its source, or abstain; stream what of the message was not shown yet."""
        with self._snapshots(state) as snapshots:
            answer = self._checked_answer(state, context, snapshots)
        self._resources.snapshots.end_question(state["revision"])
        citations = [citation.model_dump() for citation in answer.citations]
        message_id, shown_text = state["shown"]
        if not answer.answer.startswith(shown_text):  # a document was changed or deleted, so a claim no longer holds
            withdraw_message(message_id)
            message_id = ""  # the answer becomes a message of its own
        elif shown_text:
            push_message(answer_chunk(answer.answer, shown_text, citations, message_id, is_last=True), state_key=None)
        step = streaming.stream_step(streaming.trace_answer(len(state["rounds"]), answer))
        output: AskState = {
            "answer": answer.answer, "abstained": answer.abstained, "confidence": round(answer.confidence, 4),
            "short": answer.short, "grade": answer.grade, "iterations": len(state["rounds"]), "citations": citations,
            "structured_response": answer.model_dump(exclude={"confidence"}),
            "sub_queries": [state["question"], *map(lookup_text, _lookups_of(state))], "steps": [step],
            "messages": [answer_message(answer.answer, citations, message_id=message_id or None)],
            # The thread keeps the name that its input gave, maybe none: the next question's context may name another.
            # It keeps no question: a run without a new one would answer the old one again.
            "knowledge_base": state["named"], "question": ""}
        if context.trace:
            output["trace"] = [*state["steps"], step]
        return output

    def _snapshots(self, state: AskState | LookupInput) -> AbstractContextManager[JoinedSnapshots]:
        """Lease the snapshots that the question began with, even if a build has published a newer one since."""
        return self._resources.snapshots.resume_question(state["revision"], state["knowledge_base"], state["scope"])

    def _reasoner(self, state: AskState, context: AskContext) -> Reasoner:
        """Return the reasoner with the knowledge base's and the question's instructions for wording answers."""
        with self._snapshots(state) as snapshots:
            reasoner = self._resources.reasoner(snapshots.payer, context.models, snapshots.calls)
            bases = [snapshot.base or snapshot for snapshot in snapshots.by_name.values()]  # a scope has none
            instructions = [*(base.kb.instructions.get() for base in bases), context.instructions]
        wishes = "\n".join(filter(None, dict.fromkeys(instructions)))  # several bases may have the same
        return reasoner.with_instructions(wishes) if wishes and reasoner.can_reason else reasoner

    @property
    def _round_tokens(self) -> int:
        """The budget of a round; what all its lookups found is fitted into it."""
        return int(self._resources.settings.context_tokens * ROUND_SHARE)

    def _abstain_below(self, context: AskContext) -> float:
        return self._resources.settings.abstain_below if context.abstain_below is None else context.abstain_below

    def _lookups_left(self, state: AskState, context: AskContext) -> int:
        """Return how many lookups the question may still make; 0 if no further round is allowed."""
        caps = caps_of(context, self._resources.settings, served=is_served())
        # The cap on rounds does not count the first look, which is one of the state's rounds.
        is_round_left = len(state["rounds"]) - 1 < caps.rounds
        return max(0, caps.tool_calls - len(_lookups_of(state))) if is_round_left else 0

    async def _judge(self, state: AskState, context: AskContext, step: StepName, changes: AskState) -> Next:
        """Let a reasoner answer or choose lookups; see `_apply` for the arguments."""
        with ExitStack() as leases:
            snapshots, reasoner, inquiry = await in_thread(self._begin_judging, leases, state, context)
            # A reader sees each claim as soon as the model has written it; claims of an unusable reply are withdrawn.
            with showing_claims(list(inquiry.items()), snapshots.documents, context.mode, state["question"]) as shown:
                judgement = await reasoner.judge(inquiry)
                if inquiry.is_last and judgement.draft is None:  # no lookups are left, so the question is unanswered
                    judgement = Judgement(thought=judgement.thought, draft=_UNANSWERED)
                changes = {**changes, "shown": shown.confirm_claims(judgement.draft, self._abstain_below(context))}
        return self._apply(state, context, step, judgement, changes)

    def _begin_judging(self, leases: ExitStack, state: AskState, context: AskContext,
                       ) -> tuple[JoinedSnapshots, Reasoner, Inquiry]:
        """Lease the question's snapshots; return them with the reasoner and the inquiry that it has to judge."""
        reasoner = self._reasoner(state, context)
        snapshots = leases.enter_context(self._snapshots(state))
        tools = useful_tools(snapshots.retrievers, context.tools)
        can_look_further = reasoner.can_reason and tools and self._lookups_left(state, context)
        return snapshots, reasoner, Inquiry(
            question=state["question"], mode=context.mode, tools=tools, rounds=tuple(state["rounds"]),
            terms=state["terms"], dropped=frozenset(state["dropped"]), is_last=not can_look_further)

    def _apply(self, state: AskState, context: AskContext, step: StepName, judgement: Judgement, changes: AskState,
               ) -> Next:
        """Put a judgement of the node `step`, and its other `changes`, in the state; go on to answer or lookups."""
        most = self._lookups_left(state, context)
        switched_on = list(dict.fromkeys(lookup for lookup in judgement.lookups if lookup.tool in context.tools))
        switched_off = [lookup for lookup in judgement.lookups if lookup not in switched_on]
        # The trace shows why a lookup is not made, and the reasoner reads it in the next round.
        omitted = [*((lookup_text(lookup), "switched off") for lookup in switched_off),
                   *((lookup_text(lookup), "not looked up: no more lookups are allowed")
                     for lookup in switched_on[most:]),
                   *judgement.refused]
        lookups = [] if judgement.draft else switched_on[:most]  # a draft is answered without further lookups
        calls = [ToolCall(name=lookup.tool, args=lookup_arguments(lookup), id=uuid.uuid4().hex) for lookup in lookups]
        traced = streaming.trace_judgement(step, len(state["rounds"]), judgement, map(": ".join, omitted))
        update: AskState = {
            **changes, "draft": judgement.draft, "omitted": omitted, "found": [],
            "next_round": Round(thought=judgement.thought, lookups=tuple(lookups)),
            # The thought is not checked against the sources, so nobody is shown it as a part of the conversation.
            "messages": [AIMessage("", tool_calls=calls)] if calls else [], "steps": [streaming.stream_step(traced)]}
        # The key of a passage that was cut differs from the whole passage's, so the whole one counts as not shown.
        seen = [item.key for item in items_of(state["rounds"]) if item.kind == "passage"]
        sends = [Send(lookup.tool, LookupInput(
            knowledge_base=state["knowledge_base"], revision=state["revision"], scope=state["scope"],
            question=state["question"], round=len(state["rounds"]) + 1, call=str(call["id"]), lookup=lookup,
            seen=seen)) for lookup, call in zip(lookups, calls, strict=True)]
        if judgement.draft:
            return Command(update=update, goto="answer")
        return Command(update=update, goto=sends or "reflect")  # which tells the reasoner why no lookup is made

    def _checked_answer(self, state: AskState, context: AskContext, snapshots: JoinedSnapshots) -> Answer:
        """Return the answer with every quote checked, or an abstention with the closest quotes and hints."""
        items, draft = list(items_of(state["rounds"])), state["draft"] or _UNANSWERED
        question, documents, abstain_below = state["question"], snapshots.documents, self._abstain_below(context)
        if isinstance(draft, QuotedDraft):
            required = 0.0 if context.mode == "open" else abstain_below  # no confidence is too low
            checked = wording.present_quotes(question, draft, items, documents, required)
        else:
            checked = cite(draft, items, documents, context.mode, abstain_below, question)
            if checked.abstained:
                # The model found no answer: show what it says of the documents, or the closest quotes by rules.
                closest = self._resources.finder.find(question, items)
                presented = (wording.present_unanswered(question, draft, items, documents)
                             or wording.present_quotes(question, closest, items, documents, _ABOVE_ANY_CONFIDENCE))
                checked = presented.model_copy(update={"confidence": checked.confidence, "grade": "none"})
        asks_back = isinstance(draft, QuotedDraft) and draft.asks_back
        if checked.abstained and not asks_back:  # a question back is an answer of its own
            checked = wording.with_near_names(checked, question, snapshots.retrievers.values())
        return checked


def _lookups_of(state: AskState) -> list[Lookup]:
    return [lookup for lookup_round in state["rounds"] for lookup in lookup_round.lookups]
