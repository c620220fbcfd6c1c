"""Files made to exhaust or confuse what reads them: each is refused by name with its limit and the fix, or read."""

import io
import os
import subprocess
import time
import zipfile
from pathlib import Path

import openpyxl
import pytest
from banyan.graph_store.layout import check_name
from banyan.graph_store.store_errors import KnowledgeBaseNameError
from banyan.ingest.readers.pdf_files import read_pdf
from banyan.ingest.reading import DEFAULT_LIMITS, Limits
from banyan.text.section_lines import UNREAD
from fpdf import FPDF
from pypdf import PdfWriter
from pypdf.generic import ArrayObject, NameObject, NumberObject

from ...loading import load, write

pytestmark = pytest.mark.usefixtures("shared_reading")


def reasons(*paths: Path, limits: Limits = DEFAULT_LIMITS) -> str:
    documents, failures = load(*paths, limits=limits)
    assert documents == []
    return "; ".join(failure.reason for failure in failures)


def test_folders_deeper_than_pythons_stack_are_no_crash(tmp_path):
    here = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(1500):
            os.mkdir("d", dir_fd=here)
            inner = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
        assert "folders deep" in reasons(tmp_path)
    finally:
        os.close(here)
        subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)  # pytest itself could not


def test_links_in_a_ring_and_special_files(tmp_path):
    (tmp_path / "a.txt").symlink_to("b.txt")
    (tmp_path / "b.txt").symlink_to("a.txt")
    (tmp_path / "self").symlink_to(tmp_path)
    (tmp_path / "zero.txt").symlink_to("/dev/zero")
    (tmp_path / "none.txt").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.txt")
    documents, failures = load(tmp_path)
    assert documents == []
    assert sorted(Path(failure.path).name for failure in failures) == [
        "a.txt", "b.txt", "none.txt", "pipe.txt", "self", "zero.txt"]
    assert "not a regular file" in reasons(tmp_path / "zero.txt")


def test_a_million_tiny_documents_end_at_the_limit(tmp_path):
    (tmp_path / "many.jsonl").write_text('{"text": "a"}\n' * 50)
    (tmp_path / "z.txt").write_text("after")
    documents, (failure,) = load(tmp_path, limits=Limits(documents=20))
    assert len(documents) == 20
    assert failure.path.endswith("many.jsonl")
    assert "more than 20 documents: build the rest in another run" in failure.reason


@pytest.mark.parametrize("name", ["deep.json", "deep.jsonl"])
@pytest.mark.parametrize("depth", [70, 100_000])
def test_json_nested_too_deeply(tmp_path, name, depth):
    (tmp_path / name).write_text('{"text": "a", "more": ' + "[" * depth + "]" * depth + "}")
    assert "nested" in reasons(tmp_path / name)
    assert load(write(tmp_path / "flat.json", '{"text": "a", "more": ' + "[" * 60 + "]" * 60 + "}"))[1] == []


def test_archives_of_much_text(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", " " * 3_000_000)
    assert (tmp_path / "bomb.docx").stat().st_size < 10_000
    small = Limits(file_bytes=2 * 1024 * 1024)
    assert "3,000,000 bytes when unpacked, larger than 2 MB (BANYAN_MAX_FILE_MB)" in reasons(
        tmp_path / "bomb.docx", limits=small)


def test_an_entity_bomb_in_a_word_file_is_not_unfolded(tmp_path):
    laughs = '<!ENTITY a "ha">' + "".join(f'<!ENTITY {after} "{f"&{before};" * 20}">'
                                          for before, after in zip("abcdefgh", "bcdefghi", strict=True))
    with zipfile.ZipFile(tmp_path / "laughs.docx", "w") as archive:
        archive.writestr("word/document.xml", f"<!DOCTYPE x [{laughs}]><document>&i;</document>")
    assert "a broken docx file" in reasons(tmp_path / "laughs.docx")


def test_a_pdf_whose_pages_contain_themselves(tmp_path):
    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    pages = writer.root_object["/Pages"]
    kids = pages.get_object()["/Kids"]
    kids.extend([writer.root_object.raw_get("/Pages")] * 3)
    pages.get_object()[NameObject("/Count")] = NumberObject(10**9)
    assert isinstance(kids, ArrayObject)
    writer.write(tmp_path / "ring.pdf")
    assert "no text on its pages" in reasons(tmp_path / "ring.pdf")


def test_a_pdf_that_shows_one_page_thousands_of_times_is_read_soon_and_says_it_once(tmp_path):
    sheet = FPDF()
    sheet.add_page()
    sheet.set_font("helvetica")
    sheet.cell(text="Ada Blum was born in Warsaw.")
    writer = PdfWriter(io.BytesIO(bytes(sheet.output())))
    pages = writer.root_object["/Pages"].get_object()
    pages["/Kids"].extend([pages["/Kids"][0]] * 1_999)
    pages[NameObject("/Count")] = NumberObject(2_000)
    writer.write(tmp_path / "many.pdf")
    content = read_pdf((tmp_path / "many.pdf").read_bytes(), Limits())
    assert content.text.count("Ada Blum was born in Warsaw.") == 1


@pytest.mark.parametrize("page", ["<!--" * 50_000, "<!DOCTYPE " * 20_000, "<![CDATA[" * 20_000 + ">", "<a " * 50_000,
                                  "<?" * 50_000 + "x", '<a b="' * 30_000 + ">", "<nav>" * 10_000,
                                  "<div>a<sup><a href='#x'>" * 10_000, "<i class=noprint>" * 10_000],
                         ids=lambda page: page[:4])
def test_markup_that_never_ends_takes_no_longer_than_other_text(tmp_path, page):
    _, failures = load(write(tmp_path / "page.html", page + "the end"), limits=Limits(seconds=30))
    assert not [failure.reason for failure in failures if "not read within" in failure.reason]


@pytest.mark.parametrize("name", ["Bo\u0308rse", "ｆｕｌｌ", "ﬁnance", "\U00020000" * 60, "a\u202eb", "a\u200bb", "C:x",
                                  "a.b", "~", "$HOME"])
def test_names_that_are_not_one_plain_folder(name):
    with pytest.raises(KnowledgeBaseNameError, match="cannot name a knowledge base: use 1 to 64"):
        check_name(name)


@pytest.mark.parametrize(("keys", "read", "why"), [
    (60, 60, ""), (260, 200, "60 fields of its metadata (at most 200 are read"),
    (90_000, 0, "at most 200,000 are read as metadata: it is read as text")])
def test_front_matter_has_a_limit_of_keys_that_is_said(tmp_path, keys, read, why):
    begun = time.thread_time()
    fields = "".join(f"k{number}: v\n" for number in range(keys))
    documents, failures = load(write(tmp_path / "a.md", f"---\ntitle: Notes\n{fields}---\nAda was born in Ulm."))
    assert len(documents[0].metadata.keys() - {UNREAD}) == read
    assert [why in failure.reason for failure in failures] == [True] * bool(why)
    assert "Ada was born in Ulm." in documents[0].text
    assert time.thread_time() - begun < 3


@pytest.mark.parametrize(("stray", "left_out"), [
    ("XFD1048576", "1 cell"), ("XFD3", "1 cell"), ("AA1048576", "1 cell"), ("", "600 cells")])
def test_a_sheet_is_read_as_far_as_it_goes_whatever_is_far_from_the_rest(tmp_path, stray, left_out):
    book = openpyxl.Workbook()
    for row in range(3):
        book.active.append([f"{row}-{column}" for column in range(3 if stray else 1_200)])
    if stray:
        book.active[stray] = "stray"
    book.create_sheet("Second").append(("Only", "text"))
    book.save(tmp_path / "book.xlsx")
    (document,), failures = load(tmp_path / "book.xlsx")
    assert "2-2" in document.text
    assert "Only" in document.text
    assert ("2-999" in document.text) != bool(stray)
    assert not any(far in document.text for far in ("stray", "2-1000"))
    assert any(f"{left_out} beyond 1,000 columns" in failure.reason for failure in failures)
