"""What a document's metadata says of it: its name in the graph, people, lists, and what is no fact."""

import pytest
from banyan.ingest.metadata import clean_metadata, document_name, with_date, with_metadata
from banyan.models.rules.metadata_facts import people_rows, read_people
from banyan.models.rules.table_facts import read_rows
from banyan.schemas.formats.schema_loading import load_schema
from banyan.schemas.graph_schema import open_schema
from banyan.text.table_rows import Cell

GENERAL = load_schema("general")
NAME = "Ferry plan (plans/ferry.md)"


def read(schema=GENERAL, **metadata):
    text = with_metadata("The text.", "plans/ferry.md", "Ferry plan", clean_metadata(metadata))
    return read_rows(text, "Ferry plan", "", schema)[0]


def people(field, value):
    found = read(**{field: value})
    assert {triple.head for triple in found.triples} <= {NAME}
    return {triple.tail: {fact.value for fact in found.attributes if fact.entity == triple.tail}
            for triple in found.triples}


def values(field, value, **more):
    return [fact.value for fact in read(**{field: value}, **more).attributes
            if (fact.entity, fact.attribute.lower()) == (NAME, field)]


def test_what_a_template_came_with_is_an_empty_field():
    left = clean_metadata({
        "Editor": ["Name Surname"], "reviewer": ["Name Surname", "Ada Byron"], "author": "<your name>", "date": "TBD",
        "doi": "10.5281/zenodo.xxxxx", "doi of it": "10.xxxx/xxxx", "contact": "TODO", "status": "TODO", "code": "xxl"})
    assert left == {"reviewer": "Ada Byron", "status": "TODO", "code": "xxl"}


def test_people_of_front_matter_with_more_than_a_name():
    listed = [{"name": "Ada Byron,", "affiliation": "1, 2"}, {"name": "Carl Berg", "email": ""}]
    assert clean_metadata({"author": listed}) == {"author": "Ada Byron; Carl Berg",
                                                  "author affiliation": "Ada Byron: 1, 2"}
    assert clean_metadata({"license": {"name": "MIT", "url": "x.org/mit"}}) == {
        "license": "MIT", "license url": "x.org/mit"}
    found = read(author=listed)
    assert {(triple.head, triple.tail) for triple in found.triples} == {(NAME, "Ada Byron"), (NAME, "Carl Berg")}


def test_a_document_of_which_nothing_is_stated_is_no_entity():
    assert read(status="final").entities[0].name == NAME
    assert read(layout="wide").entities == ()


@pytest.mark.parametrize("field", ["editor", "director", "member"])
def test_a_document_does_not_work_for_its_editor(field):
    (triple,) = read(**{field: "Ada Byron (@ada)"}).triples
    assert (triple.head, triple.relation.lower(), triple.tail) == (NAME, field, "Ada Byron")


class TestPeople:
    @pytest.mark.parametrize(("value", "found"), [
        ("Ada Byron (@ada), Carl Berg (@carl)", {"Ada Byron": {"@ada"}, "Carl Berg": {"@carl"}}),
        ("Ada Byron <ada@x.org>, Carl Berg (carl@x.org)", {"Ada Byron": {"ada@x.org"}, "Carl Berg": {"carl@x.org"}}),
        ("Ada Byron (@ada) <ada@x.org>", {"Ada Byron": {"@ada", "ada@x.org"}}),
        ("AB NB MegT; SM", {"AB": set(), "NB": set(), "MegT": set(), "SM": set()}),
        ("Ada Byron, Carl Berg; Eva Lind", {"Ada Byron": set(), "Carl Berg": set(), "Eva Lind": set()}),
        ("@ada, <carl@x.org>", {"@ada": set(), "carl@x.org": set()}),
        ("林小雨, 周平", {"林小雨": set(), "周平": set()}),
        (["Ada Byron", "Carl Berg (@carl)"], {"Ada Byron": set(), "Carl Berg": {"@carl"}}),
        *((value, {"Ada Byron": set(), "Carl Berg": set()}) for value in (
            "Ada Byron, Carl Berg, et al.", "Ada Byron, Carl Berg et al", "Ada Byron; Carl Berg and et al.",
            "Ada Byron^[Corresponding author.], Carl Berg\\*"))])
    def test_are_named_with_their_handles_and_mails(self, value, found):
        assert people("author", value) == found

    def test_are_entities_of_the_schemas_type_of_people(self):
        types = {entity.name: entity.type for entity in read(author="Ada Byron").entities}
        assert types["Ada Byron"] == "Person"
        assert types[NAME] == read(pages=3).entities[0].type


class TestLists:
    @pytest.mark.parametrize(("value", "found"), [
        ("1559, 2718", ["1559", "2718"]), ("1559", ["1559"]), ([1559, 2718], ["1559", "2718"]),
        (["red", "deep blue"], ["red", "deep blue"]), ("red; blue", ["red", "blue"])])
    def test_have_a_fact_for_each_item(self, value, found):
        assert values("requires", value) == found

    @pytest.mark.parametrize("field", ["description", "summary", "abstract"])
    def test_prose_is_not_split(self, field):
        assert values(field, "It is fast; it is cheap") == ["It is fast; it is cheap"]


def test_a_title_that_is_the_summary_as_well_makes_no_form():
    summary = "A ferry plan for the long winter months"
    assert {fact.attribute for fact in read(subject=summary, description=summary, status="Final").attributes} == {
        "Subject", "Description", "Status"}


def test_a_title_is_a_fact_only_where_it_is_not_what_the_document_is_called_by():
    text = with_metadata("The text.", "rfc-7.md", "Ferry plan", {"rfc": "7", "title": "Ferry plan"})
    keyed, _ = read_rows(text, "Ferry plan", "", GENERAL)
    assert ("RFC-7: Ferry plan", "Title", "Ferry plan") in {
        (fact.entity, fact.attribute, fact.value) for fact in keyed.attributes}
    assert not read(title="Ferry plan").attributes


class TestNames:
    @pytest.mark.parametrize(("document", "title", "metadata", "name"), [
        ("eip-1559.md", "Fee market", {"eip": "1559"}, "EIP-1559: Fee market"),
        ("deep/folder/eip-1559.md", "Fee market", {"status": "Final", "eip": "1559"}, "EIP-1559: Fee market"),
        ("pep-0008.md", "Style", {"pep": "8"}, "PEP-8: Style"), ("eip-1559.md", "", {"eip": "1559"}, "EIP-1559"),
        ("eip-1559.md", "EIP-1559", {"eip": "1559"}, "EIP-1559")])
    def test_a_key_is_a_field_that_makes_up_the_files_name(self, document, title, metadata, name):
        assert document_name(document, title, metadata) == name

    def test_a_title_with_its_key_has_it_once(self):
        assert document_name("eip-1559.md", "EIP-1559: Fee market", {"eip": "1559"}) == "EIP-1559: Fee market"

    @pytest.mark.parametrize(("document", "title", "name"), [
        ("plans/ferry.md", "Ferry plan", NAME), ("ferry.md", "", "ferry.md"), ("ferry.md", "Ferry", "ferry.md"),
        ("ferry.md", "ferry.md", "ferry.md"),
        ("AGM/2031-02-21.md", "2031-02-21", "AGM 2031-02-21"), ("club/AGM/7.md", "", "AGM 7 (club)"),
        ("Members 2031 02 21.md", "", "Members 2031 02 21"),
        ("a/Board_of_2031-02-21.md", "", "Board of 2031-02-21 (a)")])
    def test_without_a_key_it_is_the_title_with_the_id_or_the_day(self, document, title, name):
        assert document_name(document, title, {"eip": "1559"}) == name

    def test_key_and_title_are_other_names_of_the_document(self):
        text = with_metadata("The text.", "eip-1559.md", "Fee market", {"eip": "1559"})
        found, _ = read_rows(text, "Fee market", "", GENERAL)
        assert [(fact.entity, fact.value) for fact in found.attributes if fact.attribute == "alias"] == [
            ("EIP-1559: Fee market", "EIP-1559"), ("EIP-1559: Fee market", "Fee market")]


@pytest.mark.parametrize(("field", "people"), [
    ("Editor: markdown", []), ("Editor: Ada Lund", ["Ada Lund"]), ("Published: true", []),
    ("Bibliography: paper.bib", []), ("Authors affiliation: Ada Lund: 1", []),
    ("DateCreated: 2022-10-19T08:22:01.141Z", [])])
def test_settings_of_a_wikis_pages_state_nothing(field, people):
    found, _ = read_rows(f"| Document: notes.md | {field} |", "", "", load_schema("general"), "notes.md")
    assert [fact.tail for fact in found.triples] == people
    assert found.attributes == ()


@pytest.mark.parametrize(("row", "facts"), [
    ("| Section: Yes No Not available | Ask: Is there a scanner? | Notes, Action Items: Notes, Action Item |", set()),
    ("| Pump: Do you own a pump? | Price: 40 |", set()),
    ("| Team: Team | Column 4: Appoint a lead |", set()),
    ("| Badge: <img src='a.png'> | Stage: Labs | Meaning: the entry point |", {("Labs", "Meaning", "the entry point")}),
    ("| Code: CREATE / COPY | Cost: This is free. |", {("CREATE / COPY", "Cost", "This is free.")}),
    ("| Pump: Nile Queen | Price: 40 |", {("Nile Queen", "Price", "40")}),
    ("| Maker: Ulm Pumps Inc. | Price: 40 |", {("Ulm Pumps Inc.", "Price", "40")}),
    ("| Song: Dear Old Nebraska U. | Price: 40 |", {("Dear Old Nebraska U.", "Price", "40")}),
    ("| City: Jacksonville, Fla. | Price: 40 |", {("Jacksonville, Fla.", "Price", "40")}),
    ("| Step: Order valves. | Price: 40 |", set()),
    ("| Maker: Sample | Motto: Pumps for all |", set()),
    ("| Item: Seal (Full - 1 partial - 0) | Tool: sealer |", set()),
    ("| #: 6 | Price: 20 EUR |", set()), ("| Valve: TBD | Price: 20 EUR |\n| Valve: N/A | Price: 3 EUR |", set()),
    ("| Purpose: Remarks at the Opening of the New Mill on the Old Island in the River at Ulm | Year: 1901 |", set()),
    ("| Title: Can pumps think? ____ | Year: 1901 |", set()),
    ("| Title: Can pumps think? | Year: 1901 |", {("Can pumps think?", "Year", "1901")}),
    ("| No: 7 | Pump: Nile Queen | Price: 40 |", {("Nile Queen", "Price", "40")}),
])
def test_rows_of_forms_and_cells_without_a_header_state_nothing(row: str, facts: set[tuple[str, str, str]]) -> None:
    found, _ = read_rows(row, "", "", open_schema())
    assert {(a.entity, a.attribute, a.value) for a in found.attributes} == facts
    assert found.triples == ()


@pytest.mark.parametrize(("document", "metadata", "dates"), [
    ("minutes/EC-2031-02-21.md", {}, {"date": "2031-02-21"}),
    ("20310221_notes.txt", {"created": "2032-01-01"}, {"date": "2031-02-21"}),
    ("渡口条例(2031-02-21).md", {}, {"日期": "2031-02-21"}),
    ("EC-2031-02-21.md", {"meeting": "3 March 2031"}, {}),  # the document says it itself
    ("2031-02-21-to-2031-03-01.md", {}, {}),
    ("2031-02.md", {}, {}),
    ("order-1203102219.txt", {}, {})])
def test_the_day_in_a_file_name_is_metadata(document, metadata, dates):
    assert with_date(metadata, document) == metadata | dates


@pytest.mark.parametrize(("listed", "names"), [
    ("JD NB SM, Ann Lee", ["JD", "NB", "SM", "Ann Lee"]), ("R. F.", ["R. F."]), ("Ann*, Bo", ["Ann", "Bo"])])
def test_initials_with_blanks_between_them_are_of_several_people(listed, names):
    assert [one.name for one in read_people(Cell("Present", listed))] == names


def test_a_list_of_people_with_an_odd_line_is_one():
    text = "* Ann Lee (@alee)\n* rudd (@rudd)\n* Adam ‘rudd’ Blum\n* Bo Karl"
    (row,) = people_rows(text, "Meeting > Present", "Meeting (m.md)")
    assert row.cells[1].value.split("; ") == ["Ann Lee (@alee)", "Adam ‘rudd’ Blum", "Bo Karl"]


@pytest.mark.parametrize(("text", "people"), [
    ("## Attending\n\n- Kari Lee (not present)\n- Erin Ek (day one)\n- Tracy Dorn\n", "Erin Ek; Tracy Dorn"),
    ("Present: Ann Lee, Bo Ek (absent), Cy Dorn\n", "Ann Lee, Cy Dorn"),
    ("**8** Members in attendance: **Ann, Bo, Cy D**\n", "Ann, Bo, Cy D"),
    (":   Members present: (3) Ann, Bo,\n    Cy D\n", "Ann, Bo, Cy D"),
    ("## Absent\n\n- Ann Lee\n- Bo Ek (excused)\n", "Ann Lee; Bo Ek")])
def test_who_was_absent_is_not_among_those_present(text, people):
    (row,) = people_rows(text, "", "Meeting (m.md)")
    assert row.cells[1].value == people
