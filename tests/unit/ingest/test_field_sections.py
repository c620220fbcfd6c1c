"""Records that are no tables in their file: sections with the same fields, blocks of lines, and forms in mails."""

from email.message import EmailMessage

import pytest
from banyan.ingest.field_sections import read_blocks
from banyan.ingest.given import given_documents
from banyan.text.section_lines import lines_under

from ...loading import only, write

pytestmark = pytest.mark.usefixtures("shared_reading")
REGISTER = """# Register

## P-1 Wall

- **Owner:** Ida Marsh
- **Tags:**
  - stone
  - wet, cold

The wall is old.

## P-2 Shed

- **Owner:** [Tom Vale](tom.md)
- **Cost:** 5 EUR
  with tax
"""


def tables(text, title="Doc"):
    (document,) = given_documents([{"id": "a", "title": title, "text": text}])
    return document, document.tables


def test_sections_that_repeat_fields_are_rows_named_by_their_headings():
    document, (table,) = tables(REGISTER)
    assert table.title == "Register"
    assert table.columns == ("Name", "Owner", "Tags", "Cost")
    assert table.rows == (("P-1 Wall", "Ida Marsh", "stone; wet, cold", ""),
                          ("P-2 Shed", "Tom Vale", "", "5 EUR with tax"))
    assert [document.text[start:end].split("\n")[0] for start, end in table.spans] == ["## P-1 Wall", "## P-2 Shed"]
    assert document.text[slice(*table.spans[1])].endswith("with tax")


def test_records_in_several_sections_are_told_by_the_headings_that_differ():
    inner = "### Details\n\nOwner: Ida\nStatus: open"
    _, (table,) = tables(f"# North\n\n## A\n\n{inner}\n\n# South\n\n## B\n\n{inner}\n")
    assert table.columns == ("Name", "Section", "Owner", "Status")
    assert table.rows == (("A", "North", "Ida", "open"), ("B", "South", "Ida", "open"))


@pytest.mark.parametrize("fields", [
    "- Owner: Ida\n- Status: open", "Owner: Ida\nStatus: open", "**Owner**: Ida\n\n**Status:** open",
    "* Owner : Ida\n* Status : open", "Owner：Ida\nStatus：open",
    "Said before.\n\n- Owner: Ida\n- Status: open\n\nAnd so on."])
def test_fields_are_read_in_all_their_forms(fields):
    _, (table,) = tables("\n\n".join(f"## Part {number}\n\n{fields}" for number in (1, 2)))
    assert table.columns == ("Name", "Owner", "Status")
    assert table.rows == (("Part 1", "Ida", "open"), ("Part 2", "Ida", "open"))


def test_blocks_of_lines_in_one_section_are_rows():
    document, (table,) = tables("# People\n\nName: Ann\nPhone: 1\n\nName: Bo\nPhone: 2\nMail: b@c\n")
    assert table.title == "People"
    assert table.columns == ("Name", "Phone", "Mail")
    assert table.rows == (("Ann", "1", ""), ("Bo", "2", "b@c"))
    assert [document.text[start:end] for start, end in table.spans] == [
        "Name: Ann\nPhone: 1", "Name: Bo\nPhone: 2\nMail: b@c"]


@pytest.mark.parametrize("text", [
    "Ann: Hello.\nBob: Hi.\nAnn: Bye.\nBob: Bye.", "Ann: Hello.\n\nBob: Hi.\n\nAnn: Bye.\n\nBob: Bye.",
    "- Fast: it is.\n- Small: it is.\n- Safe: it is.", "Note: see below.\n\nWarning: hot.\n\nTip: wait.",
    "State: the history\nPending: a set\nTransitions are:\nT1: A request arrives:",
    "```\na: 1\nb: 2\nc: 3\n```", "http://a.b: x\n10:30 Start\n11:00 End", "## A\n\nOwner: Ida\n\n## B\n\nCost: 5"])
def test_dialogues_lists_and_code_are_no_records(text):
    assert tables(text)[1] == ()


def test_a_form_in_a_mail_is_a_record(tmp_path):
    mail = EmailMessage()
    mail["Subject"], mail["From"] = "Order", "shop@example.org"
    mail.set_content("A new order:\n\nItem: Anchor\nQuantity: 2\nPrice: 80,00 EUR\n\nRegards\n")
    (table,) = only(write(tmp_path / "a.eml", bytes(mail))).tables
    assert table.columns == ("Item", "Quantity", "Price")
    assert table.rows == (("Anchor", "2", "80,00 EUR"),)


def test_records_of_a_stored_document_are_not_doubled():
    document, (table,) = tables(REGISTER)
    (again,) = given_documents([{"id": "a", "title": "Doc", "text": document.text, "tables": [table.model_dump()]}])
    assert again.tables == document.tables


@pytest.mark.parametrize("line", ["- 🍳 {}: {}", "- ⏲️ **{}:** {}", "**🍽️ {}**: {}", "★ {}: {}"])
def test_a_symbol_before_the_name_of_a_field_is_no_part_of_it(line):
    text = "\n".join(line.format(name, value) for name, value in (("Prep time", "20 min"), ("Servings", "4")))
    (block,) = read_blocks(lines_under(text, ""))
    assert {name: block.value(key) for key, name in block.names.items()} == {"Prep time": "20 min", "Servings": "4"}
