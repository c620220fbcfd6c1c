"""The scores of one answer, by the kind of its question."""

from ...schemas.documents import Frozen
from ..answer_scores import exact_match, f1, holds
from .answer_forms import PairScores, letters, pair_scores, truth
from .dataset_records import BenchQuestion

JUDGED = frozenset({"short", "fill_in", "open"})
"""The kinds whose answers a judge scores if there is one; the others are scored by their form."""


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
            given = letters(short, question.question) or letters(answer, question.question)
            right = float(bool(expected) and given == expected)
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
