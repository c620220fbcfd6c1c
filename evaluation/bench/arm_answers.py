"""The arms of a benchmark: ways to answer the same questions from the same documents, as compared in the papers.

They are the retrieval graph, an agent over text, and simpler rankings with one call.
"""

import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np

from ...agents.resources import Resources
from ...agents.retrieval.citing import cite
from ...agents.retrieval.evidence import (
    ROUND_SHARE,
    completed_round,
    dropped_numbers,
    items_of,
)
from ...agents.retrieval.graph import build_graph
from ...agents.retrieval.shown_text import without_marks
from ...agents.retrieval.state import TOOL_NAMES, AskContext, ToolName
from ...agents.snapshots import Snapshot
from ...graph_store.index.lexical import LexicalIndex
from ...models.reasoner import Reasoner
from ...runtime.budgets import Budget, Usage, charge_calls
from ...runtime.threads import in_thread
from ...schemas.documents import Chunk
from ...schemas.inquiry import Block, Inquiry, Judgement, Round
from ...schemas.lookups import PassageLookup, Tool
from ...schemas.retrieval import DraftAnswer, Mode, Passage, Place
from ...tools.passages import passage_items
from ...tools.retriever import Retriever
from ..baselines import Baseline, baselines
from ..datasets import DatasetError, is_gold
from ..recall import gold_rank
from .dataset_files import BenchQuestion
from .results import ArmOutcome
from .scoring import facts_in

Method = Literal["zero-shot", "BM25", "dense passages", "BM25 and dense", "HippoRAG 2", "text agent", "graph"]
"""The method that finds the evidence: none, one or two of `baselines`, an agent over text, or the retrieval graph."""


@dataclass(frozen=True)
class Arm:
    """One row of the table.

    `context`: how the retrieval graph is asked; what is off for it is off for the ranking of passages, too.
    `schema`: the knowledge base is bounded by the seed schema; otherwise it is built with an open one.
    """

    name: str
    about: str
    method: Method = "graph"
    context: AskContext = field(default_factory=AskContext)
    schema: bool = True

    @property
    def needs_llm(self) -> bool:
        """Whether the arm can answer only with a model."""
        return self.method in {"zero-shot", "text agent"}


def _without(lookup: ToolName) -> AskContext:
    """Return a context without a lookup and without the route of that name in the ranking of passages."""
    return AskContext(routes=tuple(other for other in TOOL_NAMES if other != lookup))


ARMS: tuple[Arm, ...] = (
    Arm("full", "everything on"),
    Arm("zero-shot", "the model's own knowledge, no passages", "zero-shot"),
    Arm("naive-dense", "naive RAG: the nearest passages", "dense passages"),
    Arm("naive-bm25", "naive RAG: passages by their words", "BM25"),
    Arm("naive-both", "naive RAG: both, by reciprocal rank", "BM25 and dense"),
    Arm("agentic-text", "a plain agent: keyword and dense search, reading on, no graph", "text agent"),
    Arm("pagerank", "HippoRAG 2's walk over the same triples, without its filter", "HippoRAG 2"),
    Arm("no-agent", "Youtu: w/o agent (the first look and one call)",
        context=AskContext(agent=False, decompose=False)),
    Arm("no-decompose", "without decomposition (the question itself is searched first)",
        context=AskContext(decompose=False)),
    Arm("no-reflection", "without reflection (one round of lookups)", context=AskContext(agent=False)),
    Arm("no-schema", "Youtu: w/o schema; UniAI: w/o ontology (an open schema)", schema=False),
    Arm("no-community", "Youtu: w/o community; UniAI: w/o community reports", context=_without("community")),
    Arm("no-entity", "without entity lookups and the entity route", context=_without("entity")),
    Arm("no-triple", "without tables of triples and the triple route", context=_without("triple")),
    Arm("no-dfs", "without chains of facts", context=_without("dfs")),
    Arm("no-passage", "without passages: the graph and its reports alone", context=_without("passage")),
    Arm("no-spreading", "without the walk over the graph", context=AskContext(spreading=False)),
    Arm("no-lexical", "passages not found by their words", context=AskContext(lexical=False)),
    Arm("no-dense", "passages not found by their vectors", context=AskContext(dense=False)),
    Arm("fixed-beta", "UniAI: channels weighed alike, whatever the question", context=AskContext(beta=0.5)),
    Arm("graph-channel", "UniAI: the graph's channel alone", context=AskContext(beta=1.0)),
    Arm("report-channel", "UniAI: the communities' channel alone", context=AskContext(beta=0.0)),
)
DEFAULT_ARMS = "full,zero-shot,naive-dense,naive-bm25,naive-both,agentic-text,no-agent,no-schema,no-community"


def chosen_arms(names: str, *, with_llm: bool, recorded: bool = False) -> list[Arm]:
    """Return the arms of a comma-separated list of names, or of "all", in the table's order.

    Args:
        names: the names of the arms.
        with_llm: whether a model is set; without one, arms that need it are omitted.
        recorded: whether triples are imported; then arms with another schema are omitted.

    Raises:
        DatasetError: a name is unknown, or no arm is left.
    """
    known = {arm.name: arm for arm in ARMS}
    wanted = set(known) if names == "all" else {name.strip() for name in names.split(",") if name.strip()}
    if unknown := sorted(wanted - set(known)):
        raise DatasetError(f"there is no arm {unknown[0]!r}; choose from: all, {', '.join(known)}")
    arms = [arm for arm in ARMS if arm.name in wanted and (with_llm or not arm.needs_llm)
            and (arm.schema or not recorded)]
    if not arms:
        raise DatasetError("no arm is left that can be measured: name one (--arms), or set BANYAN_LLM_BASE_URL for "
                           "those that need a model")
    return arms


def fuse_rankings(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Fuse rankings by reciprocal rank (Cormack et al. 2009, k = 60)."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + 1 / (60 + rank)
    return sorted(scores, key=lambda key: (-scores[key], key))


STEPS = 15
"""Rounds of searches after the first one."""
TOOLS: tuple[Tool, ...] = ("passage_search",)
_LONGEST_QUERY = 1000
_MOST_SHOWN = 20
"""The most passages for which the facts in them are recorded."""
_NO_ANSWER = {"answer": "", "short": "", "abstained": True, "grade": "none"}
_ANSWER_FIELDS = tuple(_NO_ANSWER)
_Found = tuple[dict[str, Any], list[str]]
"""The answer's fields, and the ids of the chunks that it was read from or, without answers, of the ranked ones."""


class TextAgent:
    """The agent of one knowledge base, of which it reads only the passages; safe to use from several threads.

    Args:
        retriever: the knowledge base.
        dense: ranks all passages by their vectors.
    """

    def __init__(self, retriever: Retriever, dense: Baseline) -> None:
        self._retriever = retriever
        self._dense = dense
        self._ids = [chunk.id for chunk in retriever.index.chunks]
        self._words = LexicalIndex.of([chunk.titled_text() for chunk in retriever.index.chunks])

    def rank(self, query: str) -> list[str]:
        """Return the ids of all passages by BM25 and vectors, fused by reciprocal rank, best first."""
        scores = self._words.scores(query)
        by_words = [self._ids[row] for row in np.argsort(-scores, kind="stable") if scores[row] > 0]
        return fuse_rankings([by_words, self._dense(query)])

    async def answer(self, question: str, reasoner: Reasoner, mode: Mode,
                     tokens: int) -> tuple[DraftAnswer, list[Passage]]:
        """Search until the reasoner answers or no step is left.

        Args:
            question: the question, which is searched first.
            reasoner: a model, which answers or says what to search.
            mode: what the answer may rest on.
            tokens: the budget of the evidence in one prompt, estimated tokens.

        Returns:
            The answer before its quotes are checked, and the passages that they number.
        """
        share, kept, dropped = int(tokens * ROUND_SHARE), set[int](), list[int]()
        first = await in_thread(self._search, PassageLookup(query=question[:_LONGEST_QUERY]), share, set())
        rounds = [Round(blocks=(first,))]
        for step in range(STEPS + 1):
            judgement = await reasoner.judge(Inquiry(question=question, mode=mode, tools=TOOLS, rounds=tuple(rounds),
                                                     dropped=frozenset(dropped), is_last=step == STEPS))
            if judgement.draft is not None:
                return judgement.draft, list(items_of(rounds))
            kept.update(judgement.keep)
            rounds.append(await in_thread(self._next_round, rounds, judgement, share))
            dropped = dropped_numbers(rounds, kept, dropped, tokens)
        return DraftAnswer(answerable=False, confidence=0.0), list(items_of(rounds))

    def _next_round(self, rounds: Sequence[Round], judgement: Judgement, tokens: int) -> Round:
        """Return a round with what the searches that a reply asks for found."""
        searches = [lookup for lookup in judgement.lookups if isinstance(lookup, PassageLookup)]
        shown = {item.chunk_id for item in items_of(rounds)}
        blocks = [[self._search(lookup, tokens, shown)] for lookup in searches]
        asked = Round(thought=judgement.thought, lookups=tuple(searches))
        return completed_round(rounds, asked, blocks, tokens)

    def _search(self, lookup: PassageLookup, tokens: int, shown: set[str]) -> Block:
        """Return the best passages that were not shown; in named documents it reads on from the best one."""
        ranking = [key for key in self.rank(lookup.query) if key not in shown]
        if any(lookup.documents):
            ranking = self._read_on(ranking, self._retriever.index.documents_with(lookup.documents))
        items = passage_items(self._retriever, ((key, 1 / rank) for rank, key in enumerate(ranking, 1)), tokens)
        note = "" if items else "nothing that was not shown before"
        return Block(title=f"passages: {lookup.query}", items=tuple(items), note=note)

    def _read_on(self, ranking: Sequence[str], documents: Collection[str]) -> list[str]:
        """Return the ranked passages of some documents: the best one with what follows it, then the others."""
        chunks, rows = self._retriever.index.chunks, self._retriever.index.chunk_row
        inside = dict.fromkeys(key for key in ranking if chunks[rows[key]].document_id in documents)
        if not inside:
            return []
        best = rows[next(iter(inside))]
        following = [chunks[row].id for row in range(best, len(chunks))
                     if chunks[row].document_id == chunks[best].document_id]
        return [key for key in dict.fromkeys([*following, *inside]) if key in inside]


class ArmAsker:
    """The questioner of one knowledge base; safe to use from several threads.

    Args:
        resources: models and knowledge bases; the settings limit the passages and tokens of an answer.
        snapshot: the knowledge base.
        mode: "reject" declines if the evidence does not answer, "strict" also if one link of the answer is not stated,
            "open" allows the model's own knowledge.
        answers: whether to answer questions; otherwise passages are only ranked.
    """

    def __init__(self, resources: Resources, snapshot: Snapshot, mode: Mode, *, answers: bool = True) -> None:
        self._resources = resources
        self._snapshot = snapshot
        self._name = snapshot.kb.layout.name
        self._mode = mode
        self._answers = answers
        self._graph = build_graph(resources)

    @cached_property
    def _baselines(self) -> dict[str, Baseline]:
        return baselines(self._snapshot.kb)

    @cached_property
    def _chunks(self) -> dict[str, list[Chunk]]:
        return by_document(self._snapshot.index.chunks)

    @cached_property
    def _text_agent(self) -> TextAgent:
        return TextAgent(self._snapshot.retriever, self._baselines["dense passages"])

    @property
    def _reasoner(self) -> Reasoner:
        return self._resources.reasoner(self._name, calls=self._snapshot.calls)

    def prepare(self, arm: Arm) -> None:
        """Build the indexes that the first question would otherwise wait for."""
        self._chunk_of("")
        self._chunks  # noqa: B018
        if arm.method == "text agent":
            self._text_agent  # noqa: B018
        elif arm.method not in ("graph", "zero-shot"):
            self._baselines  # noqa: B018

    def _chunk_of(self, key: str) -> Chunk | None:
        index = self._snapshot.index
        return index.chunks[index.chunk_row[key]] if key in index.chunk_row else None

    async def ask(self, arm: Arm, question: BenchQuestion, budget: Budget | None = None) -> ArmOutcome:
        """Answer one question.

        Raises:
            ReasonerError: a step failed permanently.
            BudgetExceeded: a call would exceed the budget.
        """
        usage, started = Usage(), time.perf_counter()
        asks: Callable[[Arm, str], Awaitable[_Found]] = {
            "graph": self._by_graph, "text agent": self._by_text_agent}.get(arm.method, self._by_passages)
        with charge_calls(build=f"bench {arm.name}", documents={question.id: 1}, budget=budget, usage=usage):
            reply, ranking = await asks(arm, question.question)
        seconds = time.perf_counter() - started
        chunks = [chunk for key in ranking if (chunk := self._chunk_of(key))]
        shown = chunks[:_MOST_SHOWN] if question.facts else []
        answer = "" if reply["abstained"] else without_marks(reply["answer"])
        return ArmOutcome(
            arm=arm.name, id=question.id, answer=answer, short="" if reply["abstained"] else reply["short"],
            declined=reply["abstained"], grade=reply["grade"],
            ranks=tuple(gold_rank(gold, chunks) for gold in question.gold),
            facts=facts_in([chunk.titled_text() for chunk in shown], question.facts),
            gold=tuple(any(is_gold(gold, chunk) for gold in question.gold) for chunk in shown),
            passages=len(chunks), calls=usage.calls, prompt_tokens=usage.prompt, completion_tokens=usage.completion,
            seconds=round(seconds, 4))

    async def _by_graph(self, arm: Arm, question: str) -> _Found:
        """Answer by the retrieval graph; without answers rank passages, of which an arm without their search has none.

        With answers the chunks are those of all that the lookups found.
        """
        context = replace(arm.context, mode=self._mode)
        if not self._answers:
            if "passage_search" not in context.tools:
                return _NO_ANSWER, []
            ranking = await in_thread(self._snapshot.retriever.rank_passages, question, self._resources.settings.top_k,
                                      switches=context.switches, decompose=context.decompose)
            return _NO_ANSWER, [chunk for chunk, _ in ranking]
        given = cast("Any", {"knowledge_base": self._name, "question": question})
        state = await self._graph.ainvoke(given, context=context, output_keys=[*_ANSWER_FIELDS, "rounds"])
        return state, chunks_of(items_of(state["rounds"]), self._chunks)

    async def _by_text_agent(self, _: Arm, question: str) -> _Found:
        settings = self._resources.settings
        if not self._answers:
            return _NO_ANSWER, (await in_thread(self._text_agent.rank, question))[:settings.top_k]
        draft, items = await self._text_agent.answer(question, self._reasoner, self._mode,
                                                     settings.context_tokens)
        return await in_thread(self._check, draft, items, self._mode), [item.chunk_id for item in items]

    async def _by_passages(self, arm: Arm, question: str) -> _Found:
        """Answer in one call from the first passages of a simpler method, or from none for the zero-shot arm."""
        settings = self._resources.settings
        ranking = list(await in_thread(self._rank, arm, question))
        if not self._answers:
            return _NO_ANSWER, ranking[:settings.top_k]
        shown = ranking[:settings.context_passages]
        retriever = self._snapshot.retriever
        items = [retriever.described(retriever.passage(key, 1 / rank)) for rank, key in enumerate(shown, 1)]
        # Own knowledge cites nothing, so mode reject would always decline.
        mode: Mode = "open" if arm.method == "zero-shot" else self._mode
        rounds = (Round(blocks=(Block(title="passages", items=tuple(items)),)),) if items else ()
        judgement = await self._reasoner.judge(
            Inquiry(question=question, mode=mode, rounds=rounds, is_last=True))
        return await in_thread(self._check, judgement.draft, items, mode), shown

    def _check(self, draft: DraftAnswer | None, items: Sequence[Passage], mode: Mode) -> dict[str, Any]:
        """Return the answer's fields with its quotes checked as those of the retrieval graph are."""
        answer = cite(draft or DraftAnswer(answerable=False), items, self._snapshot.kb.documents, mode,
                      self._resources.settings.abstain_below)
        return {field: getattr(answer, field) for field in _NO_ANSWER}

    def _rank(self, arm: Arm, question: str) -> Sequence[str]:
        if arm.method == "zero-shot":
            return []
        if arm.method == "BM25 and dense":
            return fuse_rankings([self._baselines["BM25"](question), self._baselines["dense passages"](question)])
        return self._baselines[arm.method](question)


def by_document(chunks: Iterable[Chunk]) -> dict[str, list[Chunk]]:
    """Return the chunks of each document by its id."""
    chunks_of_document: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        chunks_of_document.setdefault(chunk.document_id, []).append(chunk)
    return chunks_of_document


def chunks_of(items: Iterable[Passage], chunks: Mapping[str, Sequence[Chunk]]) -> list[str]:
    """Return the ids of the chunks that evidence is from, in the order in which it was shown.

    Args:
        items: passages, and what the graph says with the places that support it.
        chunks: the chunks of each document.
    """
    chunk_ids = dict[str, None]()
    for item in items:
        if item.kind == "passage":
            chunk_ids[item.chunk_id] = None
            continue
        for place in item.places or (Place(document=item.document, start=item.start, text=item.text),):
            chunk_ids.update((chunk.id, None) for chunk in chunks.get(place.document, ())
                             if chunk.start <= place.start < chunk.end)
    return list(chunk_ids)
