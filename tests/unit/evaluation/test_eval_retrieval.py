"""Evaluating retrieval: question files, reports made by hand, and the command."""

import json

import pytest
from banyan.evaluation import recall

from ... import scripted


def record(milliseconds, *ranks, kind=""):
    return recall.QuestionRecord(id="", question="", ranks=ranks, milliseconds=milliseconds, type=kind)


RECORDS = [record(1, 1, 2, kind="a"), record(2, 2, 6, kind="b"), record(3, None, 5, 1, kind="a"), record(94, None)]


def test_recall_of_a_ranking_made_by_hand():
    report = recall.summarise(RECORDS, [1, 2, 5, 6])
    # At 1: 1/2, 0, 1/3, 0. At 2: 1, 1/2, 1/3, 0. At 5: 1, 1/2, 2/3, 0. At 6: 1, 1, 2/3, 0.
    assert report.recall == {"1": 20.83, "2": 45.83, "5": 54.17, "6": 66.67}
    assert report.questions == 4
    assert report.latency_ms == {"p50": 2.5, "p95": 80.35}


@pytest.fixture
def command(tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = scripted.Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    shell.copy_built()
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(one) + "\n" for one in (
        {"id": "1", "question": "Where does Ada work?", "gold": ["a.txt"], "type": "plain"},
        {"id": "2", "question": "In which place is Acme located?", "gold": ["b.txt", "a.txt"]})), "utf-8")
    return lambda *more: shell("eval", "retrieval", "--kb", "kb", "--questions", "q.jsonl", "--format", "generic",
                               *more)


def test_the_report_as_json_and_the_records(command, tmp_path):
    result = command("--json", "--k", "4,2", "--records", "records.jsonl")
    assert result.code == 0, result.err
    report = json.loads(result.out)
    assert set(report) == {"questions", "recall", "interval", "latency_ms", "gold_absent", "by_type", "rows"}
    assert report["questions"] == 2
    assert list(report["recall"]) == ["2", "4"]
    assert report["recall"]["4"] == 100
    assert report["interval"]["4"] == [100, 100]
    assert set(report["latency_ms"]) == {"p50", "p95"}
    assert list(report["by_type"]) == ["plain"]
    records = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text("utf-8").splitlines()]
    assert [(one["id"], one["type"], len(one["ranks"])) for one in records] == [("1", "plain", 1), ("2", "", 2)]
    assert all(one["milliseconds"] > 0 for one in records)


def test_gold_that_is_not_there_is_counted_or_refused(command, tmp_path):
    for gold, absent in ((["a.txt", "nowhere"], 1), (["nowhere"], None)):
        (tmp_path / "q.jsonl").write_text(json.dumps({"id": "1", "question": "Where?", "gold": gold}), "utf-8")
        result = command("--json", "--k", "9")
        if absent:
            report = json.loads(result.out)
            assert (report["gold_absent"], report["recall"], report["interval"]) == (1, {"9": 50}, {"9": [50, 50]})
        else:
            assert "none of the gold passages is in the knowledge base" in result.err


def test_what_cannot_be_measured(command, tmp_path):
    (tmp_path / "empty.jsonl").write_text("\n", "utf-8")
    for option, value, message in (
            ("--questions", "nowhere.jsonl", "there is no question file nowhere.jsonl"),
            ("--questions", "empty.jsonl", "empty.jsonl has no question"), ("--k", "0", "--k takes positive numbers"),
            ("--records", "absent/records.jsonl", "absent/records.jsonl cannot be written")):
        result = command(option, value)
        assert (result.code, result.out, message in result.err) == (1, "", True), result.err


def write(folder, records, *, lines=False):
    path = folder / "questions.json"
    path.write_text("\n".join(json.dumps(r, ensure_ascii=False) for r in records) if lines else json.dumps(records),
                    "utf-8")
    return path


MUSIQUE = {"id": "2hop__1", "question": "Q?", "answer": "A", "question_decomposition": [
    {"id": 1, "question": "First?", "answer": "Ulm"},
    {"id": 2, "question": "#1 >> river of #3, [PERSON#277]", "answer": 7}],
    "paragraphs": [{"title": "T", "paragraph_text": "One.", "is_supporting": True},
                   {"title": "T", "paragraph_text": "Two.", "is_supporting": False},
                   {"title": "U", "paragraph_text": "Three.", "is_supporting": True}]}


@pytest.mark.parametrize("lines", [False, True])
def test_musique(tmp_path, lines):
    path = write(tmp_path, [MUSIQUE, MUSIQUE | {"id": "b", "paragraphs": []}], lines=lines)
    assert recall.load_questions(path, "musique") == [recall.DatasetQuestion(
        id="2hop__1", question="Q?", steps=2, answers=("A",),
        gold=(recall.GoldPassage(title="T", text="One."), recall.GoldPassage(title="U", text="Three.")))]


@pytest.mark.parametrize(("form", "record"), [
    ("hotpotqa", {"_id": "x", "question": "Q?", "supporting_facts": [["A", 0], ["B", 1], ["A", 2]]}),
    ("2wiki", {"id": "x", "question": "Q?", "evidence": ["A", "B", "A"]})])
def test_gold_titles(tmp_path, form, record):
    gold = (recall.GoldPassage(title="A"), recall.GoldPassage(title="B"))
    assert recall.load_questions(write(tmp_path, [record]), form) == [
        recall.DatasetQuestion(id="x", question="Q?", gold=gold)]


@pytest.mark.parametrize(("form", "record", "said"), [
    ("musique", {"id": "a", "question": "Q?"}, "paragraphs"), ("hotpotqa", {"question": "Q?"}, "supporting_facts"),
    ("generic", {"id": "a", "question": "Q?"}, "gold")])
def test_a_record_of_another_form_is_named(tmp_path, form, record, said):
    good = {"musique": MUSIQUE, "generic": {"id": "a", "question": "Q?", "gold": ["d"]}}.get(
        form, {"question": "Q?", "evidence": ["A"]})
    with pytest.raises(recall.DatasetError, match=f"(?s)record 1: not a {form} question.*{said}"):
        recall.load_questions(write(tmp_path, [good, record]), form)
