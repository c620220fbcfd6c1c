"""Question files, gold passages, and the dataset's own decompositions."""

import json

import pytest
from banyan.evaluation.datasets import (
    DatasetError,
    DatasetQuestion,
    GoldPassage,
    GoldStep,
    load_questions,
)


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
    assert load_questions(path, "musique") == [DatasetQuestion(
        id="2hop__1", question="Q?", gold=(GoldPassage(title="T", text="One."), GoldPassage(title="U", text="Three.")),
        steps=(GoldStep(question="First?", answer="Ulm"),
               GoldStep(question="{answer 1} >> river of #3, [PERSON#277]", answer="7")), answers=("A",))]


@pytest.mark.parametrize(("form", "record"), [
    ("hotpotqa", {"_id": "x", "question": "Q?", "supporting_facts": [["A", 0], ["B", 1], ["A", 2]]}),
    ("hotpotqa", {"id": "x", "question": "Q?", "evidence": ["A", "B"]}),
    ("2wiki", {"_id": "x", "question": "Q?", "evidence": ["A", "B", "A"]}),
    ("2wiki", {"_id": "x", "question": "Q?", "supporting_facts": [["A", 0], ["B", 0]]}),
])
def test_gold_titles(tmp_path, form, record):
    assert load_questions(write(tmp_path, [record]), form) == [
        DatasetQuestion(id="x", question="Q?", gold=(GoldPassage(title="A"), GoldPassage(title="B")))]


@pytest.mark.parametrize(("form", "record", "said"), [
    ("musique", {"id": "a", "question": "Q?"}, "paragraphs"), ("hotpotqa", {"question": "Q?"}, "supporting_facts"),
    ("generic", {"id": "a", "question": "Q?"}, "gold")])
def test_a_record_of_another_form_is_named(tmp_path, form, record, said):
    good = {"musique": MUSIQUE, "generic": {"id": "a", "question": "Q?", "gold": ["d"]}}.get(
        form, {"question": "Q?", "evidence": ["A"]})
    with pytest.raises(DatasetError, match=f"(?s)record 1: not a {form} question.*{said}"):
        load_questions(write(tmp_path, [good, record]), form)


@pytest.mark.parametrize(("text", "said"), [
    ("", "has no question: a generic file is a JSON array of records, or one on each line"), ("[]", "has no question"),
    ('{"id": "a", "question": "Q?", "gold": []}', "has no question with gold passages")])
def test_a_file_without_anything_to_measure_is_refused(tmp_path, text, said):
    path = tmp_path / "q.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(DatasetError, match=said):
        load_questions(path, "generic")
