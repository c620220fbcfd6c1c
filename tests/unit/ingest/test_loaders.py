"""Loaders: every format, every encoding, every way in which a file can fail, and what is left out."""

import json
import os
from pathlib import Path

import docx
import pytest
from banyan.ingest import reading
from banyan.ingest.formats import FORMATS
from banyan.ingest.loaders import files_in
from banyan.ingest.reading import Limits
from docx.oxml import OxmlElement
from pypdf import PdfReader, PdfWriter

from ...loading import failure, load, only, write
from ...pdf_sheets import pdf

pytestmark = pytest.mark.usefixtures("shared_reading")

CHINESE = "榕树是一种常绿乔木，原产于亚洲热带地区。它的气根可以长成新的树干，因此一棵树可以覆盖很大的面积。"


def test_folder_is_read_recursively_in_sorted_order_without_hidden_files(tmp_path):
    for name in ("b.txt", "a/z.md", "a/c/d.txt", ".hidden.txt", ".git/x.txt", "a/.b/y.txt"):
        write(tmp_path / name, f"text of {name}")
    documents, failures = load(tmp_path)
    assert failures == []
    assert [document.id for document in documents] == ["a/c/d.txt", "a/z.md", "b.txt"]
    assert documents[0].source == str(tmp_path / "a" / "c" / "d.txt")
    assert documents[0].title == "d"


def test_links_are_followed_only_to_files_within_the_folder(tmp_path):
    secret = write(tmp_path / "outside" / "secret.txt", "secret")
    root = tmp_path / "root"
    write(root / "a.txt", "a")
    write(root / "sub" / "b.txt", "b")
    (root / "c.txt").symlink_to(root / "a.txt")
    (root / "out.txt").symlink_to(secret)
    (root / "outfolder").symlink_to(secret.parent)
    (root / "sub" / "loop").symlink_to(root)
    documents, failures = load(root)
    assert [document.id for document in documents] == ["a.txt", "c.txt", "sub/b.txt"]
    assert [Path(found.path).name for found in failures] == ["out.txt", "outfolder", "loop"]
    assert all("link" in found.reason for found in failures)


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.jsonl", "deep/a.txt", "README"])
@pytest.mark.parametrize("swapped_back", [True, False])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_takes_a_files_place_while_it_is_opened_is_not_read(tmp_path, monkeypatch, name, swapped_back, kind):
    secret = write(tmp_path / "outside" / Path(name).name, '{"text": "secret"}\n')
    file = write(tmp_path / "root" / name, '{"text": "own"}\n')
    place, saved, opened = file.parent if kind == "folder" else file, tmp_path / "saved", os.open

    def swap_and_open(path, flags):
        if Path(path) != file:
            return opened(path, flags)
        place.rename(saved)
        if kind == "pipe":
            os.mkfifo(place)
        else:
            place.symlink_to(secret.parent if kind == "folder" else secret)
        try:
            return opened(path, flags)
        finally:
            if swapped_back:
                place.unlink()
                saved.rename(place)

    monkeypatch.setattr(reading.os, "open", swap_and_open)
    documents, _ = load(tmp_path / "root")
    assert documents == []


@pytest.mark.parametrize("name", ["table.csv", "report.pdf", "notes.md", "list.json"])
def test_a_pointer_of_git_lfs_is_no_document(tmp_path, name):
    pointer = write(tmp_path / name, "version https://git-lfs.github.com/spec/v1\noid sha256:f3a6\nsize 121407075\n")
    assert "run `git lfs pull`" in failure(pointer)


def test_unknown_formats_are_reported_with_the_known_ones(tmp_path):
    path = write(tmp_path / "a.xyz", b"a\x01b")
    write(tmp_path / "b.svg", "<svg><text>words</text></svg>")
    write(tmp_path / "c.key", "-----BEGIN PRIVATE KEY-----")
    assert failure(path).startswith(".xyz is not a known format")
    _, failures = load(tmp_path)
    assert [found.reason.split(" is not")[0] for found in failures] == [
        "skipped: .xyz", "skipped: .svg", "skipped: .key"]
    assert all(known in failures[0].reason for known in FORMATS)


def test_unreadable_file_is_a_failure(tmp_path, monkeypatch):
    path = write(tmp_path / "a.txt", "a")

    def refuse(*_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(reading.os, "open", refuse)
    assert "Permission denied" in failure(path)


@pytest.mark.parametrize(("text", "encoding"), [
    (CHINESE, "utf-8"), (CHINESE, "utf-8-sig"), (CHINESE, "utf-16"), (CHINESE, "gb18030"), ("plain", "utf-32")])
def test_encodings(tmp_path, text, encoding):
    assert only(write(tmp_path / "a.txt", text.encode(encoding))).text == text
    encoded = json.dumps({"text": text, "id": "r"}, ensure_ascii=False).encode(encoding)
    assert only(write(tmp_path / "b.jsonl", encoded)).text == text


@pytest.mark.parametrize(("data", "why"), [
    (b"GIF89a\0\1\2", "binary"), (bytes(range(1, 256)) * 20, "binary"),
    ((CHINESE * 5).encode() + b"\xff" + CHINESE.encode(), "damaged")])
def test_binary_data_and_damaged_utf8_are_no_text(tmp_path, data, why):
    assert why in failure(write(tmp_path / "a.txt", data))


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.csv", "a.json", "a.jsonl"])
@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_empty_file(tmp_path, name, content):
    assert "or remove it" in failure(write(tmp_path / name, content))


def test_size_limit(tmp_path):
    small = Limits(file_bytes=10)
    assert only(write(tmp_path / "a.txt", "ten chars."), limits=small).text == "ten chars."
    assert failure(write(tmp_path / "b.txt", "eleven char"), limits=small) == (
        "11 bytes, larger than 10 bytes: split it into smaller files")


def test_html(tmp_path):
    page = """<html><head><title> The
      page </title><style>p {color: red}</style><script>var hidden = 1;</script></head><body><!-- note -->
      <h1>Banyan <em>trees</em></h1><p>First&nbsp;line
      goes   on &amp; on.<br>Next</p><div>Second <b>para</b>graph</div>
      <h3>Deeper</h3><ul><li>one</li><li>two<li>three</ul>
      <table><tr><th>Name</th><th>Year</th></tr><tr><td>Ann</td><td>1999</td></tr></table>
      <pre>  # code
    indented</pre></body></html>"""
    document = only(write(tmp_path / "a.html", page))
    assert document.title == "The page"
    assert document.text == (
        "# Banyan trees\n\nFirst\xa0line goes on & on.\nNext\n\nSecond paragraph\n\n### Deeper\n\n"
        "- one\n- two\n- three\n\n"
        "| Name: Ann | Year: 1999 |\n\n```\n  # code\n    indented\n```")


@pytest.mark.parametrize(("page", "title", "text"), [
    ("<title> </title><h1>Head</h1><p>x", "Head", "# Head\n\nx"), ("<p>x", "a", "x"),
    ("<html><head><title>t</title><body><p>words", "t", "words"),
    ('<html><head><meta charset="gb2312"></head><body><p>榕树</p></body></html>'.encode("gb18030"), "a", "榕树"),
    ('<?xml version="1.0"?>' + "<div>" * 3000 + "deep" + "</div>" * 3000, "a", "deep")],
    ids=["a heading for a title", "no title", "a head not closed", "an encoding declared", "nested without bound"])
def test_html_of_any_form_is_read(tmp_path, page, title, text):
    document = only(write(tmp_path / "a.html", page))
    assert (document.title, document.text) == (title, text)


def test_locked_empty_and_broken_pdf(tmp_path):
    writer = PdfWriter(PdfReader(pdf(tmp_path / "plain.pdf", ["words"])))
    writer.encrypt(user_password="secret", owner_password="owner", algorithm="AES-256")
    writer.write(tmp_path / "locked.pdf")
    assert "password" in failure(tmp_path / "locked.pdf")
    assert "no text on its pages" in failure(pdf(tmp_path / "a.pdf", [""]))
    whole = pdf(tmp_path / "b.pdf", ["words"]).read_bytes()
    assert "broken PDF" in failure(write(tmp_path / "c.pdf", whole[:40]))
    assert "broken PDF" in failure(write(tmp_path / "d.pdf", "no pdf at all"))


def test_a_tracked_insertion_of_a_docx_is_read(tmp_path):
    file = docx.Document()
    file.add_heading("Banyan", 1)
    paragraph = file.add_paragraph("It grows")
    inserted, run = OxmlElement("w:ins"), OxmlElement("w:r")
    word = OxmlElement("w:t")
    word.text = "\tquickly"
    run.append(word)
    inserted.append(run)
    paragraph._p.append(inserted)
    file.add_heading("Roots", 2)
    file.save(str(tmp_path / "a.docx"))
    document = only(tmp_path / "a.docx")
    assert (document.title, document.text) == ("Banyan", "# Banyan\n\nIt grows quickly\n\n## Roots")


def test_csv(tmp_path):
    path = write(tmp_path / "a.csv", 'id,title,text,other\r\nx,Tree,"grows, and\r\n""spreads""",1\r\n,,second,2\r\n'
                                     "y,,,3\r\nz,t,unquoted, comma,4\r\nw,t,last,5\r\n")
    documents, failures = load(path)
    assert [(d.id, d.title, d.text) for d in documents] == [
        ("a.csv/x", "Tree", '| Document: Tree (a.csv/x) | Title: Tree | Other: 1 |\n\ngrows, and\n"spreads"'),
        ("a.csv#1", "", "| Document: a.csv#1 | Other: 2 |\n\nsecond"),
        ("a.csv/w", "t", "| Document: t (a.csv/w) | Title: t | Other: 5 |\n\nlast")]
    assert documents[0].metadata == {"other": "1"}
    assert [found.reason.split(":")[0] for found in failures] == ["line 5", "line 6"]
    assert "more values than columns" in failures[1].reason


def test_files_of_programs_are_left_out_and_counted_once(tmp_path):
    for name in ("a.md", "node_modules/x/README.md", "web/node_modules/y.md", "package-lock.json", "sub/Cargo.lock",
                 "app.min.js", "~$plan.docx", "Thumbs.db", "desktop.ini"):
        write(tmp_path / name, "words")
    documents, failures = load(tmp_path)
    assert [document.id for document in documents] == ["a.md"]
    (found,) = failures
    assert found.path == str(tmp_path)
    assert found.reason.startswith("left out: *.min.js (1), cargo.lock (1), desktop.ini (1), node_modules/ (2), "
                                   "package-lock.json (1), thumbs.db (1), ~$* (1): ")


def test_an_ignore_file_has_the_syntax_of_git(tmp_path):
    for name in ("a.md", "b.log", "drafts/c.md", "drafts/keep.md", "deep/drafts/d.md", "deep/e.txt", "deep/f.txt"):
        write(tmp_path / name, "words")
    write(tmp_path / ".banyanignore", "# comment\n*.log\n/drafts/*\n!/drafts/keep.md\ndeep/*.txt\n!f.txt\n")
    documents, failures = load(tmp_path)
    assert [document.id for document in documents] == ["a.md", "deep/drafts/d.md", "deep/f.txt", "drafts/keep.md"]
    assert [found.reason for found in failures] == ["left out: 3 files and folders that .banyanignore names"]


def test_texts_need_no_ending_that_is_known(tmp_path):
    for name in ("README", "PM-9 - the outage", "plan.adoc", "rules.mediawiki"):
        write(tmp_path / name, f"the {name}")
    write(tmp_path / "sip.pod", "Title: Bells\nAuthor: Ada\nStatus: Draft\n\n=head1 Why\n\nThey\tring.\f\n")
    (tmp_path / "core").write_bytes(b"\x7fELF\0\0")
    (tmp_path / "legacy").write_bytes("Prüfung".encode("latin-1"))
    documents, failures = load(tmp_path)
    assert [document.text for document in documents if document.id != "sip.pod"] == [
        "the PM-9 - the outage", "the README", "the plan.adoc", "the rules.mediawiki"]
    (pod,) = (document for document in documents if document.id == "sip.pod")
    assert (pod.title, pod.metadata) == ("Bells", {"author": "Ada", "status": "Draft"})
    assert [found.path for found in failures] == [str(tmp_path / "core"), str(tmp_path / "legacy")]


def test_equal_files_of_a_folder_are_named_and_read_once(tmp_path):
    (tmp_path / "files").mkdir()
    original = pdf(tmp_path / "files" / "a.pdf", ["Banyan trees."])
    (tmp_path / "files" / "copy.pdf").write_bytes(original.read_bytes())
    for name in ("a.txt", "b.txt"):
        write(tmp_path / "files" / name, "Short texts may be equal.")
    documents, failures = load(tmp_path / "files")
    assert [document.id for document in documents] == ["a.pdf", "a.txt", "b.txt"]
    assert [failure.reason for failure in failures] == ["left out: the same file as a.pdf, which is read"]
    assert [ids for _, ids in files_in(tmp_path / "files")] == [["a.pdf"], ["a.txt"], ["b.txt"]]
