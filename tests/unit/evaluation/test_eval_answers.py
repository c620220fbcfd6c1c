"""`eval qa`: question files with answers, the run, its report and its table."""

import json
from contextlib import nullcontext

import pytest
from banyan.cli.commands.evaluation import eval_qa
from banyan.evaluation.agent_answers import evaluate
from banyan.evaluation.recall import DatasetQuestion, GoldPassage
from banyan.schemas.inquiry import Judgement
from banyan.schemas.retrieval import DraftAnswer

from ... import asking


def quoting(document, words, confidence, short=""):
    return asking.quoting((document, words), confidence=confidence, short=short)


ULM = DatasetQuestion(id="a", question="Where was Ada Byron born?", gold=(GoldPassage(id="ada"),), answers=("Ulm",))
TWO = DatasetQuestion(id="b", question="Where?", gold=(GoldPassage(id="ada"), GoldPassage(id="ulm")), answers=("Rome",))
NONE = DatasetQuestion(id="c", question="Does Ada Byron know Carl?", gold=(), unanswerable=True)
BORN = "She was born in Ulm"


def run(resources, question, reply, **options):
    resources.fake.reply = reply
    return evaluate(resources, "kb", [question], **options)


def test_a_right_answer_scores_in_full(resources):
    report = run(resources, ULM, quoting("ada", BORN, 0.8, "Ulm"))
    assert (report.questions, report.unanswerable, report.answered) == (1, 0, 1)
    assert set(report.answers.values()) == set(report.citations.values()) == {100}
    record = report.records[0]
    assert (record.answer, record.cited, record.confidence) == (f"Claim on ada: {BORN}", ("ada",), 0.8)


def test_citations_are_scored_by_document(resources):
    report = run(resources, TWO, quoting("ada", BORN, 0.8))
    assert report.citations == {"recall": 50, "precision": 100, "all_gold": 0}
    assert report.answers["correct"] == 0


def test_a_doubtful_answer_counts_as_declined(resources):
    report = run(resources, ULM, quoting("ada", BORN, 0.4, "Ulm"))
    assert (report.answered, report.answers["correct"], report.abstention["answered"]) == (0, 0, 0)
    assert (report.records[0].confidence, report.records[0].correct) == (0.4, True)
    assert run(resources, ULM, quoting("ada", BORN, 0.4, "Ulm"), mode="open").answered == 1


def test_unanswerable_questions_are_declined_or_not(resources):
    report = run(resources, NONE, quoting("ada", BORN, 0.4))
    assert (report.unanswerable, report.abstention["declined"]) == (1, 100)
    assert run(resources, NONE, quoting("ada", BORN, 0.6)).abstention["declined"] == 0
    silent = run(resources, NONE, lambda _: Judgement(draft=DraftAnswer(answerable=False, confidence=0.9)))
    assert silent.abstention["declined"] == 100


@pytest.fixture
def command(resources, tmp_path, monkeypatch):
    path = tmp_path / "questions.json"
    path.write_text(json.dumps([{"id": n, "question": f"Where was Ada born? {n}", "gold": ["ada"] if n else [],
                                 "answers": ["Ulm"]} for n in range(3)]), "utf-8")
    resources.fake.reply = quoting("ada", BORN, 0.8, "Ulm")
    monkeypatch.setattr("banyan.cli.commands.evaluation.open_resources", lambda: nullcontext(resources))
    return lambda **options: eval_qa("kb", path, "generic", **options)


def test_the_command_prints_one_json_object_and_writes_records(command, tmp_path, capsys):
    command(as_json=True, records=tmp_path / "records.jsonl")
    said = json.loads(capsys.readouterr().out)
    assert (said["questions"], said["unanswerable"], said["answers"]["correct"]) == (3, 1, 100)
    assert "records" not in said
    lines = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text("utf-8").splitlines()]
    assert [(line["id"], line["unanswerable"], line["declined"]) for line in lines] == [
        ("0", True, False), ("1", False, False), ("2", False, False)]
