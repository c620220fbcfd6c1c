"""Evaluation of the agent's answers: are they correct and cited, and are unanswerable questions declined?

An answer is compared with the expected ones by exact match, F1 and containment. The records have each answer's
confidence, by which any other threshold of declining can be measured.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from ..agents.resources import Resources
from ..agents.retrieval.cited_message import without_marks
from ..agents.retrieval.graph import build_graph
from ..agents.retrieval.state import AskContext
from ..graph_store.ledger.document_rows import Documents
from ..runtime.threads import run
from ..schemas.documents import Frozen
from ..schemas.naming import normalise
from ..schemas.retrieval import Mode
from .recall import DatasetQuestion, GoldPassage, is_of_gold_passage

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff]")  # a Chinese or Japanese character
_PUNCTUATION = str.maketrans("", "", string.punctuation + "，。、；：？！“”‘’（）《》「」『』【】—…·")


def normal_answer(text: str) -> str:
    """Normalise an answer like SQuAD and MuSiQue: lower case, no punctuation or English articles, single spaces."""
    return " ".join(_ARTICLES.sub(" ", normalise(text).translate(_PUNCTUATION)).split())


def exact_match(answer: str, expected: Sequence[str]) -> float:
    """Return 1.0 if the normalised answer equals an expected one, else 0.0."""
    return float(normal_answer(answer) in map(normal_answer, expected))


def f1(answer: str, expected: Sequence[str]) -> float:
    """Return the best F1 (0 to 1) of the answer's words, or single Chinese characters, against an expected answer."""
    given, scores = _tokens_of(answer), [0.0]
    for tokens in map(_tokens_of, expected):
        common = sum((Counter(given) & Counter(tokens)).values())
        length = len(given) + len(tokens)
        scores.append(2 * common / length if length else 1.0)  # two empty answers are the same
    return max(scores)


def contains_answer(answer: str, expected: Sequence[str]) -> bool:
    """Return True if the answer contains an expected answer as whole tokens (words, or single Chinese characters)."""
    answer_tokens = f" {' '.join(_tokens_of(answer))} "  # spaces at both ends keep "art" from being found in "part"
    return any(f" {' '.join(tokens)} " in answer_tokens for tokens in map(_tokens_of, expected) if tokens)


def _tokens_of(text: str) -> list[str]:
    """Return the words of a normalised answer; each Chinese or Japanese character is one."""
    return _HAN.sub(lambda match: f" {match.group()} ", normal_answer(text)).split()


class AnswerRecord(Frozen):
    """The answer to one question; scores are 0 to 1, those of citations None without gold passages."""

    id: str
    question: str
    unanswerable: bool
    answer: str
    short: str
    confidence: float
    declined: bool  # the current threshold, or the reasoner itself, withholds the answer
    exact_match: float
    f1: float
    correct: bool
    citation_recall: float | None
    citation_precision: float | None
    cited: tuple[str, ...]


class AnswerReport(Frozen):
    """Scores in %. Those of `answers` are over all answerable questions; a declined question scores 0.

    Citation scores are over the answered questions: recall and precision of the gold documents among the cited ones.
    `abstention` has the shares of the unanswerable questions that were declined and of the others that were answered.
    """

    questions: int
    unanswerable: int
    answered: int
    answers: dict[str, float]
    citations: dict[str, float]
    abstention: dict[str, float]
    records: tuple[AnswerRecord, ...]


def evaluate(resources: Resources, name: str, questions: Sequence[DatasetQuestion], *, mode: Mode = "reject",
             agent: bool = True, decompose: bool = True,
             progress: Callable[[int, int], None] = lambda *_: None) -> AnswerReport:
    """Ask a knowledge base every question and score the answers; the options are those of `AskContext`.

    Each question is asked once, with the abstention threshold at 0: the confidence of the answers shows what any
    threshold would withhold. In mode "open" none is declined. `progress` gets numbers of answered and all questions.
    """
    threshold = 0.0 if mode == "open" else resources.settings.abstain_below
    graph = cast("Any", build_graph(resources))
    context = AskContext(mode=mode, agent=agent, decompose=decompose, abstain_below=0.0)
    records: list[AnswerRecord] = []
    with resources.snapshot(name) as snapshot:
        for number, question in enumerate(questions, 1):
            asked = {"knowledge_base": name, "question": question.question}
            reply: dict[str, Any] = run(partial(graph.ainvoke, asked, context=context))
            records.append(_score_reply(question, reply, snapshot.kb.documents, threshold))
            progress(number, len(questions))
    return _summarise_records(records)


def _score_reply(question: DatasetQuestion, reply: dict[str, Any], documents: Documents,
                 threshold: float) -> AnswerRecord:
    """Score the short answer, or else the first line, and the citations. An abstention is scored as an empty answer."""
    answer = "" if reply["abstained"] else without_marks(reply["answer"])
    short = reply["short"] or answer.partition("\n")[0]
    gold_of_document = dict[str, set[GoldPassage]]()  # of each cited document, the gold passages quoted from it
    for citation in reply["citations"]:
        document = documents.get(citation["document"])
        quoted_gold = gold_of_document.setdefault(document.id, set())
        quoted_gold.update(gold for gold in question.gold if is_of_gold_passage(
            gold, document.id, document.title, citation["quote"]))
    recall = precision = None
    if question.gold:
        recall = len(set().union(*gold_of_document.values())) / len(set(question.gold))
    if question.gold and gold_of_document:  # without a citation there is nothing to be precise about
        precision = sum(map(bool, gold_of_document.values())) / len(gold_of_document)
    return AnswerRecord(
        id=question.id, question=question.question, unanswerable=question.unanswerable, answer=answer, short=short,
        confidence=reply["confidence"], declined=reply["abstained"] or reply["confidence"] < threshold,
        exact_match=exact_match(short, question.answers), f1=f1(short, question.answers),
        correct=contains_answer(f"{short}\n{answer}", question.answers), citation_recall=recall,
        citation_precision=precision, cited=tuple(gold_of_document))


def percent(part: float, whole: int) -> float:
    """Return a share in % with two decimals; 0 if the whole is 0."""
    return round(100 * part / whole, 2) if whole else 0.0


def _summarise_records(records: Sequence[AnswerRecord]) -> AnswerReport:
    """Return the mean scores: of answers over the answerable questions, of citations over those that were answered."""
    answerable = [record for record in records if not record.unanswerable]
    unanswerable = [record for record in records if record.unanswerable]
    answered = [record for record in answerable if not record.declined]
    # Answerable questions have gold passages, and so each has a recall. Without citations there is no precision.
    recalls = [record.citation_recall or 0.0 for record in answered]
    precisions = [record.citation_precision for record in answered if record.citation_precision is not None]
    return AnswerReport(
        questions=len(records), unanswerable=len(unanswerable), answered=len(answered), records=tuple(records),
        answers={score: percent(sum(getattr(record, score) for record in answered), len(answerable))
                 for score in ("exact_match", "f1", "correct")},
        citations={"recall": percent(sum(recalls), len(answered)),
                   "precision": percent(sum(precisions), len(precisions)),
                   "all_gold": percent(recalls.count(1.0), len(answered))},
        abstention={"declined": percent(sum(record.declined for record in unanswerable), len(unanswerable)),
                    "answered": percent(len(answered), len(answerable))})
