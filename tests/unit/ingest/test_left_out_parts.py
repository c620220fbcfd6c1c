"""Parts of Office files and mails that are easily left out: each is read, or counted as not read."""

import json
import zipfile
from email.message import EmailMessage
from io import BytesIO

import docx
import pytest
import xlsxwriter
from banyan.text.section_lines import UNREAD
from docx.oxml import parse_xml
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches
from pypdf import PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NumberObject, TextStringObject

from ... import pdf_sheets
from ...loading import failure, only, write

pytestmark = pytest.mark.usefixtures("shared_reading")
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def picture():
    stored = BytesIO()
    Image.new("L", (8, 8)).save(stored, "PNG")
    stored.seek(0)
    return stored


def mail(text="", **head):
    message = EmailMessage()
    for name, value in head.items():
        message[name] = value
    if text:
        message.set_content(text)
    return message


def test_all_texts_of_a_mail_are_read_in_order(tmp_path):
    message = mail("Before the plan.", Subject="Bridge", From="Ann <ann@example.org>")
    message.add_attachment(picture().read(), maintype="image", subtype="png", filename="pier.png")
    message.add_attachment("After the plan.\n", subtype="plain", disposition="inline")
    message.add_attachment("The minutes.\n", filename="minutes.txt")
    document = only(write(tmp_path / "a.eml", bytes(message)))
    assert document.text.split("\n\n")[1:] == ["Before the plan.", "After the plan.", "# minutes.txt", "The minutes."]
    assert document.metadata["attachments"] == "pier.png; minutes.txt".replace(";", ",")
    assert document.metadata[UNREAD] == "attachments: pier.png"
    assert UNREAD not in document.text


def test_forwarded_mails_are_read_with_their_heads(tmp_path):
    inner = mail("It ships from Rotterdam.", Subject="Order 4471", From="sales@example.net",
                 Date="Mon, 03 Mar 2025 08:00:00 +0100")
    middle = mail("See below.", Subject="Fwd: Order", From="bo@example.org")
    middle.add_attachment(inner)
    outer = mail("Please see below.", Subject="Fwd: Fwd: Order")
    outer.add_attachment(middle)
    text = only(write(tmp_path / "a.eml", bytes(outer))).text
    assert text.endswith("# Fwd: Order\n\nAuthor: bo@example.org\n\nSee below.\n\n"
                         "# Order 4471\n\nAuthor: sales@example.net\nDate: 2025-03-03\n\nIt ships from Rotterdam.")


def test_charts_of_slides_are_tables_and_pictures_are_counted(tmp_path):
    slides = Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[5])
    slide.shapes.title.text = "Ducks"
    numbers = CategoryChartData()
    numbers.categories = ["North", "South"]
    numbers.add_series("Mallards", (120, 130))
    numbers.add_series("Teals", (80, None))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(4), Inches(3), numbers).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Ducks by lake"
    for _ in range(2):
        slide.shapes.add_picture(picture(), 0, 0)
    slides.save(str(tmp_path / "a.pptx"))
    document = only(tmp_path / "a.pptx")
    assert document.text.endswith("# Ducks\n\nDucks by lake\n| Category: North | Mallards: 120 | Teals: 80 |\n"
                                  "| Category: South | Mallards: 130 |")
    assert document.metadata[UNREAD] == "2 pictures"


def test_parts_around_the_text_of_a_word_file(tmp_path):
    word = docx.Document()
    run = word.add_paragraph("The pier is sound.").add_run(" It was checked.")
    word.add_comment(run, "By whom?", author="Ada")
    for step in ("Close the road.", "Lift the deck."):
        word.add_paragraph(step, style="List Number")
    word.sections[0].header.paragraphs[0].text = "Harbour Board"
    word.sections[0].footer.paragraphs[0].text = "12"
    word.add_picture(picture())
    word.add_paragraph()._p.append(parse_xml(
        f'<m:oMath xmlns:m="{MATH}"><m:r><m:t>v=</m:t></m:r><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num>'
        "<m:den><m:sSup><m:e><m:r><m:t>t</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:den></m:f>"
        "</m:oMath>"))
    word.save(str(tmp_path / "a.docx"))
    document = only(tmp_path / "a.docx")
    assert document.text == ("The pier is sound. It was checked.\n\n1. Close the road.\n2. Lift the deck.\n\n"
                             "Header: Harbour Board\n\nComment by Ada: By whom?")
    assert document.metadata[UNREAD] == "1 picture, 1 equation"


def unpack(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(path, parts):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_a_diagram_of_a_word_file(tmp_path):
    word = docx.Document()
    word.add_paragraph("The plan.")
    word.save(str(tmp_path / "a.docx"))
    texts = "".join(f"<d:pt><d:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></d:t></d:pt>" for text in ("Draft", "Vote"))
    pack(tmp_path / "a.docx", {**unpack(tmp_path / "a.docx"), "word/diagrams/data1.xml":
                               f'<d:dataModel xmlns:d="d" xmlns:a="a"><d:ptLst>{texts}<d:pt/></d:ptLst></d:dataModel>'})
    assert only(tmp_path / "a.docx").text.endswith("\n\n- Draft\n- Vote")


def test_formulas_without_values_charts_and_boxes_of_a_sheet(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as workbook:
        sheet = workbook.add_worksheet()
        sheet.write_row(0, 0, ["Lake", "Ducks"])
        sheet.write_row(1, 0, ["North", 12])
        sheet.insert_textbox("D4", "Figures of spring")
        chart = workbook.add_chart({"type": "column"})
        chart.add_series({"values": "=Sheet1!$B$2:$B$2"})
        sheet.insert_chart("D9", chart)
    parts = {name: content.replace(b"<v>12</v>", b"<f>SUM(C1:C9)</f><v/>") for name, content in unpack(
        tmp_path / "a.xlsx").items()}
    pack(tmp_path / "a.xlsx", parts)
    document = only(tmp_path / "a.xlsx")
    assert document.metadata[UNREAD] == "1 chart, 1 uncalculated formula, 1 text box"


def test_fields_comments_and_pictures_of_a_pdf_file(tmp_path):
    sheet = pdf_sheets.sheet()
    sheet.cell(text="Application for a berth")
    sheet.image(picture(), 50, 50, 20)
    sheet.text_annotation(10, 10, "Is this\nstill open?", title="Ada")
    sheet.output(str(tmp_path / "a.pdf"))
    writer = PdfWriter(clone_from=tmp_path / "a.pdf")
    writer.add_attachment("plan.txt", b"a plan")
    group = DictionaryObject({NameObject("/T"): TextStringObject("boat"), NameObject("/FT"): NameObject("/Tx")})
    parent, fields = writer._add_object(group), ArrayObject()
    for name, value, more in (("name", "Heron", {}), ("key", "secret", {NameObject("/Ff"): NumberObject(1 << 13)})):
        fields.append(writer._add_object(DictionaryObject({
            NameObject("/Subtype"): NameObject("/Widget"), NameObject("/T"): TextStringObject(name),
            NameObject("/V"): TextStringObject(value), NameObject("/Parent"): parent, **more})))
    writer.pages[0]["/Annots"].extend(fields)
    group[NameObject("/Kids")] = fields
    writer.root_object[NameObject("/AcroForm")] = DictionaryObject({NameObject("/Fields"): ArrayObject([parent])})
    writer.write(tmp_path / "a.pdf")
    document = only(tmp_path / "a.pdf")
    assert document.text.endswith("Application for a berth\n\nComment by Ada: Is this still open?\nname: Heron")
    assert document.metadata[UNREAD] == "1 picture, 1 attached file"


OLE = bytes.fromhex("d0cf11e0a1b11ae1")


@pytest.mark.parametrize(("name", "content", "reason"), [
    ("a.xlsx", OLE + "EncryptedPackage\0".encode("utf-16-le"), "protected by a password"),
    ("a.docx", OLE + "WordDocument\0".encode("utf-16-le"), "not a Word file"),
    ("a.pptx", b"", "save it again"), ("a.xlsx", b"PK\x03\x04 cut off", "save it again")])
def test_a_file_of_another_kind_is_a_failure(tmp_path, name, content, reason):
    assert reason in failure(write(tmp_path / name, content))


def test_a_mail_whose_plain_text_leaves_out_the_rest_is_read_as_html(tmp_path):
    mail = EmailMessage()
    mail.set_content("Please view this mail as HTML.")
    mail.add_alternative("<table><tr><td>Item<td>Qty<td>Price<tr><td>Rope<td>3<td>12,50 €<tr><td>Anchor<td>1<td>80,00 €"
                         "</table><p>Delivery on 12 May.</p>", subtype="html")
    document = only(write(tmp_path / "a.eml", bytes(mail)))
    assert document.text.endswith("| Item: Anchor | Qty: 1 | Price: 80,00 € |\n\nDelivery on 12 May.")
    assert [table.rows for table in document.tables] == [(("Rope", "3", "12,50 €"), ("Anchor", "1", "80,00 €"))]


def test_hidden_and_struck_out_text_of_a_word_file_is_left_out_and_counted(tmp_path):
    word = docx.Document()
    paragraph = word.add_paragraph("Members meet in ")
    paragraph.add_run("Ulm").font.strike = True
    paragraph.add_run("Graz.")
    paragraph.add_run(" Not in Wels.").font.hidden = True
    for text, style in (("Drafts:", "List Bullet"), ("on land", "List Bullet 2"), ("on voting", "List Bullet 2"),
                        ("Report", "List Bullet")):
        word.add_paragraph(text, style=style)
    word.save(str(tmp_path / "a.docx"))
    document = only(tmp_path / "a.docx")
    assert document.text == "Members meet in Graz.\n\n- Drafts:\n  - on land\n  - on voting\n- Report"
    assert document.metadata[UNREAD] == "1 hidden text, 1 struck-out text"


def test_hidden_rows_columns_and_sheets_are_left_out_and_counted(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as workbook:
        sheet = workbook.add_worksheet("Prices")
        for number, row in enumerate([("Item", "Old", "Price"), ("Lamp", 1, 120), ("Sofa", 2, 999), ("Desk", 3, 300)]):
            sheet.write_row(number, 0, row)
        sheet.merge_range("C5:C6", 7)
        sheet.write_column("A5", ["Chair", "Stool"])
        sheet.set_row(2, None, None, {"hidden": True})
        sheet.set_column("B:B", None, None, {"hidden": True})
        for name, hide in (("Drafts", "hide"), ("Codes", "very_hidden")):
            hidden = workbook.add_worksheet(name)
            hidden.write_row(0, 0, ["Item", 5])
            getattr(hidden, hide)()
    document = only(tmp_path / "a.xlsx")
    assert [line.strip("| ") for line in document.text.split("\n")] == [
        "Item: Lamp | Price: 120", "Item: Desk | Price: 300", "Item: Chair | Price: 7", "Item: Stool | Price: 7"]
    assert document.metadata[UNREAD] == "1 hidden row, 1 hidden column, 2 hidden sheets"


def test_hidden_slides_and_struck_out_words_are_left_out_and_counted(tmp_path):
    slides = Presentation()
    for title in ("Bells", "Drafts"):
        slide = slides.slides.add_slide(slides.slide_layouts[1])
        slide.shapes.title.text = title
        paragraph = slide.placeholders[1].text_frame.paragraphs[0]
        paragraph.add_run().text = "They ring at "
        struck = paragraph.add_run()
        struck.text = "six"
        struck.font._rPr.set("strike", "sngStrike")
        paragraph.add_run().text = "seven."
    slide.element.set("show", "0")
    slides.save(str(tmp_path / "a.pptx"))
    document = only(tmp_path / "a.pptx")
    assert document.text == "# Bells\n\nThey ring at seven."
    assert document.metadata[UNREAD] == "1 struck-out text, 1 hidden slide"


def test_hidden_and_struck_out_parts_of_a_page_are_left_out(tmp_path):
    document = only(write(tmp_path / "a.html", (
        "<p>Tickets cost <s>40</s>30 euros.</p><p style='display: none'>Secret.</p><div hidden>Draft.</div>"
        "<p>Open <del>never</del> daily.</p>")))
    assert document.text == "Tickets cost 30 euros.\n\nOpen daily."
    assert document.metadata[UNREAD] == "2 struck-out texts"


def test_an_earlier_mail_below_an_answer_is_a_section_of_its_own(tmp_path):
    for quoted in ("On Tue, 6 May 2031, Nils Berg <nils@example.org> wrote:\n> It is on 7 June.\n>> Who comes?\n",
                   "On Tue, 6 May 2031,\nNils Berg wrote:\n\n> It is on 7 June.\n>\n> Who comes?\n",
                   "-----Original Message-----\nFrom: Nils\n\nIt is on 7 June.\n"):
        text = only(write(tmp_path / "a.eml", bytes(mail(f"It is on 14 June.\n\n{quoted}", Subject="Party")))).text
        before, heading, earlier = text.partition("\n\n# Earlier mail")
        assert before.endswith("It is on 14 June.")
        assert heading
        assert "It is on 7 June." in earlier
        assert ">" not in earlier.partition("\n")[2]
    kept = "> is it true?\nYes.\n> and this?\nNo."
    assert only(write(tmp_path / "b.eml", bytes(mail(kept, Subject="Party")))).text.endswith(kept)


def test_the_head_of_a_mail_in_an_old_encoding_keeps_its_letters(tmp_path):
    sent = "From: Jürgen Groß <j@example.org>\nSubject: Grüße aus Köln\n\nDas Boot liegt in Münster.\n"
    document = only(write(tmp_path / "a.eml", sent.encode("cp1252")))
    assert (document.title, document.metadata["author"]) == ("Grüße aus Köln", "Jürgen Groß <j@example.org>")


def test_outputs_of_a_notebook_are_read_and_pictures_counted(tmp_path):
    outputs = [{"output_type": "stream", "text": ["total 200\n"]},
               {"output_type": "execute_result", "data": {"text/html": ["<b>120</b>"], "text/plain": "120 ducks"}},
               {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<Figure>"}}]
    document = only(write(tmp_path / "a.ipynb", json.dumps({"cells": [
        {"cell_type": "code", "source": "count()", "outputs": outputs}]})))
    assert document.text == "```\ncount()\n```\n\n```\ntotal 200\n```\n\n```\n120 ducks\n```"
    assert document.metadata[UNREAD] == "1 code output"
