"""Tables of every format: rows that stand for themselves, the facts they state, and several where one was assumed."""

import pytest
import xlsxwriter
from banyan.ingest.chunking import chunk_document
from banyan.ingest.readers.web_pages import read_html
from banyan.ingest.table_lines import has_header, table_lines, with_rows
from banyan.models.rules.table_facts import read_rows
from banyan.schemas.documents import Document
from banyan.schemas.formats.schema_loading import load_schema
from banyan.text.sentences import split_sentences
from banyan.text.table_rows import find_rows, row_lines
from hypothesis import given
from hypothesis import strategies as st

from ... import loading

pytestmark = pytest.mark.usefixtures("shared_reading")
GENERAL = load_schema("general")


def lines(header: list[str], *rows: list[str], title: str = "Things") -> list[str]:
    return list(table_lines(header, rows, title))


def test_each_row_carries_its_headers_and_units():
    assert lines(["Product", "Price (USD)", "weight_kg", "Battery [mAh]", "Sold (2021)"],
                 ["X200", "499", "1.2", "5000", "7"], ["X300", "$599", "1.9", "", "8"]) == [
        "| Product: X200 | Price: 499 USD | weight: 1.2 kg | Battery: 5000 mAh | Sold (2021): 7 |",
        "| Product: X300 | Price: $599 | weight: 1.9 kg | Sold (2021): 8 |"]


@pytest.mark.parametrize(("header", "rows", "key"), [
    (["Name", "Age"], [["Ann", "30"], ["Bob", "31"]], "Name: Ann"),
    (["id", "Name", "Age"], [["1", "Ann", "30"], ["2", "Bob", "31"]], "Name: Ann"),
    (["Code", "Product name", "Price"], [["A-1", "Tent", "3"], ["A-2", "Stove", "4"]], "Product name: Tent"),
    (["Year", "Winner"], [["2020", "Ann"], ["2021", "Bob"]], "Winner: Ann"),
    (["Flight", "Pilot"], [["1", "Ann"], ["2", "Bob"], ["3", "Ann"]], "Flight: Flight 1"),  # no pilot's rows are one
    (["Item", "Note"], [["3M tape", "a"], ["5 star tent", "a"]], "Item: 3M tape"),
    (["Ride", "Years operated"], [["Racer", "1910–1926"], ["Dips", "1937–1940 1950–1952"], ["Dips", "2009-present"]],
     "row: Things row 1 | Ride: Racer | Years operated: 1910–1926"),
    # A column that describes does not identify.
    (["Position", "Kind", "Meaning"], [["1", "INT", "a wait"], ["2", "DATA", "a payload"]], "Position: Position 1"),
    (["From", "To", "Permitted?"], [["Ulm", "Bonn", "yes"], ["Ulm", "Turku", "by ferry"]], "To: Bonn"),
    # A column in which a name is repeated does not identify the rows.
    (["Mayor", "Office", "Clerk"], [["Lee", "Roads", "Ann"], ["Lee", "Water", "Bob"], ["Lee", "Parks", "Eva"],
                                    ["Fox", "Roads", "Max"], ["Fox", "Parks", "Bob"]],
     "row: Things row 1 | Mayor: Lee | Office: Roads | Clerk: Ann"),
    (["Mayor", "Place"], [["Lee", "Ulm"], ["Fox", "Ulm"], ["lee", "Bonn"]],
     "row: Things row 1 | Mayor: Lee | Place: Ulm"),
    # Ballots: candidates with their ranks. Numbers alone name nothing, even if they differ.
    (["Ann", "Bob"], [["2", "1"], ["1", "2"], ["2", "3"]], "row: Things row 1 | Ann: 2 | Bob: 1"),
    (["Year", "Sold"], [["2019", "3"], ["2020", "4"]], "row: Things row 1 | Year: 2019 | Sold: 3")])
def test_the_column_that_identifies_a_row_comes_first(header, rows, key):
    assert lines(header, *rows)[0].startswith(f"| {key} |")


def test_the_rows_of_a_large_table_are_records_alone():
    rows = [[f"Item {number}", "red"] for number in range(4000)]
    assert lines(["Name", "Colour"], *rows[:1000])[0] == "| Name: Item 0 | Colour: red |"
    assert lines(["Name", "Colour"], *rows)[0] == "| row: Things row 1 | Name: Item 0 | Colour: red |"
    wide = [[f"Item {number}", *["7"] * 300] for number in range(100)]
    first, *_ = lines(["Name", *(f"Part {at}" for at in range(300))], *wide)
    assert first.startswith("| row: Things row 1 | Name: Item 0")


@pytest.mark.parametrize(("header", "rows"), [
    (["Author", "Ann Lee"], [["Submitted", "2031-02-03"], ["Pump", "Nile"]]),
    (["Manager", "Ruth Holm"], [["Caretaker", "Nils Berg"], ["Place", "Mill Lane 4"]]),
    (["项目名称", "尼罗水泵"], [["提交作者", "小猫"], ["提交时间", "2031-02-03"]])])
def test_a_form_is_one_row_of_its_title(header, rows):
    fields = " | ".join(f"{name}: {value}" for name, value in (header, *rows))
    assert lines(header, *rows, title="Pump form") == [f"| Name: Pump form | {fields} |"]


@pytest.mark.parametrize(("header", "rows"), [
    (["Role", "Name"], [["Owner", "Ann"], ["Reviewer", "Bo"]]),
    (["Land", "Capital"], [["Peru", "Lima"], ["Oman", "Muscat"]]),
    (["Date", "Event"], [["May", "Fair"], ["June", "Race"]]),
    (["Status", "Meaning"], [["Version", "a"], ["Date", "b"]])])
def test_a_table_that_lists_things_is_no_form(header, rows):
    assert len(lines(header, *rows)) == len(rows)


@pytest.mark.parametrize(("rows", "is_header"), [
    ([["Skagen", "Denmark"], ["Gouda", "Netherlands"], ["Ulm", "Germany"]], False),
    ([["Mon", "Ida Marsh"], ["Tue", "Tom Vale"], ["Wed", "Ruth Holm"]], False),
    ([["Pier", "A-1"], ["Mole", "B-7"], ["Quay", "B-8"]], False),
    ([["red", "no", "wool"], ["blue", "yes", "silk"], ["red", "no", "silk"]], False),
    ([["Capacity", "40 people"], ["Opened", "1987"]], False),
    ([["Land", "Capital"], ["Peru", "Lima"], ["Oman", "Muscat"]], True),
    ([["Country", "May", "June"], ["Peru", "3", "4"], ["Oman", "5", "6"]], True),
    ([["Steps", "Rain"], ["70", "dry"], ["80", "Rain"], ["90", "dry"]], True),  # a name that is a value of its column
    ([["Yes", "Reason"], ["Yes", "Cheap"], ["", "Near"]], True),
    ([["State", "2004-05", "2005-06"], ["Ohio", "$5,682", "$5,840"], ["Iowa", "$4,328", "$4,632"]], True),
    ([["Kind", "Size"], ["red", "small"], ["Kind", "Size"], ["blue", "large"]], True)])
def test_a_first_row_like_the_others_is_no_header(rows, is_header):
    assert has_header(rows) == is_header


def test_rows_without_a_header_are_records_if_their_second_cells_are_of_one_kind():
    assert lines([], ["Skagen", "Denmark"], ["Ulm", "Germany"])[0] == "| Column 1: Skagen | Column 2: Denmark |"
    assert len(lines([], ["Capacity", "40 people"], ["Opened", "1987"])) == 1


def test_ragged_rows_odd_headers_totals_and_rows_without_a_name():
    assert lines(["Name", "", "Price", "Price"], ["A"], ["B", "x", "1", "2", "3"],
                 ["", "y"], [], ["Total", "", "9"]) == [
        "| Name: A |", "| Name: B | Column 2: x | Price: 1 | Price 2: 2 | Column 5: 3 |", "Column 2: y",
        "Name: Total; Price: 9"]
    assert lines(["Figure", "2020", "2021"], ["Revenue", "5", "6"], ["Profit", "1", "2"])[1] == (
        "| Figure: Profit | 2020: 1 | 2021: 2 |")


WORDS = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), max_size=12)


@given(st.lists(WORDS, max_size=4), st.lists(st.lists(WORDS, max_size=5), max_size=5))
def test_any_table_is_written_as_rows_that_are_read_again_with_exact_places(header, rows):
    text = "\n".join(table_lines(header, rows, "T"))
    for row in find_rows(text):
        assert text[row.start:row.end] == "\n".join(row_lines(row.cells))
        assert "\n" not in text[row.start:row.end]


def test_chunks_hold_whole_rows_and_a_row_is_one_sentence():
    rows = [f"| Name: Item {n} | Note: Good. Very light! See no. {n}. | Price: {n} USD |" for n in range(300)]
    text = "\n".join(rows)
    assert [text[start:end] for start, end in split_sentences(text)] == rows
    chunks = chunk_document(Document(id="a", title="", text=text, source=""), max_tokens=400, overlap_tokens=60)
    assert len(chunks) > 1
    assert {line for chunk in chunks for line in chunk.text.split("\n")} == set(rows)
    assert all(text[chunk.start:chunk.end] == chunk.text for chunk in chunks)


def test_markdown_tables_become_rows_and_nothing_else_changes():
    text = ("# Shop\n\nIntro | with a bar\n\n| Name | Maker | Size |\n|:--|---|--:|\n"
            "| [X1](u) | **Acme** | 3\\|4 |\n| X2 | `B` |\n"
            "after\n\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n```\nend")
    assert with_rows(text, "t") == (
        "# Shop\n\nIntro | with a bar\n\n| Name: X1 | Maker: Acme | Size: 3/4 |\n| Name: X2 | Maker: B |\n"
        "after\n\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n```\nend")


@pytest.mark.parametrize(("page", "text"), [
    # Spans, captions, a header of two rows and end tags that are left out.
    (("<h1>Goods</h1><table><caption>Prices</caption><tr><th rowspan=2>Product<th colspan=2>2020<tr>"
     "<th>Price (EUR)<th>Sold<tr><td>X200<td>4<td>5<tr><td>X300<td rowspan=2>6<td>7<tr><td>X400<td>8</table>"
     "<table><tr><th>Weight</th><td>1.2 kg</td></tr><tr><th>Colour</th><td>red</td></tr></table>"),
     ("# Goods\n\nPrices\n| Product: X200 | 2020 Price: 4 EUR | 2020 Sold: 5 |\n"
     "| Product: X300 | 2020 Price: 6 EUR | 2020 Sold: 7 |\n| Product: X400 | 2020 Price: 6 EUR | 2020 Sold: 8 |\n\n"
     "| Name: Goods | Weight: 1.2 kg | Colour: red |")),
    # A form whose values span columns.
    (("<h1>Training</h1><table><tr><td>Company<td>Sony<td>Wiki<td>no<tr><td>Presenter<td>H. Fukuchi<td>Date<td>2018/6/5"
     "<tr><td>Item<td colspan=3>Nine hours a year<tr><td>Issue<td colspan=3>Educating suppliers"
     "<tr><td>Sample<td colspan=3>Trainers tell of their work</table>"),
     ("# Training\n\n| Name: Training | Company: Sony | Wiki: no | Presenter: H. Fukuchi | Date: 2018/6/5 | "
     "Item: Nine hours a year | Issue: Educating suppliers | Sample: Trainers tell of their work |")),
    (("<ul><li><p>Bells</p><p>They ring.</p><ol><li>big</li><li><div>small</div></li></ol></li>"
     "<li><ul><li>red</li></ul></li></ul><p>End.</p>"),
     "- Bells\n  They ring.\n  1. big\n  2. small\n-\n  - red\n\nEnd."),
    # A cell has its words whole and its items apart.
    (("<table><tr><th>Site</th><th>Cost</th><th>Doors</th></tr><tr><td>Elm</td><td><b>1,200</b>.50 EUR</td>"
     "<td><ul><li>red</li><li>blue</li></ul></td></tr><tr><td>Fir<br>hill</td><td>7 EUR</td>"
     "<td><p>None.</p><p>Yet.</p></td></tr></table>"),
     "| Site: Elm | Cost: 1,200.50 EUR | Doors: red; blue |\n| Site: Fir hill | Cost: 7 EUR | Doors: None. Yet. |"),
    ("<table><tr><td>(a)<td>the keeper inspects the lake;<tr><td>(b)<td>fishing costs 25 EUR.</table>",
     "(a) the keeper inspects the lake;\n(b) fishing costs 25 EUR.")])
def test_tables_forms_and_lists_of_pages(page, text):
    assert read_html(page.encode()).text == text


def facts(text: str, title: str = "", heading: str = ""):
    found, rest = read_rows(text, title, heading, GENERAL)
    return ({(e.name, e.type) for e in found.entities}, {(t.head, t.relation, t.tail) for t in found.triples},
            {(a.entity, a.attribute, a.value) for a in found.attributes}, rest)


def test_rows_give_typed_entities_relations_by_the_schema_and_attributes():
    entities, triples, attributes, rest = facts(
        "Before.\n| Book: Ivanhoe | Author: Walter Scott | Height: 400 | City: Edinburgh |\nAfter.", "Books")
    assert entities == {("Ivanhoe", "Work"), ("Walter Scott", ""), ("Edinburgh", "Location")}
    assert triples == {("Ivanhoe", "created_by", "Walter Scott"), ("Ivanhoe", "City", "Edinburgh")}
    assert attributes == {("Ivanhoe", "Height", "400")}
    assert rest == "Before.\n\nAfter."


def test_a_cell_of_prose_is_left_to_the_reasoner():
    prose = "Ann founded the firm. " * 12
    _, _, attributes, rest = facts(f"| Name: Acme | Story: {prose.strip()} |")
    assert attributes == set()
    assert rest.startswith("Story: Ann founded the firm.")


@pytest.mark.parametrize(("row", "time"), [
    ("| Product: X | Year: 2019 | Price: 5 |", "2019"),
    ("| Product: X | From: 2019 | Until: 2021 | Price: 5 |", "From: 2019 | Until: 2021"),
    ("| 产品: X | 年度: 2020年 | 价格: 5 |", "2020年"), ("| Product: X | Month: March | Price: 5 |", ""),
    ("| Product: X | Date: 2019 | Price: 5 | Year: 2020 |", "")])
def test_a_column_of_times_says_when_the_rest_of_a_row_holds(row, time):
    found, _ = read_rows(row, "", "", load_schema("general"))
    said = {attribute.attribute: attribute.time for attribute in found.attributes}
    said |= {triple.relation: triple.time for triple in found.triples}
    dated = {label: own for label, own in said.items() if label in {"Price", "价格", "created_by", "To"}}
    assert set(dated.values()) == {time}
    assert not any(own for label, own in said.items() if label not in dated)


PEOPLE = [["Employee", "Office", "Start"], ["Ada", "Ulm", 2011], ["Bo", "Bonn", 2014]]
PROJECTS = [["Project", "Lead", "Budget"], ["Alder", "Bo", 90_000], ["Birch", "Ada", 45_000]]
PEOPLE_ROWS = ["| Employee: Ada | Office: Ulm | Start: 2011 |", "| Employee: Bo | Office: Bonn | Start: 2014 |"]
PROJECT_ROWS = ["| Project: Alder | Lead: Bo | Budget: 90000 |", "| Project: Birch | Lead: Ada | Budget: 45000 |"]


def _at(row, column, table):
    return [(row + number, column, cells) for number, cells in enumerate(table)]


@pytest.mark.parametrize(("placed", "rows"), [
    # Tables beside each other are read one after the other.
    ([*_at(0, 0, PEOPLE), *_at(0, 4, [*PROJECTS, ["Cedar", "Ada", 7]])],
     [*PEOPLE_ROWS, *PROJECT_ROWS, "| Project: Cedar | Lead: Ada | Budget: 7 |"]),
    # A blank row or column within a table does not end it.
    (_at(0, 0, [["Plant", "Height", "", "Shade"], ["Fern", 40, "", "full"], [], ["Oak", 2000, "", "none"]]),
     ["| Plant: Fern | Height: 40 | Shade: full |", "| Plant: Oak | Height: 2000 | Shade: none |"]),
    (_at(0, 0, [["Plant", "Soil"], ["Fern", "peat"], [], ["Oak", "loam"], ["Elm", "clay"]]),
     ["| Plant: Fern | Soil: peat |", "| Plant: Oak | Soil: loam |", "| Plant: Elm | Soil: clay |"]),
    # Each table has its title, and a repeated header is no row.
    (_at(1, 1, [["Staff"], *PEOPLE, [], ["Former staff"], PEOPLE[0], ["Cy", "Köln", 1999]]),
     ["Staff", *PEOPLE_ROWS, "Former staff", "| Employee: Cy | Office: Köln | Start: 1999 |"])])
def test_tables_of_a_sheet(tmp_path, placed, rows):
    with xlsxwriter.Workbook(tmp_path / "plan.xlsx") as workbook:
        sheet = workbook.add_worksheet()
        for row, column, cells in placed:
            sheet.write_row(row, column, cells)
    assert list(filter(None, loading.only(tmp_path / "plan.xlsx").text.split("\n"))) == rows


CSV = {
    "bars": ("Name|City, Land|Age\nAda|Ulm, DE|3\nBo|Bonn, DE|4\n",
             ["| Name: Ada | City, Land: Ulm, DE | Age: 3 |", "| Name: Bo | City, Land: Bonn, DE | Age: 4 |"]),
    "title": ("Sales, by plant\n\nPlant;Price\nPeas;1,5\nBeans;2,5\n",
              ["Sales, by plant", "| Plant: Peas | Price: 1,5 |", "| Plant: Beans | Price: 2,5 |"]),
    "declared": ("sep=;\r\nName;City\r\nAda, Bo;Ulm\r\n", ["| Name: Ada, Bo | City: Ulm |"]),
    "two rows": ("Plant,2019,,2020,\n,Spring,Autumn,Spring,Autumn\nPeas,1,2,3,4\nBeans,5,6,7,8\n", [
        "| Plant: Peas | 2019 Spring: 1 | 2019 Autumn: 2 | 2020 Spring: 3 | 2020 Autumn: 4 |",
        "| Plant: Beans | 2019 Spring: 5 | 2019 Autumn: 6 | 2020 Spring: 7 | 2020 Autumn: 8 |"]),
    "quoted": ('"Name, first, last";"Age"\n"Ada, B., Roth";41\n', ["| Name, first, last: Ada, B., Roth | Age: 41 |"]),
    "several": ("\n\n".join("\n".join(",".join(map(str, row)) for row in table) for table in (PEOPLE, PROJECTS)),
                PEOPLE_ROWS + PROJECT_ROWS),
}


@pytest.mark.parametrize("kind", CSV)
def test_csv_files_of_any_dialect(tmp_path, kind):
    content, rows = CSV[kind]
    document = loading.only(loading.write(tmp_path / "a.csv", content))
    assert list(filter(None, document.text.split("\n"))) == rows


def test_times_name_no_columns_and_labels_with_colons_are_a_form(tmp_path):
    path = loading.write(tmp_path / "a.csv", "Mon,08:00,Ida\nTue,09:00,Tom\n")
    assert loading.only(path).tables[0].rows == (("Mon", "08:00", "Ida"), ("Tue", "09:00", "Tom"))
    assert lines(["Manager:", "Ruth Vale"], ["Caretaker:", "Nils Holm"], title="Hall") == [
        "| Name: Hall | Manager: Ruth Vale | Caretaker: Nils Holm |"]
