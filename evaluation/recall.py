"""Recall of gold passages: the share of a question's gold passages among the first k passages."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal

from ..agents.resources import Resources
from ..schemas.documents import Chunk, Frozen
from ..schemas.references import literal, replace_references
from ..schemas.retrieval import EVERYTHING, SubQuery, Switches
from ..tools.retriever import Retriever
from .datasets import DatasetError, GoldPassage, Question, is_gold
from .recall_report import QuestionRecord

SubQueries = Literal["none", "gold"]
Search = Callable[[Question], list[str]]
"""A function that ranks the ids of chunks for a question, best first."""
Progress = Callable[[int, int], None]
Watch = Callable[[str], AbstractContextManager[Progress]]
"""A function that opens a progress bar with the given name."""


class Setting(Frozen):
    """How questions are searched.

    `decompose`: split questions into sub-queries. `sub_queries` "gold": use the dataset's decomposition with the
    answers filled in, instead of the grammar's. `agent`: where questions are answered, look things up in rounds.
    """

    switches: Switches = EVERYTHING
    agent: bool = True
    decompose: bool = True
    sub_queries: SubQueries = "none"


def setting_search(resources: Resources, name: str, setting: Setting, depth: int) -> Search:
    """Return a search over a knowledge base in one setting that ranks at least `depth` passages."""
    retriever = resources.retriever(name)
    if setting.sub_queries == "gold":
        return _gold_search(retriever, setting.switches)
    limit = max(depth, resources.settings.top_k)
    return lambda question: [key for key, _ in retriever.rank_passages(
        question.question, limit, switches=setting.switches, decompose=setting.decompose)]


def run(search: Search, chunks: Mapping[str, Chunk], questions: Sequence[Question],
        progress: Progress = lambda *_: None) -> list[QuestionRecord]:
    """Rank the passages for each question and find the ranks of the gold ones."""
    # Caches are filled before the first measured question.
    search(Question(id="", question=next(iter(chunks.values())).titled_text()[:200], gold=()))
    records = []
    for number, question in enumerate(questions, 1):
        started = time.perf_counter()
        ranking = search(question)
        elapsed = (time.perf_counter() - started) * 1000
        ranked = [chunks[key] for key in ranking]
        records.append(QuestionRecord(
            id=question.id, question=question.question, type=question.group, milliseconds=round(elapsed, 2),
            ranks=tuple(gold_rank(gold, ranked) for gold in question.gold)))
        progress(number, len(questions))
    return records


def search_texts(question: Question, sub_queries: SubQueries) -> list[str]:
    """Return the texts to search: the question, or the steps of its decomposition with answers filled in."""
    return list(_fill_steps(question)) if sub_queries == "gold" else [question.question]


def absent_gold(questions: Sequence[Question], chunks: Mapping[str, Chunk]) -> int:
    """Return how many gold passages have no chunk.

    Raises:
        DatasetError: no gold passage has one, so the file is about other documents.
    """
    by_key: dict[str, list[Chunk]] = {}
    for chunk in chunks.values():
        by_key.setdefault(f"id {chunk.document_id}", []).append(chunk)
        by_key.setdefault(f"title {chunk.title}", []).append(chunk)
    wanted = {gold for question in questions for gold in question.gold}
    there = {gold for gold in wanted if any(
        is_gold(gold, chunk) for chunk in by_key.get(f"id {gold.id}" if gold.id else f"title {gold.title}", ()))}
    if not there:
        raise DatasetError("none of the gold passages is in the knowledge base: name the one that holds the "
                           "questions' documents (--kb), and the file's form (--format)")
    return len(wanted) - len(there)


def _gold_search(retriever: Retriever, switches: Switches) -> Search:
    def search(question: Question) -> list[str]:
        queries = retriever.queries([SubQuery(question=text) for text in _fill_steps(question)])
        scores = retriever.rank(queries, switches)
        return [key for key, _ in retriever.ranking(scores, len(retriever.index.chunks))]

    return search


def _fill_steps(question: Question) -> Iterator[str]:
    """Yield the steps of the gold decomposition with earlier answers filled in, or the question if there are none."""
    if not question.steps:
        yield literal(question.question)
    for step in question.steps:
        yield replace_references(step.question, lambda number: literal(question.steps[number - 1].answer))


def gold_rank(gold: GoldPassage, ranked: Sequence[Chunk]) -> int | None:
    """Return the rank of a gold passage from 1, counting each document once."""
    seen: dict[str, None] = {}
    for chunk in ranked:
        seen[chunk.document_id] = None
        if is_gold(gold, chunk):
            return list(seen).index(chunk.document_id) + 1
    return None
