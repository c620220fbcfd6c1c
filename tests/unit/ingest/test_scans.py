"""Scans and pages in broken fonts: words, places and pages of text in pictures, and what cannot be read."""

import shutil

import pytest
from banyan.ingest.reading import DEFAULT_LIMITS
from fpdf import FPDF
from PIL import Image, ImageDraw, ImageFont
from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject, StreamObject

from ...loading import failure, load, only
from ...pdf_sheets import pdf

needs_tesseract = pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
ENGLISH = ["The lighthouse of Marlow was built in 1889", "by the engineer Ada Brandt from Kalmar."]
OFF = DEFAULT_LIMITS.model_copy(update={"ocr": "off"})


def scan(lines, font="DejaVuSans.ttf"):
    """A page as a scanner sees it: black letters on white, 200 dots an inch."""
    page = Image.new("L", (1600, 300 + 56 * len(lines)), 255)
    for number, line in enumerate(lines):
        ImageDraw.Draw(page).text((150, 150 + 56 * number), line, font=ImageFont.truetype(font, 44), fill=0)
    return page


@needs_tesseract
@pytest.mark.parametrize("name", ["scan.png", "scan.jpg", "scan.tif"])
def test_the_words_of_a_picture_are_recovered_where_they_stand(tmp_path, name):
    scan(ENGLISH).save(tmp_path / name)
    documents, failures = load(tmp_path / name)
    assert failures == []
    assert documents[0].text == "\n".join(ENGLISH)


@needs_tesseract
def test_pages_that_are_pictures_are_read_between_those_that_are_text(tmp_path):
    path = pdf(tmp_path / "a.pdf", ["A first page of text.", scan(ENGLISH), "A last page of text."])
    document = only(path)
    assert [document.text[start:].split("\n")[0] for start in document.pages] == [
        "A first page of text.", ENGLISH[0], "A last page of text."]
    assert ENGLISH[1] in document.text


def test_what_is_not_read_is_said_and_the_rest_is_read(tmp_path):
    path = pdf(tmp_path / "a.pdf", ["A first page of text.", scan(ENGLISH)])
    (document,), (found,) = load(path, limits=OFF)
    assert document.text.strip() == "A first page of text."
    assert found.reason.startswith("pages that are only pictures were not read (2): set BANYAN_OCR=auto")
    assert "(1)" in failure(pdf(tmp_path / "b.pdf", [scan(ENGLISH)]), limits=OFF)
    scan(ENGLISH).save(tmp_path / "a.png")
    assert "BANYAN_OCR is off" in failure(tmp_path / "a.png", limits=OFF)


def test_without_tesseract_the_fix_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    scan(ENGLISH).save(tmp_path / "a.png")
    assert "install Tesseract" in failure(tmp_path / "a.png")
    assert "install Tesseract" in failure(pdf(tmp_path / "a.pdf", [scan(ENGLISH)]))


SHOWN = "The lighthouse of Marlow was built in 1889 by the engineer Ada Brandt from Kalmar."
FIRST = {"latin": 0x100, "private": 0xE000, "control": 0x80}
"""The character that a broken font names instead of the first letter."""


def broken(path, first):
    """Write a PDF file whose second page has a font with a wrong map to Unicode."""
    plain = FPDF()
    for text, font in (("A first page of text.", "times"), (SHOWN, "helvetica")):
        plain.add_page()
        plain.set_font(font, size=14)
        plain.multi_cell(0, text=text)
    plain.output(str(path))
    writer = PdfWriter(clone_from=PdfReader(str(path)))
    for font in writer.pages[1]["/Resources"]["/Font"].values():
        if "Helvetica" in font.get_object()["/BaseFont"]:
            stream = StreamObject()
            stream.set_data(b"1 begincodespacerange <00> <ff> endcodespacerange\n"
                            b"1 beginbfrange <20> <7f> <%04x> endbfrange" % first)
            font.get_object()[NameObject("/ToUnicode")] = writer._add_object(stream)
    writer.write(str(path))
    return path


@pytest.mark.parametrize("kind", FIRST)
def test_a_page_in_a_broken_font_is_named_and_its_letters_are_not_stored(tmp_path, kind):
    (document,), (found,) = load(broken(tmp_path / "a.pdf", FIRST[kind]), limits=OFF)
    assert document.text.strip() == "A first page of text."
    assert found.reason.startswith("pages whose font does not tell its letters were not read (2): set BANYAN_OCR")


@needs_tesseract
def test_a_page_in_a_broken_font_is_recognised_from_its_picture(tmp_path):
    document = only(broken(tmp_path / "a.pdf", FIRST["latin"]))
    assert " ".join(document.text.split()) == f"A first page of text. {SHOWN}"
