"""Formats that libraries read: their text, their tables as rows, and what they say of themselves."""

import io
import json
import zipfile
from pathlib import Path

import docx
import pytest
import xlsxwriter
from banyan.ingest.loaders import load_documents, without_frame
from banyan.ingest.reading import Content
from banyan.schemas.documents import Document
from banyan.text.section_lines import is_back_matter, lines_under
from pptx import Presentation
from pptx.util import Inches

from ...loading import only, write

pytestmark = pytest.mark.usefixtures("shared_reading")

PRODUCTS = [("Product", "Price (EUR)"), ("D100", "10"), ("D200", "20")]
ROWS = "| Product: D100 | Price: 10 EUR |\n| Product: D200 | Price: 20 EUR |"


def load(folder: Path) -> dict[str, Document]:
    failures: list[str] = []
    documents = {d.id: d for d in load_documents([folder], on_failure=lambda f: failures.append(f.reason))}
    assert failures == []
    return documents


def _add_table(place, rows):
    table = place.add_table(len(rows), len(rows[0]))
    for row, values in zip(table.rows, rows, strict=True):
        for cell, value in zip(row.cells, values, strict=True):
            cell.text = value
    return table


def test_word_powerpoint_and_excel(tmp_path):
    word = docx.Document()
    word.core_properties.author = "Jane Doe"
    word.add_heading("Minutes", 0)
    _add_table(word, PRODUCTS)
    word.save(str(tmp_path / "a.docx"))
    slides = Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[5])
    slide.shapes.title.text = "Prices"
    table = slide.shapes.add_table(3, 2, Inches(1), Inches(2), Inches(5), Inches(2)).table
    for row, values in enumerate(PRODUCTS):
        for column, value in enumerate(values):
            table.cell(row, column).text = value
    slide.notes_slide.notes_text_frame.text = "Speak slowly."
    slides.save(str(tmp_path / "b.pptx"))
    workbook = xlsxwriter.Workbook(tmp_path / "c.xlsx")
    sheet = workbook.add_worksheet()
    sheet.merge_range("A1:C1", "List of 2025")
    cells = [("Product", "Price (EUR)", "Group"), ("D100", 10, ""), ("D200", 20.5, "")]
    for number, values in enumerate(cells, 2):
        sheet.write_row(number, 0, values)
    sheet.merge_range("C4:C5", "tents")
    workbook.close()
    documents = load(tmp_path)
    assert documents["a.docx"].metadata["author"] == "Jane Doe"
    assert documents["a.docx"].text == (
        "| Document: Minutes (a.docx) | Title: Minutes | Author: Jane Doe | Created: 2013-12-23 |\n\n"
        f"# Minutes\n\n{ROWS}")
    assert documents["b.pptx"].text == f"# Prices\n\n{ROWS}\n\nSpeak slowly."
    assert documents["c.xlsx"].text == ("List of 2025\n| Product: D100 | Price: 10 EUR | Group: tents |\n"
                                        "| Product: D200 | Price: 20.5 EUR | Group: tents |")


def test_word_tables_with_merged_cells_stand_in_order_between_the_paragraphs(tmp_path):
    word = docx.Document()
    word.add_paragraph("Before.")
    table = _add_table(word, [["Product", "Price", "", "Group"], ["", "2020", "2021", ""],
                              ["D100", "10", "11", "tents"], ["D200", "20", "", ""]])
    for first, last in (((0, 0), (1, 0)), ((0, 1), (0, 2)), ((0, 3), (1, 3)), ((2, 3), (3, 3))):
        table.cell(*first).merge(table.cell(*last))
    word.add_paragraph("Between.")
    table = _add_table(word, [["Staff of 2024", ""], ["Name", "City"], ["Office", ""], ["Ann", "Paris"], ["Bob", ""]])
    table.cell(0, 0).merge(table.cell(0, 1))
    table.cell(2, 0).merge(table.cell(2, 1))
    word.save(str(tmp_path / "a.docx"))
    assert load(tmp_path)["a.docx"].text == (
        "Before.\n\n| Product: D100 | Price 2020: 10 | Price 2021: 11 | Group: tents |\n"
        "| Product: D200 | Price 2020: 20 | Group: tents |\n\nBetween.\n\n"
        "Staff of 2024\nOffice\n| Name: Ann | City: Paris |\n| Name: Bob |")


def test_mails_books_notebooks_rich_text_code_and_front_matter(tmp_path):
    (tmp_path / "a.eml").write_text(
        "From: Ann Poe <ann@x.org>\nTo: b@y.org\nSubject: Offer\nDate: Fri, 01 Mar 2024 10:00:00 +0000\n"
        "Content-Type: text/html; charset=utf-8\n\n<p>We offer <b>ten</b> tents.</p>\n")
    with zipfile.ZipFile(tmp_path / "b.epub", "w") as book:
        book.writestr("META-INF/container.xml",
                      '<container><rootfiles><rootfile full-path="O/p.opf"/></rootfiles></container>')
        book.writestr("O/p.opf", (
            '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>The Book</dc:title>'
            '<dc:creator>Eve Lane</dc:creator></metadata><manifest>'
            '<item id="x" href="two.xhtml" media-type="application/xhtml+xml"/>'
            '<item id="y" href="one.xhtml" media-type="application/xhtml+xml"/></manifest>'
            '<spine><itemref idref="y"/><itemref idref="x"/><itemref idref="y"/></spine></package>'))
        book.writestr("O/one.xhtml", "<h1>One</h1><p>Once.</p>")
        book.writestr("O/two.xhtml", "<p>Twice.</p>")
    (tmp_path / "c.ipynb").write_text(json.dumps({"cells": [
        {"cell_type": "markdown", "source": ["# Study\n", "Text."]}, {"cell_type": "code", "source": ["x = 1"]}]}))
    (tmp_path / "d.rtf").write_text(r"{\rtf1\ansi Hello \b world\b0. Caf\'e9 \u27700?.\par Next}")
    (tmp_path / "e.py").write_text("def f():\n    return 1\n")
    (tmp_path / "f.md").write_text("---\ntitle: Notes\ndate: 2024-05-01\nn: 1:2:3\ntags: [a, b]\n---\n# Lyon\n"
                                   "We went.\n")
    (tmp_path / "g.md").write_text("---\nno: [front\n---\nmatter")
    documents = load(tmp_path)
    assert documents["a.eml"].title == "Offer"
    assert documents["a.eml"].metadata == {"author": "Ann Poe <ann@x.org>", "to": "b@y.org", "date": "2024-03-01"}
    assert documents["a.eml"].text.endswith("\n\nWe offer ten tents.")
    assert documents["b.epub"].title == "The Book"
    assert documents["b.epub"].text.endswith("# One\n\nOnce.\n\nTwice.")
    assert documents["c.ipynb"].text == "# Study\nText.\n\n```\nx = 1\n```"
    assert documents["d.rtf"].text.strip() == "Hello world. Café 水.\nNext"
    assert documents["e.py"].text == "def f():\n    return 1\n"
    assert documents["f.md"].title == "Notes"
    assert documents["f.md"].metadata == {"date": "2024-05-01", "n": "1:2:3", "tags": "a; b"}
    assert documents["f.md"].text.endswith("| Tags: a; b |\n\n# Lyon\nWe went.\n")
    assert documents["g.md"].text.startswith("---\nno: [front")


NAMES = " ".join(f'xmlns:{name}="urn:{name}"' for name in (
    "office", "text", "table", "draw", "presentation", "dc", "meta", "style"))


def packed(body, meta="", manifest="", styles=""):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("content.xml", f"<office:document-content {NAMES}><office:body>{body}</office:body>"
                         "</office:document-content>")
        archive.writestr("styles.xml", f"<office:document-styles {NAMES}>{styles}</office:document-styles>")
        archive.writestr("meta.xml", f"<office:document-meta {NAMES}><office:meta>{meta}</office:meta>"
                         "</office:document-meta>")
        archive.writestr("META-INF/manifest.xml", manifest)
    return file.getvalue()


def test_a_text_has_its_headings_lists_tables_and_notes(tmp_path):
    row = "<table:table-row>{}</table:table-row>".format
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>".format
    path = write(tmp_path / "a.odt", packed(
        "<office:text><text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        '<text:h text:outline-level="1">Alder <text:span>site</text:span></text:h>'
        "<text:p>It opened<text:s/>in 2011<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>On 1 May.</text:p></text:note-body></text:note>.<office:annotation><text:p>Sure?</text:p>"
        '</office:annotation></text:p><text:h text:outline-level="2">Staff</text:h>'
        "<text:list><text:list-item><text:p>bells</text:p><text:list><text:list-item><text:p>big</text:p></text:list-item>"
        "</text:list></text:list-item></text:list>"
        f"<table:table>{row(cell('', 'Name') + cell('', 'Role') + cell('', 'Year'))}"
        f"{row(cell('', 'Ida Lang') + cell(' table:number-columns-spanned=' + chr(34) + '2' + chr(34), 'none'))}"
        "</table:table></office:text>",
        "<dc:title>The Alder site</dc:title><meta:initial-creator>Eva Roth</meta:initial-creator>"
        "<dc:date>2024-05-02T10:00:00</dc:date>"))
    document = only(path)
    assert document.title == "The Alder site"
    assert document.metadata == {"author": "Eva Roth", "date": "2024-05-02", "not read": "1 comment"}
    assert document.text.endswith("# Alder site\n\nIt opened in 2011 [On 1 May.].\n\n## Staff\n\n- bells\n  - big\n\n"
                                  "| Name: Ida Lang | Role: none | Year: none |")


def test_slides_are_sections_under_their_titles(tmp_path):
    box = "<draw:frame{}><draw:text-box>{}</draw:text-box></draw:frame>".format
    title, words = box(' presentation:class="title"', "<text:p>Bells</text:p>"), box("", "<text:p>They ring.</text:p>")
    notes = f"<presentation:notes>{box('', '<text:p>Smile.</text:p>')}</presentation:notes>"
    path = write(tmp_path / "a.odp", packed(f"<office:presentation><draw:page>{words}{title}{notes}</draw:page>"
                                            f'<draw:page draw:name="page2">{words}</draw:page></office:presentation>'))
    document = only(path)
    assert document.title == "Bells"
    assert document.text == "# Bells\n\nThey ring.\n\nSmile.\n\n# page2\n\nThey ring."


FRAME = """\ufeffThe Project Gutenberg EBook of The Quay, by Ann Poe

This eBook is for the use of anyone anywhere at no cost.

Title: The Quay

Author: Ann Poe

Language: English
Release Date: June, 1996

*** START OF {} PROJECT GUTENBERG EBOOK THE QUAY ***

Produced by Bo Ek.  HTML version
by Cy Fox.

Chapter 1

Boats lie at the quay.

{}END OF {} PROJECT GUTENBERG EBOOK THE QUAY ***

Section 1. General Terms of Use. Fees may be charged.
""".replace("\n", "\r\n")


@pytest.mark.parametrize("text", [FRAME.format("THIS", "*** ", "THIS"), FRAME.format("THE", "*** ", "THE"),
                                  FRAME.format("THIS", "End of Project Gutenberg's The Quay\n*** ", "THIS")])
def test_the_work_is_first_and_its_licence_is_back_matter(tmp_path, text):
    document = only(write(tmp_path / "quay.txt", text))
    assert (document.title, document.metadata) == ("The Quay", {
        "author": "Ann Poe", "language": "English", "e-book release date": "June, 1996"})
    sections = {line.text: is_back_matter(" > ".join(line.above)) for line in lines_under(document.text, "")}
    assert not sections["Boats lie at the quay."]
    assert sections["Section 1. General Terms of Use. Fees may be charged."]
    assert sections["This eBook is for the use of anyone anywhere at no cost."]
    assert document.text.index("Boats lie") < document.text.index("This eBook is for") < document.text.index("Bo Ek")


def test_printed_pages_and_other_texts_stay_as_they_are(tmp_path):
    content = Content(FRAME.format("THIS", "*** ", "THIS").replace("Chapter 1", "\f Chapter 1"), paged=True)
    assert without_frame(content) == content
    text = "Title: Of e-books\n\nThe line *** START OF THE PROJECT GUTENBERG EBOOK *** begins a work.\n"
    document = only(write(tmp_path / "a.txt", text))
    assert (document.title, document.text.strip()) == ("a", text.strip())
