"""How well confidence separates answerable from unanswerable questions."""

from collections.abc import Sequence

from ..schemas.documents import Frozen

_STEPS = 20
_DECLINED = -1.0
"""The position of an answer that the reasoner itself declined: below every confidence."""


class Judged(Frozen):
    """One answer on the curve; `confidence` is None if the reasoner declined at any threshold."""

    confidence: float | None
    answerable: bool
    correct: bool = False
    grounded: bool = False


class CurvePoint(Frozen):
    """The effect of abstaining below a threshold, in % of the unanswerable and of the answerable questions.

    `correct`: answered, and an expected answer is in the text. `grounded`: answered, and all gold documents are cited.
    """

    threshold: float
    declined: float
    answered: float
    correct: float
    grounded: float


class Area(Frozen):
    """Areas under the curves of share answered (correctly, with all gold cited) against share declined, 0 to 1.

    The area of `answered` is the probability that an answerable question has more confidence than an unanswerable one
    (ties count half). A system that never answers wrongly reaches the same value in all three.
    """

    answered: float
    correct: float
    grounded: float


def point(judged: Sequence[Judged], threshold: float) -> CurvePoint:
    """Return the effect of abstaining below one threshold; 0 for a kind without questions."""
    answerable = [answer for answer in judged if answer.answerable]
    shown = [answer for answer in answerable if _position(answer) >= threshold]
    unanswerable = [answer for answer in judged if not answer.answerable]
    return CurvePoint(
        threshold=round(threshold, 4),
        declined=percent(sum(_position(answer) < threshold for answer in unanswerable), len(unanswerable)),
        answered=percent(len(shown), len(answerable)),
        correct=percent(sum(answer.correct for answer in shown), len(answerable)),
        grounded=percent(sum(answer.grounded for answer in shown), len(answerable)))


def curve(judged: Sequence[Judged]) -> tuple[CurvePoint, ...]:
    """Return the curve at thresholds from 0 to 1 in steps of 0.05."""
    return tuple(point(judged, step / _STEPS) for step in range(_STEPS + 1))


def area(judged: Sequence[Judged]) -> Area | None:
    """Return the areas over all thresholds; None if all questions are of one kind."""
    answerable = [answer for answer in judged if answer.answerable]
    unanswerable = [_position(answer) for answer in judged if not answer.answerable]
    if not answerable or not unanswerable:
        return None
    above = [sum((_position(answer) > other) + 0.5 * (_position(answer) == other) for other in unanswerable)
             / len(unanswerable) for answer in answerable]

    def mean(counts: list[bool]) -> float:
        return round(sum(value for value, count in zip(above, counts, strict=True) if count) / len(answerable), 4)

    return Area(answered=mean([True] * len(answerable)), correct=mean([answer.correct for answer in answerable]),
                grounded=mean([answer.grounded for answer in answerable]))


def percent(part: float, whole: int) -> float:
    """Return a share in % with two decimals; 0 if the whole is 0."""
    return round(100 * part / whole, 2) if whole else 0.0


def _position(answer: Judged) -> float:
    return _DECLINED if answer.confidence is None else answer.confidence
