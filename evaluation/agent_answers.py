"""Answers of the whole agent: correct, cited, and declined if the question is unanswerable, by the confidence.

An answer is compared with the expected ones by exact match, F1 and containment.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from ..agents.resources import Resources
from ..agents.retrieval.graph import build_graph
from ..agents.retrieval.shown_text import without_marks
from ..agents.retrieval.state import AskContext
from ..graph_store.ledger.document_rows import Documents
from ..runtime.event_loop import run
from ..schemas.documents import Frozen
from ..schemas.naming import normalise
from ..schemas.retrieval import Mode
from .datasets import DatasetQuestion, GoldPassage, is_part

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff]")
_PUNCTUATION = str.maketrans("", "", string.punctuation + "，。、；：？！“”‘’（）《》「」『』【】—…·")
_STEPS = 20
_DECLINED = -1.0
"""The position of an answer that the reasoner itself declined: below every confidence."""


def normal_answer(text: str) -> str:
    """Normalise an answer like SQuAD and MuSiQue: lower case, no punctuation or English articles, single spaces.

    Args:
        text: an answer in any script; its width is folded like that of names (`schemas.naming`).
    """
    return " ".join(_ARTICLES.sub(" ", normalise(text).translate(_PUNCTUATION)).split())


def exact_match(answer: str, expected: Sequence[str]) -> float:
    """Return 1.0 if the normalised answer equals an expected one, else 0.0."""
    return float(any(normal_answer(answer) == normal_answer(accepted) for accepted in expected))


def f1(answer: str, expected: Sequence[str]) -> float:
    """Return the best F1 of the answer's tokens against one of the expected answers, 0 to 1.

    Args:
        answer: the answer; two empty texts match fully.
        expected: the accepted answers. Tokens are words, and single Chinese or Japanese characters.
    """
    return max((_overlap(_tokens(answer), _tokens(accepted)) for accepted in expected), default=0.0)


def holds(answer: str, expected: Sequence[str]) -> bool:
    """Return True if the answer contains an expected answer, but not within a longer Latin word or number."""
    tokens = f" {' '.join(_tokens(answer))} "
    return any(f" {' '.join(given)} " in tokens for accepted in expected if (given := _tokens(accepted)))


def _tokens(text: str) -> list[str]:
    return _HAN.sub(lambda match: f" {match.group()} ", normal_answer(text)).split()


def _overlap(given: list[str], wanted: list[str]) -> float:
    if not given or not wanted:
        return float(given == wanted)
    same = sum((Counter(given) & Counter(wanted)).values())
    return 2 * same / (len(given) + len(wanted))


class CurvePoint(Frozen):
    """The effect of abstaining below a threshold, in % of the unanswerable and of the answerable questions.

    `correct`: answered, and an expected answer is in the text. `grounded`: answered, and all gold documents are cited.
    """

    threshold: float
    declined: float
    answered: float
    correct: float
    grounded: float


class AnswerRecord(Frozen):
    """The answer to one question without a threshold; scores are 0 to 1.

    `declined`: the current threshold, or the reasoner itself, withholds the answer. `correct`: the answer contains an
    expected answer. Citation scores are over documents, and None without gold passages.
    """

    id: str
    question: str
    unanswerable: bool
    answer: str
    short: str
    confidence: float
    declined: bool
    exact_match: float
    f1: float
    correct: bool
    citation_recall: float | None
    citation_precision: float | None
    cited: tuple[str, ...]
    curve_place: float | None
    """The answer's confidence for the curve; None if the reasoner itself declined."""


class Abstention(Frozen):
    """The effect of abstention at the current threshold and over all thresholds; shares in %."""

    at_threshold: CurvePoint
    curve: tuple[CurvePoint, ...]


class AnswerReport(Frozen):
    """Scores in %. Those of `answers` are over all answerable questions; a declined question scores 0.

    Citation scores are over the answered questions: recall and precision of the gold documents among the cited ones.
    """

    questions: int
    unanswerable: int
    answered: int
    answers: dict[str, float]
    citations: dict[str, float]
    abstention: Abstention
    records: tuple[AnswerRecord, ...]


def point(records: Sequence[AnswerRecord], threshold: float) -> CurvePoint:
    """Return the effect of abstaining below one threshold; 0 for a kind without questions."""
    answerable = [answer for answer in records if not answer.unanswerable]
    shown = [answer for answer in answerable if _position(answer) >= threshold]
    unanswerable = [answer for answer in records if answer.unanswerable]
    return CurvePoint(
        threshold=round(threshold, 4),
        declined=percent(sum(_position(answer) < threshold for answer in unanswerable), len(unanswerable)),
        answered=percent(len(shown), len(answerable)),
        correct=percent(sum(answer.correct for answer in shown), len(answerable)),
        grounded=percent(sum(answer.citation_recall == 1.0 for answer in shown), len(answerable)))


def curve(records: Sequence[AnswerRecord]) -> tuple[CurvePoint, ...]:
    """Return the curve at thresholds from 0 to 1 in steps of 0.05."""
    return tuple(point(records, step / _STEPS) for step in range(_STEPS + 1))


def percent(part: float, whole: int) -> float:
    """Return a share in % with two decimals; 0 if the whole is 0."""
    return round(100 * part / whole, 2) if whole else 0.0


def _position(answer: AnswerRecord) -> float:
    return _DECLINED if answer.curve_place is None else answer.curve_place


def evaluate(resources: Resources, name: str, questions: Sequence[DatasetQuestion], *, mode: Mode = "reject",
             agent: bool = True, decompose: bool = True,
             progress: Callable[[int, int], None] = lambda *_: None) -> AnswerReport:
    """Ask every question and score the answers.

    Each question is asked once, with the abstention threshold at 0. The confidence of the answers shows what any
    threshold would withhold.

    Args:
        resources: models and knowledge bases; the setting `abstain_below` is the current threshold.
        name: the knowledge base.
        questions: questions with their expected answers and gold passages.
        mode: "reject", "strict", or "open", in which the threshold withholds nothing.
        agent: judge what was found and look further; otherwise one round of lookups.
        decompose: let the model choose the first lookups; otherwise the question itself is searched.
        progress: called with (done, all) after each question.
    """
    threshold = 0.0 if mode == "open" else resources.settings.abstain_below
    graph = cast("Any", build_graph(resources))
    context = AskContext(mode=mode, agent=agent, decompose=decompose, abstain_below=0.0)
    records: list[AnswerRecord] = []
    with resources.snapshot(name) as snapshot:
        for number, question in enumerate(questions, 1):
            reply: dict[str, Any] = run(partial(
                graph.ainvoke, {"knowledge_base": name, "question": question.question}, context=context))
            records.append(_record(question, reply, snapshot.kb.documents, threshold))
            progress(number, len(questions))
    return _report(records, threshold)


def _record(question: DatasetQuestion, reply: dict[str, Any], documents: Documents, threshold: float) -> AnswerRecord:
    answer = "" if reply["abstained"] else without_marks(reply["answer"])
    short = reply["short"] or answer.partition("\n")[0]
    cited = tuple(dict.fromkeys(citation["document"] for citation in reply["citations"]))
    recall, precision = _citation_scores(question.gold, reply["citations"], documents)
    return AnswerRecord(
        id=question.id, question=question.question, unanswerable=question.unanswerable, answer=answer, short=short,
        confidence=reply["confidence"], declined=reply["abstained"] or reply["confidence"] < threshold,
        exact_match=exact_match(short, question.answers), f1=f1(short, question.answers),
        correct=holds(f"{short}\n{answer}", question.answers), citation_recall=recall, citation_precision=precision,
        cited=cited, curve_place=None if reply["abstained"] else reply["confidence"])


def _citation_scores(gold: Sequence[GoldPassage], citations: Sequence[dict[str, Any]], documents: Documents,
                     ) -> tuple[float | None, float | None]:
    """Return the (recall, precision) of the citations; precision counts each document once."""
    if not gold:
        return None, None
    cited_gold: set[GoldPassage] = set()
    right: dict[str, bool] = {}
    for citation in citations:
        document = documents.get(citation["document"])
        fitting = {passage for passage in gold if is_part(passage, document.id, document.title, citation["quote"])}
        cited_gold |= fitting
        right[document.id] = right.get(document.id, False) or bool(fitting)
    return len(cited_gold) / len(set(gold)), sum(right.values()) / len(right) if right else None


def _report(records: Sequence[AnswerRecord], threshold: float) -> AnswerReport:
    answerable = [record for record in records if not record.unanswerable]
    answered = [record for record in answerable if not record.declined]
    scores = {
        "exact_match": percent(sum(record.exact_match for record in answered), len(answerable)),
        "f1": percent(sum(record.f1 for record in answered), len(answerable)),
        "correct": percent(sum(record.correct for record in answered), len(answerable)),
    }
    citations = {"recall": _mean([record.citation_recall for record in answered]),
                 "precision": _mean([record.citation_precision for record in answered]),
                 "all_gold": _mean([float(record.citation_recall == 1.0) for record in answered])}
    return AnswerReport(
        questions=len(records), unanswerable=len(records) - len(answerable), answered=len(answered), answers=scores,
        citations=citations, records=tuple(records),
        abstention=Abstention(at_threshold=point(records, threshold), curve=curve(records)))


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return round(100 * float(np.mean(known)), 2) if known else 0.0
