"""PDF pages whose fonts name other letters than they show: recognised from the page's picture, or named."""

import shutil

import pytest
from banyan.ingest.reading import DEFAULT_LIMITS
from fpdf import FPDF
from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject, StreamObject

from ... import loading

needs_tesseract = pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
WITHOUT_OCR = DEFAULT_LIMITS.model_copy(update={"ocr": "off"})
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
    (document,), (failure,) = loading.load(broken(tmp_path / "a.pdf", FIRST[kind]), limits=WITHOUT_OCR)
    assert document.text.strip() == "A first page of text."
    assert failure.reason.startswith("pages whose font does not tell its letters were not read (2): set BANYAN_OCR")


@needs_tesseract
def test_a_page_in_a_broken_font_is_recognised_from_its_picture(tmp_path):
    (document,), failures = loading.load(broken(tmp_path / "a.pdf", FIRST["latin"]))
    assert failures == []
    assert " ".join(document.text.split()) == f"A first page of text. {SHOWN}"
