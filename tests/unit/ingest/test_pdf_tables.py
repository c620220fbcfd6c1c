"""Tables of PDF files become rows, once each, in place, with the header that is certainly theirs; raised figures."""

from collections.abc import Sequence

import docx
import pytest
import xlsxwriter
from banyan.ingest.loaders import load_documents
from banyan.ingest.readers.web_pages import read_html
from banyan.text.quantities import find_numbers, parse_number
from fpdf import FPDF, FontFace
from pptx import Presentation
from pptx.util import Inches

from ... import pdf_sheets
from ...loading import only, write
from ...pdf_sheets import PRODUCTS, PROSE, ROWS, place, plain_text, rows_of, rules, sheet, text_of, write_table

pytestmark = pytest.mark.usefixtures("shared_reading")


def test_a_ruled_table_is_rows_in_its_place_and_its_words_stand_once():
    file = sheet()
    file.multi_cell(0, text=PROSE)
    file.ln()
    write_table(file, PRODUCTS)
    file.multi_cell(0, text="After the table.")
    text = text_of(file)
    assert f"\n\n{ROWS}\n\nAfter the table." in text
    assert text.startswith("Banyan trees grow")
    assert " ".join(text.split()).count("D100") == 1
    before = plain_text(file)
    assert text.split("\n\n")[0].split() == before[:before.index("Product")].split(), "prose is as it was"


def test_lines_in_cells_merged_and_empty_cells_and_a_header_of_two_lines():
    file = sheet()
    with file.table(col_widths=(40, 30, 30, 60)) as table:
        for cells in ([("Staff", 4, 1)], [("Name", 1, 2), ("Hours", 2, 1), ("Task", 1, 2)],
                      [("2020", 1, 1), ("2021", 1, 1)],
                      [("Ann Poe", 1, 1), ("10", 1, 1), ("11", 1, 1), ("writes the long reports of the office", 1, 2)],
                      [("Bob Ray", 1, 1), ("20", 1, 1), ("", 1, 1)], [("Branch office", 4, 1)],
                      [("Cy Doe", 1, 1), ("30", 1, 1), ("31", 1, 1), ("", 1, 1)]):
            row = table.row()
            for text, across, down in cells:
                row.cell(text, colspan=across, rowspan=down)
    assert text_of(file) == (
        "Staff\n| Name: Ann Poe | Hours 2020: 10 | Hours 2021: 11 | Task: writes the long reports of the office |\n"
        "| Name: Bob Ray | Hours 2020: 20 | Task: writes the long reports of the office |\nBranch office\n"
        "| Name: Cy Doe | Hours 2020: 30 | Hours 2021: 31 |")


def test_a_table_of_properties_is_about_its_caption_and_of_nothing_without_one():
    properties = [("Weight", "1.2 kg"), ("Colour", "red"), ("Maker", "Acme")]
    file = sheet()
    file.multi_cell(0, text="Table 3: Tent X200.")
    file.ln(2)
    write_table(file, properties, first_row_as_headings=False)
    file.multi_cell(0, text=PROSE)
    file.ln()
    write_table(file, properties, first_row_as_headings=False)
    assert rows_of(file) == ["| Name: Tent X200 | Weight: 1.2 kg | Colour: red | Maker: Acme |"]
    assert "\nWeight: 1.2 kg; Colour: red; Maker: Acme" in text_of(file)


def test_a_table_over_pages_keeps_its_header_and_its_rows_stand_on_their_pages(tmp_path):
    for repeats in (True, False):
        file = sheet()
        rows = [("Product", "Price (EUR)"), *((f"D{n}", str(n)) for n in range(100, 200))]
        write_table(file, rows, repeat_headings=int(repeats))
        file.output(tmp_path / "a.pdf")
        (document,) = load_documents([tmp_path / "a.pdf"], on_failure=lambda failure: None)
        assert len(document.pages) > 2
        lines = document.text.split("\n")
        assert [line for line in lines if line] == [f"| Product: D{n} | Price: {n} EUR |" for n in range(100, 200)]
        plain = plain_text(file).split("\f")
        for start, page in zip(document.pages, plain, strict=True):
            first = next(line for line in page.split("\n") if line.startswith("D"))
            assert document.text[start:].startswith(f"| Product: {first.split()[0]} |")


class Numbered(FPDF):
    def header(self) -> None:
        self.set_font("helvetica", size=9)
        self.cell(text="Yearly report")
        self.ln(12)

    def footer(self) -> None:
        self.set_y(-15)
        self.cell(text=f"Page {self.page_no()} of 9")


def text_table(file: FPDF, first: Sequence[str], *, bold: bool) -> str:
    file.add_page()
    file.set_font("helvetica", size=11)
    names = [f"{a}{b}" for a in ("Ann", "Bob", "Cy", "Di") for b in ("mar", "len", "rik", "sol", "tan", "wyn", "zoe")]
    rows = [first, *((name, f"{name}ville") for name in names * 2)]
    write_table(file, rows, first_row_as_headings=bold, repeat_headings=0)
    return text_of(file)


def test_a_table_of_words_alone_goes_on_below_a_pages_header():
    pages = text_table(Numbered(), ("Name", "Town"), bold=True).split("\f")
    assert len(pages) == 2
    assert pages[0].startswith("Yearly report\n\n| row: row 1 | Name: Annmar | Town: Annmarville |")
    assert pages[0].endswith("|\n\nPage 1 of 9")
    assert pages[1].startswith("Yearly report\n\n| row: row 32 | Name: ")
    assert text_table(Numbered(), ("Name", "Town"), bold=False).split("\f") == pages


def test_a_table_does_not_go_on_in_other_columns_on_a_later_page_or_below_a_caption_of_its_own():
    numbers = [("D300", "30", "Acme"), ("D400", "40", "Acme")]
    for between in (False, True):
        file = sheet()
        write_table(file, PRODUCTS)
        if between:
            file.add_page()
            file.multi_cell(0, text=PROSE)
        file.add_page()
        write_table(file, numbers, first_row_as_headings=False, col_widths=None if between else (20, 60, 20))
        assert rows_of(file)[2].startswith("| Column 1: D300 | Column 2: 30 |")
    file = sheet()
    write_table(file, [("Name", "Town"), ("Ann", "Paris"), ("Bob", "Lyon")])
    file.add_page()
    bold = FontFace(emphasis="BOLD")
    with file.table(first_row_as_headings=False) as table:
        table.row().cell("Harvest", colspan=2)
        table.row(("Crop", "Kind"), style=bold)
        table.row(("Peas", "legume"))
    assert rows_of(file)[2:] == ["| Crop: Peas | Kind: legume |"]


MEASURED = [("Group", "Mean age (years)", "Women"), ("Control", "41.2", "12"), ("Treated", "39.8", "14"),
            ("Unknown", "", "3")]


def between_rules(file: FPDF, rows: Sequence[Sequence[str]], top: float, caption: str = "") -> None:
    if caption:
        file.text(20, top - 7, caption)
    rules(file, top - 5, top + 2, top + 6 * len(rows) - 3, left=18, right=120)
    place(file, rows, top=top)


def test_a_table_between_lines_is_rows_whether_its_caption_is_above_or_below():
    rows = ["| Group: Control | Mean age: 41.2 years | Women: 12 |",
            "| Group: Treated | Mean age: 39.8 years | Women: 14 |", "| Group: Unknown | Women: 3 |"]
    for above in (True, False):
        file = sheet()
        file.multi_cell(0, text=PROSE)
        between_rules(file, MEASURED, 80, "Table 1. People in the study." if above else "")
        if not above:
            file.text(20, 80 + 6 * len(MEASURED) + 2, "Table 1: People in the study")
        assert rows_of(file) == rows
        assert text_of(file).count("41.2") == 1


def test_heads_that_are_wider_than_their_columns_name_the_cells_below():
    file = sheet()
    rules(file, 75, 82, 103, left=18, right=120)
    for row, cells in enumerate([("", "below ten", "up to twenty", "above"), ("Agnostic", "27", "34", "60"),
                                 ("Atheist", "12", "27", "37"), ("Buddhist", "27", "21", "30")]):
        for right, cell in zip((0, 60, 90, 116), cells, strict=True):
            file.text(right - file.get_string_width(cell) if right else 20, 80 + 6 * row, cell)
    file.text(20, 110, "Table 1: Religion and income, in a caption that is far wider than the table above it")
    assert rows_of(file)[0] == "| Column 1: Agnostic | below ten: 27 | up to twenty: 34 | above: 60 |"


def test_a_head_above_several_columns_is_not_the_name_of_one():
    file = sheet()
    rules(file, 75, 82, 103, left=18, right=120)
    file.text(62, 80, "Number of large old towns")
    place(file, [("Oman", "27", "34"), ("Peru", "12", "27"), ("Chad", "27", "21")], top=86, lefts=(20, 66, 90))
    file.text(20, 110, "Table 1: Towns")
    assert rows_of(file)[0] == "| Column 1: Oman | Column 2: 27 | Column 3: 34 |"


def test_captions_below_tables_are_not_those_of_the_next(tmp_path):
    file = sheet()
    between_rules(file, MEASURED, 60)
    file.text(20, 60 + 6 * len(MEASURED) + 2, "Table 1: People in the study")
    between_rules(file, [MEASURED[0], ("Later", "50.1", "7"), ("Never", "51.2", "9")], 100)
    file.text(20, 120, "Table 2: People of later studies")
    file.output(tmp_path / "a.pdf")
    (document,) = load_documents([tmp_path / "a.pdf"], on_failure=lambda failure: None)
    assert [table.title for table in document.tables] == ["People in the study", "People of later studies"]


def test_a_table_that_continues_under_its_number_has_the_header_of_its_first_part(tmp_path):
    file = sheet()
    between_rules(file, MEASURED, 80, "Table 2 People in the study")
    file.add_page()
    between_rules(file, [MEASURED[0], ("Later", "50.1", "7"), ("Never", "51.2", "9")], 60, "Table 2 (continued)")
    file.output(tmp_path / "a.pdf")
    (document,) = load_documents([tmp_path / "a.pdf"], on_failure=lambda failure: None)
    (table,) = document.tables
    assert (table.title, len(table.rows)) == ("People in the study", 5)
    assert table.rows[3] == ("Later", "50.1", "7")
    assert document.text[slice(*table.spans[3])].startswith("| Group: Later | Mean age: 50.1 years")


def test_lines_around_prose_and_diagrams_are_no_tables():
    file = sheet()
    rules(file, 30, 120)
    file.set_xy(20, 40)
    file.multi_cell(140, text=PROSE * 3)
    rules(file, 140, 170, 200, 230)
    for number, label in enumerate(("low", "middle", "high")):
        file.text(20, 155 + 30 * number, label)
    assert rows_of(file) == []


def test_a_row_that_the_end_of_a_page_divides_is_one_row():
    file = sheet()
    for page, (top, bottom, lines, cells) in enumerate((
            (200, 280, (200, 210, 220), [("Motion", "Result"), ("M-1", "carried"), ("M-2", "the clerk was heard")]),
            (20, 50, (30, 50), [("", "and then carried"), ("M-3", "lost")]))):
        if page:
            file.add_page()
        for left in (20, 60, 160):
            file.line(left, top, left, bottom)
        rules(file, *lines, left=20)
        for number, row in enumerate(cells):
            place(file, [row], top=top + 7 + 10 * number, lefts=(22, 62))
    assert rows_of(file) == ["| Motion: M-1 | Result: carried |",
                             "| Motion: M-2 | Result: the clerk was heard and then carried |",
                             "| Motion: M-3 | Result: lost |"]


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


def test_raised_runs_of_word_files_and_slides(tmp_path):
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
    for name in ("a.docx", "a.pptx"):
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
