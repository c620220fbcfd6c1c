"""Fields at the head of a document are its metadata, whole, in each form in which people write them."""

import docx
import pytest
from banyan.ingest.metadata import clean_metadata

from ...loading import failure, only, write

pytestmark = pytest.mark.usefixtures("shared_reading")
FIELDS = {"author": "Ada Blum, Bo Ek", "status": "Draft", "requires": "7, 12"}
PAIRS = [("Author", "Ada Blum, Bo Ek"), ("Status", "Draft"), ("Requires", "7, 12")]
LINES = "\n".join(f"{name}: {value}" for name, value in PAIRS)
BODY = "\n\n## Why\n\nFees rise.\n"


@pytest.mark.parametrize("head", [
    LINES, f"# Fees\n\n{LINES}", f"# Fees\n{LINES}", f"Fees\n====\n\n{LINES}",
    LINES.replace("Ada Blum, ", "Ada Blum,\n  "), f"```\n{LINES}\n```",
    "<pre>\n" + "\n".join(f"  {line}" for line in LINES.split("\n")) + "\n</pre>",
    "\n".join(f"- {name}: {value}" for name, value in PAIRS),
    "\n".join(f"* **{name}:** {value}" for name, value in PAIRS),
    "\n\n".join(f"**{name}**: {value}" for name, value in PAIRS),
    ", ".join(f"**{name}**: {value}" for name, value in PAIRS),
    "\n".join(f"**{name}: {value}**" for name, value in PAIRS), f"---\n{LINES}\n---", f"---\n{LINES}\n--- "])
def test_the_head_of_a_markdown_file_is_its_metadata_and_no_table(head, tmp_path):
    document = only(write(tmp_path / "a.md", head + BODY))
    assert {name.lower(): value for name, value in document.metadata.items()} == FIELDS
    assert document.text.count("Draft") == 1
    assert document.text.endswith(BODY.strip("\n") + "\n")
    assert document.tables == ()


@pytest.mark.parametrize(("further", "fields", "kept"), [
    ("* [Review](https://x.org/r)\n* Bug: [X-1](https://x.org/1)\n", {"bug": "X-1"}, "* [Review](https://x.org/r)\n"),
    ("* Built:\n  * In part: x\n  * Wholly\n* Reviews\n  * [First](https://x.org/1)\n* Available in part.\n",
     {"built": "In part: x; Wholly"}, "* Reviews\n  * [First](https://x.org/1)\n* Available in part.\n"),
    ("* Built:[x](https://x.org/1),\n[y](https://x.org/2)\n* Led by: [Cy Li](https://x.org/c) [Di Mo](https://x.org/d)\n",
     {"built": "x, y", "led by": "Cy Li, Di Mo"}, "")])
def test_the_items_of_a_heads_list_that_are_no_fields_stay_text(further, fields, kept, tmp_path):
    head = "".join(f"* {name}: {value}\n" for name, value in PAIRS)
    document = only(write(tmp_path / "a.md", f"# Fees\n\n{head}{further}{BODY}"))
    assert document.metadata == FIELDS | fields
    assert document.text.partition("\n\n")[2].replace("\n\n", "\n") == f"# Fees\n{kept}## Why\nFees rise.\n"
    mostly_text = only(write(tmp_path / "b.md", "# Fees\n\n- Fast: it runs\n- It fits\n- It holds\n- Status: open"))
    assert (mostly_text.metadata, mostly_text.tables) == ({}, ())


@pytest.mark.parametrize("first", ["", "Area:  \n"])
def test_the_prose_behind_the_last_field_of_a_head_is_text(first, tmp_path):
    document = only(write(tmp_path / "a.md", f"# Fees\n\n{first}Points: 200\nSolves: 7\nDescription: We found it.\n"))
    assert document.metadata == {"points": "200", "solves": "7"}
    assert document.text.endswith("Description: We found it.\n")
    assert document.tables == ()


SECTION = "## About this text\n\n" + "".join(f"- {name}: {value}\n" for name, value in PAIRS)
TOML = "\n".join(f"{name} = '{value}'" for name, value in FIELDS.items())


@pytest.mark.parametrize(("name", "text", "title"), [
    ("a.txt", f"Title: Fees\n{LINES}{BODY}", "Fees"), ("a.rst", f"Title: Fees\n{LINES}\n\nFees rise.\n", "Fees"),
    ("a.rst", "Fees\n====\n\n" + "\n".join(f":{name}: {value}" for name, value in PAIRS) + "\n\nFees rise.\n", "Fees"),
    ("a.md", f"+++\ntitle = 'Fees'\n{TOML}\n+++{BODY}", "Fees"),
    ("a.md", f"```toml\n{TOML}\n```\n\n# Fees{BODY}", "Fees")])
def test_heads_of_other_formats_and_places(name, text, title, tmp_path):
    document = only(write(tmp_path / name, text))
    assert (document.title, document.metadata) == (title, FIELDS)
    assert document.text.count("Draft") == 1
    assert document.text.rstrip().endswith("Fees rise.")


@pytest.mark.parametrize("above", [
    ".. _rfc7:\n\n======\nFees: A\n======\n\n", ":orphan:\n\n.. fees:\n\n*****\nFees: A\n*****\n"])
def test_a_text_file_may_begin_with_the_fields_of_restructured_text(above, tmp_path):
    fields = ":Date: 2006/02/06\n:Author: Ada Blum\n:Contact:\n:Author: Bo Ek\n:Status: Draft,\n   on hold\n"
    document = only(write(tmp_path / "a.txt", f"{above}{fields}\nDescription: fees rise.\n\nWhy\n---\n\nThey rise.\n"))
    assert (document.title, document.metadata["date"]) == ("Fees: A", "2006/02/06")
    assert (document.metadata["author"], document.metadata["status"]) == ("Ada Blum; Bo Ek", "Draft, on hold")
    assert ":Author:" not in document.text


@pytest.mark.parametrize("closing", ["\n", "-----\n"])
@pytest.mark.parametrize("indent", ["", "\t", "  "])
@pytest.mark.parametrize("name", ["a.md", "a.txt"])
def test_a_field_that_is_repeated_is_a_list_however_long(name, indent, closing, tmp_path):
    authors = [f"Ann Lee{number} <a.lee{number}@x.org>" for number in range(8)]
    lines = ["Status:\tDraft", *(f"Author:\t{author}" for author in authors), "Created:\t2020-01-02"]
    head = "".join(f"{indent}{line}\n" for line in lines)
    document = only(write(tmp_path / name, f"# Fees\n\n{head}{closing}\n## Why\n\nFees rise.\n"))
    assert document.metadata == {"status": "Draft", "author": "; ".join(authors), "created": "2020-01-02"}
    assert document.title == ("Fees" if name == "a.md" else "a")


def test_lines_with_an_address_each_are_items(tmp_path):
    document = only(write(tmp_path / "a.mediawiki", (
        "<pre>\n  Title: Fees of\n         blocks\n  Authors: Ada Blum <a@x.org>\n           Bo Ek <b@x.org>\n"
        "  Links: https://x.org/1\n         https://x.org/2\n  Status: Draft\n</pre>\n\n"
        '==Why==\n\n{| class="wikitable"\n|-\n! Name\n|-\n| Fees\n|}\n')))
    assert document.title == "Fees of blocks"
    assert document.metadata == {"authors": "Ada Blum <a@x.org>; Bo Ek <b@x.org>", "status": "Draft",
                                 "links": "https://x.org/1; https://x.org/2"}
    assert document.tables == ()


def test_the_head_of_a_word_file(tmp_path):
    word = docx.Document()
    word.add_heading("Fees")
    for name, value in PAIRS:
        word.add_paragraph(f"{name}: {value}")
    word.add_paragraph("Fees rise.")
    word.core_properties.author = "Somebody"
    word.save(str(tmp_path / "a.docx"))
    assert only(tmp_path / "a.docx").metadata.items() >= {"author": "Ada Blum, Bo Ek", "status": "Draft"}.items()


@pytest.mark.parametrize("text", [
    "Ann: Hello.\nBob: Hi there.\nCy: Good day.\n\nThey go.", "Fees rise. Status: bad.\n\nAuthor: x\nStatus: y",
    "# Fees\n\n- Fast: it runs\n- Small: it fits\n- Safe: it holds\n\nText.", "Author: Ada\n\nText.",
    "Author: Ada\nStatus: Draft\nand so it goes on.\n", f"{SECTION}\nThese are old.",
    "# Fees\n\n## Steps\n\nOpen: the door\nShut: the gate\nRing: a bell\n\n## Why\n\nIt is so.",
    f"{SECTION}\n{SECTION.replace('About', 'Of')}\n## Why\n\nIt is so.",
    f"```yaml\n{LINES}\n```\n\nIt is so.",
    *(f"# Fees\n\nFees are told in texts.\n\n{code}{BODY}" for code in (
        f"```\n{LINES}\n```", f"```yaml\n{LINES}\n```", f"## Example\n\n```\n{LINES}\n```", f"```\n{LINES}\n"))])
def test_other_lines_and_examples_of_code_are_text(text, tmp_path):
    document = only(write(tmp_path / "a.md", text))
    assert document.metadata == {}
    assert document.text.strip() == text.strip()


def test_a_line_that_goes_on_with_an_item_of_the_head_belongs_to_it(tmp_path):
    items = "\n".join(f"- {name}: {value}" for name, value in PAIRS)
    document = only(write(tmp_path / "a.md", f"# Fees\n\n- Note: it takes the place of\n(Old fees)\n{items}{BODY}"))
    assert document.metadata == FIELDS | {"note": "it takes the place of (Old fees)"}


def test_what_is_set_in_below_a_blank_line_is_text_unless_the_last_field_is_empty(tmp_path):
    below = "\n\n        Fees of bridges\n\n1. Why\n"
    document = only(write(tmp_path / "a.txt", f"{LINES}{below}"))
    assert document.metadata == FIELDS
    assert "Fees of bridges" in document.text
    document = only(write(tmp_path / "b.txt", f"{LINES}\nMotive:\n\n    Fees rise.\n"))
    assert document.metadata == FIELDS | {"motive": "Fees rise."}


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
def test_a_document_may_have_fields_alone(name, tmp_path):
    document = only(write(tmp_path / name, LINES))
    assert document.metadata == FIELDS
    assert document.text.startswith("| Document: a")
    assert "no text in it" in failure(write(tmp_path / "b" / name, "\n"))


def test_long_lists_names_with_commas_and_inner_fields_are_whole():
    names = [f"Lee, {number} Ann" for number in range(300)]
    assert clean_metadata({"authors": names, "lead": {"name": "Bo", "since": 2001}, "parts": [
        {"name": "Pump", "mass": 3}, {"name": "Seal"}], "open": True, "none": None}) == {
        "authors": "; ".join(names), "lead": "Bo", "lead since": "2001",
        "parts": "Pump; Seal", "parts mass": "Pump: 3", "open": "true"}
