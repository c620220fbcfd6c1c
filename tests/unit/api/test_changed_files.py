"""What a file does not say any more is not answered from: records that left it, and files that were emptied."""

import json

import banyan
import pytest

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
    folder.mkdir()
    return folder


def write_csv(folder, text="text", **records):
    (folder / "all.csv").write_text("\n".join([f"id,{text}", *(f"{name},{said}" for name, said in records.items())]))


def write_lines(folder, *texts):
    (folder / "notes.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts))


def ids(kb):
    return [entry.id for entry in kb.documents()]


def people(kb):
    return sorted(entity.name for entity in kb.entities(type="Person"))


def read_by_build(kb, folder):
    return kb.add(folder)


def read_by_sync(kb, folder):
    return kb.sync(folder)[1]


@pytest.mark.parametrize("read", [read_by_build, read_by_sync])
def test_records_that_left_their_files_are_deleted(kb, folder, read):
    write_csv(folder, a=ADA, b=BOB)
    write_lines(folder, ADA, BOB, EVE)
    read(kb, folder)
    assert people(kb) == ["Ada", "Bob", "Eve"]
    write_csv(folder, a=ADA)
    write_lines(folder, ADA, EVE)
    report = read(kb, folder)
    assert report["records_gone"] == ["all.csv/b", "notes.jsonl#2"]
    assert ids(kb) == ["all.csv/a", "notes.jsonl#0", "notes.jsonl#1"]
    assert people(kb) == ["Ada", "Eve"]
    assert read(kb, folder)["records_gone"] == []


def test_a_file_of_records_that_is_now_a_table_gives_the_table_alone(kb, folder):
    (folder / "eve.txt").write_text(EVE)
    write_csv(folder, a=ADA, b=BOB)
    kb.add(folder)
    write_csv(folder, "body", a="North", b="South")
    kb.add(folder)
    assert ids(kb) == ["all.csv", "eve.txt"]


@pytest.mark.parametrize("read", [read_by_build, read_by_sync])
def test_a_file_that_was_emptied_is_reported_and_its_text_is_gone(kb, folder, read):
    (folder / "ada.txt").write_text(ADA)
    (folder / "eve.txt").write_text(EVE)
    write_csv(folder, b=BOB)
    read(kb, folder)
    (folder / "ada.txt").write_text("\n \n")
    (folder / "all.csv").write_text("")
    report = read(kb, folder)
    assert (ids(kb), people(kb)) == (["eve.txt"], ["Eve"])
    assert sum("in it: add" in line for line in report["files_failed"]) == 2


def test_the_text_of_a_pdf_file_stays_where_its_pages_show_nothing_any_more(kb, folder):
    pdf(folder / "ada.pdf", [ADA])
    (folder / "eve.txt").write_text(EVE)
    kb.add(folder)
    pdf(folder / "ada.pdf", [""])
    report = kb.add(folder)
    assert (ids(kb), people(kb)) == (["ada.pdf", "eve.txt"], ["Ada", "Eve"])
    assert ["no text on its pages" in line for line in report["files_failed"]] == [True]


def test_records_stay_where_their_file_cannot_be_read_whole(kb, folder):
    write_lines(folder, ADA, BOB)
    kb.add(folder)
    (folder / "notes.jsonl").write_text(json.dumps({"text": ADA}) + "\n{")
    assert len(kb.add(folder)["files_failed"]) == 1
    assert ids(kb) == ["notes.jsonl#0", "notes.jsonl#1"]


def test_the_same_file_below_another_folder_is_another_document(kb, folder):
    (folder / "deep").mkdir()
    write_csv(folder / "deep", a=ADA)
    kb.add(folder / "deep")
    kb.add(folder / "deep" / "all.csv")
    assert ids(kb) == ["all.csv/a"]
    kb.add(folder)
    assert ids(kb) == ["all.csv/a", "deep/all.csv/a"]


def test_a_report_of_very_many_failures_of_a_kind_is_short(kb, folder):
    (folder / "same.jsonl").write_text("\n".join([json.dumps({"id": "x", "text": EVE})] * 2_000))
    lines = kb.add(folder)["files_failed"]
    assert len(lines) == 101
    assert lines[-1].startswith("1,899 more: the id")
