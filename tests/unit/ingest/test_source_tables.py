"""The tables of documents: each row of a source is one row, its cells as written, with the place of its line."""

import csv
import html
import json
from collections.abc import Sequence
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from banyan.ingest.given import given_documents
from banyan.ingest.loaders import load_documents
from banyan.schemas.documents import Document
from hypothesis import given
from hypothesis import strategies as st

from tests.pdf_sheets import sheet, write_table

pytestmark = pytest.mark.usefixtures("shared_reading")
Cells = Sequence[str]
CELLS = st.sampled_from(["", "", "Porites", "Fungia b", "12", "12", "3,5", "1.200,00", "(450)", "12 %", "$1.2M", "n/a",
                         "2020-03-01", "fi ﬁ", "a\xadb", "x | y", "yes", "Müller; Söhne", "10^3", "*"])


def load(*paths: Path) -> list[Document]:
    return list(load_documents(paths, on_failure=lambda failure: pytest.fail(f"{failure.path}: {failure.reason}")))


def quotes(document: Document) -> list[list[str]]:
    return [[document.text[start:end] for start, end in table.spans] for table in document.tables]


@st.composite
def made_tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    width = draw(st.integers(3, 5))
    header = [f"column {letter}" for letter in "abcde"[:width]]
    first = st.sampled_from(["Porites", "Fungia", "Acropora b", "7", "8"])
    row = st.tuples(first, *[CELLS] * (width - 1)).map(list)
    rows = draw(st.lists(row, min_size=2, max_size=12))
    return header, [*rows, *draw(st.lists(st.sampled_from(rows), max_size=4))]


def as_csv(header: Cells, rows: Sequence[Cells], path: Path, delimiter: str = ",") -> None:
    path = path.with_suffix(".tsv" if delimiter == "\t" else ".csv")
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter=delimiter).writerows([header, *rows])


def as_tsv(header: Cells, rows: Sequence[Cells], path: Path) -> None:
    as_csv(header, rows, path, "\t")


def as_jsonl(header: Cells, rows: Sequence[Cells], path: Path) -> None:
    lines = (json.dumps(dict(zip(header, row, strict=True))) for row in rows)
    path.with_suffix(".jsonl").write_text("\n".join(lines), "utf-8")


def as_json(header: Cells, rows: Sequence[Cells], path: Path) -> None:
    path.with_suffix(".json").write_text(json.dumps([dict(zip(header, row, strict=True)) for row in rows]), "utf-8")


def as_html(header: Cells, rows: Sequence[Cells], path: Path) -> None:
    def line(cells: Cells, tag: str) -> str:
        return "".join(["<tr>", *(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells), "</tr>"])

    body = "".join([line(header, "th"), *(line(row, "td") for row in rows)])
    path.with_suffix(".html").write_text(f"<h1>Reefs</h1><p>Words.</p><table>{body}</table>", "utf-8")


def as_markdown(header: Cells, rows: Sequence[Cells], path: Path) -> None:
    lines = (f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)
    rule = "|---" * len(header) + "|"
    path.with_suffix(".md").write_text("\n".join(["# Reefs", "", f"| {' | '.join(header)} |", rule, *lines]), "utf-8")


def as_xlsx(header: Cells, rows: Sequence[Cells], path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (header, *rows):
        book.active.append(row)
    book.save(path.with_suffix(".xlsx"))


def as_docx(header: Cells, rows: Sequence[Cells], path: Path) -> None:
    document = docx.Document()
    table = document.add_table(0, len(header))
    for row in (header, *rows):
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    document.save(path.with_suffix(".docx"))


def as_pptx(header: Cells, rows: Sequence[Cells], path: Path) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    table = slide.shapes.add_table(len(rows) + 1, len(header), 0, 0, 9_000_000, 3_000_000).table
    for at, row in enumerate((header, *rows)):
        for column, text in enumerate(row):
            table.cell(at, column).text = text
    deck.save(path.with_suffix(".pptx"))


def as_rst(header: Cells, rows: Sequence[Cells], path: Path) -> None:
    lines = ["* - " + "\n     - ".join(row) for row in (header, *rows)]
    path.with_suffix(".rst").write_text("Reefs\n=====\n\n.. list-table::\n   :header-rows: 1\n\n"
                                        + "".join(f"   {line}\n" for line in lines), "utf-8")


def as_pdf(header: Cells, rows: Sequence[Cells], path: Path) -> None:
    file = sheet()
    write_table(file, [header, *rows])
    file.output(str(path.with_suffix(".pdf")))


SURVEY = [["Porites lobata", "12", "Ulm"], ["Porites lobata", "12", "Ulm"], ["Fungia", "3,5", "Bonn"],
          ["Acropora", "30 mm", "Ulm"]]


@pytest.mark.parametrize("write", [as_docx, as_pptx, as_rst, as_tsv, as_pdf])
def test_tables_of_other_formats_are_records_as_written(write, tmp_path):
    write(["Species", "Growth (mm)", "Site"], SURVEY, tmp_path / "reefs")
    (document,) = load(tmp_path)
    (table,) = document.tables
    assert table.columns == ("Species", "Growth (mm)", "Site")
    assert [list(row) for row in table.rows] == SURVEY
    assert all(row[0] in quote and row[2] in quote for row, quote in zip(SURVEY, quotes(document)[0], strict=True))
    assert len(set(table.spans)) == len(SURVEY)


@pytest.mark.parametrize("write", [as_csv, as_jsonl, as_json, as_html, as_markdown, as_xlsx])
@given(made=made_tables())
def test_each_row_is_a_record_as_written(write, made, tmp_path_factory):
    header, rows = made
    folder = tmp_path_factory.mktemp("table")
    write(header, rows, folder / "reefs")
    (document,) = load(folder)
    (table,) = document.tables
    used = [name for at, name in enumerate(header) if any(row[at] for row in rows)]
    stored = [[cell.replace("\xad", "").replace("ﬁ", "fi") for cell in row] for row in rows]
    assert [name for name in table.columns if name in used] == used
    by_name = [{name: cell for name, cell in zip(table.columns, row, strict=True) if cell} for row in table.rows]
    assert by_name == [{name: cell for name, cell in zip(header, row, strict=True) if cell} for row in stored]
    assert len(set(table.spans)) == len(rows)
    for row, quote in zip(stored, quotes(document)[0], strict=True):
        assert all(cell.replace("|", "/") in quote for cell in row)


@pytest.mark.parametrize("name", ["archive.json", "archive.jsonl"])
def test_long_lists_of_an_object_are_tables_wherever_they_are(name, tmp_path):
    names, rooms = [f"Reef {number}" for number in range(3000)], [{"room": "A", "size": 3}, {"room": "B", "size": 4}]
    (tmp_path / name).write_text(json.dumps(
        {"title": "Archive", "sites": {"names": names, "tags": ["wet", "old"]}, "house": {"rooms": rooms}}))
    (document,) = load(tmp_path)
    by_column = {table.columns[0]: table.rows for table in document.tables}
    assert by_column["names"] == tuple((name,) for name in names)
    assert by_column["room"] == (("A", "3"), ("B", "4"))
    assert (document.title, document.metadata) == ("Archive", {"sites tags": "wet; old"})


def test_totals_are_no_records_and_wider_rows_have_columns_without_a_name(tmp_path):
    (tmp_path / "sales.csv").write_text(
        "region,units\nNorth,3\nSouth,4,late\nTotal,7\nEast,5\nTotal,5\nGrand total,12\nAverage,4\n")
    (tmp_path / "eclipses.csv").write_text(
        "kind,year\nTotal,1999\nAnnular,2005\nTotal,2006\nTotal,2008\nAnnular,2010\n")
    eclipses, sales = load(tmp_path)
    (table,) = sales.tables
    assert table.columns == ("region", "units", "")
    assert table.rows == (("North", "3", ""), ("South", "4", "late"), ("East", "5", ""))
    assert "region: Total; units: 7" in sales.text
    assert [row[1] for row in eclipses.tables[0].rows] == ["1999", "2005", "2006", "2008", "2010"]


def test_a_gap_in_a_column_of_two_makes_no_form_and_records_of_documents_no_table(tmp_path):
    (tmp_path / "counts.csv").write_text("animal,count\ncat,12\ndog,n/a\ncow,7\n")
    (tmp_path / "notes.csv").write_text("id,title,text\na,A,Words of a.\nb,B,Words of b.\n")
    counts, *notes = load(tmp_path)
    assert counts.tables[0].rows == (("cat", "12"), ("dog", "n/a"), ("cow", "7"))
    assert [document.tables for document in notes] == [(), ()]


def test_a_form_is_one_record_of_its_fields():
    form = "# Pump X\n\n| Property | Value |\n|---|---|\n| Mass (kg) | 12 |\n| Maker | Ulm |\n"
    (document,) = given_documents([{"id": "pump", "text": form}])
    (table,) = document.tables
    assert (table.title, table.columns, table.rows) == ("Pump X", ("Mass (kg)", "Maker"), (("12", "Ulm"),))
    assert quotes(document) == [["| Name: Pump X | Mass: 12 kg | Maker: Ulm |"]]


def test_rows_have_their_place_below_the_metadata_of_their_document():
    text = "Words.\n\n| a | b |\n|---|---|\n| x | 1 |\n| x | 1 |\n"
    (document,) = given_documents([{"id": "m", "title": "T", "text": text, "metadata": {"author": "Ida"}}])
    assert quotes(document) == [["| row: T row 1 | a: x | b: 1 |", "| row: T row 2 | a: x | b: 1 |"]]
    assert document.tables[0].spans[0][0] < document.tables[0].spans[1][0]


@pytest.mark.parametrize("cells", ["(1,200) (9,800) 15,000", "9,800- 1,200- 3,400", "$1.2M $45K €3k",
                                   "2031-04-03T10:00Z 1.4.2031 2/5/2031"])
def test_two_columns_of_names_and_values_have_a_header(tmp_path: Path, cells: str) -> None:
    path = tmp_path / "accounts.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        rows = zip(("Rent", "Taxes", "Sales"), cells.split(), strict=True)
        csv.writer(stream).writerows([("Account", "Balance"), *rows])
    (table,) = load(path)[0].tables
    assert (table.columns, table.rows[0]) == (("Account", "Balance"), ("Rent", cells.partition(" ")[0]))
