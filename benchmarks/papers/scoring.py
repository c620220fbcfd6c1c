"""Score one answer by the kind of its question, and ranked passages by the facts in them.

An answer is letters of a question's options, true or false, words, or pairs of an anonymous id and a name. The pairs
are answers of Anonymity Reversion (Youtu-GraphRAG, appendix B), which are scored pair by pair.

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

from banyan.evaluation.agent_answers import contains_answer, exact_match, f1, normal_answer
from banyan.schemas.documents import Frozen

from .dataset_files import BenchQuestion

_MARK = re.compile(r"(?<![A-Za-z0-9])([A-J])\s?[).．、:：）]")
_WORD = re.compile(r"[^\W\d_]+")
_STATED_LETTER = re.compile(
    r"(?:answer|option|choice|答案|选项|选择|应选)\W{0,3}(?:is|are|为|是)?\W{0,3}([A-J])(?![A-Za-z])", re.IGNORECASE)
_CONJUNCTIONS = frozenset(["and", "or", "和", "与", "及"])
_TRUE = frozenset(["true", "yes", "correct", "right", "是", "对", "正确", "真"])
_FALSE = frozenset(["false", "no", "incorrect", "wrong", "否", "错", "错误", "假", "不是", "不对", "不正确"])
ID = re.compile(r"[A-Z]{2,20}#\d{1,9}")
_PAIR = re.compile(rf"({ID.pattern})[\]】\"'’”]*\s*(?:[—–-]{{1,3}}>?|→|=>?|[:：]|是|is|was)\s*"
                   r"[\"'‘“\[【]*([^\n;；,，\"”\[\]【】]+)")
_SMALLEST_F1 = 0.6
"""The smallest F1 with the gold name: it allows a title or another form of the name, but not a list of guesses."""
JUDGED = frozenset({"short", "fill_in", "open"})
"""The kinds whose answers a judge scores if there is one; the others are scored by their form."""
_RANKING_DEPTH = 10
EVIDENCE_DEPTH = 8
"""UniAI's top-k."""


def options(question: str) -> dict[str, str]:
    """Return the options in a question's text as {"A": "Warsaw", "B": ...}; empty if there are not at least two."""
    texts: dict[str, str] = {}
    marks: list[re.Match[str]] = []
    for mark in _MARK.finditer(question):
        next_letter = chr(ord("A") + len(marks))
        if mark[1] == next_letter:  # other letters with a dot or bracket are part of the text
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
    words = [word for word in _WORD.findall(answer) if word.lower() not in _CONJUNCTIONS]
    has_only_letters = words and all(set(word) <= set("ABCDEFGHIJ") for word in words)
    if has_only_letters:
        return frozenset("".join(words))
    marked = frozenset(_MARK.findall(answer)) or frozenset(letter.upper() for letter in _STATED_LETTER.findall(answer))
    if marked:
        return marked
    normal = normal_answer(answer)
    return frozenset(letter for letter, text in options(question).items() if normal and normal_answer(text) == normal)


def truth(answer: str) -> bool | None:
    """Return True or False if the first word of an answer says so, else None."""
    first = next(iter(_WORD.findall(answer.lower())), "")

    def says(words: frozenset[str]) -> bool:
        # Chinese has no spaces, so the word may be the beginning of a sentence.
        return first in words or any(first.startswith(word) for word in words if not word.isascii())

    if says(_FALSE):
        return False
    return True if says(_TRUE) else None


class PairScores(NamedTuple):
    """The number of ids to name, of ids named, and of ids named correctly."""

    asked: int
    named: int
    right: int


def pairs(text: str) -> dict[str, str]:
    """Return the names that a text gives for anonymous ids, by id.

    Forms are `PERSON#532——Ishmael`, `[PERSON#532] is Ishmael`, `"PERSON#532": "Ishmael"` and the like. If a text gives
    several names for an id, the first one counts.
    """
    names: dict[str, str] = {}
    for identifier, name in _PAIR.findall(text):
        if name.strip(" .。") and not ID.search(name):
            names.setdefault(identifier, name.strip(" .。"))
    return names


def pair_scores(answer: str, gold: str) -> PairScores:
    """Compare the pairs of an answer with the gold ones.

    A name is right if it contains the gold name and little else.
    """
    given, expected = pairs(answer), pairs(gold)

    def is_right(identifier: str, gold_name: str) -> bool:
        name = given.get(identifier)
        return name is not None and contains_answer(name, [gold_name]) and f1(name, [gold_name]) > _SMALLEST_F1

    right = sum(is_right(identifier, gold_name) for identifier, gold_name in expected.items())
    return PairScores(asked=len(expected), named=len(given.keys() & expected.keys()), right=right)


class AnswerScores(Frozen):
    """Scores of one answer, from 0 to 1.

    `right` is the score without a judge; None if only a judge can score the answer. For Anonymity Reversion it is the
    share of right pairs. For choices and true or false it is 1 if the answer agrees with the gold answer. For words it
    is 1 if the answer contains the gold answer.
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
        no_pairs = pair_scores("", question.answers[0]) if question.kind == "reversion" else None
        return AnswerScores(exact_match=0, f1=0, contained=0, right=0, pairs=no_pairs)
    words, gold = short or answer, question.answers
    contained = float(contains_answer(f"{short}\n{answer}", gold))
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
    """Return, for each passage, the numbers of the facts that it contains, regardless of white space."""
    fact_texts = [remove_spaces(fact) for fact in facts]
    return tuple(tuple(number for number, fact in enumerate(fact_texts) if fact in passage)
                 for passage in map(remove_spaces, passages))


def fact_scores(found: Sequence[Sequence[int]], from_gold: Sequence[bool], facts: int) -> FactScores:
    """Score a ranking of passages for one question; the module's docstring defines the scores.

    Args:
        found: for each passage, best first, the numbers of the facts in it.
        from_gold: for each passage, whether it comes from a gold document.
        facts: how many facts the question has, at least one.
    """
    relevant_ranks = [rank for rank, numbers in enumerate(found[:_RANKING_DEPTH], 1) if numbers]
    seen: set[int] = set()
    precision = 0.0
    for rank, numbers in enumerate(found[:_RANKING_DEPTH], 1):
        new_facts = set(numbers) - seen
        seen |= new_facts
        precision += len(new_facts) / rank
    evidence_facts = {number for numbers in found[:EVIDENCE_DEPTH] for number in numbers}
    recall = len(evidence_facts) / facts
    evidence_from_gold = from_gold[:EVIDENCE_DEPTH]
    relevancy = sum(evidence_from_gold) / len(evidence_from_gold) if evidence_from_gold else 0.0
    harmonic_mean = 2 * recall * relevancy / (recall + relevancy) if recall + relevancy else 0.0
    first_rank = relevant_ranks[0] if relevant_ranks else None
    return FactScores(
        hits_4=float(first_rank is not None and first_rank <= 4),
        hits_10=float(first_rank is not None),
        map_10=precision / min(facts, _RANKING_DEPTH), mrr_10=1 / first_rank if first_rank else 0.0, recall=recall,
        relevancy=relevancy, f1=harmonic_mean)
