"""Ids of documents, and documents from elsewhere than files: given as text, or recorded with their triples."""

import json

import banyan
import pytest
from banyan.agents.construction.graph import build_graph
from banyan.ingest.given import given_documents, load_recorded
from banyan.ingest.reading import IngestError, Limits

from ... import scripted
from ...loading import failure, load, write

pytestmark = pytest.mark.usefixtures("shared_reading")


def test_duplicate_and_impossible_record_ids_are_failures(tmp_path):
    lines = [{"text": "one", "id": "x"}, {"text": "two", "id": "x"}, {"text": "three", "id": "y" * 1001},
             {"text": "four \ud800", "id": "\ud800"}, {"text": "five \ud800", "id": "z"}]
    documents, failures = load(write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, lines))))
    assert [(d.id, d.text) for d in documents] == [("a.jsonl/x", "one"), ("a.jsonl/z", "five \ufffd")]
    assert ["already given" in found.reason for found in failures] == [True, False, False]
    assert failures[0].path.endswith("a.jsonl, record 1")
    assert "a.jsonl, record 0" in failures[0].reason


def test_a_record_cannot_replace_a_file_whose_name_it_takes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    write(folder / "warsaw.md", "Warsaw lies on the Vistula.")
    write(folder / "records.jsonl", json.dumps({"id": "warsaw.md", "text": "Warsaw lies on the Thames."}))
    documents, failures = load(folder)
    assert failures == []
    assert {d.id: d.text for d in documents} == {"records.jsonl/warsaw.md": "Warsaw lies on the Thames.",
                                                 "warsaw.md": "Warsaw lies on the Vistula."}


@pytest.mark.parametrize("own", ["../../etc/passwd", "..", "a/./b", "\0nul", "two\nlines", "two\u2028lines", " leading",
                                 "trailing\u00a0", "zero\u200bwidth", "turned\u202eround", "..\\up"])
def test_record_ids_that_mislead_are_refused(tmp_path, own):
    reason = failure(write(tmp_path / "a.jsonl", json.dumps({"id": own, "text": "Warsaw lies on the Vistula."})))
    assert "cannot be used" in reason
    with pytest.raises(IngestError, match="cannot be used"):
        given_documents([{"id": own, "text": "Warsaw lies on the Vistula."}])


@pytest.mark.parametrize(("given", "why"), [
    ("text", "`documents` is a list"), ({"id": "a", "text": "x"}, "`documents` is a list"),
    (["text"], r"`documents\[0\]` is not"), ([{"id": "a"}], r"`documents\[0\]` is not"),
    ([{"id": 7, "text": "x"}], "is not"), ([{"id": "a", "text": "x", "path": "/etc"}], "is not"),
    ([{"id": "a", "text": "x"}, {"id": "b", "text": "\x00\n"}], r"`documents\[1\]`: no text in it"),
    ([{"id": "a", "text": "x"}, {"id": "a", "text": "y"}], r"`documents\[1\]` repeats the id 'a'"),
    ([{"id": "", "text": "x"}], r"`documents\[0\]`: the id .* cannot be used"),
    ([{"id": "x" * 1001, "text": "x"}], "write 1 to 1,000 visible characters"),
    ([{"id": "a", "text": "é" * 6}], "larger than 10 bytes"),
    ([{"id": "abc"[n], "text": "x"} for n in range(3)], "3 documents, more than 2")])
def test_what_cannot_be_stored_is_refused(given, why):
    with pytest.raises(IngestError, match=why):
        given_documents(given, Limits(file_bytes=10, documents=2))


def test_a_build_of_texts_and_files_equals_one_of_files(tmp_path, hashed_embedder):
    texts = {"a.txt": "Ada:Person --employer--> Acme:Organization.", "b.txt": "Bob:Person --knows--> Ada:Person."}
    files, mixed = (scripted.Workshop(tmp_path / name, hashed_embedder) for name in ("files", "mixed"))
    files.build(files.write(texts))
    given = mixed.given(mixed.write({"b.txt": texts["b.txt"]}))
    with mixed.resources() as resources:
        result = build_graph(resources).invoke({**given, "documents": [
            {"id": "a.txt", "title": "a", "text": texts["a.txt"]}]})
    assert result["report"]["documents"] == 2
    assert mixed.dump() == files.dump()


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
    with pytest.raises(IngestError, match="HippoRAG"):
        read(write(tmp_path / "other.json", "[1, 2]"), "hipporag")
    with pytest.raises(IngestError, match="does not exist"):
        read(tmp_path / "none.json", "triples")


def test_a_triple_may_say_when_it_holds(tmp_path):
    path = tmp_path / "triples.jsonl"
    path.write_text(json.dumps({"id": "a", "text": "Ada led Acme until 2021. Ada knows Bo.", "triples": [
        ["Ada", "led", "Acme", "until 2021"], ["Ada", "knows", "Bo"], ["Ada", "knows", "Bo", "2021", "x"]]}))
    (passage,), _ = read(path, "triples")
    assert [(t.tail, t.time) for t in passage.extraction.triples] == [("Acme", "until 2021"), ("Bo", "")]
    assert len(passage.extraction.malformed) == 1


def test_a_web_address_is_an_error_that_says_what_to_do(tmp_path):
    with banyan.open("kb", home=tmp_path, llm_base_url=None) as kb, pytest.raises(banyan.BanyanError, match="download"):
        kb.add("https://example.org/page.html")
