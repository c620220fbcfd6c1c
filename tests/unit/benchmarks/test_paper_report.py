"""Scores by kind, the ranking of facts, results that outlast a kill, and the report's forms."""

import re

import pytest
from banyan.benchmarks.papers.bench_report import make_report
from banyan.benchmarks.papers.bench_tables import to_markdown
from banyan.benchmarks.papers.dataset_files import BenchDocument, BenchQuestion, Dataset
from banyan.benchmarks.papers.results import ArmOutcome, Base, JudgedOutcome, Results, Run
from banyan.benchmarks.papers.scoring import score
from banyan.evaluation.datasets import DatasetError, GoldPassage

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


GOLD = GoldPassage(title="Kalmar")
DATASET = Dataset(name="musique", documents=(BenchDocument(id="p0", title="Kalmar", text="A town."),), questions=(
    BenchQuestion(id="a", question="Where?", answers=("Kalmar",), gold=(GOLD,), type="one", facts=("A town.",)),
    BenchQuestion(id="b", question="When?", answers=("1889",), gold=(GOLD,), type="two"),
    BenchQuestion(id="c", question="What?", answers=("A <lamp> | light",), gold=(), kind="open", type="two"),
    BenchQuestion(id="d", question="Who?", answers=(), gold=(), unanswerable=True)))
NASTY = "<img src=http://collector.invalid/x> | [x](javascript:1)"


@pytest.fixture
def report(tmp_path):
    with Results(tmp_path, RUN) as results:
        for arm, short in (("full", "Kalmar"), ("naive-bm25", "Oslo")):
            results.add(outcome=ArmOutcome(arm=arm, id="a", short=short, answer=short, grade="inferred", ranks=(2,),
                                        facts=((), (0,)),
                                        gold=(False, True), passages=2, calls=3, prompt_tokens=100, seconds=1.5))
            results.add(outcome=ArmOutcome(arm=arm, id="b", declined=True, ranks=(None,), passages=2))
            results.add(outcome=ArmOutcome(arm=arm, id="c", answer="A lamp.", short=NASTY))
            results.add(outcome=ArmOutcome(arm=arm, id="d", declined=arm == "full"))
            results.add(judged=JudgedOutcome(arm=arm, id="a", judge="j", correct=short == "Kalmar", reason="r",
                                             tokens=7))
        base = Base(name=NASTY, documents=1, entities=1, triples=1, communities=1, seconds=1, tokens={"extract": 9})
        return make_report(DATASET, RUN, results, {"full": "everything", "naive-bm25": NASTY}, judge="j",
                           bases={"general": base}, failures=[NASTY])


def test_a_row_counts_each_question_where_it_belongs(report):
    full, naive = report.rows
    assert (full.questions, full.null_questions, full.null_declined, naive.null_declined) == (3, 1, 100.0, 0.0)
    assert (full.accuracy.value, full.declined) == (50.0, 33.33)
    assert (naive.accuracy.value, naive.change.value, naive.recall_change.value) == (0.0, -50.0, 0.0)
    assert full.recall["2"].value == 50.0
    assert (full.facts["mrr_10"].value, full.evidence["one"]["recall"]) == (50.0, 100.0)
    assert full.by_type["two"]["questions"] == 2
    assert (full.grades["inferred"], naive.grades["inferred"]) == (
        {"answers": 1, "right": 100.0}, {"answers": 1, "right": 0.0})
    assert (full.calls, full.judge_tokens, full.seconds["p95"]) == (0.75, 7, pytest.approx(1.275))
    assert not report.complete


def test_no_cell_of_the_markdown_ends_a_table_or_is_an_image(report):
    text = to_markdown(report)
    assert "<img" not in text
    assert "1 failed" in text
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
    assert "Youtu-GraphRAG w/o agent" in text, "published figures of this dataset and mode stand beside"
