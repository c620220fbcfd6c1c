"""Evaluation of retrieval: question files with gold passages, recall of these among the first passages, and latency.

Recall@k of a question is the share of its gold passages whose document is among the first k documents. Intervals are
95 % bootstrap intervals over the questions.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from ..agents.resources import Resources
from ..schemas.documents import Chunk, Frozen
from ..schemas.errors import BanyanError
from ..schemas.formats.small_files import json_records, validate_record

_Item = TypeVar("_Item")
QuestionFormat = Literal["musique", "hotpotqa", "2wiki", "generic"]
Values = NDArray[np.float64]

_LEAST_RANKED, _RESAMPLES = 100, 2000  # passages that are ranked at least, and draws of a bootstrap interval
_SEED = 20240917  # a fixed seed makes reports reproducible, and lets compared rows share their resamples
Percent = dict[str, float]  # a value in % by cut-off ("2", "5", ...)
Interval = dict[str, tuple[float, float]]  # the 95 % bootstrap interval by cut-off
Progress = Callable[[int, int], None]  # called with the number of finished items and of all


class DatasetError(BanyanError):
    """A question file that cannot be used; the message names the place and the cause."""


class GoldPassage(Frozen):
    """What identifies a gold passage: a document id, or a title with or without text. Empty fields are not compared."""

    id: str = ""
    title: str = ""
    text: str = ""


class DatasetQuestion(Frozen):
    """A question with its gold passages and accepted answers; an unanswerable one has neither."""

    id: str
    question: str
    gold: tuple[GoldPassage, ...]
    steps: int = 0  # of the dataset's decomposition, if it has one
    type: str = ""  # of question, if the dataset has types
    answers: tuple[str, ...] = ()
    unanswerable: bool = False

    @property
    def group(self) -> str:
        """The group of the question in reports: its type, else its number of steps, else ""."""
        return self.type or (f"{self.steps} steps" if self.steps else "")


def load_questions(path: Path, form: QuestionFormat) -> list[DatasetQuestion]:
    """Read a question file (a JSON array or JSON lines), without the questions that have no gold passages.

    Its form: "musique" (gold by title and text), "hotpotqa" and "2wiki" (gold by title: `evidence` or
    `supporting_facts`), or "generic" (`{id, question, gold: [document ids]}`, optionally with `type` and
    `decomposition`). A DatasetError names what cannot be used.
    """
    usable = [question for question in _read(path, form) if question.gold]
    if not usable:
        raise DatasetError(f"{path} has no question with gold passages: nothing can be measured")
    return usable


def load_answered_questions(path: Path, form: QuestionFormat) -> list[DatasetQuestion]:
    """Read a question file with its answers, including unanswerable questions.

    A question is unanswerable if its record says so (`unanswerable`; MuSiQue: `answerable`) or has no gold passages.
    Expected answers are `answers` or `answer`, and `answer_aliases`. A DatasetError names what cannot be used.
    """
    questions: list[DatasetQuestion] = []
    for number, question in enumerate(_read(path, form)):
        if question.unanswerable or not question.gold:
            questions.append(question.model_copy(update={"gold": (), "answers": (), "unanswerable": True}))
        elif question.answers:
            questions.append(question)
        else:
            raise DatasetError(f"{path}, record {number}: the question has gold passages and no answer: give it "
                               "`answers`, or say `\"unanswerable\": true`")
    return questions


def pick_evenly(items: Sequence[_Item], limit: int | None) -> Sequence[_Item]:
    """Return `limit` items spread evenly from the first to the last, or all for None."""
    count = min(limit or len(items), len(items))
    return [items[number * len(items) // count] for number in range(count)]


class _Paragraph(BaseModel):
    title: str
    paragraph_text: str
    is_supporting: bool


class _Record(BaseModel):
    """A record of a question file, with the fields of all forms."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: str | None = Field(None, validation_alias=AliasChoices("id", "_id"))
    question: str
    type: str | None = None
    answers: list[str] | str | None = Field(None, validation_alias=AliasChoices("answers", "answer"))
    answer_aliases: list[str] = []
    unanswerable: bool = False
    answerable: bool = True
    gold: list[str] | None = None
    evidence: list[str] | None = None
    supporting_facts: list[tuple[str, Any]] | None = None
    paragraphs: list[_Paragraph] | None = None
    steps: list[Any] = Field([], validation_alias=AliasChoices("decomposition", "question_decomposition", "evidences"))


_GOLD_FIELDS: dict[QuestionFormat, tuple[str, ...]] = {
    "musique": ("paragraphs",), "hotpotqa": ("evidence", "supporting_facts"),
    "2wiki": ("evidence", "supporting_facts"), "generic": ("gold",)}
"""The fields that name the gold passages; the first one that a record has counts."""


def _read(path: Path, form: QuestionFormat) -> list[DatasetQuestion]:
    """Read the questions of a file; empty or repeated answers and gold passages are dropped."""
    if not path.is_file():
        raise DatasetError(f"there is no question file {path}: check its path")
    questions = list[DatasetQuestion]()
    for where, value in json_records(path, DatasetError):
        place = f"{where}: not a {form} question"  # what an error begins with
        record = validate_record(place, value, _Record, DatasetError)
        field = next((name for name in _GOLD_FIELDS[form] if getattr(record, name) is not None), "")
        if not field:
            raise DatasetError(f"{place}: it has no `{'` or `'.join(_GOLD_FIELDS[form])}`")
        answers = [record.answers] if isinstance(record.answers, str) else record.answers or []
        questions.append(DatasetQuestion(
            id=record.id or "", question=record.question, gold=tuple(dict.fromkeys(_gold_passages(record, field))),
            steps=len(record.steps), type=record.type or "", unanswerable=record.unanswerable or not record.answerable,
            answers=tuple(dict.fromkeys(filter(str.strip, (*answers, *record.answer_aliases))))))
    if not questions:
        raise DatasetError(f"{path} has no question: a {form} file is a JSON array of records, or one on each line")
    return questions


def _gold_passages(record: _Record, gold_field: str) -> list[GoldPassage]:
    """Return the gold passages that a field of a record names; see `_GOLD_FIELDS`."""
    if gold_field == "gold":
        return [GoldPassage(id=document) for document in record.gold or ()]
    if gold_field == "paragraphs":
        return [GoldPassage(title=paragraph.title, text=paragraph.paragraph_text)
                for paragraph in record.paragraphs or () if paragraph.is_supporting]
    titles = record.evidence if gold_field == "evidence" else [title for title, _ in record.supporting_facts or ()]
    return [GoldPassage(title=title) for title in titles or ()]


def is_gold(gold: GoldPassage, chunk: Chunk) -> bool:
    """Return True if a chunk belongs to a gold passage."""
    return is_of_gold_passage(gold, chunk.document_id, chunk.title, chunk.text)


def is_of_gold_passage(gold: GoldPassage, document: str, title: str, text: str) -> bool:
    """Return True if a text is of a gold passage: by its document, or else by title and, if it has one, text."""
    if gold.id:
        return document == gold.id
    return title == gold.title and (not gold.text or text in gold.text)


def gold_rank(gold: GoldPassage, ranked: Sequence[Chunk]) -> int | None:
    """Return the rank, from 1, of the first document with a chunk of a gold passage; None if no chunk is of it."""
    documents = list(dict.fromkeys(chunk.document_id for chunk in ranked))  # in the order of their first chunks
    return next((documents.index(chunk.document_id) + 1 for chunk in ranked if is_gold(gold, chunk)), None)


def intervals(values: Values) -> Values:
    """Return 95 % bootstrap intervals of column means, by rows drawn with replacement (Efron 1979).

    `values` (n, k) has a row for each question, at least one, or for each pair its differences; the ends are (k, 2).
    """
    rows, random = len(values), np.random.default_rng(_SEED)
    # How often each row was drawn is enough, because the order of the draws does not matter.
    means = random.multinomial(rows, np.full(rows, 1 / rows), size=_RESAMPLES) @ values / rows
    return np.asarray(np.quantile(means, (0.025, 0.975), axis=0).T)


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
    """Return the mean recall with its interval at each cut-off, and percentiles of the latency."""
    def recall(record: QuestionRecord, k: int) -> float:
        """Return the share of a question's gold passages among the first k documents, in %."""
        return 100 * sum(rank is not None and rank <= k for rank in record.ranks) / len(record.ranks)

    values = np.array([[recall(record, k) for k in ks] for record in records])
    times = [record.milliseconds for record in records]
    return Group(
        questions=len(records), recall={str(k): round_2(mean) for k, mean in zip(ks, values.mean(axis=0), strict=True)},
        interval={str(k): (round_2(low), round_2(high)) for k, (low, high) in zip(ks, intervals(values), strict=True)},
        latency_ms={name: round_2(np.percentile(times, share)) for name, share in (("p50", 50), ("p95", 95))})


def round_2(value: float) -> float:
    """Round to two places."""
    return round(float(value), 2) + 0.0  # avoids -0.0


def evaluate(resources: Resources, name: str, questions: Sequence[DatasetQuestion], *, ks: Sequence[int],
             progress: Progress = lambda *_: None) -> RetrievalReport:
    """Measure the recall of gold passages at the cut-offs `ks`; DatasetError: the base has other documents."""
    with resources.snapshot(name) as snapshot:
        chunks = {chunk.id: chunk for chunk in snapshot.index.chunks}
        absent, depth = _count_absent_gold(questions, chunks.values()), max(*ks, _LEAST_RANKED)
        snapshot.retriever.rank_passages(name, depth)  # fills the caches before times are taken; any text does
        records = []
        for number, question in enumerate(questions, 1):
            started = time.perf_counter()
            ranked = [chunks[key] for key, _ in snapshot.retriever.rank_passages(question.question, depth)]
            milliseconds = (time.perf_counter() - started) * 1000
            records.append(QuestionRecord(
                id=question.id, question=question.question, type=question.group, milliseconds=round(milliseconds, 2),
                ranks=tuple(gold_rank(gold, ranked) for gold in question.gold)))
            progress(number, len(questions))
    return summarise(records, ks).model_copy(update={"gold_absent": absent})


def _count_absent_gold(questions: Sequence[DatasetQuestion], chunks: Iterable[Chunk]) -> int:
    """Return how many gold passages are not in the knowledge base; raise DatasetError if all of them are absent."""
    all_gold = {gold for question in questions for gold in question.gold}
    chunks_of = defaultdict[str, list[Chunk]](list)  # by id and by title of their document
    for chunk in chunks:
        chunks_of[chunk.document_id].append(chunk)
        chunks_of[chunk.title].append(chunk)
    absent = [gold for gold in all_gold if not any(is_gold(gold, chunk) for chunk in chunks_of[gold.id or gold.title])]
    if len(absent) == len(all_gold):
        raise DatasetError("none of the gold passages is in the knowledge base: name the one that holds the "
                           "questions' documents (--kb), and the file's form (--format)")
    return len(absent)
