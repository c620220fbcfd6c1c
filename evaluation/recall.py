"""Recall of gold passages: the share of them among the first k, for one setting or compared with other rankings."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..agents.resources import Resources
from ..schemas.documents import Chunk, Frozen
from ..schemas.retrieval import EVERYTHING, ROUTES, SubQuery, Switches, escape_references, replace_references
from ..tools.retriever import Retriever
from .baselines import Baseline, baselines
from .datasets import DatasetError, DatasetQuestion, GoldPassage, is_gold

Values = NDArray[np.float64]

RESAMPLES = 2000
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
Percentiles = dict[str, float]
"""The percentiles p50 and p95."""
SubQueries = Literal["none", "gold"]
Search = Callable[[DatasetQuestion], list[str]]
"""A function that ranks the ids of chunks for a question, best first."""
Progress = Callable[[int, int], None]
Watch = Callable[[str], AbstractContextManager[Progress]]
"""A function that opens a progress bar with the given name."""
DEFAULT = "default"
# The middle of eq. 9: no channel is preferred for any question.
_FIXED_BETA = 0.5


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
    for start in range(0, RESAMPLES, resamples_at_once):
        resamples = min(resamples_at_once, RESAMPLES - start)
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
    """Recall and latency over some questions."""

    questions: int
    recall: Percent
    interval: Interval
    latency_ms: Percentiles


class SettingRow(Frozen):
    """One setting or baseline compared with the default: its recall, and the difference from the default's."""

    name: str
    recall: Percent
    interval: Interval
    change: Percent
    change_interval: Interval


class RetrievalReport(Group):
    """Recall at k in % and latency, over all questions, by type, and compared with other settings."""

    gold_absent: int = 0
    """The number of gold passages that are not in the knowledge base; they count as missed."""
    by_type: dict[str, Group]
    rows: tuple[SettingRow, ...] = ()
    records: tuple[QuestionRecord, ...]


def summarise(records: Sequence[QuestionRecord], ks: Sequence[int]) -> RetrievalReport:
    """Return recall and latency over all questions (at least one) and by their type; `ks` are the cut-offs."""
    overall = _group(records, ks)
    types = sorted({record.type for record in records} - {""})
    return RetrievalReport(
        **dict(overall), records=tuple(records),
        by_type={kind: _group([record for record in records if record.type == kind], ks) for kind in types})


def compare(name: str, records: Sequence[QuestionRecord], default: Sequence[QuestionRecord],
             ks: Sequence[int]) -> SettingRow:
    """Return a setting's row of the report: its recall, and the difference from the default setting.

    Args:
        name: the name of the row.
        records: the records of the setting.
        default: the records of the default setting, for the same questions in the same order.
        ks: the cut-offs.
    """
    values = _recalls(records, ks)
    change = values - _recalls(default, ks)
    return SettingRow(name=name, recall=_means(values, ks), interval=_intervals(values, ks), change=_means(change, ks),
                      change_interval=_intervals(change, ks))


def _group(records: Sequence[QuestionRecord], ks: Sequence[int]) -> Group:
    """Return recall at each cut-off and the latency percentiles over some questions."""
    values = _recalls(records, ks)
    times = [record.milliseconds for record in records]
    return Group(questions=len(records), recall=_means(values, ks), interval=_intervals(values, ks),
                 latency_ms={name: round_2(np.percentile(times, share)) for name, share in (("p50", 50), ("p95", 95))})


def _recalls(records: Sequence[QuestionRecord], ks: Sequence[int]) -> Values:
    """Return each question's recall at each cut-off in %, shape (questions, cut-offs)."""
    def recall(record: QuestionRecord, k: int) -> float:
        hits = sum(rank is not None and rank <= k for rank in record.ranks)
        return 100 * hits / len(record.ranks)

    return np.array([[recall(record, k) for k in ks] for record in records])


def _means(values: Values, ks: Sequence[int]) -> Percent:
    return {str(k): round_2(mean) for k, mean in zip(ks, values.mean(axis=0), strict=True)}


def _intervals(values: Values, ks: Sequence[int]) -> Interval:
    return {str(k): (round_2(low), round_2(high)) for k, (low, high) in zip(ks, intervals(values), strict=True)}


def round_2(value: float) -> float:
    """Round to two places."""
    return round(float(value), 2) + 0.0  # avoids -0.0


class Setting(Frozen):
    """How questions are searched.

    `decompose`: split questions into sub-queries by grammar. `sub_queries` "gold": instead, use the dataset's
    decomposition with the answers filled in.
    """

    switches: Switches = EVERYTHING
    decompose: bool = True
    sub_queries: SubQueries = "none"


def setting_search(retriever: Retriever, setting: Setting, depth: int) -> Search:
    """Return a function that ranks passages of a knowledge base for a question in one setting.

    It ranks the first `depth` passages, or all of them with gold sub-queries.
    """
    if setting.sub_queries == "gold":
        return _gold_search(retriever, setting.switches)
    return lambda question: [key for key, _ in retriever.rank_passages(
        question.question, depth, switches=setting.switches, decompose=setting.decompose)]


def run(search: Search, chunks: Mapping[str, Chunk], questions: Sequence[DatasetQuestion],
        progress: Progress = lambda *_: None) -> list[QuestionRecord]:
    """Rank the passages for each question, measure the time, and find the ranks of the gold passages."""
    # A first search, which is not measured, fills the caches.
    search(DatasetQuestion(id="", question=next(iter(chunks.values())).titled_text()[:200], gold=()))
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


def search_texts(question: DatasetQuestion, sub_queries: SubQueries) -> list[str]:
    """Return the texts to search: the question, or the steps of its decomposition with answers filled in."""
    return list(_fill_steps(question)) if sub_queries == "gold" else [question.question]


def absent_gold(questions: Sequence[DatasetQuestion], chunks: Mapping[str, Chunk]) -> int:
    """Return how many gold passages are not in the knowledge base, that is, have no chunk.

    Raises:
        DatasetError: no gold passage is there, so the questions are about other documents.
    """
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


def _gold_search(retriever: Retriever, switches: Switches) -> Search:
    """Return a function that ranks all passages for the steps of a question's gold decomposition."""
    def search(question: DatasetQuestion) -> list[str]:
        queries = retriever.queries([SubQuery(question=text) for text in _fill_steps(question)])
        scores = retriever.rank(queries, switches)
        return [key for key, _ in retriever.ranking(scores, len(retriever.index.chunks))]

    return search


def _fill_steps(question: DatasetQuestion) -> Iterator[str]:
    """Yield the steps of the gold decomposition with earlier answers filled in, or the question if there are none."""
    if not question.steps:
        yield escape_references(question.question)
    for step in question.steps:
        yield replace_references(step.question, lambda number: escape_references(question.steps[number - 1].answer))


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


def evaluate(resources: Resources, name: str, questions: Sequence[DatasetQuestion], *,
             ks: Sequence[int], setting: Setting | None = None, with_baselines: bool = False,
             with_ablations: bool = False, watch: Watch = lambda _: nullcontext(lambda *_: None)) -> RetrievalReport:
    """Measure the recall of a setting, alone or compared with other rankings.

    Args:
        resources: models and knowledge bases.
        name: the knowledge base.
        questions: questions with gold passages.
        ks: the cut-offs.
        setting: how questions are searched; None means the default.
        with_baselines: also measure the published methods.
        with_ablations: also measure the setting with each of its parts switched off.
        watch: opens a progress bar for each row.

    Returns:
        The report. If several rankings are measured, it has `rows`, with the setting first.

    Raises:
        DatasetError: the setting needs a decomposition that the questions lack, or they are about other documents.
    """
    setting = setting or Setting()
    if setting.sub_queries == "gold" and not any(question.steps for question in questions):
        raise DatasetError("the questions come without a decomposition: leave out --sub-queries gold")
    with resources.snapshot(name) as snapshot:
        chunks = {chunk.id: chunk for chunk in snapshot.index.chunks}
        depth = max(*ks, resources.settings.top_k)
        absent = absent_gold(questions, chunks)
        settings = {DEFAULT: setting, **(ablations(setting) if with_ablations else {})}
        searches: dict[str, Callable[[], Search]] = {
            row: partial(setting_search, snapshot.retriever, variant, depth) for row, variant in settings.items()}
        if with_baselines:
            methods = baselines(snapshot.kb)
            searches |= {row: partial(_baseline_search, method, setting.sub_queries) for row, method in methods.items()}
        return _measure(searches, chunks, questions, ks, watch).model_copy(update={"gold_absent": absent})


def ablations(setting: Setting) -> dict[str, Setting]:
    """Return variants of a setting by the row's name, each with one of the parts that are on switched off."""
    switches = setting.switches
    changes: dict[str, dict[str, object]] = {
        f"{route} off": {"routes": tuple(other for other in switches.routes if other != route)}
        for route in ROUTES if route in switches.routes}
    changes |= {f"{part} off": {part: False} for part in ("spreading", "lexical", "dense") if getattr(switches, part)}
    if switches.beta is None:
        changes[f"beta {_FIXED_BETA}"] = {"beta": _FIXED_BETA}
    variants = {row: setting.model_copy(update={"switches": switches.model_copy(update=change)})
                for row, change in changes.items()}
    if setting.decompose and setting.sub_queries == "none":
        variants["decomposition off"] = setting.model_copy(update={"decompose": False})
    return variants


def _measure(searches: Mapping[str, Callable[[], Search]], chunks: Mapping[str, Chunk],
              questions: Sequence[DatasetQuestion], ks: Sequence[int], watch: Watch) -> RetrievalReport:
    """Run each search (made by the function under its row's name), and report the first one."""
    records_by_row = {}
    for row, make_search in searches.items():
        with watch(row) as progress:
            records_by_row[row] = run(make_search(), chunks, questions, progress)
    default = next(iter(records_by_row.values()))
    report = summarise(default, ks)
    if len(records_by_row) == 1:
        return report
    rows = tuple(compare(row, records, default, ks) for row, records in records_by_row.items())
    return report.model_copy(update={"rows": rows})


def _baseline_search(baseline: Baseline, sub_queries: SubQueries) -> Search:
    """Return a function that ranks chunks by a baseline."""
    def search(question: DatasetQuestion) -> list[str]:
        rankings = [baseline(text) for text in search_texts(question, sub_queries)]
        return list(dict.fromkeys(chunk for turn in zip(*rankings, strict=True) for chunk in turn))

    return search
