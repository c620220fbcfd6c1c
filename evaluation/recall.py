"""Evaluation of retrieval: question files with gold passages, recall of these among the first passages, and latency.

Recall@k of a question is the share of its gold passages whose document is among the first k documents. Intervals are
95 % bootstrap intervals over the questions.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..agents.resources import Resources
from ..schemas.documents import Chunk, Frozen
from ..schemas.errors import BanyanError
from ..schemas.formats.small_files import json_records, validate_record

_Item = TypeVar("_Item")
QuestionFormat = Literal["musique", "hotpotqa", "2wiki", "generic"]
Values = NDArray[np.float64]

_LEAST_RANKED, _RESAMPLES = 100, 2000
# A fixed seed makes reports reproducible, and lets compared rows share their resamples.
_SEED = 20240917
# The most resampled counts in memory at once: 8 MB.
_MOST_CELLS = 1_000_000
Percent = dict[str, float]
"""A value in % by cut-off ("2", "5", ...)."""
Interval = dict[str, tuple[float, float]]
"""The 95 % bootstrap interval by cut-off."""
Progress = Callable[[int, int], None]


class DatasetError(BanyanError):
    """A question file that cannot be used; the message names the place and the cause."""


class GoldPassage(Frozen):
    """What identifies a gold passage: a document id, or a title with or without text. Empty fields are not compared."""

    id: str = ""
    title: str = ""
    text: str = ""


class DatasetQuestion(Frozen):
    """A question with its gold passages and accepted answers.

    `steps` is the number of steps in the dataset's decomposition, and `type` its type of question, if it has them. An
    unanswerable question has neither answers nor gold passages.
    """

    id: str
    question: str
    gold: tuple[GoldPassage, ...]
    steps: int = 0
    type: str = ""
    answers: tuple[str, ...] = ()
    unanswerable: bool = False

    @property
    def group(self) -> str:
        """The group of the question in reports: its type, else its number of steps, else ""."""
        return self.type or (f"{self.steps} steps" if self.steps else "")


def load_questions(path: Path, form: QuestionFormat) -> list[DatasetQuestion]:
    """Read a question file, without the questions that have no gold passages (unanswerable ones).

    The file is a JSON array or JSON lines. Its form: "musique" (gold by title and text), "hotpotqa" and "2wiki" (gold
    by title: `evidence` or `supporting_facts`), or "generic" (`{id, question, gold: [document ids]}`, optionally with
    `type` and `decomposition`).

    Raises:
        DatasetError: the file is missing, has another form (the message names the record), or nothing to measure.
    """
    usable = [question for question in _read(path, form) if question.gold]
    if not usable:
        raise DatasetError(f"{path} has no question with gold passages: nothing can be measured")
    return usable


def load_answered_questions(path: Path, form: QuestionFormat) -> list[DatasetQuestion]:
    """Read a question file with its answers, including unanswerable questions.

    A question is unanswerable if its record says so (`unanswerable`; MuSiQue: `answerable`) or has no gold passages.
    Expected answers are `answers` (generic), or `answer` and `answer_aliases`.

    Raises:
        DatasetError: the file is missing or has another form (the message names the record), or it has no question.
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
    if limit is None or limit >= len(items):
        return items
    return [items[number * len(items) // limit] for number in range(limit)]


def _read(path: Path, form: QuestionFormat) -> list[DatasetQuestion]:
    if not path.is_file():
        raise DatasetError(f"there is no question file {path}: check its path")
    questions = [validate_record(f"{where}: not a {form} question", record, _FORMS[form], DatasetError).question_of()
                 for where, record in json_records(path, DatasetError)]
    if not questions:
        raise DatasetError(f"{path} has no question: a {form} file is a JSON array of records, or one on each line")
    return questions


class _Record(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    question: str
    type: str | None = None
    answers: list[str] | str | None = None
    answer: list[str] | str | None = None
    answer_aliases: list[str] = []
    unanswerable: bool = False
    answerable: bool = True

    def _question(self, name: str | None, gold: Iterable[GoldPassage], steps: Sequence[Any] = ()) -> DatasetQuestion:
        """Return the record as a question; answers may be in three fields, and empty or repeated ones are dropped."""
        expected = (self.answer if self.answers is None else self.answers) or []
        answers = [*([expected] if isinstance(expected, str) else expected), *self.answer_aliases]
        return DatasetQuestion(id=name or "", question=self.question, gold=tuple(dict.fromkeys(gold)),
                                steps=len(steps), type=self.type or "",
                                answers=tuple(dict.fromkeys(answer for answer in answers if answer.strip())),
                                unanswerable=self.unanswerable or not self.answerable)


class _Paragraph(BaseModel):
    title: str
    paragraph_text: str
    is_supporting: bool


class _Musique(_Record):
    id: str
    paragraphs: list[_Paragraph]
    question_decomposition: list[Any] = []

    def question_of(self) -> DatasetQuestion:
        gold = [GoldPassage(title=p.title, text=p.paragraph_text) for p in self.paragraphs if p.is_supporting]
        return self._question(self.id, gold, self.question_decomposition)


class _Titled(_Record):
    id: str | None = None
    own_id: str | None = Field(None, alias="_id")
    evidence: list[str] | None = None
    supporting_facts: list[tuple[str, Any]] | None = None
    evidences: list[Any] = []

    @model_validator(mode="after")
    def _has_gold(self) -> Self:
        if self.evidence is None and self.supporting_facts is None:
            raise ValueError("it has neither `evidence` nor `supporting_facts`")
        return self

    def question_of(self) -> DatasetQuestion:
        titles = self.evidence if self.evidence is not None else [title for title, _ in self.supporting_facts or ()]
        return self._question(self.id or self.own_id, [GoldPassage(title=title) for title in titles], self.evidences)


class _Generic(_Record):
    id: str
    gold: list[str]
    decomposition: list[Any] = []

    def question_of(self) -> DatasetQuestion:
        return self._question(self.id, [GoldPassage(id=document) for document in self.gold], self.decomposition)


_FORMS: dict[QuestionFormat, type[_Musique | _Titled | _Generic]] = {
    "musique": _Musique, "hotpotqa": _Titled, "2wiki": _Titled, "generic": _Generic}


def is_gold(gold: GoldPassage, chunk: Chunk) -> bool:
    """Return True if a chunk belongs to a gold passage."""
    return is_of_gold_passage(gold, chunk.document_id, chunk.title, chunk.text)


def is_of_gold_passage(gold: GoldPassage, document: str, title: str, text: str) -> bool:
    """Return True if a text of a document belongs to a gold passage.

    A gold passage with an id is the whole document. Otherwise the titles must be equal, and the text must be in the
    gold passage's text if it has one.
    """
    if gold.id:
        return document == gold.id
    return title == gold.title and (not gold.text or text in gold.text)


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
        means.append(random.multinomial(rows, np.full(rows, 1 / rows), size=resamples) @ values / rows)
    return np.asarray(np.quantile(np.concatenate(means), (0.025, 0.975), axis=0).T)  # the ends of the 95 % interval


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
        return 100 * sum(rank is not None and rank <= k for rank in record.ranks) / len(record.ranks)

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

        # A first search, for any text, fills the caches, and is not measured.
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
    documents: list[str] = []
    for chunk in ranked:
        if chunk.document_id not in documents:
            documents.append(chunk.document_id)
        if is_gold(gold, chunk):
            return documents.index(chunk.document_id) + 1
    return None
