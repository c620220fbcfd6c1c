"""The arms of a benchmark: ways to answer the same questions from the same documents, as compared in the papers.

They are the retrieval graph, an agent over text, and simpler rankings with one call.
"""

import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
from banyan.agents.resources import Resources
from banyan.agents.retrieval.cited_message import without_marks
from banyan.agents.retrieval.citing import cite
from banyan.agents.retrieval.evidence import ROUND_SHARE, completed_round, dropped_numbers
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import TOOL_NAMES, AskContext, ToolName
from banyan.agents.snapshots import Snapshot
from banyan.benchmarks.usage import Usage
from banyan.evaluation.recall import DatasetError, gold_rank, is_gold
from banyan.graph_store.index.lexical import LexicalIndex
from banyan.models.reasoner import Reasoner
from banyan.runtime.budgets import Budget, charge_calls
from banyan.runtime.threads import in_thread
from banyan.schemas.documents import Chunk
from banyan.schemas.inquiry import Block, Inquiry, Judgement, Round, items_of
from banyan.schemas.lookups import PassageLookup, Tool
from banyan.schemas.retrieval import DraftAnswer, Mode, Passage, Place
from banyan.tools.passages import passage_items
from banyan.tools.retriever import Retriever

from .baselines import Baseline, baselines
from .dataset_files import BenchQuestion
from .results import ArmOutcome
from .scoring import facts_in

Method = Literal["zero-shot", "BM25", "dense passages", "BM25 and dense", "HippoRAG 2", "text agent", "graph"]
"""The method that finds the evidence: none, one or two of `baselines`, an agent over text, or the retrieval graph."""


@dataclass(frozen=True)
class Arm:
    """One way to answer, which is one row of the table.

    `context`: the options of the retrieval graph; parts that they switch off are off for the ranking of passages, too.
    `schema`: True if the knowledge base is built with the seed schema, False if with an open schema.
    """

    name: str
    about: str
    method: Method = "graph"
    context: AskContext = field(default_factory=AskContext)
    schema: bool = True

    @property
    def needs_llm(self) -> bool:
        """True if the arm can answer only with a model."""
        return self.method in {"zero-shot", "text agent"}


def _without(lookup: ToolName) -> AskContext:
    """Return options that switch off one lookup, and its route in the ranking of passages."""
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
        with_llm: whether a model is set; if not, arms that need one are left out.
        recorded: whether recorded triples are imported; if so, arms with an open schema are left out.

    Raises:
        DatasetError: a name is unknown, or no arm is left.
    """
    all_names = [arm.name for arm in ARMS]
    chosen = set(all_names) if names == "all" else {name.strip() for name in names.split(",") if name.strip()}
    if unknown := sorted(chosen - set(all_names)):
        raise DatasetError(f"there is no arm {unknown[0]!r}; choose from: all, {', '.join(all_names)}")
    arms = [arm for arm in ARMS if arm.name in chosen and (with_llm or not arm.needs_llm)
            and (arm.schema or not recorded)]
    if not arms:
        raise DatasetError("no arm is left that can be measured: name one (--arms), or set BANYAN_LLM_BASE_URL for "
                           "those that need a model")
    return arms


def fuse_rankings(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Fuse rankings by reciprocal rank (Cormack et al. 2009, k = 60); the best item comes first."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + 1 / (60 + rank)
    return sorted(scores, key=lambda key: (-scores[key], key))


STEPS = 15
"""Rounds of searches after the first one."""
TOOLS: tuple[Tool, ...] = ("passage_search",)
_LONGEST_QUERY = 1000
_RANKED = 100
"""The passages that are ranked where questions are not answered."""
_MOST_SHOWN = 20
"""The most passages for which the facts in them are recorded."""
_NO_ANSWER = {"answer": "", "short": "", "abstained": True, "grade": "none"}
_ANSWER_FIELDS = tuple(_NO_ANSWER)
_Found = tuple[dict[str, Any], list[str]]
"""The answer's fields, and the ids of the chunks that were its evidence (or, if nothing is answered, were ranked)."""


class TextAgent:
    """A plain agent that searches only the passages of a knowledge base, not its graph. Safe to use from threads.

    Args:
        retriever: the knowledge base.
        dense: ranks all passages by their vectors.
    """

    def __init__(self, retriever: Retriever, dense: Baseline) -> None:
        """Build the BM25 index of all passages."""
        self._retriever = retriever
        self._dense = dense
        self._ids = [chunk.id for chunk in retriever.index.chunks]
        self._lexical = LexicalIndex.of([chunk.titled_text() for chunk in retriever.index.chunks])

    def rank(self, query: str) -> list[str]:
        """Return the ids of all passages by BM25 and vectors, fused by reciprocal rank, best first."""
        scores = self._lexical.scores(query)
        by_words = [self._ids[row] for row in np.argsort(-scores, kind="stable") if scores[row] > 0]
        return fuse_rankings([by_words, self._dense(query)])

    async def answer(self, question: str, reasoner: Reasoner, mode: Mode,
                     tokens: int) -> tuple[DraftAnswer, list[Passage]]:
        """Search until the reasoner answers or no step is left.

        Args:
            question: the question, whose text is the first search.
            reasoner: a model, which answers or asks for further searches.
            mode: what the answer may rest on.
            tokens: the budget of the evidence in one prompt, estimated tokens.

        Returns:
            The answer before its quotes are checked, and all passages that were shown; the answer cites them by number.
        """
        round_tokens, dropped = int(tokens * ROUND_SHARE), list[int]()
        first_search = PassageLookup(query=question[:_LONGEST_QUERY])
        first = await in_thread(self._search, first_search, round_tokens, set())
        rounds = [Round(blocks=(first,))]
        for step in range(STEPS + 1):
            judgement = await reasoner.judge(Inquiry(question=question, mode=mode, tools=TOOLS, rounds=tuple(rounds),
                                                     dropped=frozenset(dropped), is_last=step == STEPS))
            if judgement.draft is not None:
                return judgement.draft, list(items_of(rounds))
            rounds.append(await in_thread(self._next_round, rounds, judgement, round_tokens))
            dropped = dropped_numbers(rounds, dropped, tokens)
        return DraftAnswer(answerable=False, confidence=0.0), list(items_of(rounds))

    def _next_round(self, rounds: Sequence[Round], judgement: Judgement, tokens: int) -> Round:
        """Run the searches that the model asks for, and return their results as a round."""
        searches = [lookup for lookup in judgement.lookups if isinstance(lookup, PassageLookup)]
        shown = {item.chunk_id for item in items_of(rounds)}
        blocks = [[self._search(lookup, tokens, shown)] for lookup in searches]
        search_round = Round(thought=judgement.thought, lookups=tuple(searches))
        return completed_round(rounds, search_round, blocks, tokens)

    def _search(self, lookup: PassageLookup, tokens: int, shown: set[str]) -> Block:
        """Return the best passages for a query that were not shown before, within a number of tokens."""
        ranking = [key for key in self.rank(lookup.query) if key not in shown]
        if any(lookup.documents):
            ranking = self._read_on(ranking, self._retriever.index.documents_with(lookup.documents))
        items = passage_items(self._retriever, ((key, 1 / rank) for rank, key in enumerate(ranking, 1)), tokens)
        note = "" if items else "nothing that was not shown before"
        return Block(title=f"passages: {lookup.query}", items=tuple(items), note=note)

    def _read_on(self, ranking: Sequence[str], documents: Collection[str]) -> list[str]:
        """Return the ranked passages of some documents: the best one, those after it in its document, the others."""
        chunks, rows = self._retriever.index.chunks, self._retriever.index.chunk_row
        in_documents = dict.fromkeys(key for key in ranking if chunks[rows[key]].document_id in documents)
        if not in_documents:
            return []
        best = rows[next(iter(in_documents))]
        from_best_on = [chunks[row].id for row in range(best, len(chunks))
                        if chunks[row].document_id == chunks[best].document_id]
        return [key for key in dict.fromkeys([*from_best_on, *in_documents]) if key in in_documents]


class ArmAsker:
    """Asks the questions of a benchmark from one knowledge base, by any arm. Safe to use from several threads.

    Args:
        resources: models and knowledge bases; the settings limit the tokens of an answer.
        snapshot: the knowledge base.
        mode: "reject" declines if the evidence does not answer, "strict" also if one link of the answer is not stated,
            "open" allows the model's own knowledge.
        passages: how many passages naive RAG reads.
        answers: whether to answer questions; otherwise passages are only ranked.
    """

    def __init__(self, resources: Resources, snapshot: Snapshot, mode: Mode, *, passages: int, answers: bool) -> None:
        """Build the retrieval graph; the indexes of the other methods are built when first needed."""
        self._resources = resources
        self._snapshot = snapshot
        self._name = snapshot.kb.layout.name
        self._mode = mode
        self._passages = passages
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
        """Build the indexes that an arm needs, so the time of the first question does not include it."""
        # Reading a cached property computes it.
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
        """Answer one question by an arm, and measure the answer's evidence, calls and time.

        Raises:
            ReasonerError: a step failed permanently.
            BudgetExceeded: a call would exceed the budget.
        """
        usage, started = Usage(), time.perf_counter()
        answer_by: Callable[[Arm, str], Awaitable[_Found]] = {
            "graph": self._by_graph, "text agent": self._by_text_agent}.get(arm.method, self._by_passages)
        with charge_calls(build=f"bench {arm.name}", documents={question.id: 1}, budget=budget, on_call=usage.add):
            reply, chunk_ids = await answer_by(arm, question.question)
        seconds = time.perf_counter() - started
        chunks = [chunk for chunk_id in chunk_ids if (chunk := self._chunk_of(chunk_id))]
        first_chunks = chunks[:_MOST_SHOWN] if question.facts else []
        answer = "" if reply["abstained"] else without_marks(reply["answer"])
        return ArmOutcome(
            arm=arm.name, id=question.id, answer=answer, short="" if reply["abstained"] else reply["short"],
            declined=reply["abstained"], grade=reply["grade"],
            ranks=tuple(gold_rank(gold, chunks) for gold in question.gold),
            facts=facts_in([chunk.titled_text() for chunk in first_chunks], question.facts),
            gold=tuple(any(is_gold(gold, chunk) for gold in question.gold) for chunk in first_chunks),
            passages=len(chunks), calls=usage.calls, prompt_tokens=usage.prompt, completion_tokens=usage.completion,
            seconds=round(seconds, 4))

    async def _by_graph(self, arm: Arm, question: str) -> _Found:
        """Answer by the retrieval graph; the chunks are the sources of everything that its lookups found."""
        context = replace(arm.context, mode=self._mode)
        if not self._answers:
            if "passage_search" not in context.tools:
                return _NO_ANSWER, []
            ranking = await in_thread(self._snapshot.retriever.rank_passages, question, _RANKED,
                                      switches=context.switches)
            return _NO_ANSWER, [chunk for chunk, _ in ranking]
        graph_input = cast("Any", {"knowledge_base": self._name, "question": question})
        state = await self._graph.ainvoke(graph_input, context=context, output_keys=[*_ANSWER_FIELDS, "rounds"])
        return state, chunks_of(items_of(map(Round.model_validate, state["rounds"])), self._chunks)

    async def _by_text_agent(self, _: Arm, question: str) -> _Found:
        """Answer by the agent over text; if nothing is answered, only rank the passages as it does."""
        settings = self._resources.settings
        if not self._answers:
            return _NO_ANSWER, (await in_thread(self._text_agent.rank, question))[:_RANKED]
        draft, items = await self._text_agent.answer(question, self._reasoner, self._mode,
                                                     settings.context_tokens)
        return await in_thread(self._check, draft, items, self._mode), [item.chunk_id for item in items]

    async def _by_passages(self, arm: Arm, question: str) -> _Found:
        """Answer with one call, from the first passages of a simple ranking; the zero-shot arm has no passages."""
        ranking = list(await in_thread(self._rank, arm, question))
        if not self._answers:
            return _NO_ANSWER, ranking[:_RANKED]
        chunk_ids = ranking[:self._passages]
        retriever = self._snapshot.retriever
        items = [retriever.with_metadata(retriever.passage(key, 1 / rank)) for rank, key in enumerate(chunk_ids, 1)]
        # An answer from the model's own knowledge cites nothing, so mode reject would always decline it.
        mode: Mode = "open" if arm.method == "zero-shot" else self._mode
        rounds = (Round(blocks=(Block(title="passages", items=tuple(items)),)),) if items else ()
        judgement = await self._reasoner.judge(
            Inquiry(question=question, mode=mode, rounds=rounds, is_last=True))
        return await in_thread(self._check, judgement.draft, items, mode), chunk_ids

    def _check(self, draft: DraftAnswer | None, items: Sequence[Passage], mode: Mode) -> dict[str, Any]:
        """Check the quotes of an answer as the retrieval graph does, and return the answer's fields."""
        answer = cite(draft or DraftAnswer(answerable=False), items, self._snapshot.kb.documents, mode,
                      self._resources.settings.abstain_below)
        return {field: getattr(answer, field) for field in _NO_ANSWER}

    def _rank(self, arm: Arm, question: str) -> Sequence[str]:
        """Return the ids of all chunks as an arm's method ranks them; the zero-shot arm has none."""
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
    """Return the ids of the chunks that pieces of evidence come from, in the order of the evidence.

    Args:
        items: passages, and pieces of evidence from the graph with the places in documents that support them.
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
