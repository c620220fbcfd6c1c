"""Which rows and key-value lines state facts of something."""

from banyan.models.rules.key_values import key_value_rows
from banyan.models.rules.useful_rows import useful_rows
from banyan.text.table_rows import find_rows


def useful(text: str) -> list[tuple[tuple[str, str], ...]]:
    return [tuple((cell.header, cell.value) for cell in row.cells) for row in useful_rows(list(find_rows(text)))]


def test_a_row_whose_first_column_has_no_header_is_named_by_its_first_cell():
    assert useful("| Column 1: Branch | Draft: main | Release: stable |") == [
        (("Column 1", "Branch"), ("Draft", "main"), ("Release", "stable"))]


def test_a_sentence_names_no_row():
    assert useful("| Item: The pump is checked twice | Points: 3 |\n| Item: Pump | Points: 3 |") == [
        (("Item", "Pump"), ("Points", "3"))]


def test_a_row_of_a_date_is_named_with_its_header():
    assert useful("| Week: 2031-02-03 to 2031-02-07 | Shift: early |")[0][0] == (
        "Week", "Week 2031-02-03 to 2031-02-07")


def test_an_amount_names_a_row_with_its_header_and_without_one_no_row():
    assert useful("| Bore: 256 mm | Price: 20 EUR |")[0][0] == ("Bore", "Bore 256 mm")
    assert useful("| #: 6 | Price: 20 EUR |") == []


def test_a_cell_that_is_still_open_names_no_row():
    assert useful("| Valve: TBD | Price: 20 EUR |\n| Valve: N/A | Price: 3 EUR |") == []


def test_numbering_and_labels_state_nothing():
    assert useful("| Task: Paint the hall | No: 7 | Labels: red | Owner: Ada Blum |") == [
        (("Task", "Paint the hall"), ("Owner", "Ada Blum"))]


def test_a_table_with_merged_cells_is_a_form():
    merged = "All that was planned for the spring"
    rows = [f"| Firm: {name} | Orio: {merged} | Notes: {merged} |" for name in ("Issue", "Aim")]
    assert useful("\n".join([*rows, "| Firm: Date | Orio: May | Notes: none |"])) == []


def test_numbered_things_are_listed_under_their_heading():
    text = "# Release Nine\n\n## Included\n\n- RFC-71: Faster pumps\n- RFC-72: Quieter valves"
    assert [row.cells for row in key_value_rows(text, "Release Nine", "", bool)] == [
        (("", "Release Nine"), ("Included", "RFC-71: Faster pumps")),
        (("", "Release Nine"), ("Included", "RFC-72: Quieter valves"))]


def test_lines_of_code_are_no_key_value_lines():
    text = "# Pump\n\n```\nMaker: Ada Blum\nWeight: 3 kg\n```"
    assert list(key_value_rows(text, "Pump", "", bool)) == []


def test_a_row_of_a_code_is_named_with_its_header():
    rows = "| Param: 0x0D | Result: `depth` |\n| Value: `{name}` | Length: 3 |"
    assert useful(rows) == [(("Param", "Param 0x0D"), ("Result", "depth")), (("Value", "name"), ("Length", "3"))]
