"""Files of one name in different folders: none replaces another's document in silence."""

import shutil

import banyan
import pytest
from banyan.graph_store.store_errors import UnknownDocumentError

from ... import scripted

ADA = "Ada:Person --employer--> Acme:Organization."
BOB = "Bob:Person --employer--> Beko:Organization."


@pytest.fixture
def kb(tmp_path, hashed_embedder):
    with scripted.Workshop(tmp_path / "home", hashed_embedder).resources() as resources:
        yield banyan.open("names", resources=resources)


def write(folder, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.md").write_text(text)
    return folder


def test_a_file_does_not_replace_one_of_the_same_name_in_another_folder(kb, tmp_path, monkeypatch):
    alder, birch = write(tmp_path / "alder", ADA), write(tmp_path / "birch", BOB)
    monkeypatch.chdir(alder)
    assert kb.add(alder.relative_to(alder))["files_failed"] == []
    monkeypatch.chdir(birch)
    (failed,) = kb.add(birch.relative_to(birch))["files_failed"]
    assert str(alder / "report.md") in failed
    assert str(birch / "report.md") in failed
    assert "'report.md'" in failed
    assert [passage.text for passage in kb.search("Who is employed?")] == [ADA]
    assert kb.add(tmp_path / "birch" / ".." / "birch" / "report.md")["files_failed"]


def test_changed_moved_and_copied_files_are_the_same_document(kb, tmp_path):
    kb.add(write(tmp_path / "old", ADA))
    assert kb.add(write(tmp_path / "old", BOB))["files_failed"] == []
    assert kb.add(write(tmp_path / "copy", BOB))["files_failed"] == []
    shutil.rmtree(tmp_path / "copy")
    assert kb.add(write(tmp_path / "new", ADA))["files_failed"] == []
    assert [entry.source for entry in kb.documents()] == [str(tmp_path / "new" / "report.md")]


def test_several_documents_are_deleted_at_once_or_none(kb, tmp_path):
    kb.add({"id": "a", "text": ADA}, {"id": "b", "text": BOB}, {"id": "c", "text": "Cem:Person --knows--> Ada:Person."})
    with pytest.raises(UnknownDocumentError, match="'d'"):
        kb.delete("a", "d")
    assert kb.status().documents == 3
    kb.delete("a", "b", "a")
    assert [entry.id for entry in kb.documents()] == ["c"]


def test_a_document_is_named_by_the_end_of_its_path(kb, tmp_path):
    kb.add(write(tmp_path / "alder", ADA))
    for name in ("alder/report.md", "alder/*.md"):
        assert [passage.text for passage in kb.search("Who is employed?", documents=name)] == [ADA]
