"""Several tables where one was assumed, in sheets and CSV files, and what a CSV file is written with."""


import pytest
import xlsxwriter

from ... import loading

pytestmark = pytest.mark.usefixtures("shared_reading")
PEOPLE = [["Employee", "Office", "Start"], ["Ada", "Ulm", 2011], ["Bo", "Bonn", 2014]]
PROJECTS = [["Project", "Lead", "Budget"], ["Alder", "Bo", 90_000], ["Birch", "Ada", 45_000]]
PEOPLE_ROWS = ["| Employee: Ada | Office: Ulm | Start: 2011 |", "| Employee: Bo | Office: Bonn | Start: 2014 |"]
PROJECT_ROWS = ["| Project: Alder | Lead: Bo | Budget: 90000 |", "| Project: Birch | Lead: Ada | Budget: 45000 |"]


@pytest.fixture
def read(tmp_path):
    def read_sheet(*placed, merged=(), name="plan.xlsx"):
        with xlsxwriter.Workbook(tmp_path / name) as workbook:
            sheet = workbook.add_worksheet()
            for row, column, cells in placed:
                sheet.write_row(row, column, cells)
            for place, text in merged:
                sheet.merge_range(place, text)
        (document,), failures = loading.load(tmp_path / name)
        assert failures == []
        return list(filter(None, document.text.split("\n")))

    return read_sheet


def _at(row, column, table):
    return [(row + number, column, cells) for number, cells in enumerate(table)]


def test_tables_below_each_other_have_their_own_headers(read):
    assert read(*_at(0, 0, PEOPLE), *_at(4, 0, PROJECTS)) == PEOPLE_ROWS + PROJECT_ROWS


def test_tables_beside_each_other_are_read_one_after_the_other(read):
    longer = [*PROJECTS, ["Cedar", "Ada", 7]]
    assert read(*_at(0, 0, PEOPLE), *_at(0, 4, longer)) == (
        [*PEOPLE_ROWS, *PROJECT_ROWS, "| Project: Cedar | Lead: Ada | Budget: 7 |"])


def test_a_blank_row_or_column_within_a_table_does_not_end_it(read):
    rows = [["Plant", "Height", "", "Shade"], ["Fern", 40, "", "full"], [], ["Oak", 2000, "", "none"]]
    assert read(*_at(0, 0, rows)) == ["| Plant: Fern | Height: 40 | Shade: full |",
                                      "| Plant: Oak | Height: 2000 | Shade: none |"]
    texts = [["Plant", "Soil"], ["Fern", "peat"], [], ["Oak", "loam"], ["Elm", "clay"]]
    assert read(*_at(0, 0, texts), name="b.xlsx") == [
        "| Plant: Fern | Soil: peat |", "| Plant: Oak | Soil: loam |", "| Plant: Elm | Soil: clay |"]


def test_each_table_has_its_title_and_a_repeated_header_is_no_row(read):
    titled = [["Staff"], *PEOPLE, [], ["Former staff"], PEOPLE[0], ["Cy", "Köln", 1999]]
    assert read(*_at(1, 1, titled)) == ["Staff", *PEOPLE_ROWS, "Former staff",
                                        "| Employee: Cy | Office: Köln | Start: 1999 |"]


CSV = {
    "bars": ("Name|City, Land|Age\nAda|Ulm, DE|3\nBo|Bonn, DE|4\n",
             ["| Name: Ada | City, Land: Ulm, DE | Age: 3 |", "| Name: Bo | City, Land: Bonn, DE | Age: 4 |"]),
    "title": ("Sales, by plant\n\nPlant;Price\nPeas;1,5\nBeans;2,5\n",
              ["Sales, by plant", "| Plant: Peas | Price: 1,5 |", "| Plant: Beans | Price: 2,5 |"]),
    "declared": ("sep=;\r\nName;City\r\nAda, Bo;Ulm\r\n", ["| Name: Ada, Bo | City: Ulm |"]),
    "quoted": ('"Name, first, last";"Age"\n"Ada, B., Roth";41\n', ["| Name, first, last: Ada, B., Roth | Age: 41 |"]),
    "several": ("\n\n".join("\n".join(",".join(map(str, row)) for row in table) for table in (PEOPLE, PROJECTS)),
                PEOPLE_ROWS + PROJECT_ROWS),
}


@pytest.mark.parametrize("kind", CSV)
def test_csv_files_of_any_dialect(tmp_path, kind):
    content, rows = CSV[kind]
    (document,), failures = loading.load(loading.write(tmp_path / "a.csv", content))
    assert failures == []
    assert list(filter(None, document.text.split("\n"))) == rows
