"""Scans: words, places and pages of text in pictures, and what is said where it cannot be read."""

import shutil
import subprocess

import pytest
from banyan.ingest.readers import scans
from banyan.ingest.reading import DEFAULT_LIMITS
from fpdf import FPDF
from PIL import Image, ImageDraw, ImageFont

from ... import loading

needs_tesseract = pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
ENGLISH = ["The lighthouse of Marlow was built in 1889", "by the engineer Ada Brandt from Kalmar."]
OFF = DEFAULT_LIMITS.model_copy(update={"ocr": "off"})


def scan(lines, font="DejaVuSans.ttf"):
    """A page as a scanner sees it: black letters on white, 200 dots an inch."""
    page = Image.new("L", (1600, 300 + 56 * len(lines)), 255)
    for number, line in enumerate(lines):
        ImageDraw.Draw(page).text((150, 150 + 56 * number), line, font=ImageFont.truetype(font, 44), fill=0)
    return page


def pdf(path, pages):
    """A PDF file whose pages are texts or pictures."""
    file = FPDF()
    file.set_font("helvetica", size=12)
    for page in pages:
        file.add_page()
        if isinstance(page, str):
            file.multi_cell(0, text=page)
        else:
            file.image(page, w=180)
    file.output(str(path))
    return path


@needs_tesseract
@pytest.mark.parametrize("name", ["scan.png", "scan.jpg", "scan.tif"])
def test_the_words_of_a_picture_are_recovered_where_they_stand(tmp_path, name):
    scan(ENGLISH).save(tmp_path / name)
    documents, failures = loading.load(tmp_path / name)
    assert failures == []
    assert documents[0].text == "\n".join(ENGLISH)


@needs_tesseract
def test_only_installed_languages_are_asked_for():
    listed = subprocess.run(["tesseract", "--list-langs"], capture_output=True, check=True, text=True).stdout
    assert {"eng", *scans._languages().split("+")} <= set(listed.splitlines()[1:])


@needs_tesseract
def test_pages_that_are_pictures_are_read_between_those_that_are_text(tmp_path):
    path = pdf(tmp_path / "a.pdf", ["A first page of text.", scan(ENGLISH), "A last page of text."])
    (document,), failures = loading.load(path)
    assert failures == []
    assert [document.text[start:].split("\n")[0] for start in document.pages] == [
        "A first page of text.", ENGLISH[0], "A last page of text."]
    assert ENGLISH[1] in document.text


@needs_tesseract
def test_a_picture_without_text_is_no_document(tmp_path):
    Image.effect_mandelbrot((800, 800), (-2, -1.5, 1, 1.5), 60).save(tmp_path / "a.png")
    assert "no text in it" in loading.failure(tmp_path / "a.png")


def test_what_is_not_read_is_said_and_the_rest_is_read(tmp_path):
    path = pdf(tmp_path / "a.pdf", ["A first page of text.", scan(ENGLISH)])
    (document,), (failure,) = loading.load(path, limits=OFF)
    assert document.text.strip() == "A first page of text."
    assert failure.reason.startswith("pages that are only pictures were not read (2): set BANYAN_OCR=auto")
    assert "(1)" in loading.failure(pdf(tmp_path / "b.pdf", [scan(ENGLISH)]), limits=OFF)
    scan(ENGLISH).save(tmp_path / "a.png")
    assert "BANYAN_OCR is off" in loading.failure(tmp_path / "a.png", limits=OFF)


def test_without_tesseract_the_fix_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    scan(ENGLISH).save(tmp_path / "a.png")
    assert "install Tesseract" in loading.failure(tmp_path / "a.png")
    assert "install Tesseract" in loading.failure(pdf(tmp_path / "a.pdf", [scan(ENGLISH)]))
