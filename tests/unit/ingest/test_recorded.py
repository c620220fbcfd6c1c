"""Recorded triples: both formats, and what is wrong in them."""

import json

import pytest
from banyan.ingest.reading import IngestError
from banyan.ingest.recorded import load_recorded


def read(path, form):
    failures = []
    return list(load_recorded([path], form, on_failure=failures.append)), failures


def test_hipporag_passages_keep_their_text_and_triples(tmp_path):
    path = tmp_path / "openie.json"
    path.write_text(json.dumps({"docs": [{
        "title": "Warsaw", "text": "Warsaw lies on the Vistula.", "passage": "", "extracted_entities": ["Warsaw"],
        "extracted_triples": [["Warsaw", "lies on", "Vistula"], ["Warsaw", "lies"]]}]}))
    (passage,), failures = read(path, "hipporag")
    assert failures == []
    assert passage.chunk.text == passage.document.text == "Warsaw lies on the Vistula."
    assert [(t.head, t.relation, t.tail) for t in passage.extraction.triples] == [("Warsaw", "lies on", "Vistula")]


def test_a_bad_line_is_reported_and_the_others_are_read(tmp_path):
    path = tmp_path / "triples.jsonl"
    good = json.dumps({"id": "w", "title": "Warsaw", "text": "Warsaw lies on the Vistula."})
    path.write_text(f"{{broken\n{good}\n{json.dumps({'id': 'e', 'text': '  '})}\n")
    passages, failures = read(path, "triples")
    assert [p.document.id for p in passages] == ["triples.jsonl/w"]
    assert ["line 1" in f.reason for f in failures] == [True, False]
    assert "empty" in failures[1].reason


def test_a_file_of_another_format_and_a_missing_one_are_errors(tmp_path):
    path = tmp_path / "other.json"
    path.write_text("[1, 2]")
    with pytest.raises(IngestError, match="HippoRAG"):
        read(path, "hipporag")
    with pytest.raises(IngestError, match="does not exist"):
        read(tmp_path / "none.json", "triples")


def test_a_triple_may_say_when_it_holds(tmp_path):
    path = tmp_path / "triples.jsonl"
    path.write_text(json.dumps({"id": "a", "text": "Ada led Acme until 2021. Ada knows Bo.", "triples": [
        ["Ada", "led", "Acme", "until 2021"], ["Ada", "knows", "Bo"], ["Ada", "knows", "Bo", "2021", "x"]]}))
    (passage,), _ = read(path, "triples")
    assert [(t.tail, t.time) for t in passage.extraction.triples] == [("Acme", "until 2021"), ("Bo", "")]
    assert len(passage.extraction.malformed) == 1
