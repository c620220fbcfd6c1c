"""How well a confidence tells questions that can be answered from those that cannot."""

from collections.abc import Sequence

from ..schemas.documents import Frozen

_STEPS = 20
_DECLINED = -1.0
"""The place of an answer that abstained of itself: below every confidence."""


class Judged(Frozen):
    """One answer as the curve sees it; `confidence` None where nothing was answered at any threshold."""

    confidence: float | None
    answerable: bool
    correct: bool = False
    grounded: bool = False


class CurvePoint(Frozen):
    """What abstaining below a threshold gives, in % of the unanswerable and of the answerable questions.

    `correct`: answered, and the expected words stand in the answer; `grounded`: answered, and all
    gold documents are cited.
    """

    threshold: float
    declined: float
    answered: float
    correct: float
    grounded: float


class Area(Frozen):
    """Areas under the curves of share answered (correctly, with all gold cited) against share declined, 0..1.

    That of `answered` is the chance that an answerable question has more confidence than an
    unanswerable one (ties count half); one that never answers wrongly reaches the same in all three.
    """

    answered: float
    correct: float
    grounded: float


def point(judged: Sequence[Judged], threshold: float) -> CurvePoint:
    """What abstaining below one threshold gives; 0 where there is no question of a kind."""
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
    """The curve at thresholds from 0 to 1 in steps of 0.05."""
    return tuple(point(judged, step / _STEPS) for step in range(_STEPS + 1))


def area(judged: Sequence[Judged]) -> Area | None:
    """The areas over all thresholds; None where all questions are of one kind."""
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
    """A share in %, two decimals; 0 of nothing."""
    return round(100 * part / whole, 2) if whole else 0.0


def _position(answer: Judged) -> float:
    return _DECLINED if answer.confidence is None else answer.confidence
