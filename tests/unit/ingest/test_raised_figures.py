"""Raised figures in all formats: the mark of a note and an exponent are no digits of the number before them."""

import docx
import pytest
import xlsxwriter
from banyan.ingest.readers.web_pages import read_html
from banyan.text.quantities import find_numbers, parse_number
from pptx import Presentation
from pptx.util import Inches

from ... import pdf_sheets
from ...loading import only, write
from .test_open_documents import packed

pytestmark = pytest.mark.usefixtures("shared_reading")


@pytest.mark.parametrize(("html", "text"), [
    ("costs 40<sup>1</sup> EUR", "costs 40 EUR [1]"), ("costs 40<sup>1</sup>.", "costs 40 [1]."),
    ("opened in 1987<sup>2</sup>, closed", "opened in 1987 [2], closed"), ("20<sup>a</sup>", "20 [a]"),
    ("9<sup>*</sup> in all", "9 [*] in all"), ("an oven<sup>4</sup>", "an oven [4]"), ("40<sup>1,2</sup>", "40 [1,2]"),
    ('40<sup><a href="#n">1</a></sup> kg', "40 kg [1]"), ('40<a href="#n"><sup>1</sup></a>', "40 [1]"),
    ("5<sup>(b)</sup>", "5 (b)"),
    ("10<sup>3</sup> kg", "10^3 kg"), ("1.5 × 10<sup>-6</sup> m", "1.5 × 10^-6 m"), ("2<sup>32</sup>", "2^32"),
    ("10<sup>1</sup>", "10 [1]"), ("m s<sup>−1</sup>", "m s^-1"),
    ("5 m<sup>2</sup>, 3 km<sup>2</sup>", "5 m2, 3 km2"), ("x<sup>2</sup>", "x2"), ("H<sub>2</sub>O", "H2O"),
    ("the 5<sup>th</sup>", "the 5th"), ("Ca<sup>2+</sup>", "Ca2+"), ("le 2<sup>e</sup>", "le 2e")])
def test_exponents_and_marks_of_notes_are_apart_from_numbers(html, text, tmp_path):
    assert read_html(f"<p>{html}</p>".encode()).text == text
    if "href" not in html:
        assert only(write(tmp_path / "a.md", f"# Title\n\n{html}")).text == f"# Title\n\n{text}"


def test_a_figure_behind_ten_is_a_mark_if_the_page_has_such_a_note():
    assert read_html(b"<p>It takes 10<sup>3</sup> guests.</p><p><sup>3</sup> Without children.</p>").text == (
        "It takes 10 [3] guests.\n\n[3] Without children.")


def test_cells_of_all_tables_have_their_numbers(tmp_path):
    html = "<table><tr><th>Room<th>Guests<tr><td>Steam<td>12<sup>3</sup><tr><td>Dry<td>20</table>"
    rows = "| Room: Steam | Guests: 12 [3] |\n| Room: Dry | Guests: 20 |"
    assert read_html(html.encode()).text == rows
    assert only(write(tmp_path / "a.md", html)).text.strip() == rows
    assert only(write(tmp_path / "b.md", "| Room | Guests |\n|---|---|\n| Steam | 12[^3] |\n| Dry | 20 |")).text == (
        rows.replace("[3]", "[^3]"))
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as workbook:
        sheet = workbook.add_worksheet()
        sheet.write_column(0, 0, ["Room", "Steam", "Dry"])
        sheet.write_column(0, 1, ["Guests", "", 20])
        sheet.write_rich_string(1, 1, "12", workbook.add_format({"font_script": 1}), "3")
    assert only(tmp_path / "a.xlsx").text == rows


def test_raised_runs_of_word_files_slides_and_open_documents(tmp_path):
    word = docx.Document()
    paragraph = word.add_paragraph("The ticket costs 40")
    paragraph.add_run("1").font.superscript = True
    paragraph.add_run(" EUR.")
    word.save(str(tmp_path / "a.docx"))
    slides = Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[6])
    paragraph = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(5), Inches(1)).text_frame.paragraphs[0]
    for words, raised in (("The ticket costs 40", "0"), ("1", "30000"), (" EUR.", "-25000")):
        run = paragraph.add_run()
        run.text = words
        run._r.get_or_add_rPr().set("baseline", raised)
    slides.save(str(tmp_path / "a.pptx"))
    style = ('<style:style style:name="T1" style:family="text"><style:text-properties style:text-position="super 58%"/>'
             "</style:style>")
    write(tmp_path / "a.odt", packed('<office:text><text:p>The ticket costs 40<text:span text:style-name="T1">1'
                                     "</text:span> EUR.</text:p></office:text>", styles=style))
    for name in ("a.docx", "a.pptx", "a.odt"):
        assert only(tmp_path / name).text.endswith("The ticket costs 40 EUR [1].")


def test_small_figures_behind_a_number_in_a_pdf_file(tmp_path):
    sheet = pdf_sheets.sheet()
    for words, vertical, size in (("The ticket costs 40", "LINE", 10), ("1", "SUP", 10), (" EUR for 250 m", "LINE", 10),
                                  ("2", "SUP", 10), (" of CO", "LINE", 10), ("2", "SUB", 10), (" at 10", "LINE", 10),
                                  ("6", "SUP", 10), (" Pa.", "LINE", 10)):
        sheet.set_font_size(size)
        sheet.char_vpos = vertical
        sheet.write(text=words)
    sheet.output(str(tmp_path / "a.pdf"))
    assert only(tmp_path / "a.pdf").text == "The ticket costs 40 EUR [1] for 250 m2 of CO2 at 10^6 Pa."


def test_a_number_that_is_struck_out_is_not_a_part_of_the_next(tmp_path):
    assert read_html(b"<p>now <s>40</s>30 EUR, <del>old</del> new</p>").text == "now 30 EUR, new"
    word = docx.Document()
    paragraph = word.add_paragraph("now ")
    paragraph.add_run("40").font.strike = True
    paragraph.add_run("30 EUR")
    word.save(str(tmp_path / "a.docx"))
    assert only(tmp_path / "a.docx").text == "now 30 EUR"


@pytest.mark.parametrize(("text", "normal"), [
    ("40 [1]", "40"), ("25 EUR [a]", "25 EUR"), ("12³", "12"), ("25¹ EUR", "25 EUR"), ("10^3 kg", "1000 kg"),
    ("1.5×10^6 m", "1500000 m"), ("10^-3", "0.001"), ("5 m²", "5 m2"), ("10³", ""), ("2^10", "")])
def test_numbers_are_read_without_marks_and_with_their_exponents(text, normal):
    assert parse_number(text) == normal


@pytest.mark.parametrize(("text", "numbers"), [
    ("The load is 10^6 N.", ["10^6"]), ("It weighs 2 × 10^3 kg.", ["2 × 10^3 kg"]),
    ("It costs 40 EUR [1].", ["40 EUR", "1"])])
def test_numbers_in_a_text_are_found_with_their_exponents(text, numbers):
    assert [text[start:end] for start, end in find_numbers(text)] == numbers
