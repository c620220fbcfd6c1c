"""The rules end to end: every question of the examples, over all documents of both example folders."""

import json

import pytest

from ..conftest import load_test_module

pytestmark = pytest.mark.integration

command_line = load_test_module("command_line")
QUESTIONS = command_line.EXAMPLES / "questions.jsonl"


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The report, and each question with its record."""
    banyan = command_line.CommandLine(tmp_path_factory.mktemp("answers"))
    banyan("build", command_line.EXAMPLES / "en", command_line.EXAMPLES / "zh", "--kb", "examples", "--json")
    path = banyan.folder / "records.jsonl"
    report = banyan("eval", "qa", "--kb", "examples", "--questions", QUESTIONS, "--format", "generic",
                    "--records", path, "--json").json
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    questions = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    assert [record["id"] for record in records] == [question["id"] for question in questions]
    return report, list(zip(questions, records, strict=True))


def test_a_multi_hop_answer_cites_all_its_gold_documents_or_there_is_none(measured):
    several = [(question, record) for question, record in measured[1]
               if question["hops"] > 1 and not question["unanswerable"]]
    failed = [question["id"] for question, record in several
              if not record["declined"] and not set(question["gold"]) <= set(record["cited"])]
    assert failed == []
    # Not by declining them all: 17 of 24 are answered.
    assert sum(not record["declined"] for _, record in several) >= 0.6 * len(several)


def test_most_unanswerable_questions_are_declined_and_most_others_answered(measured):
    report = measured[0]
    assert report["questions"] == len(measured[1])
    # 97 and 83 when written; the margin is for another embedding backend's last digits.
    assert report["abstention"]["at_threshold"]["declined"] >= 85
    assert report["abstention"]["at_threshold"]["answered"] >= 75
    assert report["abstention"]["area"]["answered"] >= 0.85
    assert report["citations"]["recall"] >= 95
