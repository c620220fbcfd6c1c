"""The scores of one answer, by the kind of its question."""

from ...schemas.documents import Frozen
from ..answer_scores import exact_match, f1, holds
from .choices import letters, truth
from .records import BenchQuestion
from .reversion import PairScores, pair_scores

JUDGED = frozenset({"short", "fill_in", "open"})
"""Kinds whose answers are weighed by a judge where there is one; of the others the form decides."""


class AnswerScores(Frozen):
    """Scores from 0 to 1. `right` is what the form alone says; None where only a judge can tell.

    `right` is the share of the pairs for Anonymity Reversion, whether the same options are chosen for choices, whether
    it says the same for true or false, and for words whether the gold answer stands in the answer.
    """

    exact_match: float
    f1: float
    contained: float
    right: float | None
    pairs: PairScores | None = None


def score(question: BenchQuestion, short: str, answer: str, *, declined: bool) -> AnswerScores:
    """Score an answer.

    Args:
        question: with its gold answers.
        short: the answer in the fewest words, where it has such.
        answer: all of it.
        declined: nothing was answered: every score is 0.
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
            given = letters(short, question.question) or letters(answer, question.question)
            right = float(bool(expected) and given == expected)
        case "true_false":
            said = truth(short)
            right = float((truth(answer) if said is None else said) is truth(gold[0]))
        case "reversion":
            pairs = pair_scores(f"{short}\n{answer}", gold[0])
            right = pairs.right / pairs.asked
        case "open":
            right = None
    return AnswerScores(exact_match=exact_match(words, gold), f1=f1(words, gold), contained=contained, right=right,
                        pairs=pairs)
