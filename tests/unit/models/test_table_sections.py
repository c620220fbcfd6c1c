"""What the rows of tables state, in which section, and which rows state nothing."""

import pytest
from banyan.graph_store.bounding.admission import Bounds, bound
from banyan.ingest.chunking import chunk_document
from banyan.ingest.table_lines import with_rows
from banyan.models.rules.table_facts import read_rows
from banyan.schemas.documents import Document
from banyan.schemas.extraction import Extraction
from banyan.schemas.formats.schema_loading import load_schema
from banyan.schemas.graph_schema import EntityType, GraphSchema, open_schema

GENERAL = load_schema("general")


def values(rows, heading="", title="Ferry plan", document="Ferry plan (ferry.md)"):
    found, _ = read_rows(rows, title, heading, open_schema(), document)
    return {(value.entity, value.attribute, value.value): value.time for value in found.attributes}


def test_an_ambiguous_header_names_a_type_that_the_schema_calls_so():
    schema = GraphSchema(name="upgrades", entity_types=(EntityType(name="Network"), EntityType(name="Concept")))
    found, _ = read_rows("| Network Name: Sepolia | Activation epoch: 2048 |", "", "", schema)
    assert [(entity.name, entity.type) for entity in found.entities] == [("Sepolia", "Network")]


def test_a_row_with_title_and_authors_is_a_work_and_its_authors_are_persons_each():
    found, rest = read_rows("| Title: Glass tides | Author: Ada Lund; Bo Berg | Year: 2019 |", "refs", "", GENERAL)
    assert {(one.name, one.type) for one in found.entities} == {
        ("Glass tides", "Work"), ("Ada Lund", ""), ("Bo Berg", "")}
    assert {fact.tail for fact in found.triples} == {"Ada Lund", "Bo Berg"}
    assert rest.strip() == ""


def test_a_cell_that_stays_in_the_text_is_no_field_of_the_document():
    authors = "; ".join(f"Ada Lund{'n' * number}" for number in range(80))
    _, rest = read_rows(f"| Title: Glass tides | Author: {authors} |", "refs", "", GENERAL, "refs.bib")
    assert authors in rest
    assert "Author:" not in rest


class TestSections:
    @pytest.mark.parametrize(("row", "heading", "stated"), [
        ("| Pump: P7 | Cost: 40 |", "Depots > Ferry pumps > Parameters",
         {("P7", "Cost", "40"): "under: Depots > Ferry pumps"}),
        ("| 泵: P7 | 价格: 40 |", "第二季度采购表", {("P7", "价格", "40"): "见于: 第二季度采购表"}),
        ("| Pump: P7 | Year: 2021 | Cost: 40 |", "Ferry pumps",
         {("P7", "Year", "2021"): "under: Ferry pumps", ("P7", "Cost", "40"): "2021; under: Ferry pumps"}),
        ("| Person: Ada Byron | Cost: 40 |", "", {("Ada Byron", "Cost", "40"): ""}),  # its type is told
        ("| Pump: P7 | Cost: 40 |", "Ferry pumps > Cost", {("P7", "Cost", "40"): "under: Ferry pumps"})])
    def test_a_value_holds_with_the_section_of_its_row(self, row, heading, stated):
        assert values(row, heading) == stated

    def test_a_fact_does_too(self):
        found, _ = read_rows("| Model: P7 | Vendor: Vex |", "", "Second quarter", GENERAL)
        assert {(fact.tail, fact.time) for fact in found.triples} == {("Vex", "under: Second quarter")}

    def test_the_headings_are_those_above_each_row(self):
        text = "# Old pumps\n| Pump: P7 | Cost: 40 |\n# New pumps\n| Pump: P7 | Cost: 50 |"
        assert values(text) == {("P7", "Cost", "40"): "under: Old pumps", ("P7", "Cost", "50"): "under: New pumps"}

    @pytest.mark.parametrize(("heading", "is_dated"), [
        ("Old pumps > Valves of 2021", True), ("EIP-20 costs", False), ("From 2019: pumps", True)])
    def test_bounding_keeps_a_section(self, heading, is_dated):
        text = f"# {heading.replace(' > ', chr(10) + '## ')}\n\n" + "| Pump: P7 | Cost: 40 |\n" * 40
        *_, chunk = chunk_document(Document(id="d.md", title="", text=text, source=""), max_tokens=100,
                                   overlap_tokens=0)
        found, _ = read_rows(chunk.text, "", chunk.heading, open_schema())
        assert {value.time for value in bound(found, chunk, Bounds(open_schema())).attributes} == {f"under: {heading}"}
        invented = found.model_copy(update={"attributes": tuple(
            value.model_copy(update={"time": "under: New lamps"}) for value in found.attributes)})
        # An invented section is dropped; a number then gets the one above it if that has a year.
        assert {value.time for value in bound(invented, chunk, Bounds(open_schema())).attributes} == {
            f"under: {heading}" if is_dated else ""}


class TestNames:
    @pytest.mark.parametrize(("row", "name"), [
        ("| Constant: PUMP_COST | Value: 12 | Note: of a pump |", "PUMP_COST"),
        ("| Signature: r | Size: 8 |", "Signature: r"),
        ("| Name: nonce | Size: 8 |", "nonce"), ("| Field: <pump(On/Off)> | Size: 8 |", "<pump(On/Off)>"),
        ("| Path: /pumps/{id} | Size: 8 |", "/pumps/{id}"), ("| W: 256 | Size: 8 |", "W: 256"),
        ("| Share (%): 50 (~5%) | Size: 8 |", "Share (%): 50 (~5%)"),
        ("| Pumps: Between 20-99 | Fee: 8 EUR |", "Pumps: Between 20-99")])
    def test_a_row_is_named_by_its_first_cell(self, row, name):
        assert {entity for entity, *_ in values(row)} == {name}

    def test_the_values_of_a_row_hold_at_its_date(self):
        rows = ("| Feast: Pump Days | Date: 2031-04-26 | Kind: working day |",
                "| Feast: Valve Day | Date: 2031-05-01 | Seats: 4 |")
        found, _ = read_rows("\n".join(rows), "", "", open_schema())
        assert {(one.entity, one.attribute, one.time) for one in found.attributes} == {
            ("Pump Days", "Date", ""), ("Pump Days", "Kind", "2031-04-26"),
            ("Valve Day", "Date", ""), ("Valve Day", "Seats", "2031-05-01")}

    @pytest.mark.parametrize("row", [
        "| Op: JUMP | ARM: BL |", "| Path: /x | Method: GET |", "| Pump: P7 | Unit: Litres |"])
    def test_what_describes_a_row_is_a_value_and_no_thing(self, row):
        found, _ = read_rows(row, "", "", open_schema())
        assert not found.triples
        assert len(found.entities) == len(found.attributes) == 1

    @pytest.mark.parametrize("value", ["-32603", "~68", "+21%", "~8×", "2**20 (1,048,576)"])
    def test_a_value_keeps_its_signs(self, value):
        text = with_rows(f"| Pump | Cost | Note |\n|---|---|---|\n| P7 | {value} | of *old* make |", "Pumps")
        (chunk,) = chunk_document(Document(id="d", title="", text=text, source=""), max_tokens=100, overlap_tokens=0)
        found, _ = read_rows(text, "", "", open_schema())
        stored = {one.attribute: one.value for one in bound(found, chunk, Bounds(open_schema())).attributes}
        assert stored == {"Cost": value, "Note": "of old make"}


class TestParameters:
    TEXT = "# Ferry plan\n\n## Specification\n\n| Parameter | Value |\n|---|---|\n| PUMP_SIZE | 8 |\n| LAMP_SIZE | 9 |"

    def test_below_a_general_heading_they_are_the_documents(self):
        rows = with_rows(self.TEXT, "Ferry plan")
        assert values(rows, document="RFC-7: Ferry plan") == {
            ("RFC-7: Ferry plan", "PUMP_SIZE", "8"): "", ("RFC-7: Ferry plan", "LAMP_SIZE", "9"): ""}

    def test_below_another_one_they_are_that_ones(self):
        rows = with_rows(self.TEXT.replace("Specification", "Second hall"), "Ferry plan")
        assert {name for name, *_ in values(rows)} == {"Second hall"}


def test_a_cell_that_repeats_the_name_of_its_row_states_nothing():
    rows = "| 姓名: 任革林 | 账号: @rengelin |\n| 姓名: 相关人员 | 账号: 相关人员 |"
    assert list(values(rows)) == [("任革林", "账号", "@rengelin")]


def test_rows_that_no_column_names_state_no_facts_and_leave_nothing_to_read():
    table = ("| Company | Growth | Site |\n|---|---|---|\n| Porites | 12 | Ulm |\n| Porites | 12 | Ulm |\n"
             "| Fungia | 30 | Bonn |\n")
    found, prose = read_rows(with_rows(table, "Reefs"), "Reefs", "", GENERAL)
    assert found == Extraction()
    assert not prose.strip()
    named, _ = read_rows(with_rows(table.replace("Porites", "Acropora", 1), "Reefs"), "Reefs", "", GENERAL)
    assert {value.entity for value in named.attributes} == {"Acropora", "Porites", "Fungia"}


@pytest.mark.parametrize("row", ["| Status: Moved By | Accepted: SM |", "| Expenses: Rent | May: 40 EUR |"])
def test_rows_of_no_known_type_are_records_alone(row: str) -> None:
    assert read_rows(row, "Minutes", "Treasurer", GENERAL) == (Extraction(), "")


def test_a_row_states_what_is_worth_a_fact() -> None:
    work = "| Title: Tidal pumps | Author: Ada Lund | Year: 2019 | Type: book | Key: lund19 | Volume: 3 |"
    found, _ = read_rows(work, "", "", GENERAL)
    assert {(one.attribute, one.value) for one in found.attributes} == {("Year", "2019")}


def test_tables_of_pdf_files_are_records_alone() -> None:
    text = "| Document: Tidy Data (tidy.pdf) | Editor: Ada Lund |\n| country: Andorra | height: tall |"
    printed, rest = read_rows(text, "Tidy Data", "Results", GENERAL, "Tidy Data (tidy.pdf)")
    assert [one.name for one in printed.entities] == ["Tidy Data (tidy.pdf)", "Ada Lund"]
    assert not rest.strip()
    sheet, _ = read_rows(text, "Tidy Data", "Results", GENERAL, "Tidy Data (tidy.csv)")
    assert "Andorra" in {one.name for one in sheet.entities}
