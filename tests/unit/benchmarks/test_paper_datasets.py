"""The readers of `benchmarks/papers`: files as published, and what is wrong with one by line and field."""

import json
import re

import pytest
from banyan.benchmarks.papers.published_datasets import load_dataset
from banyan.benchmarks.papers.scoring import pair_scores, pairs
from banyan.evaluation.datasets import DatasetError

from ... import bench_files as files


def read(name, folder, limit=None):
    files.DATASETS[name](folder)
    return load_dataset(name, folder, limit)


def test_contexts_inside_questions_become_the_corpus_once(tmp_path):
    dataset = read("hotpotqa", tmp_path)
    assert {document.title: document.text for document in dataset.documents} == files.PASSAGES
    assert [gold.title for gold in dataset.questions[0].gold] == ["Northern Lamp", "Ada Brandt"]


def test_hipporag_form_has_its_corpus_and_recorded_triples_are_no_questions(tmp_path):
    dataset = read("musique", tmp_path)
    assert [document.title for document in dataset.documents] == list(files.PASSAGES)
    assert dataset.questions[0].answers == ("Kalmar", "Kalmar, Sweden")
    assert dataset.questions[0].steps == 2


def test_g_bench_knows_the_types_by_the_names_of_files(tmp_path):
    dataset = read("gbench", tmp_path)
    kinds = {question.kind: question.answers for question in dataset.questions}
    assert kinds == {"fill_in": ("Ada Brandt",), "choice": ("B",), "choices": ("AC",), "true_false": ("False",),
                     "open": ("A lighthouse, built by an engineer.",)}
    assert [(document.id, document.title) for document in dataset.documents] == [("textbooks/towns.md", "Towns")]


def test_graphrag_bench_has_one_text_and_open_questions_by_type(tmp_path):
    dataset = read("graphrag-bench", tmp_path)
    assert [(document.id, len(document.text) > 100) for document in dataset.documents] == [("Towns", True)]
    assert [(question.kind, question.type) for question in dataset.questions] == [
        ("open", "fact retrieval"), ("open", "contextual summarize")]
    assert dataset.questions[1].answers == ("A lighthouse. An engineer built it.",)


def test_anony_rag_in_parquet_and_in_json(tmp_path):
    dataset = read("anonyrag", tmp_path / "parquet")
    assert [question.kind for question in dataset.questions] == ["reversion", "choice"]
    assert len(dataset.questions[0].question) > 2000
    rows = [{"question": question.question, "answer": question.answers[0]} for question in dataset.questions]
    files.save(tmp_path / "json" / "questions.json", rows)
    files.save(tmp_path / "json" / "chunks.json", [{"chunk": document.text} for document in dataset.documents])
    assert load_dataset("anonyrag", tmp_path / "json") == dataset


def test_multihop_rag_has_facts_metadata_and_null_questions(tmp_path):
    dataset = read("multihop-rag", tmp_path)
    first, null = dataset.questions
    assert first.facts == ("It was built by Ada Brandt.", "She was born in Kalmar.")
    assert (null.type, null.unanswerable, null.answers) == ("null", True, ())
    assert dataset.documents[0].metadata == {"source": "The Kalmar Post", "published_at": "2023-10-01",
                                             "category": "towns", "url": "https://post.example/0"}


@pytest.mark.parametrize(("name", "file", "record", "said"), [
    ("hotpotqa", "hotpot_dev.json", {"question": "Q?", "answer": "A", "_id": "x"}, "supporting_facts"),
    ("musique", "musique.json", {"id": "x", "question": "Q?", "answer": "A", "paragraphs": [{"title": "T"}]},
     "paragraphs.0.paragraph_text: Field required"),
    ("gbench", "FB.jsonl", {"Question": "Q?", "Rationale": "R"}, "Answer: Field required"),
    ("multihop-rag", "corpus.json", {"title": "T", "text": "?"}, "body: Field required"),
    ("generic", "questions.jsonl", {"id": "x", "question": "Q?", "gold": ["a"], "answers": ["A"], "kind": "song"},
     "kind: ")])
def test_a_malformed_record_is_refused_by_its_place_and_field(tmp_path, name, file, record, said):
    files.DATASETS[name](tmp_path)
    path = tmp_path / file
    records = [json.loads(line.strip("[],")) for line in path.read_text("utf-8").splitlines()]
    files.save(path, [*records, record])
    place = f"line {len(records) + 1}, record" if path.suffix == ".jsonl" else f"record {len(records)}"
    with pytest.raises(DatasetError, match=f"{re.escape(str(path))}: {place}.*{re.escape(said)}"):
        load_dataset(name, tmp_path)


def test_pairs_of_ids_and_names():
    assert pairs('PERSON#532——鲁智深\n[PERSON#277]：史进; "PERSON#4": "周通", [LOCATION#5] is Mount X.') == {
        "PERSON#532": "鲁智深", "PERSON#277": "史进", "PERSON#4": "周通", "LOCATION#5": "Mount X"}
    assert pairs("[PERSON#1] is [PERSON#2]") == {}
    gold = "PERSON#1——洪太尉\nPERSON#2——Ada\nPERSON#3——Bo"
    assert pair_scores("PERSON#1——洪信（即洪太尉）\nPERSON#2——Ada or Bo or Cy or Di\nPERSON#9——Bo", gold) == (3, 2, 1)
