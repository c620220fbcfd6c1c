"""Numbers in the cells of spreadsheets: written as the cell shows them, with their currency, unit or per cent sign."""

import pytest
import xlsxwriter
from banyan.text.quantities import parse_number

from ...loading import only

pytestmark = pytest.mark.usefixtures("shared_reading")


@pytest.fixture
def shown(tmp_path):
    def write(*cells):
        with xlsxwriter.Workbook(tmp_path / "a.xlsx") as workbook:
            sheet = workbook.add_worksheet("Offers")
            sheet.write_row(0, 0, ["Offer", "Amount", "Seller"])
            for row, (value, number_format) in enumerate(cells, 1):
                sheet.write(row, 0, f"Offer {'ABCDEFGHIJKLM'[row]}")
                sheet.write(row, 1, value, workbook.add_format({"num_format": number_format}))
                sheet.write(row, 2, "Ada")
        lines = only(tmp_path / "a.xlsx").text.split("\n")
        return [line.split("Amount: ")[1].split(" | ")[0] for line in lines]

    return write


@pytest.mark.parametrize(("cells", "texts"), [
    ([(0.125, "0.0%"), (0.07, "0%"), (0.1 + 0.2, 10), (-0.5, "0%;[Red]-0%"), (1200, '#,##0.00\\ "€"'),
      (-900, '"$"#,##0_);[Red]("$"#,##0)'), (150000, "[$¥-411]#,##0"),
      (0, '_-[$£-809]* #,##0.00_-;-[$£-809]* #,##0.00_-;_-[$£-809]* "-"??_-;_-@_-'), (5, "[$CHF] #,##0")],
     ["12.5%", "7%", "30%", "-50%", "1200 €", "-$900", "¥150000", "£0", "CHF 5"]),
    # Units, codes and scales keep the whole number.
    ([(12.5, 'General" kg"'), (1234, "00000"), (12, '"INV-"0000'), (1234567, '0.0,,"M"'), (1234567, '"$"0.0,,"M"'),
      (1.125, '0.000 "€"'), (-4, '0" Cr";0" Dr"')],
     ["12.5 kg", "01234", "INV-0012", "1234567", "$1234567", "1.1250 €", "-4"]),
    # What adds nothing or depends on conditions changes no number.
    ([(3.14159, "0.00"), (1e6, "#,##0"), (0.5, "[<1]0%;0"), (0.5, "# ?/?"), (3, "@"), (2, "0.00E+00")],
     ["3.14159", "1000000", "0.5", "0.5", "3", "2"])])
def test_numbers_are_written_as_the_cell_shows_them(shown, cells, texts):
    assert shown(*cells) == texts


@pytest.mark.parametrize(("value", "number_format", "normal"), [
    (0.125, "0.0%", "12.5 %"), (1234.5, '#,##0.00\\ "€"', "1234.5 EUR"), (1234.5, '"$"#,##0.00', "1234.5 USD"),
    (-5, '#,##0 "€"', "-5 EUR"), (1.125, '0.000 "€"', "1.125 EUR")])
def test_written_amounts_are_read_as_numbers_with_their_unit(shown, value, number_format, normal):
    assert parse_number(*shown((value, number_format))) == normal


def test_each_sheet_has_the_formats_of_its_own_cells(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as workbook:
        percent = workbook.add_format({"num_format": "0%"})
        for name, formats in (("Plan", (percent, None)), ("Done", (None, percent))):
            sheet = workbook.add_worksheet(name)
            sheet.write_row(3, 2, ["Task", "Share"])
            for row, number_format in enumerate(formats, 4):
                sheet.write(row, 2, ("Roof", "Wall")[row - 4])
                sheet.write(row, 3, 0.5, number_format)
    assert only(tmp_path / "a.xlsx").text == (
        "# Plan\n\n| Task: Roof | Share: 50% |\n| Task: Wall | Share: 0.5 |\n\n"
        "# Done\n\n| Task: Roof | Share: 0.5 |\n| Task: Wall | Share: 50% |")
