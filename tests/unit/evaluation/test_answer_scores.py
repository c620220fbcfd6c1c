"""Scores of answers, and the curve of abstention."""

import pytest
from banyan.evaluation.abstention import Judged, area, point
from banyan.evaluation.answer_scores import exact_match, f1, holds, normal_answer


@pytest.mark.parametrize(("text", "normal"), [
    ("The  Vistula.", "vistula"), ("An Anaconda", "anaconda"), ("1,234", "1234"), ("《论语》。", "论语"), ("", ""),
    ("A. A. Milne", "milne"),
])
def test_answers_are_normalised_as_squad_does(text, normal):
    assert normal_answer(text) == normal


@pytest.mark.parametrize(("answer", "expected", "match", "score"), [
    ("the Vistula", ["Vistula"], 1, 1), ("Duke Rudolf IV", ["Rudolf IV"], 0, 0.8), ("Rome", ["Ulm", "Rome"], 1, 1),
    ("浙江省", ["浙江"], 0, 0.8), ("北京大学", ["清华大学"], 0, 0.5), ("Rome", [], 0, 0), ("", ["Rome"], 0, 0),
    ("Rome Rome", ["Rome"], 0, 2 / 3),
])
def test_exact_match_and_f1(answer, expected, match, score):
    assert exact_match(answer, expected) == match
    assert f1(answer, expected) == pytest.approx(score)


@pytest.mark.parametrize(("answer", "expected", "held"), [
    ("She was born in Warsaw.", ["Warsaw"], True), ("Warsawa", ["Warsaw"], False), ("in 18671", ["1867"], False),
    ("她出生于宁波。", ["宁波"], True), ("2019年3月", ["2019年"], True),
    ("It is so.", [], False), ("It is so.", ["the"], False),
])
def test_the_expected_answer_stands_in_the_answer(answer, expected, held):
    assert holds(answer, expected) is held


JUDGED = [Judged(confidence=0.9, answerable=True, correct=True, grounded=True),
          Judged(confidence=0.6, answerable=True, grounded=True), Judged(confidence=None, answerable=True),
          Judged(confidence=0.6, answerable=False), Judged(confidence=0.1, answerable=False)]


def test_a_point_counts_what_its_threshold_shows():
    at = point(JUDGED, 0.6)
    assert (at.declined, at.answered, at.correct, at.grounded) == (50, 66.67, 33.33, 66.67)
    # Nothing brings back what the reasoner itself withheld.
    assert point(JUDGED, 0).answered == 66.67


def test_the_area_is_the_share_of_pairs_in_order():
    found = area(JUDGED)
    assert found is not None
    # 0.9 is above both, 0.6 above one and level with the other, and what was withheld is below both.
    assert found.answered == pytest.approx((1 + 0.75 + 0) / 3, abs=1e-4)
    assert found.correct == pytest.approx(1 / 3, abs=1e-4)
    assert found.grounded == pytest.approx(1.75 / 3, abs=1e-4)
    assert area(JUDGED[:3]) is None
