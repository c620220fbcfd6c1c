"""A knowledge base that follows a folder, where nothing else is touched; and files of one name in different folders."""

import json
import shutil

import banyan
import pytest
from banyan.graph_store.store_errors import UnknownDocumentError
from banyan.ingest.reading import IngestError

from ... import scripted

ADA = "Ada:Person --employer--> Acme:Organization."
BOB = "Bob:Person --employer--> Beko:Organization."
EVE = "Eve:Person --employer--> Egon:Organization."


@pytest.fixture
def kb(tmp_path, hashed_embedder):
    with scripted.Workshop(tmp_path / "home", hashed_embedder).resources() as resources:
        yield banyan.open("kb", resources=resources)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "files"
    (folder / "deep").mkdir(parents=True)
    (folder / "ada.txt").write_text(ADA)
    (folder / "deep" / "bob.txt").write_text(BOB)
    return folder


def ids(kb):
    return [entry.id for entry in kb.documents()]


def people(kb):
    return sorted(entity.name for entity in kb.entities(type="Person"))


def test_new_changed_and_deleted_files_are_followed(kb, folder):
    changes, report = kb.sync(folder)
    assert changes == (["ada.txt", "deep/bob.txt"], 0, [])
    assert report["documents"] == 2
    (folder / "ada.txt").write_text(EVE)
    (folder / "deep" / "bob.txt").unlink()
    (folder / "new.txt").write_text(ADA)
    planned, nothing = kb.sync(folder, dry_run=True)
    assert (planned, nothing) == ((["new.txt"], 1, ["deep/bob.txt"]), None)
    assert people(kb) == ["Ada", "Bob"]
    assert kb.sync(folder)[0] == planned
    assert (ids(kb), people(kb)) == (["ada.txt", "new.txt"], ["Ada", "Eve"])
    assert kb.sync(folder)[0] == ([], 2, [])


def test_documents_of_other_folders_and_texts_stay(kb, folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "eve.txt").write_text(EVE)
    kb.add(other, {"id": "note", "text": BOB})
    kb.sync(folder)
    (folder / "ada.txt").unlink()
    assert kb.sync(folder)[0].gone == ["ada.txt"]
    assert ids(kb) == ["deep/bob.txt", "eve.txt", "note"]


def test_a_record_that_is_gone_from_its_file_is_deleted(kb, folder):
    def write(**records):
        (folder / "all.jsonl").write_text("\n".join(
            json.dumps({"id": name, "text": text}) for name, text in records.items()))

    write(a=ADA, b=BOB)
    kb.sync(folder)
    write(b=BOB, e=EVE)
    assert kb.sync(folder)[0].gone == ["all.jsonl/a"]
    assert ids(kb) == ["ada.txt", "all.jsonl/b", "all.jsonl/e", "deep/bob.txt"]


def test_what_is_ignored_from_now_on_is_gone(kb, folder):
    kb.sync(folder)
    (folder / ".banyanignore").write_text("deep/\n")
    assert kb.sync(folder)[0].gone == ["deep/bob.txt"]


def test_a_folder_whose_files_are_all_gone_deletes_nothing(kb, folder):
    kb.sync(folder)
    (folder / "ada.txt").unlink()
    (folder / "deep" / "bob.txt").unlink()
    with pytest.raises(IngestError, match="has 2 documents: is its disk mounted"):
        kb.sync(folder)
    (folder / "deep").rmdir()
    folder.rmdir()
    with pytest.raises(IngestError, match="is not a folder"):
        kb.sync(folder)
    assert len(ids(kb)) == 2


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
