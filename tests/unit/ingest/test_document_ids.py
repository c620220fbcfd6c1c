"""Ids of documents: which texts may be one, and that no record takes the place of a file."""

import json

import pytest
from banyan.ingest.given import given_documents
from banyan.ingest.loaders import IngestError

from ... import loading

load, write, failure = loading.load, loading.write, loading.failure
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


def test_ids_that_differ_only_in_how_letters_are_encoded_are_one(tmp_path):
    lines = [{"text": "one", "id": "caf\u00e9"}, {"text": "two", "id": "cafe\u0301"}]
    documents, failures = load(write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, lines))))
    assert [d.id for d in documents] == ["a.jsonl/caf\u00e9"]
    assert "already given" in failures[0].reason
    with pytest.raises(IngestError, match="repeats the id"):
        given_documents(lines)
