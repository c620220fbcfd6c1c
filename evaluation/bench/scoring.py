"""The scores of one answer by the kind of its question, and of ranked passages by the facts in them.

An answer is letters of a question's options, true or false, words, or names of anonymous ids: Anonymity Reversion
(Youtu-GraphRAG, appendix B) has answers of pairs of an anonymous id and a name, scored by pair.

MultiHop-RAG (Tang and Yang 2024, section 4.1) names Hits@K, MAP@K and MRR@K of K retrieved chunks. This module follows
its script. A chunk is relevant if it contains a gold fact, ignoring white space. Hits@K is the share of questions with
a relevant chunk among the first K, not the share of facts. MRR@10 is one over the rank of the first relevant chunk, or
0 beyond the tenth. In MAP@10 a relevant chunk of rank r adds the number of facts that it is the first to contain,
divided by r; the sum is divided by the number of facts, at most 10. That is less than the usual average precision,
which counts all relevant chunks up to r. Null questions, which have no facts, are omitted.

UniAI-GraphRAG (section 4.2) defines recall as "coverage of key facts" and relevancy as "correlation between retrieved
content and the question", both over the first 8 chunks, and F1 as their harmonic mean. Recall is taken here as the
share of a question's facts in those chunks, and relevancy as the share of those chunks from a gold document. The paper
does not say how it measured relevancy, so its figures are not comparable with these.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ...schemas.documents import Frozen
from ..agent_answers import exact_match, f1, holds, normal_answer
from .dataset_files import BenchQuestion

_MARK = re.compile(r"(?<![A-Za-z0-9])([A-J])\s?[).．、:：）]")
_WORD = re.compile(r"[^\W\d_]+")
_AFTER = re.compile(r"(?:answer|option|choice|答案|选项|选择|应选)\W{0,3}(?:is|are|为|是)?\W{0,3}([A-J])(?![A-Za-z])",
                    re.IGNORECASE)
_JOINING = frozenset(["and", "or", "和", "与", "及"])
_TRUE = frozenset(["true", "yes", "correct", "right", "是", "对", "正确", "真"])
_FALSE = frozenset(["false", "no", "incorrect", "wrong", "否", "错", "错误", "假", "不是", "不对", "不正确"])
ID = re.compile(r"[A-Z]{2,20}#\d{1,9}")
_PAIR = re.compile(rf"({ID.pattern})[\]】\"'’”]*\s*(?:[—–-]{{1,3}}>?|→|=>?|[:：]|是|is|was)\s*"
                   r"[\"'‘“\[【]*([^\n;；,，\"”\[\]【】]+)")
_CLOSE = 0.6
"""The smallest F1 of the tokens: it allows a title or another form of the name, but not a list of guesses."""
JUDGED = frozenset({"short", "fill_in", "open"})
"""The kinds whose answers a judge scores if there is one; the others are scored by their form."""
_DEPTH = 10
EVIDENCE_DEPTH = 8
"""UniAI's top-k."""


def options(question: str) -> dict[str, str]:
    """Return the options of a question as {"A": "Warsaw", ...}: at least two, with letters in order from A."""
    texts: dict[str, str] = {}
    marks: list[re.Match[str]] = []
    for mark in _MARK.finditer(question):
        if mark[1] == chr(ord("A") + len(marks)):
            marks.append(mark)
    ends = [*(mark.start() for mark in marks[1:]), len(question)]
    for mark, end in zip(marks, ends, strict=False):
        texts[mark[1]] = question[mark.end():end].strip(" \n;；,，(（")
    return texts if len(texts) > 1 else {}


def letters(answer: str, question: str = "") -> frozenset[str]:
    """Return the letters that an answer names: "C", "A, C and D", "ABD", "C. Warsaw", "the answer is C".

    Args:
        answer: the answer.
        question: the question with its options; an answer equal to an option names that option's letter.

    Returns:
        Capital letters; empty if it names none.
    """
    words = [word for word in _WORD.findall(answer) if word.lower() not in _JOINING]
    if words and all(set(word) <= set("ABCDEFGHIJ") for word in words):
        return frozenset("".join(words))
    marked = frozenset(_MARK.findall(answer)) or frozenset(letter.upper() for letter in _AFTER.findall(answer))
    if marked:
        return marked
    given = normal_answer(answer)
    return frozenset(letter for letter, text in options(question).items() if given and normal_answer(text) == given)


def truth(answer: str) -> bool | None:
    """Return whether an answer says true or false, by its first word; None if neither."""
    first = next(iter(_WORD.findall(answer.lower())), "")
    if any(first.startswith(word) for word in _FALSE if not word.isascii()) or first in _FALSE:
        return False
    return True if first in _TRUE or any(first.startswith(word) for word in _TRUE if not word.isascii()) else None


class PairScores(NamedTuple):
    """The number of ids to name, of ids named, and of ids named correctly."""

    asked: int
    named: int
    right: int


def pairs(text: str) -> dict[str, str]:
    """Return a text's name for each id: `PERSON#532——Ishmael`, `[PERSON#532] is Ishmael`, `"PERSON#532": "Ishmael"`.

    If it gives several names, the first one counts.
    """
    names: dict[str, str] = {}
    for identifier, name in _PAIR.findall(text):
        if name.strip(" .。") and not ID.search(name):
            names.setdefault(identifier, name.strip(" .。"))
    return names


def pair_scores(answer: str, gold: str) -> PairScores:
    """Score an answer's pairs against the gold ones. A name is right if it contains the gold name and little else."""
    given, expected = pairs(answer), pairs(gold)
    right = sum(identifier in given and holds(given[identifier], [name]) and f1(given[identifier], [name]) > _CLOSE
                for identifier, name in expected.items())
    return PairScores(asked=len(expected), named=len(given.keys() & expected.keys()), right=right)


class AnswerScores(Frozen):
    """Scores from 0 to 1. `right` is the score by form alone; None if only a judge can score it.

    For Anonymity Reversion `right` is the share of right pairs. For choices and true or false it is 1 if the answer
    agrees with the gold answer; for words it is 1 if the answer contains the gold answer.
    """

    exact_match: float
    f1: float
    contained: float
    right: float | None
    pairs: PairScores | None = None


def score(question: BenchQuestion, short: str, answer: str, *, declined: bool) -> AnswerScores:
    """Score an answer.

    Args:
        question: the question with its gold answers.
        short: the short form of the answer, if it has one.
        answer: the whole answer.
        declined: whether the question was declined; then every score is 0.
    """
    if declined:
        lost = pair_scores("", question.answers[0]) if question.kind == "reversion" else None
        return AnswerScores(exact_match=0, f1=0, contained=0, right=0, pairs=lost)
    words, gold = short or answer, question.answers
    contained = float(holds(f"{short}\n{answer}", gold))
    right: float | None = contained
    pairs = None
    match question.kind:
        case "choice" | "choices":
            expected = letters(gold[0], question.question)
            answered = letters(short, question.question) or letters(answer, question.question)
            right = float(bool(expected) and answered == expected)
        case "true_false":
            stated = truth(short)
            right = float((truth(answer) if stated is None else stated) is truth(gold[0]))
        case "reversion":
            pairs = pair_scores(f"{short}\n{answer}", gold[0])
            right = pairs.right / pairs.asked
        case "open":
            right = None
    return AnswerScores(exact_match=exact_match(words, gold), f1=f1(words, gold), contained=contained, right=right,
                        pairs=pairs)


class FactScores(Frozen):
    """Scores of one question from 0 to 1."""

    hits_4: float
    hits_10: float
    map_10: float
    mrr_10: float
    recall: float
    relevancy: float
    f1: float


def remove_spaces(text: str) -> str:
    """Return a text without white space, for comparing facts."""
    return "".join(text.split())


def facts_in(passages: Sequence[str], facts: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of the facts in each passage."""
    wanted = [remove_spaces(fact) for fact in facts]
    return tuple(tuple(number for number, fact in enumerate(wanted) if fact in text)
                 for text in map(remove_spaces, passages))


def fact_scores(found: Sequence[Sequence[int]], from_gold: Sequence[bool], facts: int) -> FactScores:
    """Return the scores of a ranking.

    Args:
        found: for each passage, best first, the numbers of the facts in it.
        from_gold: whether each passage comes from a gold document.
        facts: how many facts the question has, at least one.
    """
    relevant = [rank for rank, numbers in enumerate(found[:_DEPTH], 1) if numbers]
    seen: set[int] = set()
    precision = 0.0
    for rank, numbers in enumerate(found[:_DEPTH], 1):
        new = set(numbers) - seen
        seen |= new
        precision += len(new) / rank
    covered = {number for numbers in found[:EVIDENCE_DEPTH] for number in numbers}
    recall = len(covered) / facts
    shown = from_gold[:EVIDENCE_DEPTH]
    relevancy = sum(shown) / len(shown) if shown else 0.0
    return FactScores(
        hits_4=float(bool(relevant) and relevant[0] <= 4), hits_10=float(bool(relevant)),  # noqa: PLR2004
        map_10=precision / min(facts, _DEPTH), mrr_10=1 / relevant[0] if relevant else 0.0, recall=recall,
        relevancy=relevancy, f1=2 * recall * relevancy / (recall + relevancy) if recall + relevancy else 0.0)
