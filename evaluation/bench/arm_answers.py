"""Answers to a question by an arm: with the retrieval graph, or with a simpler ranking and one call."""

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, cast

from ...agents.resources import Resources
from ...agents.retrieval.citing import cite, within_budget
from ...agents.retrieval.graph import build_graph
from ...agents.retrieval.shown_text import without_marks
from ...agents.retrieval.state import AskContext
from ...runtime.budgets import Budget, Usage, charge_calls
from ...schemas.documents import Chunk
from ...schemas.retrieval import Mode
from ..baselines import Baseline, baselines
from ..datasets import is_gold
from ..recall import gold_rank
from .arms import Arm, fuse_rankings
from .dataset_records import BenchQuestion
from .ranking import facts_in
from .results import Outcome

_MOST_SHOWN = 20
"""The most passages for which the facts in them are recorded."""
_NO_ANSWER = {"answer": "", "short": "", "abstained": True}
_Found = tuple[dict[str, Any], list[str]]
"""The answer's fields, and the ids of the ranked chunks, best first."""


class Asker:
    """The questioner of one knowledge base; safe to use from several threads.

    Args:
        resources: models and knowledge bases; the settings limit the passages and tokens of an answer.
        name: the knowledge base.
        mode: "reject" declines if the passages do not answer, "open" allows the model's own knowledge.
        answers: whether to answer questions; otherwise passages are only ranked.
    """

    def __init__(self, resources: Resources, name: str, mode: Mode, *, answers: bool = True) -> None:
        self._resources = resources
        self._name = name
        self._mode = mode
        self._answers = answers
        self._graph = build_graph(resources)

    @cached_property
    def _baselines(self) -> dict[str, Baseline]:
        return baselines(self._resources.knowledge_base(self._name))

    def prepare(self, arm: Arm) -> None:
        """Build the indexes that the first question would otherwise wait for."""
        self._chunk_of("")
        if arm.method not in ("graph", "zero-shot"):
            self._baselines  # noqa: B018

    def _chunk_of(self, key: str) -> Chunk | None:
        index = self._resources.retriever(self._name).index
        return index.chunks[index.chunk_row[key]] if key in index.chunk_row else None

    def ask(self, arm: Arm, question: BenchQuestion, budget: Budget | None = None) -> Outcome:
        """Answer one question.

        Raises:
            ReasonerError: a step failed permanently.
            BudgetExceeded: a call would exceed the budget.
        """
        usage, started = Usage(), time.perf_counter()
        asks: Callable[[Arm, str], _Found] = self._by_graph if arm.method == "graph" else self._by_passages
        with charge_calls(build=f"bench {arm.name}", document=question.id, budget=budget, usage=usage):
            reply, ranking = asks(arm, question.question)
        seconds = time.perf_counter() - started
        chunks = [chunk for key in ranking if (chunk := self._chunk_of(key))]
        shown = chunks[:_MOST_SHOWN] if question.facts else []
        answer = "" if reply["abstained"] else without_marks(reply["answer"])
        return Outcome(
            arm=arm.name, id=question.id, answer=answer, short="" if reply["abstained"] else reply["short"],
            declined=reply["abstained"], ranks=tuple(gold_rank(gold, chunks) for gold in question.gold),
            facts=facts_in([chunk.titled_text() for chunk in shown], question.facts),
            gold=tuple(any(is_gold(gold, chunk) for gold in question.gold) for chunk in shown),
            passages=len(chunks), calls=usage.calls, prompt_tokens=usage.prompt, completion_tokens=usage.completion,
            seconds=round(seconds, 4))

    def _by_graph(self, arm: Arm, question: str) -> _Found:
        setting = arm.setting
        context = AskContext(mode=self._mode, agent=setting.agent, decompose=setting.decompose,
                             **dict(setting.switches))
        state = self._graph.invoke(cast("Any", {"knowledge_base": self._name, "question": question}), context=context,
                                   output_keys=["answer", "short", "abstained", "ranking"],
                                   interrupt_before=None if self._answers else ["answer"])
        return state if self._answers else _NO_ANSWER, [key for key, _ in state["ranking"]]

    def _by_passages(self, arm: Arm, question: str) -> _Found:
        """Answer in one call from the first passages of a simpler method, or from none for the zero-shot arm."""
        settings = self._resources.settings
        retriever = self._resources.retriever(self._name)
        ranking = list(self._rank(arm, question))[:settings.top_k]
        if not self._answers:
            return _NO_ANSWER, ranking
        shown = ranking[:settings.context_passages]
        passages = within_budget((retriever.passage(key, 1 / rank) for rank, key in enumerate(shown, 1)),
                                 settings.context_tokens)
        # Own knowledge cites nothing, so mode reject would always decline.
        mode: Mode = "open" if arm.method == "zero-shot" else self._mode
        draft = self._resources.reasoner(self._name).answer(question, [], passages, mode)
        documents = self._resources.knowledge_base(self._name).documents
        answer = cite(draft, passages, documents, mode, settings.abstain_below)
        return {"answer": answer.answer, "short": answer.short, "abstained": answer.abstained}, ranking

    def _rank(self, arm: Arm, question: str) -> Sequence[str]:
        if arm.method == "zero-shot":
            return []
        if arm.method == "BM25 and dense":
            return fuse_rankings([self._baselines["BM25"](question), self._baselines["dense passages"](question)])
        return self._baselines[arm.method](question)
