"""Scans and pages in broken fonts: words, places and pages of text in pictures, and what cannot be read."""

from io import BytesIO

import pytest
from banyan.ingest.readers.scans import read_image
from banyan.ingest.reading import DEFAULT_LIMITS
from banyan.text.section_lines import UNREAD
from fpdf import FPDF
from PIL import Image, ImageDraw, ImageFont
from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject, StreamObject

from ...loading import failure, load, only
from ...pdf_sheets import pdf

pytestmark = pytest.mark.usefixtures("shared_reading")
ENGLISH = ["The lighthouse of Marlow was built in 1889", "by the engineer Ada Brandt from Kalmar."]
OFF = DEFAULT_LIMITS.model_copy(update={"ocr": "off"})


def scan(lines, font="DejaVuSans.ttf"):
    page = Image.new("L", (700, 80 + 28 * len(lines)), 255)
    for number, line in enumerate(lines):
        ImageDraw.Draw(page).text((50, 40 + 28 * number), line, font=ImageFont.truetype(font, 22), fill=0)
    return page


@pytest.mark.parametrize("name", ["scan.jpg", "scan.tif"])
def test_the_words_of_a_picture_are_recovered_where_they_stand(tmp_path, name):
    scan(ENGLISH).save(tmp_path / name)
    documents, failures = load(tmp_path / name)
    assert failures == []
    assert documents[0].text == "\n".join(ENGLISH)


def test_pages_that_are_pictures_are_read_between_those_that_are_text(tmp_path):
    path = pdf(tmp_path / "a.pdf", ["A first page of text.", scan(ENGLISH), "A last page of text."])
    document = only(path)
    assert [document.text[start:].split("\n")[0] for start in document.pages] == [
        "A first page of text.", ENGLISH[0], "A last page of text."]
    assert ENGLISH[1] in document.text


def test_a_scan_may_have_empty_pages(tmp_path):
    document = only(pdf(tmp_path / "a.pdf", ["A first page of text.", scan([]), "A last page of text."]))
    assert document.text.split("\n\n") == ["A first page of text.", "A last page of text."]
    scan([]).save(tmp_path / "a.png")
    assert failure(tmp_path / "a.png").startswith("no text in it")


def test_the_pixels_and_pages_of_a_picture_are_limited(tmp_path, monkeypatch):
    Image.new("1", (15_000, 12_000)).save(tmp_path / "a.png")
    assert failure(tmp_path / "a.png").endswith("save it smaller")
    monkeypatch.setattr("banyan.ingest.readers.scans._MOST_PAGES", 1)
    stored = BytesIO()
    scan(ENGLISH[:1]).save(stored, "TIFF", save_all=True, append_images=[scan(ENGLISH[1:])])
    content = read_image(stored.getvalue(), DEFAULT_LIMITS)
    assert (content.text, content.unread) == (ENGLISH[0], "pictures after the first 1: split it")


def test_what_is_not_read_is_said_and_the_rest_is_read(tmp_path):
    path = pdf(tmp_path / "a.pdf", ["A first page of text.", scan(ENGLISH)])
    (document,), (found,) = load(path, limits=OFF)
    assert document.text.strip() == "A first page of text."
    assert found.reason.startswith("pages that are pictures, or whose font names no letters, were not read (2): set")
    assert "(1)" in failure(pdf(tmp_path / "b.pdf", [scan(ENGLISH)]), limits=OFF)
    scan(ENGLISH).save(tmp_path / "a.png")
    assert "BANYAN_OCR is off" in failure(tmp_path / "a.png", limits=OFF)


def draw(texts, size, angle=0.0):
    page = Image.new("L", size, 255)
    for (left, top), text in texts.items():
        font = ImageFont.truetype("DejaVuSans.ttf", 36)
        ImageDraw.Draw(page).multiline_text((left, top), text, font=font, fill=0, spacing=16)
    return page.rotate(angle, fillcolor=255, resample=Image.Resampling.BICUBIC)


def test_columns_of_prose_are_read_one_after_the_other_and_rows_of_tables_across(tmp_path):
    left = "The harbour of Marlow opened\nin spring and closed again in\nlate autumn of the same year."
    right = "Ships from Kalmar brought the\nstone for the lighthouse over\nthe sound in twelve voyages."
    draw({(100, 60): left, (850, 60): right}, (1500, 300), angle=0.8).save(tmp_path / "a.png")
    assert only(tmp_path / "a.png").text == f"{left}\n{right}"
    draw({(100, 60): "Berth\nNorth quay\nSouth", (850, 60): "Fee\n40\n65"}, (1500, 300)).save(tmp_path / "b.png")
    assert only(tmp_path / "b.png").text == "Berth Fee\nNorth quay 40\nSouth 65"


def test_letters_on_a_transparent_ground_are_read(tmp_path):
    page = Image.new("RGBA", (900, 200), (0, 0, 0, 0))
    ImageDraw.Draw(page).text((60, 60), "Open from June", font=ImageFont.truetype("DejaVuSans.ttf", 44), fill=(0, 0, 0))
    page.save(tmp_path / "a.png")
    assert only(tmp_path / "a.png").text == "Open from June"


def test_a_script_that_the_model_does_not_know_is_said(tmp_path):
    russian = ["Мария Ковалёва живёт в Москве и работает там.", "Завтра утром поезд отправится в Новгород."]
    scan(russian).save(tmp_path / "a.png")
    assert "reads Latin letters, Chinese and Japanese" in failure(tmp_path / "a.png")
    (document,), (found,) = load(pdf(tmp_path / "a.pdf", ["A first page of text.", scan(russian)]))
    assert document.text.strip() == "A first page of text."
    assert found.reason.startswith("pages that are pictures, or whose font names no letters, were not read (2): they")
    scan([*ENGLISH, *ENGLISH, russian[0]]).save(tmp_path / "b.png")
    mixed = only(tmp_path / "b.png")
    assert mixed.text == "\n".join([*ENGLISH, *ENGLISH])
    assert mixed.metadata[UNREAD].startswith("1 line of a picture in a script")


SHOWN = "The lighthouse of Marlow was built in 1889 by the engineer Ada Brandt from Kalmar."
FIRST = {"latin": 0x100, "private": 0xE000, "control": 0x80}
"""The character that a broken font names instead of the first letter."""


def broken(path, first, words=""):
    """Write a PDF file whose second page has a font with a wrong map to Unicode, below words in another font."""
    plain = FPDF(format=(100, 80))
    for texts in (("A first page of text.", ""), (words, SHOWN)):
        plain.add_page()
        for text, font in zip(texts, ("times", "helvetica"), strict=True):
            plain.set_font(font, size=12)
            plain.multi_cell(0, text=text, new_x="LMARGIN", new_y="NEXT")
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
def test_a_page_in_a_broken_font_is_named_unless_it_has_words_beside_signs_that_no_font_names(tmp_path, kind):
    (document,), (found,) = load(broken(tmp_path / "a.pdf", FIRST[kind]), limits=OFF)
    assert document.text.strip() == "A first page of text."
    assert found.reason.startswith("pages that are pictures, or whose font names no letters, were not read (2): set")
    if kind != "latin":
        document = only(broken(tmp_path / "b.pdf", FIRST[kind], 3 * f"{SHOWN} "), limits=OFF)
        assert " ".join(document.text.split()).count(SHOWN) == 3


def test_a_page_in_a_broken_font_is_recognised_from_its_picture(tmp_path):
    document = only(broken(tmp_path / "a.pdf", FIRST["latin"]))
    assert " ".join(document.text.split()) == f"A first page of text. {SHOWN}"
