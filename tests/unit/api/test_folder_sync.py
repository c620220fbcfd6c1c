"""What follows the files: folders that are synchronised, records that left a file, files of one name in two folders."""

import json
import shutil

import banyan
import pytest
from banyan.graph_store.store_errors import UnknownDocumentError
from banyan.ingest.reading import IngestError

from ... import scripted
from ...pdf_sheets import pdf

ADA = "Ada:Person --employer--> Acme:Organization."
BOB = "Bob:Person --employer--> Beko:Organization."
EVE = "Eve:Person --employer--> Egon:Organization."


@pytest.fixture
def kb(tmp_path, hashed_embedder, shared_reading):
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


def write_csv(folder, **records):
    (folder / "all.csv").write_text("\n".join(["id,text", *(f"{name},{said}" for name, said in records.items())]))


def write_lines(folder, *texts):
    (folder / "notes.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts))


def test_new_changed_and_deleted_files_are_followed(kb, folder, tmp_path):
    (tmp_path / "eve.txt").write_text(EVE)
    kb.add(tmp_path / "eve.txt")
    changes, report = kb.sync(folder)
    assert changes == (["ada.txt", "deep/bob.txt"], 0, [])
    assert report["documents"] == 3
    (folder / "ada.txt").write_text(BOB)
    (folder / "deep" / "bob.txt").unlink()
    (folder / "new.txt").write_text(ADA)
    planned, nothing = kb.sync(folder, dry_run=True)
    assert (planned, nothing) == ((["new.txt"], 1, ["deep/bob.txt"]), None)
    assert kb.sync(folder)[0] == planned
    assert ids(kb) == ["ada.txt", "eve.txt", "new.txt"], "what is not of the folder stays"
    (folder / ".banyanignore").write_text("new.txt\n")
    assert kb.sync(folder)[0] == ([], 1, ["new.txt"])
    assert people(kb) == ["Bob", "Eve"]


def test_a_folder_whose_files_are_all_gone_deletes_nothing(kb, folder):
    kb.sync(folder)
    shutil.rmtree(folder / "deep")
    (folder / "ada.txt").unlink()
    with pytest.raises(IngestError, match="has 2 documents: is its disk mounted"):
        kb.sync(folder)
    folder.rmdir()
    with pytest.raises(IngestError, match="is not a folder"):
        kb.sync(folder)
    assert len(ids(kb)) == 2


@pytest.mark.parametrize("synchronised", [False, True])
def test_what_left_a_file_is_deleted(kb, folder, synchronised):
    def read():
        return kb.sync(folder)[1] if synchronised else kb.add(folder)

    write_csv(folder, a=ADA, b=BOB)
    write_lines(folder, ADA, BOB, EVE)
    read()
    write_csv(folder, a=ADA)
    write_lines(folder, ADA, EVE)
    (folder / "ada.txt").write_text("\n \n")
    report = read()
    assert report["records_gone"] == ["ada.txt", "all.csv/b", "notes.jsonl#2"]
    assert [line.partition(": ")[0].rpartition("/")[2] for line in report["files_failed"]] == ["ada.txt"]
    assert ids(kb) == ["all.csv/a", "deep/bob.txt", "notes.jsonl#0", "notes.jsonl#1"]
    assert people(kb) == ["Ada", "Bob", "Eve"]
    assert read()["records_gone"] == []


def test_what_cannot_be_read_any_more_stays(kb, folder):
    write_lines(folder, ADA, BOB)
    pdf(folder / "eve.pdf", [EVE])
    kb.add(folder)
    before = ids(kb)
    (folder / "notes.jsonl").write_text(json.dumps({"text": ADA}) + "\n{")
    pdf(folder / "eve.pdf", [""])
    assert len(kb.add(folder)["files_failed"]) == 2
    assert (ids(kb), people(kb)) == (before, ["Ada", "Bob", "Eve"])


def test_a_number_over_a_folder_says_how_many_files_could_not_be_read(kb, tmp_path):
    for number in (1, 2, 3):
        write(tmp_path / "all" / str(number), f"---\nstatus: open\n---\nThe bell number {number} rings.")
    broken = tmp_path / "all" / "broken.docx"
    broken.write_text("no archive")
    (tmp_path / "all" / "two.jsonl").write_text(json.dumps({"text": ADA, "status": "shut"}) + "\n{")

    def ask():
        kb.add(tmp_path / "all")
        result = kb.sql("SELECT count(*) FROM documents WHERE status = 'open'")
        return result.unread_files, kb.ask("How many documents have the status open?").text.splitlines()[-1]

    unread, said = ask()
    assert unread == 1, "of a file with one bad record, others were read"
    assert "files that could not be read and are not counted: 1" in said
    broken.unlink()
    assert ask()[0] == 0


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
    assert all(str(place / "report.md") in failed for place in (alder, birch))
    assert [passage.text for passage in kb.search("Who is employed?")] == [ADA]
    for name in ("alder/report.md", "alder/*.md"):
        assert [passage.text for passage in kb.search("Who is employed?", documents=name)] == [ADA]


def test_changed_moved_and_copied_files_are_the_same_document(kb, tmp_path):
    kb.add(write(tmp_path / "old", ADA))
    assert kb.add(write(tmp_path / "old", BOB))["files_failed"] == []
    assert kb.add(write(tmp_path / "copy", BOB))["files_failed"] == []
    shutil.rmtree(tmp_path / "copy")
    assert kb.add(write(tmp_path / "new", ADA))["files_failed"] == []
    assert [entry.source for entry in kb.documents()] == [str(tmp_path / "new" / "report.md")]


def test_several_documents_are_deleted_at_once_or_none(kb):
    kb.add({"id": "a", "text": ADA}, {"id": "b", "text": BOB})
    with pytest.raises(UnknownDocumentError, match="'d'"):
        kb.delete("a", "d")
    assert ids(kb) == ["a", "b"]
    kb.delete("a", "a")
    assert ids(kb) == ["b"]


def test_a_report_of_very_many_failures_of_a_kind_is_short(kb, folder):
    (folder / "same.jsonl").write_text("\n".join([json.dumps({"id": "x", "text": EVE})] * 2_000))
    lines = kb.add(folder)["files_failed"]
    assert (len(lines), lines[-1][:18]) == (101, "1,899 more: the id")
