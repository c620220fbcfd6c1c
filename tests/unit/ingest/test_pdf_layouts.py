"""Layouts of PDF files: what is no table for certain stays text; numbers of lines, typography, where pages begin."""

import io
from collections.abc import Callable, Sequence

import pytest
from banyan.ingest.readers.pdf_files import read_pdf
from banyan.ingest.reading import Limits
from banyan.text.cleaning import broken_word_joiner, clean_text
from fpdf import FPDF
from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject, StreamObject

from ... import pdf_sheets
from ...pdf_sheets import PRODUCTS, PROSE, ROWS, plain_text, rules, sheet, text_of, write_table


def columns_between_rules(file: FPDF) -> None:
    file.text(12, 25, "Yearly report")
    file.text(150, 25, "Chapter 2")
    rules(file, 20, 28, 250, left=10, right=200)
    for left in (12, 107):
        file.set_xy(left, 30)
        file.multi_cell(90, text=PROSE * 5, align="J")


def boxed(file: FPDF, cells: Sequence[Sequence[str]], width: float = 95) -> None:
    top = file.get_y()
    for row, texts in enumerate(cells):
        for column, text in enumerate(texts):
            file.set_xy(10 + column * width, top + row * 60)
            file.rect(10 + column * width, top + row * 60, width, 60)
            file.multi_cell(width, text=text)
    file.set_y(top + len(cells) * 60)


def frames(file: FPDF) -> None:
    boxed(file, [[PROSE, PROSE], [PROSE, PROSE]])


def form_in_cells(file: FPDF) -> None:
    write_table(file, [("Name:", "Ann Poe", "Date:", "1 May"), ("Street:", "Elm Road", "Town:", "Paris"),
                       ("Phone:", "12 34", "Fax:", "56 78")], first_row_as_headings=False)


def two_columns(file: FPDF) -> None:
    file.line(10, 20, 200, 20)
    file.line(105, 20, 105, 250)
    file.line(10, 250, 200, 250)
    for left in (12, 107):
        for row in range(6):
            file.set_xy(left, 22 + row * 35)
            file.multi_cell(90, text=PROSE)


@pytest.mark.parametrize("draw", [
    frames, form_in_cells, two_columns, columns_between_rules])
def test_what_is_no_table_of_data_stays_the_text_that_it_was(draw: Callable[[FPDF], None]):
    file = sheet()
    draw(file)
    assert text_of(file) == plain_text(file)


def test_an_encrypted_file_without_a_password_to_read_it():
    file = sheet()
    write_table(file, PRODUCTS)
    writer = PdfWriter(PdfReader(io.BytesIO(bytes(file.output()))))
    writer.encrypt(user_password="", owner_password="owner", algorithm="AES-256")
    locked = io.BytesIO()
    writer.write(locked)
    assert read_pdf(locked.getvalue(), Limits()).text == ROWS


def paper(pages: int, title: str) -> FPDF:
    """Draw a paper with a running head and foot, whose stored title is a code."""
    file = FPDF()
    file.set_title(title)
    for page in range(pages):
        file.add_page()
        file.set_font("helvetica", size=8)
        file.text(20, 12, f"Poe et al. Journal of Quays {page + 41}")
        file.text(20, 285, str(page + 41))
        if page == 0:
            file.set_font("helvetica", "B", size=18)
            file.text(20, 40, "Boats that lie at the quay")
            file.text(20, 48, "all winter")
        file.set_font("helvetica", "B", size=11)
        file.text(20, 60, "Introduction" if page == 0 else "Methods")
        file.set_font("helvetica", size=11)
        file.set_xy(20, 65)
        file.multi_cell(150, text=f"{PROSE}This sentence goes on from page {page + 1} to the")
    return file


@pytest.mark.parametrize("stored", ["PII: S0022-0981(01)00318-5", "Quays Series 570:87", "untitled", "jq0114 1..13",
                                    "doi:10.1016/j.jq.2001.04.001", "whole.pdf", "",
                                    "Boats that <i>lie</i> at the quay"])
def test_the_largest_words_of_the_first_page_are_the_title_where_a_code_is_stored(stored):
    content = read_pdf(bytes(paper(1, stored).output()), Limits())
    assert content.title == "Boats that lie at the quay" + " all winter" * ("<i>" not in stored)


def test_a_short_title_is_not_the_names_of_its_authors():
    file = sheet()
    for size, top, words in ((22, 40, "Epidemic Broadcast Trees"), (15, 50, "Ida Marsh Tom Vale Ruth Holm")):
        file.set_font("helvetica", size=size)
        file.text(20, top, words)
    file.set_font("helvetica", size=11)
    file.set_xy(20, 65)
    file.multi_cell(150, text=PROSE)
    assert read_pdf(bytes(file.output()), Limits()).title == "Epidemic Broadcast Trees"


def test_accents_that_are_drawn_apart_belong_to_the_letters_below():
    file = sheet()
    for left, words in ((20, "Jose Pereira, Paris"), (20 + file.get_string_width("Jos") + 0.3, "´")):
        file.text(left, 40, words)
    assert "José Pereira" in text_of(file)


def test_running_heads_stand_once_page_numbers_never_and_lines_in_another_font_are_headings():
    pages = text_of(paper(4, "")).split("\f")
    assert [page.count("Poe et al. Journal of Quays") for page in pages] == [0, 0, 0, 1]
    assert all(page.endswith(f"from page {number} to the") for number, page in enumerate(pages[:3], 1))
    assert not any(line in {"41", "42", "43", "44"} for page in pages for line in page.split("\n"))
    assert [page.split("\n")[0] for page in text_of(paper(2, "")).split("\f")] == [
        "Poe et al. Journal of Quays 41", "Poe et al. Journal of Quays 42"], "two pages may be two letters"
    assert "\n\n## Introduction\n\nBanyan trees grow" in text_of(paper(1, ""))


def test_a_ligature_of_two_equal_letters_is_both():
    file = sheet()
    file.text(20, 40, "a diXerent oXer")
    writer = PdfWriter(PdfReader(io.BytesIO(bytes(file.output()))))
    names = StreamObject()
    names.set_data(b"/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n1 begincodespacerange\n<00> <FF>\n"
                   b"endcodespacerange\n1 beginbfchar\n<58> <00660066>\nendbfchar\nendcmap\nend\nend")
    for font in writer.pages[0]["/Resources"]["/Font"].values():
        font.get_object()[NameObject("/ToUnicode")] = writer._add_object(names)
    stored = io.BytesIO()
    writer.write(stored)
    assert read_pdf(stored.getvalue(), Limits()).text == "a different offer"


def test_bold_names_in_a_list_of_references_are_no_headings():
    file = sheet()
    for number, (text, bold) in enumerate((("Results", True), ("They lie at the quay.", False), ("References", True),
                                           ("1. Poe A, Lang I", True), ("Boats. J Quays 2001.", False),
                                           ("Appendix", True), ("More boats.", False))):
        file.set_font("helvetica", "B" if bold else "", size=9 if text.startswith("1.") else 12)
        file.text(20, 40 + 8 * number, text)
    text = text_of(file)
    assert [line for line in text.split("\n") if line.startswith("#")] == ["## Results", "## References", "## Appendix"]
    assert "1. Poe A, Lang I\nBoats. J Quays 2001." in text


pytestmark = pytest.mark.usefixtures("shared_reading")
BOLD = "The north pier was closed"


@pytest.mark.parametrize(("written", "read"), [
    ("Otto Schi\ufb00er lived in Pfa\ufb03ngen.", "Otto Schiffer lived in Pfaffingen."),
    ("Kai\xadsers\xadlau\xadtern", "Kaiserslautern"), ("Kai\xad\n  serslautern", "Kaiserslautern"),
    ("end\xad\n\nnext", "end\n\nnext"), ("caf\u00e9 \u1e9e \u0133", "caf\u00e9 \u1e9e \u0133"),
    ("\uf06c no source\n\uf0b7 no licence\n\uf0fc signed", "• no source\n• no licence\n✓ signed")])
def test_soft_hyphens_and_ligatures_are_letters_and_marks_of_symbol_fonts_bullets(written, read):
    assert clean_text(written) == read


@pytest.mark.parametrize(("broken", "joined"), [
    ("in Kaisers-\nlautern in 1931", "in Kaiserslautern\nin 1931"),
    ("the Anglo-\nSaxon\nking", "the Anglo-Saxon\nking"),
    ("a dual-encoder, the dual-\nencoder model", "a dual-encoder, the dual-encoder\nmodel"),
    ("a well known road, a well-\nknown\nroad", "a well known road, a well-known\nroad"),
    ("undertaken by him, under-\ntaken", "undertaken by him, undertaken"),
    ("pre-\nand post-war", "pre-\nand post-war"), ("the years 1914-\n1918", "the years 1914-\n1918"),
    ("- one\n- two", "- one\n- two"), ("北-\n京", "北-\n京")])
def test_words_broken_at_line_ends(broken, joined):
    assert broken_word_joiner([broken])(broken) == joined


def test_broken_words_of_a_pdf_file_and_of_its_cells_are_whole():
    file = pdf_sheets.sheet()
    file.multi_cell(100, text="The mill was sold to Berg-\nmann Holding in 1961.")
    pdf_sheets.write_table(file, [("Town", "People"), ("Kaisers-\nlautern", "99"), ("Ulm", "120")])
    text = pdf_sheets.text_of(file)
    assert "sold to Bergmann\nHolding" in text
    assert "| Town: Kaiserslautern | People: 99 |" in text


def test_letters_drawn_twice_are_read_once():
    file = pdf_sheets.sheet()
    file.text(20, 20, "Inspection of the bridge")
    for place, letter in enumerate(BOLD):
        for shift in (0, 0.1):
            file.text(20 + 3.2 * place + shift, 30 + shift, letter)
    file.text(20, 40, "The south pier is sound.")
    letters = pdf_sheets.text_of(file).replace(" ", "").split("\n")
    assert letters == ["Inspectionofthebridge", BOLD.replace(" ", ""), "Thesouthpierissound."]


def test_a_letter_that_pdfium_tells_in_two_halves_is_one():
    drawn = b"BT /F 20 Tf 50 700 Td (The rate A of the flow) Tj ET"
    letters = b"1 beginbfchar <41> <D835DC5F> endbfchar"  # U+1D45F, an italic r of formulas
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
               b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
               b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn),
               b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
               b"<</Length %d>>stream\n%s\nendstream" % (len(letters), letters)]
    numbered = b"\n".join(b"%d 0 obj%s endobj" % pair for pair in enumerate(objects, 1))
    read = read_pdf(b"%PDF-1.7\n" + numbered + b"\ntrailer<</Root 1 0 R>>", Limits())
    assert "The rate \U0001d45f of the flow" in read.text
