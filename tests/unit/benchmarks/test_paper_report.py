"""Scores by kind, and results that outlast a kill."""

import pytest
from banyan.benchmarks.papers.dataset_files import BenchQuestion
from banyan.benchmarks.papers.results import ArmOutcome, Results, Run
from banyan.benchmarks.papers.scoring import score
from banyan.evaluation.datasets import DatasetError

RUN = Run(dataset="musique", corpus="c", mode="reject", top_k=20, schema_name="general", model="m", embedding="e")


@pytest.mark.parametrize(("kind", "gold", "short", "answer", "right"), [
    ("short", "Kalmar", "Kalmar", "She was born in Kalmar.", 1), ("short", "Kalmar", "", "Born in Oslo.", 0),
    ("fill_in", "Ada Brandt", "Ada Brandt", "", 1), ("choice", "B", "B", "B. Kalmar", 1),
    ("choice", "B", "", "Oslo", 0),
    ("choice", "B", "", "Kalmar", 1), ("choice", "B", "A", "A. or rather B.", 0), ("choices", "AC", "A; C", "", 1),
    ("choices", "AC", "A", "", 0), ("true_false", "False", "no", "No, it is lower.", 1),
    ("true_false", "True", "", "Nobody knows", 0), ("open", "A lighthouse.", "", "A lighthouse.", None),
    ("reversion", "PERSON#1——Ada\nPERSON#2——Bo", "", "PERSON#1 is Ada\nPERSON#2 is Cy", 0.5)])
def test_every_kind_is_scored_by_its_form(kind, gold, short, answer, right):
    asked = BenchQuestion(id="q", question="Where?\nA. Oslo\nB. Kalmar\nC. Turku", gold=(), answers=(gold,), kind=kind)
    assert score(asked, short, answer, declined=False).right == right
    assert score(asked, short, answer, declined=True).right == 0


def test_results_outlast_a_kill_in_the_middle_of_a_line(tmp_path):
    with Results(tmp_path, RUN) as results:
        results.add(outcome=ArmOutcome(arm="full", id="a", ranks=(1, None), short="Kalmar"))
    whole = results.path.read_bytes()
    results.path.write_bytes(whole + b'{"outcome": {"arm": "full", "id": "b"')
    with Results(tmp_path, RUN) as again:
        assert again.outcomes == results.outcomes
        again.add(outcome=ArmOutcome(arm="full", id="b"))
    with Results(tmp_path, RUN) as last:
        assert set(last.outcomes) == {("full", "a"), ("full", "b")}


def test_results_of_another_run_or_process_are_not_mixed(tmp_path):
    with Results(tmp_path, RUN), pytest.raises(DatasetError, match="another process writes"):
        Results(tmp_path, RUN)
    with pytest.raises(DatasetError, match=r"results of another run \(mode, top_k\)"):
        Results(tmp_path, RUN.model_copy(update={"mode": "open", "top_k": 10}))
