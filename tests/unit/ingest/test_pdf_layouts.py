"""What looks like a table of a PDF file and is none for certain stays text, and costs no more than text does."""

import io
from collections.abc import Callable, Sequence

import pytest
from banyan.ingest.readers.pdf_files import read_pdf
from banyan.ingest.reading import Limits
from fpdf import FPDF
from pypdf import PdfReader, PdfWriter

from ...pdf_sheets import PRODUCTS, PROSE, ROWS, place, plain_text, rules, sheet, text_of, write_table


def aligned_prose(file: FPDF) -> None:
    for left in (12, 75, 138):
        file.set_xy(left, 20)
        file.multi_cell(55, text=PROSE, align="J")


def contents(file: FPDF) -> None:
    place(file, [("Contents", "", "Page"), *((f"{n}", f"Chapter {n} on trees", str(n * 7)) for n in range(1, 9))],
          lefts=(20, 30, 120))


def definitions(file: FPDF) -> None:
    place(file, [("Root", "what holds a tree"), ("Leaf", "what feeds it"), ("Bark", "what covers it"), ("Top", "it")])
    rules(file, 35, 42, 48, 54, 60)


def columns_between_rules(file: FPDF) -> None:
    file.text(12, 25, "Yearly report")
    file.text(150, 25, "Chapter 2")
    rules(file, 20, 28, 250, left=10, right=200)
    for left in (12, 107):
        file.set_xy(left, 30)
        file.multi_cell(90, text=PROSE * 5, align="J")


def name_over_some_columns(file: FPDF) -> None:
    place(file, [("", "", "2020", ""), ("Model", "Recall", "Time", "Calls"), ("Sparse", "1", "2", "3"),
                 ("Graph", "4", "5", "6")])
    rules(file, 35, 48, 60)


def form_with_gaps(file: FPDF) -> None:
    with file.table(first_row_as_headings=False) as table:
        for texts, span in ((("Name", ""), 3), (("Street", "", "No.", ""), 1), (("Town", ""), 3)):
            row = table.row()
            for number, text in enumerate(texts):
                row.cell(text, colspan=span if number else 1)


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


def irregular_form(file: FPDF) -> None:
    with file.table(first_row_as_headings=False) as table:
        for spans in ((3, 1), (1, 3), (2, 2), (1, 2, 1), (4,)):
            row = table.row()
            for number, span in enumerate(spans):
                row.cell(f"Box {number}", colspan=span)


def two_columns(file: FPDF) -> None:
    file.line(10, 20, 200, 20)
    file.line(105, 20, 105, 250)
    file.line(10, 250, 200, 250)
    for left in (12, 107):
        for row in range(6):
            file.set_xy(left, 22 + row * 35)
            file.multi_cell(90, text=PROSE)


def headers_and_footers(file: FPDF) -> None:
    for top in (12, 13, 280, 281):
        file.line(10, top, 200, top)
    file.text(12, 10, "Yearly report")
    file.text(180, 10, "Chapter 2")
    file.multi_cell(0, text=PROSE * 3)
    file.text(12, 288, "Page 7")


def chart(file: FPDF) -> None:
    for step in range(8):
        file.line(30, 40 + step * 15, 170, 40 + step * 15)
        file.line(30 + step * 20, 40, 30 + step * 20, 145)
        file.text(20, 40 + step * 15, str(70 - step * 10))
        file.text(30 + step * 20, 150, str(2000 + step))
    file.text(60, 70, "Sales of tents")


@pytest.mark.parametrize("draw", [
    frames, form_in_cells, irregular_form, two_columns, headers_and_footers, chart, aligned_prose, contents,
    definitions, columns_between_rules, name_over_some_columns, form_with_gaps])
def test_what_is_no_table_of_data_stays_the_text_that_it_was(draw: Callable[[FPDF], None]):
    file = sheet()
    draw(file)
    assert text_of(file) == plain_text(file)


def test_an_encrypted_file_and_one_that_pdfminer_cannot_read(monkeypatch):
    file = sheet()
    write_table(file, PRODUCTS)
    writer = PdfWriter(PdfReader(io.BytesIO(bytes(file.output()))))
    writer.encrypt(user_password="", owner_password="owner", algorithm="AES-256")
    locked = io.BytesIO()
    writer.write(locked)
    assert read_pdf(locked.getvalue(), Limits()).text == ROWS

    def broken(*_: object, **__: object) -> None:
        raise KeyError("Type")

    for name in ("pdfplumber.page.Page.extract_words", "pdfplumber.open"):
        with monkeypatch.context() as patched:
            patched.setattr(name, broken)
            content = read_pdf(bytes(file.output()), Limits())
            assert content.text == plain_text(file)
            assert content.omitted == "tables of broken pages (1: KeyError('Type'))"
