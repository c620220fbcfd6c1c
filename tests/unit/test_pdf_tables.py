"""Tables of PDF files become rows, once each, in place; whatever is no table for certain stays text."""

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from banyan.ingest.limits import Limits
from banyan.ingest.loaders import load_documents
from banyan.ingest.readers import pdf_files
from banyan.ingest.readers.pdf_files import read_pdf
from banyan.ingest.readers.pdf_layouts import _is_same
from banyan.ingest.readers.pdf_lines import has_rows_of_numbers, may_enclose_rows
from banyan.ingest.readers.pdf_words import Box, Word, cell_text
from banyan.text.table_rows import find_rows
from fpdf import FPDF, FontFace
from pypdf import PdfReader, PdfWriter

PRODUCTS = [("Product", "Price (EUR)", "Maker"), ("D100", "10", "Acme"), ("D200", "20", "Bolt Works")]
ROWS = "| Product: D100 | Price: 10 EUR | Maker: Acme |\n| Product: D200 | Price: 20 EUR | Maker: Bolt Works |"
PROSE = ("Banyan trees grow in the forests of Asia, where their roots hang down from the branches until they reach "
         "the ground. There they become trunks, and one tree covers the area of a small village with its shade. ")


def sheet() -> FPDF:
    file = FPDF()
    file.set_font("helvetica", size=11)
    file.add_page()
    return file


def text_of(file: FPDF) -> str:
    return read_pdf(bytes(file.output()), Limits()).text


def rows_of(file: FPDF) -> list[str]:
    text = text_of(file).replace("\f", "\n")
    return [text[row.start:row.end] for row in find_rows(text)]


def write_table(file: FPDF, rows: Sequence[Sequence[str]], **options) -> None:
    with file.table(**options) as table:
        for row in rows:
            table.row(row)


def plain_text(file: FPDF) -> str:
    return "\f".join(page.extract_text() for page in PdfReader(io.BytesIO(bytes(file.output()))).pages)


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


def test_type_colons_and_kinds_of_values_tell_what_names_a_row_or_a_column():
    bold = FontFace(emphasis="BOLD")
    properties = [("Colour", "red"), ("Maker", "Acme")]
    for rows, style in ((properties, bold), ([(f"{label}:", value) for label, value in properties], None),
                        ([*properties, ("Price", "5 EUR"), ("Year", "2020")], None)):
        file = sheet()
        file.multi_cell(0, text="Table 3: Tent X200")
        file.ln(2)
        with file.table(first_row_as_headings=False) as table:
            for label, value in rows:
                row = table.row()
                row.cell(label, style=style)
                row.cell(value)
        assert rows_of(file)[0].startswith("| Name: Tent X200 | Colour: red | Maker: Acme |"[:-2])
    file = sheet()
    write_table(file, [("Crop", "1", "2"), ("Peas", "many", "few"), ("Rye", "few", "many")])
    assert rows_of(file) == ["| Crop: Peas | 1: many | 2: few |", "| Crop: Rye | 1: few | 2: many |"]
    file = sheet()
    write_table(file, [("Ann", "Paris", "1999"), ("Bob", "Lyon", "2001")], first_row_as_headings=False)
    assert rows_of(file)[0] == "| Column 1: Ann | Column 2: Paris | Column 3: 1999 |"


def word(text: str, left: float, line: int = 0, width: float = 20) -> Word:
    return Word(0, text, Box(left, line * 12, left + width, line * 12 + 10), 10, "Times", upright=True)


def test_words_of_a_cell_are_apart_as_on_the_page():
    assert cell_text([word("Acme", 0), word("Works", 23)]) == "Acme Works"
    assert cell_text([word("H", 0), word("2", 20.5), word("O", 41)]) == "H2O"
    assert cell_text([word("Acme", 0), word("Works", 0, 1)]) == "Acme Works"
    assert cell_text([word("manu-", 0), word("facturer", 0, 1)]) == "manu-facturer"
    assert cell_text([word("帐篷", 0), word("甲型", 0, 1)]) == "帐篷甲型"
    assert cell_text([word("帐篷", 0), word("甲型", 23)]) == "帐篷甲型", "justified type"
    assert cell_text([word("张三", 0), word("李四", 26)]) == "张三 李四"


def test_a_page_written_from_right_to_left_is_not_read_as_tables():
    assert _is_same([word("banyan", 0)], "banyan")
    assert not _is_same([word("שלום", 0)], "שלום")


class Numbered(FPDF):
    """Has a header and a footer on each page."""

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


def test_a_table_of_words_alone_goes_on_below_a_pages_header_where_its_own_header_is_bold():
    pages = text_table(Numbered(), ("Name", "Town"), bold=True).split("\f")
    assert len(pages) == 2
    assert pages[0].startswith("Yearly report\n\n| Name: Annmar | Town: Annmarville |")
    assert pages[0].endswith("|\n\nPage 1 of 9")
    assert pages[1].startswith("Yearly report\n\n| Name: ")
    # Nothing tells what the first row of the second page is.
    pages = text_table(Numbered(), ("Name", "Town"), bold=False).split("\f")
    assert pages[0].startswith("Yearly report\n\n| Name: Annmar |")
    assert pages[1].startswith("Yearly report\n\n| Column 1: ")


class Continued(FPDF):
    """Says on each page but the first that a table goes on, and which page it is."""

    def header(self) -> None:
        if self.page_no() > 1:
            self.cell(text=f"- {self.page_no()} -")
            self.ln(12)
            self.cell(text="Table 1: Towns (continued)")
            self.ln(12)


def test_a_line_that_says_continued_and_a_first_page_number_stand_within_no_table():
    pages = text_table(Continued(), ("Name", "Town"), bold=True).split("\f")
    assert pages[1].startswith("- 2 -\nTable 1: Towns (continued)\n\n| Name: ")


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
    file = sheet()
    write_table(file, [("Name", "Town"), ("Ann", "Paris"), ("Bob", "Lyon")])
    file.add_page()
    with file.table(first_row_as_headings=False) as table:
        table.row().cell("Harvest", colspan=2)
        table.row(("Crop", "Kind"))
        table.row(("Peas", "legume"))
    assert rows_of(file)[2:] == ["| Column 1: Crop | Column 2: Kind |", "| Column 1: Peas | Column 2: legume |"]


def test_another_table_of_the_same_columns_on_the_next_page_keeps_its_own_header():
    file = sheet()
    write_table(file, PRODUCTS)
    file.add_page()
    write_table(file, [("Crop", "Yield (kg)", "Field"), ("Peas", "7", "North"), ("Oats", "8", "South")],
                first_row_as_headings=False)
    assert rows_of(file)[2:] == ["| Crop: Peas | Yield: 7 kg | Field: North |",
                                 "| Crop: Oats | Yield: 8 kg | Field: South |"]
    file = sheet()
    write_table(file, PRODUCTS)
    file.multi_cell(0, text=PROSE)
    file.add_page()
    write_table(file, [("D300", "30", "Acme"), ("D400", "40", "Acme")], first_row_as_headings=False)
    assert rows_of(file)[2].startswith("| Column 1: D300 | Column 2: 30 |"), "text stands between them"


MODELS = [("Model", "Recall", "Time (s)"), ("Sparse", "57.3", "1.2"), ("Dense text", "60.1", "12.7"),
          ("Graph", "7", "3")]
MODEL_ROWS = ["| Model: Sparse | Recall: 57.3 | Time (s): 1.2 |",
              "| Model: Dense text | Recall: 60.1 | Time (s): 12.7 |", "| Model: Graph | Recall: 7 | Time (s): 3 |"]


def place(file: FPDF, rows: Sequence[Sequence[str]], top: float = 40, lefts: Sequence[float] = (20, 60, 100, 140),
          pitch: float = 6) -> None:
    for number, row in enumerate(rows):
        for left, text in zip(lefts, row, strict=False):
            file.text(left, top + number * pitch, text)


def rules(file: FPDF, *tops: float, left: float = 18, right: float = 160) -> None:
    for top in tops:
        file.line(left, top, right, top)


@pytest.mark.parametrize("tops", [(35, 42, 60), (35, 42, 48, 54, 60), ()], ids=["book", "rows", "none"])
def test_a_table_without_lines_between_its_columns(tops: Sequence[float]):
    file = sheet()
    file.multi_cell(0, text=PROSE)
    place(file, MODELS)
    rules(file, *tops)
    file.set_y(70)
    file.multi_cell(0, text=PROSE)
    text = text_of(file)
    assert text.split("\n\n")[1].split("\n") == MODEL_ROWS
    assert text.count("Sparse") == text.count("12.7") == 1


def test_rules_that_end_within_a_word_and_backgrounds_of_rows_enclose_no_table():
    file = sheet()
    place(file, MODELS)
    rules(file, 35, 42, 60, right=68)
    assert rows_of(file) == MODEL_ROWS
    file = sheet()
    file.set_fill_color(230)
    for top in (29, 41, 53, 65):
        file.rect(18, top, 142, 6, style="F")
    place(file, [*MODELS, ("Whole", "8", "4"), ("Half", "9", "5")])
    assert rows_of(file) == [*MODEL_ROWS, "| Model: Whole | Recall: 8 | Time (s): 4 |",
                             "| Model: Half | Recall: 9 | Time (s): 5 |"]


def test_rows_between_rules_may_have_several_lines_and_no_numbers_below_a_bold_header():
    file = sheet()
    file.set_font(style="B")
    place(file, [("Crop", "Kind", "Field")])
    file.set_font(style="")
    place(file, [("Peas", "a legume that", "North"), ("", "keeps well", "")], 46, pitch=4)
    place(file, [("Oats", "cereal", "South"), ("Rye", "cereal", "")], 56)
    rules(file, 35, 42, 52, 58, 64)
    assert rows_of(file) == ["| Crop: Peas | Kind: a legume that keeps well | Field: North |",
                             "| Crop: Oats | Kind: cereal | Field: South |", "| Crop: Rye | Kind: cereal |"]


def test_a_name_over_several_columns_is_theirs_where_a_rule_says_so():
    for gap, found in ((3, ["| Model: A | 2020 Recall: 1 | 2020 Time: 2 | 2021 Recall: 3 |"]), (0, [])):
        file = sheet()
        place(file, [("", "", "2020", "", "2021")], lefts=(20, 60, 75, 100, 140))
        rules(file, 42, left=58, right=125 - gap)
        rules(file, 42, left=125, right=158)
        place(file, [("Model", "Recall", "Time", "Recall"), ("A", "1", "2", "3"), ("B", "4", "5", "6")], 47)
        rules(file, 35, 49, 61)
        assert rows_of(file)[:1] == found


def aligned_prose(file: FPDF) -> None:
    for left in (12, 75, 138):
        file.set_xy(left, 20)
        file.multi_cell(55, text=PROSE, align="J")


def contents(file: FPDF) -> None:
    place(file, [("Contents", "", "Page"), *((f"{n}", f"Chapter {n} on trees", str(n * 7)) for n in range(1, 9))],
          lefts=(20, 30, 120))


def contacts(file: FPDF) -> None:
    names = ("Ann", "Bob", "Cy", "Di", "Ed")
    place(file, [(f"{name} Poe", f"Tel. 12 {n}", f"Room {n}") for n, name in enumerate(names)])


def wrapped(file: FPDF) -> None:
    place(file, [*MODELS, ("of words",)])


def numbered(file: FPDF) -> None:
    for number in range(6):
        file.multi_cell(0, text=f"{number}. There are {number * 12} of {number * 30} trees left in the year 2019.",
                        new_x="LMARGIN", new_y="NEXT")


def definitions(file: FPDF) -> None:
    place(file, [("Root", "what holds a tree"), ("Leaf", "what feeds it"), ("Bark", "what covers it"), ("Top", "it")])
    rules(file, 35, 42, 48, 54, 60)


def headless(file: FPDF) -> None:
    place(file, MODELS[1:] * 2)
    rules(file, 35, 42, 72)


def prose_between_rules(file: FPDF) -> None:
    for number in range(5):
        rules(file, 20 + number * 30, left=10, right=200)
        file.set_xy(10, 22 + number * 30)
        file.multi_cell(0, text=PROSE)


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


def cells_that_cross_columns(file: FPDF) -> None:
    place(file, [("", "Recall", "Time"), ("Sparse", "57.3", "1.2"), ("Dense text with many more words", "", "12.7"),
                 ("Sparse text with many more words", "", "3")])
    rules(file, 35, 42, 60)


def words_on_two_lines(file: FPDF) -> None:
    file.set_font(style="B")
    place(file, [("Crop", "Kind")])
    file.set_font(style="")
    place(file, [("Green", "a legume that"), ("peas", "keeps well"), ("Rye", "cereal")], 46)
    rules(file, 35, 42, 62)


def scattered(file: FPDF) -> None:
    for number, row in enumerate([("Start", "Middle", "End"), *((f"x{n}", str(n), str(n * 2)) for n in range(5))]):
        for column, text in enumerate(row):
            file.text(20 + column * 40 + (number * 7) % 10, 40 + number * 6, text)


def two_aligned(file: FPDF) -> None:
    place(file, [("Contents", "Page"), *((f"{n} sorts of trees", str(n * 7)) for n in range(1, 9))])


def paragraph_as_header(file: FPDF) -> None:
    write_table(file, [("Note", PROSE), ("Peas", "legume"), ("Rye", "cereal")], first_row_as_headings=False)


def form_with_gaps(file: FPDF) -> None:
    with file.table(first_row_as_headings=False) as table:
        for texts, span in ((("Name", ""), 3), (("Street", "", "No.", ""), 1), (("Town", ""), 3)):
            row = table.row()
            for number, text in enumerate(texts):
                row.cell(text, colspan=span if number else 1)


def turned(file: FPDF) -> None:
    for row, texts in enumerate(PRODUCTS):
        for column, text in enumerate(texts):
            file.rect(20 + row * 20, 40 + column * 40, 20, 40)
            with file.rotation(90, 30 + row * 20, 75 + column * 40):
                file.text(30 + row * 20, 75 + column * 40, text)


def rows_that_may_go_on(file: FPDF) -> None:
    place(file, [("Model", "Recall", "Note"), ("Sparse", "57.3", "by words"), ("", "", "alone"), ("Graph", "7", "it")])
    rules(file, 35, 42, 60)


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


def frame(file: FPDF) -> None:
    for _ in range(5):
        file.multi_cell(0, text=PROSE, border=1, new_x="LMARGIN", new_y="NEXT")


def form(file: FPDF) -> None:
    write_table(file, [("Name: Ann Poe", "Date: 1 May"), ("Street: Elm Road", "Town: Paris"),
                       ("Phone: 12 34", "Signature:")], first_row_as_headings=False)


def form_in_cells(file: FPDF) -> None:
    write_table(file, [("Name:", "Ann Poe", "Date:", "1 May"), ("Street:", "Elm Road", "Town:", "Paris"),
                       ("Phone:", "12 34", "Fax:", "56 78")], first_row_as_headings=False)


def blank_form(file: FPDF) -> None:
    write_table(file, [("Name", ""), ("Street", ""), ("Town", ""), ("Phone", "")], first_row_as_headings=False)


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


def underlined(file: FPDF) -> None:
    file.set_font("helvetica", size=11, style="U")
    file.multi_cell(0, text=PROSE * 3)


def links(file: FPDF) -> None:
    for words in PROSE.split(" where"):
        for number, word in enumerate(words.split()):
            file.set_font(style="U" if number % 4 == 1 else "")
            file.write(text=f"{word} ")


def chart(file: FPDF) -> None:
    for step in range(8):
        file.line(30, 40 + step * 15, 170, 40 + step * 15)
        file.line(30 + step * 20, 40, 30 + step * 20, 145)
        file.text(20, 40 + step * 15, str(70 - step * 10))
        file.text(30 + step * 20, 150, str(2000 + step))
    file.text(60, 70, "Sales of tents")


def crossed(file: FPDF) -> None:
    for left in (10, 60, 110):
        file.line(left, 20, left, 60)
    for top in (20, 40, 60):
        file.line(10, top, 110, top)
    for top in (30, 50):
        file.text(12, top, "Incomprehensibilities unquestionably")


@pytest.mark.parametrize("draw", [
    frames, frame, links, form, form_in_cells, blank_form, irregular_form, two_columns, headers_and_footers, underlined,
    chart, crossed, aligned_prose, contents, contacts, wrapped, numbered, definitions, headless, prose_between_rules,
    columns_between_rules, rows_that_may_go_on, name_over_some_columns, cells_that_cross_columns, words_on_two_lines,
    scattered, two_aligned, paragraph_as_header, form_with_gaps, turned])
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

    monkeypatch.setattr("pdfplumber.page.Page.extract_words", broken)
    assert text_of(file) == plain_text(file)
    monkeypatch.setattr("pdfplumber.open", broken)
    assert text_of(file) == plain_text(file)


def test_a_page_that_two_libraries_read_differently_stays_text(monkeypatch):
    file = sheet()
    write_table(file, PRODUCTS)
    monkeypatch.setattr("pypdf.PageObject.extract_text", lambda page: "Quite other words than those of the table.")
    assert text_of(file) == "Quite other words than those of the table."


def test_pages_without_lines_and_those_past_the_bound_are_not_read_twice(monkeypatch):
    asked: list[int] = []

    def read_tables(data: bytes, wanted: dict[int, tuple[int, str]], title: str) -> list[tuple[int, str]]:
        asked.extend(number for number, _ in wanted.values())
        return []

    monkeypatch.setattr("banyan.ingest.readers.pdf_tables.read_tables", read_tables)
    file = sheet()
    file.multi_cell(0, text=PROSE)
    for _ in range(3):
        file.add_page()
        write_table(file, PRODUCTS)
    text_of(file)
    assert asked == [1, 2, 3]
    monkeypatch.setattr(pdf_files, "_TABLES_FROM", 200)
    asked.clear()
    text_of(file)
    assert asked == [1]


@pytest.mark.parametrize(("draw", "looks"), [
    (links, False), (underlined, True), (headers_and_footers, True), (numbered, True), (contents, True),
    (definitions, True), (two_columns, False), (form, True)])
def test_only_pages_with_lines_or_numbers_as_tables_have_them_are_looked_at(draw, looks):
    file = sheet()
    draw(file)
    page = PdfReader(io.BytesIO(bytes(file.output()))).pages[0]
    assert (may_enclose_rows(page.get_contents().get_data()) or has_rows_of_numbers(page.extract_text())) is looks


def test_numbers_that_are_none_draw_nothing():
    assert not may_enclose_rows(b"1.2.3 4 5 6 re\n- 1 m 2 2 l")
    assert may_enclose_rows(b"0 0 90 1 re\n" * 3)
    assert may_enclose_rows(b"0 0 m 90 0 l\n0 9 m 90 9 l\n0 0 m 0 9 l\n90 0 m 90 9 l\n")
    assert not may_enclose_rows(b"0 0 m 90 0 l\n5 9 m 70 9 l\n0 20 m 50 20 l\n")


def test_tables_that_would_be_more_text_than_is_read(tmp_path: Path):
    file = sheet()
    wide = [[f"A rather long header of column {n}" for n in range(4)], *([["x"] * 4] * 30)]
    write_table(file, wide)
    size = len(plain_text(file)) + 200
    (tmp_path / "a.pdf").write_bytes(bytes(file.output()))
    with pytest.raises(pdf_files.UnreadableError, match="its tables have more text"):
        read_pdf((tmp_path / "a.pdf").read_bytes(), Limits(file_bytes=size))
