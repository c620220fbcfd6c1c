"""The rules end to end: every question of the examples, over all documents of both example folders."""

import json

import pytest

from .. import command_line

pytestmark = pytest.mark.integration

QUESTIONS = command_line.EXAMPLES / "questions.jsonl"


@pytest.fixture(scope="module")
def measured(english_folder):
    # Both languages in one base would be embedded by the multilingual model, at ten passages a second.
    banyan = command_line.CommandLine(english_folder, (("BANYAN_EMBEDDING_MODEL", "all-MiniLM-L6-v2"),))
    banyan("build", command_line.EXAMPLES / "zh", "--kb", "english", "--json")
    path = banyan.folder / "records.jsonl"
    report = banyan("eval", "qa", "--kb", "english", "--questions", QUESTIONS, "--format", "generic",
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


def test_what_is_answered_is_right_and_the_rest_is_quoted(measured):
    report = measured[0]
    assert report["questions"] == len(measured[1])
    assert report["abstention"]["declined"] >= 90
    assert report["abstention"]["answered"] >= 32
    assert report["answers"]["correct"] >= report["abstention"]["answered"] - 2, "a wrong answer is worse than a quote"
    assert report["citations"]["recall"] >= 95
    answerable = [record for _, record in measured[1] if not record["unanswerable"]]
    assert sum(record["correct"] for record in answerable) >= .75 * len(answerable), "the quotes hold the answer"
