"""Documents given as text: stored as files' are, or refused before anything is made."""

import pytest
from banyan.agents.construction.graph import build_graph
from banyan.ingest.given import given_documents
from banyan.ingest.loaders import IngestError
from banyan.ingest.reading import Limits

from ... import scripted


@pytest.mark.parametrize(("given", "why"), [
    ("text", "`documents` is a list"), ({"id": "a", "text": "x"}, "`documents` is a list"),
    (["text"], r"`documents\[0\]` is not"), ([{"id": "a"}], r"`documents\[0\]` is not"),
    ([{"id": 7, "text": "x"}], "is not"), ([{"id": "a", "text": "x", "path": "/etc"}], "is not"),
    ([{"id": "a", "text": "x"}, {"id": "b", "text": "\x00\n"}], r"no text in `documents\[1\]`"),
    ([{"id": "a", "text": "x"}, {"id": "a", "text": "y"}], r"`documents\[1\]` repeats the id 'a'"),
    ([{"id": "", "text": "x"}], r"`documents\[0\]`: the id .* cannot be used"),
    ([{"id": "x" * 1001, "text": "x"}], "1,001 characters"), ([{"id": "a", "text": "é" * 6}], "larger than 10 bytes"),
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


def test_a_bad_document_leaves_no_knowledge_base(tmp_path, hashed_embedder):
    shop = scripted.Workshop(tmp_path, hashed_embedder)
    with shop.resources() as resources, pytest.raises(IngestError):
        build_graph(resources).invoke({"knowledge_base": "kb", "documents": [{"id": "a", "text": ""}]})
    assert not (shop.settings.home / "kb").exists()
