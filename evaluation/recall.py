"""Evaluation of retrieval: recall of gold passages among the first passages, and latency.

Recall@k of a question is the share of its gold passages whose document is among the first k documents. Intervals are
95 % bootstrap intervals over the questions.
"""

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..agents.resources import Resources
from ..schemas.documents import Chunk, Frozen
from .datasets import DatasetError, DatasetQuestion, GoldPassage, is_gold

Values = NDArray[np.float64]

_LEAST_RANKED = 100
_RESAMPLES = 2000
# A fixed seed makes reports reproducible, and lets compared rows share their resamples.
_SEED = 20240917
# The 2.5 and 97.5 percentiles are the ends of the 95 % interval.
_INTERVAL_ENDS = (0.025, 0.975)
# The most resampled counts in memory at once: 8 MB.
_MOST_CELLS = 1_000_000
Percent = dict[str, float]
"""A value in % by cut-off ("2", "5", ...)."""
Interval = dict[str, tuple[float, float]]
"""The 95 % bootstrap interval by cut-off."""
Progress = Callable[[int, int], None]


def intervals(values: Values) -> Values:
    """Return bootstrap intervals of column means: percentiles of the means of rows drawn with replacement (Efron 1979).

    For a paired comparison pass the differences of the pairs.

    Args:
        values: shape (n, k), n at least 1; each row is one question and is drawn as a whole.

    Returns:
        Shape (k, 2): the lower and upper end for each column; 95 % of the resampled means are between them.
    """
    rows = len(values)
    random = np.random.default_rng(_SEED)
    means = []
    resamples_at_once = max(1, _MOST_CELLS // rows)
    for start in range(0, _RESAMPLES, resamples_at_once):
        resamples = min(resamples_at_once, _RESAMPLES - start)
        # How often each row was drawn is enough, because the order of the draws does not matter.
        draw_counts = random.multinomial(rows, np.full(rows, 1 / rows), size=resamples)
        means.append(draw_counts @ values / rows)
    return np.asarray(np.quantile(np.concatenate(means), _INTERVAL_ENDS, axis=0).T)


class QuestionRecord(Frozen):
    """The search result of one question."""

    id: str
    question: str
    type: str = ""
    ranks: tuple[int | None, ...]
    """The rank of each gold passage among the ranked documents, from 1; None if it is not among them."""
    milliseconds: float


class Group(Frozen):
    """Recall and latency over some questions; `latency_ms` has the percentiles p50 and p95."""

    questions: int
    recall: Percent
    interval: Interval
    latency_ms: dict[str, float]


class RetrievalReport(Group):
    """Recall at k in % and latency, over all questions and by type."""

    gold_absent: int = 0
    """The number of gold passages that are not in the knowledge base; they count as missed."""
    by_type: dict[str, Group]
    rows: tuple[Group, ...] = ()
    """Always empty, as for a single ranking before; kept for programs that read the report."""
    records: tuple[QuestionRecord, ...]


def summarise(records: Sequence[QuestionRecord], ks: Sequence[int]) -> RetrievalReport:
    """Return recall and latency over all questions (at least one) and by their type; `ks` are the cut-offs."""
    types = sorted({record.type for record in records} - {""})
    return RetrievalReport(
        **dict(_make_group(records, ks)), records=tuple(records),
        by_type={kind: _make_group([record for record in records if record.type == kind], ks) for kind in types})


def _make_group(records: Sequence[QuestionRecord], ks: Sequence[int]) -> Group:
    def recall(record: QuestionRecord, k: int) -> float:
        hits = sum(rank is not None and rank <= k for rank in record.ranks)
        return 100 * hits / len(record.ranks)

    values = np.array([[recall(record, k) for k in ks] for record in records])
    times = [record.milliseconds for record in records]
    return Group(
        questions=len(records),
        recall={str(k): round_2(mean) for k, mean in zip(ks, values.mean(axis=0), strict=True)},
        interval={str(k): (round_2(low), round_2(high)) for k, (low, high) in zip(ks, intervals(values), strict=True)},
        latency_ms={name: round_2(np.percentile(times, share)) for name, share in (("p50", 50), ("p95", 95))})


def round_2(value: float) -> float:
    """Round to two places."""
    return round(float(value), 2) + 0.0  # avoids -0.0


def evaluate(resources: Resources, name: str, questions: Sequence[DatasetQuestion], *, ks: Sequence[int],
             progress: Progress = lambda *_: None) -> RetrievalReport:
    """Measure the recall of gold passages in a knowledge base at the cut-offs `ks`.

    `progress` gets the number of finished questions and of all.

    Raises:
        DatasetError: the questions are about other documents.
    """
    with resources.snapshot(name) as snapshot:
        retriever = snapshot.retriever
        chunks = {chunk.id: chunk for chunk in snapshot.index.chunks}
        absent = _count_absent_gold(questions, chunks)
        depth = max(*ks, _LEAST_RANKED)

        def search(question: str) -> list[Chunk]:
            return [chunks[key] for key, _ in retriever.rank_passages(question, depth)]

        # A first search, which is not measured, fills the caches.
        search(next(iter(chunks.values())).titled_text()[:200])
        records = []
        for number, question in enumerate(questions, 1):
            started = time.perf_counter()
            ranked = search(question.question)
            milliseconds = (time.perf_counter() - started) * 1000
            records.append(QuestionRecord(
                id=question.id, question=question.question, type=question.group, milliseconds=round(milliseconds, 2),
                ranks=tuple(gold_rank(gold, ranked) for gold in question.gold)))
            progress(number, len(questions))
    return summarise(records, ks).model_copy(update={"gold_absent": absent})


def _count_absent_gold(questions: Sequence[DatasetQuestion], chunks: Mapping[str, Chunk]) -> int:
    """Return how many gold passages are not in the knowledge base; raise DatasetError if all of them are absent."""
    chunks_by_key: dict[str, list[Chunk]] = {}  # finds the few chunks to compare a gold passage with
    for chunk in chunks.values():
        chunks_by_key.setdefault(f"id {chunk.document_id}", []).append(chunk)
        chunks_by_key.setdefault(f"title {chunk.title}", []).append(chunk)

    def is_present(gold: GoldPassage) -> bool:
        key = f"id {gold.id}" if gold.id else f"title {gold.title}"
        return any(is_gold(gold, chunk) for chunk in chunks_by_key.get(key, ()))

    all_gold = {gold for question in questions for gold in question.gold}
    present = {gold for gold in all_gold if is_present(gold)}
    if not present:
        raise DatasetError("none of the gold passages is in the knowledge base: name the one that holds the "
                           "questions' documents (--kb), and the file's form (--format)")
    return len(all_gold) - len(present)


def gold_rank(gold: GoldPassage, ranked: Sequence[Chunk]) -> int | None:
    """Return the rank, from 1, of the document that contains a gold passage; None if it was not ranked.

    Documents are ranked by their first chunk.
    """
    documents: dict[str, None] = {}
    for chunk in ranked:
        documents[chunk.document_id] = None
        if is_gold(gold, chunk):
            return list(documents).index(chunk.document_id) + 1
    return None
