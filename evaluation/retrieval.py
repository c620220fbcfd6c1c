"""Recall of gold passages: how much of what a question needs is among the first k passages."""

import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Literal

import numpy as np

from ..agents.resources import Resources
from ..agents.retrieval import AskContext, build_graph
from ..schemas.documents import Chunk, Frozen
from ..schemas.retrieval import ROUTES, Route, SubQuery
from ..tools.retriever import Retriever
from .datasets import GoldPassage, GoldStep, Question, is_gold

SubQueries = Literal["none", "gold"]
Ranking = list[tuple[str, float]]
_PLACE = re.compile(r"#(\d+)")


class QuestionRecord(Frozen):
    """What was found for one question."""

    id: str
    question: str
    ranks: tuple[int | None, ...]
    """For each gold passage its place among the ranked documents, from 1; None beyond the last."""
    milliseconds: float


class RetrievalReport(Frozen):
    """Recall at k in %, and latency, over all questions."""

    questions: int
    recall: dict[str, float]
    latency_ms: dict[str, float]
    records: tuple[QuestionRecord, ...]


def evaluate(resources: Resources, name: str, questions: Sequence[Question], *, ks: Sequence[int],
             sub_queries: SubQueries = "none", routes: Collection[Route] = ROUTES, agent: bool = True,
             progress: Callable[[int, int], None] = lambda *_: None) -> RetrievalReport:
    """Rank the passages for each question and see where the gold ones stand.

    Args:
        resources: models and knowledge bases.
        name: the knowledge base.
        questions: with their gold passages.
        ks: the cut-offs.
        sub_queries: "gold": search with the dataset's own decomposition, earlier answers filled in,
            instead of the agent's.
        routes: the routes switched on.
        agent: decompose and reflect; else one round with the question as it is.
        progress: told (done, all) after each question.

    Returns:
        The report; recall of a question is the share of its gold passages among the first k
        documents.
    """
    retriever = resources.retriever(name)
    search = _gold_search(retriever, routes) if sub_queries == "gold" else _agent_search(
        resources, name, AskContext(routes=tuple(r for r in ROUTES if r in routes), agent=agent))
    records: list[QuestionRecord] = []
    for number, question in enumerate(questions, 1):
        started = time.perf_counter()
        ranking = search(question)
        elapsed = (time.perf_counter() - started) * 1000
        ranked = [retriever.index.chunks[retriever.index.chunk_row[chunk_id]] for chunk_id, _ in ranking]
        records.append(QuestionRecord(id=question.id, question=question.question, milliseconds=round(elapsed, 2),
                                      ranks=tuple(_rank(gold, ranked) for gold in question.gold)))
        progress(number, len(questions))
    return _report(records, ks)


def _agent_search(resources: Resources, name: str, context: AskContext) -> Callable[[Question], Ranking]:
    graph = build_graph(resources)

    def search(question: Question) -> Ranking:
        state = graph.invoke({"knowledge_base": name, "question": question.question}, context=context,
                             output_keys=["ranking"], interrupt_before=["answer"])
        return list(state["ranking"])

    return search


def _gold_search(retriever: Retriever, routes: Collection[Route]) -> Callable[[Question], Ranking]:
    def search(question: Question) -> Ranking:
        queries = retriever.queries([SubQuery(question=text) for text in _filled(question)])
        scores = retriever.rank(queries, [retriever.evidence(query, routes) for query in queries])
        return retriever.ranking(scores, len(retriever.index.chunks))

    return search


def _filled(question: Question) -> Iterator[str]:
    """The steps of the gold decomposition with earlier answers filled in; the question if there are none."""
    if not question.steps:
        yield question.question
    for step in question.steps:
        yield _PLACE.sub(lambda found: _answer(question.steps, found), step.question)


def _answer(steps: Sequence[GoldStep], place: re.Match[str]) -> str:
    """The answer that `#1` stands for; a number that counts no step stays as it is."""
    number = int(place[1])
    return steps[number - 1].answer if 1 <= number <= len(steps) else place[0]


def _rank(gold: GoldPassage, ranked: Sequence[Chunk]) -> int | None:
    """The place of a gold passage, counting each document once, from 1."""
    seen: dict[str, None] = {}
    for chunk in ranked:
        seen[chunk.document_id] = None
        if is_gold(gold, chunk):
            return list(seen).index(chunk.document_id) + 1
    return None


def _report(records: Sequence[QuestionRecord], ks: Sequence[int]) -> RetrievalReport:
    times = [record.milliseconds for record in records] or [0.0]
    recall = {
        str(k): round(100 * float(np.mean([float(np.mean([rank is not None and rank <= k for rank in record.ranks]))
                                           for record in records] or [0.0])), 2)
        for k in ks
    }
    return RetrievalReport(questions=len(records), recall=recall, records=tuple(records),
                           latency_ms={"p50": round(float(np.percentile(times, 50)), 2),
                                       "p95": round(float(np.percentile(times, 95)), 2)})
