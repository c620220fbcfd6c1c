"""Which rows state facts of something."""

from banyan.models.rules.useful_rows import useful_rows
from banyan.text.table_rows import find_rows


def useful(text: str) -> list[tuple[tuple[str, str], ...]]:
    return [tuple((cell.header, cell.value) for cell in row.cells) for row in useful_rows(list(find_rows(text)))]


def test_an_amount_names_a_row_with_its_header_and_without_one_no_row():
    assert useful("| Bore: 256 mm | Price: 20 EUR |")[0][0] == ("Bore", "Bore: 256 mm")
    assert useful("| #: 6 | Price: 20 EUR |") == []


def test_a_cell_that_is_still_open_names_no_row():
    assert useful("| Valve: TBD | Price: 20 EUR |\n| Valve: N/A | Price: 3 EUR |") == []


def test_a_row_of_a_code_is_named_with_its_header():
    rows = "| Param: 0x0D | Result: `depth` |\n| Value: `{name}` | Length: 3 |"
    assert useful(rows) == [(("Param", "Param: 0x0D"), ("Result", "depth")), (("Value", "name"), ("Length", "3"))]
