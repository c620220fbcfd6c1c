"""Number formats of spreadsheets: write a number as its cell shows it, with its currency, unit or per cent sign.

calamine reads the values of cells without their formats, so these are read from the archive itself. A number keeps all
its digits, however many its format shows.
"""

import re
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import reduce
from typing import NamedTuple
from xml.etree import ElementTree as ET  # see `archives`

from ..reading import END, RAISED, write_raised
from .archives import local_name, parse_xml

_PERCENT_FORMATS = {9: "0%", 10: "0.00%"}
"""The built-in formats of percentages. Those of currencies show the currency of the reader's machine."""
_TOKEN = re.compile(r'"(?P<quoted>[^"]{0,99})"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]{0,9})(?:-[^\]]{0,19})?\]|'
                    r"\[(?P<rule>[^\]]{0,19})\]|[_*].|(?P<figures>General|[0#?.,/]+(?:E[+-][0#?]+)?)|(?P<other>.)",
                    re.IGNORECASE | re.DOTALL)
_SECTIONS = re.compile(r'((?:"[^"]*"|\\.|[^";\\])*)(?:;|$)', re.DOTALL)
_CODE = re.compile("0{2,}")  # figures of a number with leading zeros, such as a postal code
_SCALED = re.compile(r"[0#?],+(?:\.|$)")  # each comma behind the figures divides the number by a thousand
_THOUSANDTHS = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_OF_UNITS = frozenset("%‰°")
_SIGNS = " -+("
_SHEETS, _SHEET_LINKS, _STYLES = "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/styles.xml"
_STRINGS = "xl/sharedStrings.xml"
_CONTENT = "content.xml"
_OPEN_DOCUMENT_PLACES = frozenset({"table", "table-row", "table-cell", "covered-table-cell"})
_MOST_COLUMNS = 16_384  # of a sheet
_COLUMN = re.compile("[A-Z]{1,3}")  # of a place such as "AB12"


class CellFormat(NamedTuple):
    """How a cell shows a number: the words around it, whether it is in per cent, and the fewest figures."""

    before: str = ""
    after: str = ""
    is_percent: bool = False
    figures: int = 0

    def write(self, value: float) -> str:
        """Return a number as the cell shows it, such as "12.5%" or "-$1200", in plain figures."""
        number = abs(Decimal(f"{value:.15g}")) * (100 if self.is_percent else 1)
        text = format(number, "f")
        text = (text.rstrip("0").rstrip(".") if "." in text else text).zfill(self.figures)
        # Three decimals of an amount could be read as thousands: "1.125 €".
        text += "0" if (self.before or self.after) and _THOUSANDTHS.fullmatch(text) else ""
        return f"{'-' if value < 0 else ''}{self.before}{text}{self.after}"


class NumberFormat(NamedTuple):
    """The formats for numbers above zero, below zero, and for zero."""

    positive: CellFormat
    negative: CellFormat
    zero: CellFormat

    def write(self, value: float) -> str:
        """Return a number as the cell shows it."""
        return (self.positive if value > 0 else self.negative if value < 0 else self.zero).write(value)


def parse_format(code: str) -> NumberFormat | None:
    """Parse a format such as `#,##0.00 "€"`; return None if it adds nothing to a number, or depends on conditions."""
    sections = [_parse_section(section) for section in _SECTIONS.findall(code)[:3] if section]
    if not sections or None in sections:
        return None
    read = [section for section in sections if section is not None]
    parsed = NumberFormat(read[0], read[1] if len(read) > 1 else read[0], read[0])
    return parsed if any(section != CellFormat() for section in parsed) else None


def _parse_section(section: str) -> CellFormat | None:
    """Return what a part of a format adds to a number; None if it holds on a condition, or is a date."""
    words, figures, is_percent = ["", ""], "", False
    for token in _TOKEN.finditer(section):
        is_condition = token["rule"] and token["rule"][0] in "<>="
        if is_condition or (token["other"] or "").isalpha():  # a letter is a part of a date
            return None
        if token["figures"]:
            figures += token["figures"]
        is_percent = is_percent or token["other"] == "%"
        words[bool(figures)] += next(filter(None, token.group("quoted", "escaped", "currency", "other")), "")
    before, after = _words_around(words[0].lstrip(_SIGNS)), _words_around(words[1].rstrip(" -)"))
    if _SCALED.search(figures) and not _has_sign(after):  # the number is written in full, without "M" or "k"
        after = ""
    return CellFormat(before, after, is_percent, len(figures) if _CODE.fullmatch(figures) else 0)


def _words_around(text: str) -> str:
    """Return the text around a number, or "" if it has neither letters nor the sign of a unit or a currency."""
    text = " ".join(text.split(" ")).replace("\xa0", " ")
    return text if any(map(str.isalpha, text)) or _has_sign(text) else ""


def _has_sign(text: str) -> bool:
    return any(unicodedata.category(letter) == "Sc" or letter in _OF_UNITS for letter in text)


class SheetFormats:
    """The number formats in the sheets of a workbook (xlsx or ods)."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        """Read which formats a workbook has; its sheets are only read if any of them changes how a number is shown."""
        self._archive, names = archive, set(archive.namelist())
        self._is_open_document = _CONTENT in names
        self._formats: dict[str, NumberFormat] = {}  # those that change how a number is shown, by the styles' numbers
        if _STYLES in names:
            root = parse_xml(archive, _STYLES)
            codes = _PERCENT_FORMATS | {int(element.get("numFmtId", "0")): element.get("formatCode", "")
                                        for element in root.iter() if local_name(element) == "numFmt"}
            cell_styles = next((list(element) for element in root if local_name(element) == "cellXfs"), [])
            parsed = {number: parse_format(code) for number, code in codes.items()}
            for at, style in enumerate(cell_styles):
                if (known := parsed.get(int(style.get("numFmtId", "0")))) is not None:
                    self._formats[str(at)] = known
        self.raised: Mapping[str, str] = _read_raised(archive) if _STRINGS in names else {}
        """The texts with raised figures as `write_raised` writes them, by these texts in one size."""
        self._parts: Mapping[str, str] = _parts_of_sheets(archive) if _SHEETS in names else {}

    def cells(self, sheet: str) -> Iterator[tuple[int, int, NumberFormat]]:
        """Yield row and column of each formatted cell of a sheet, counted from 0, with its format, in order."""
        if self._is_open_document:
            yield from _open_document_cells(self._archive, sheet)
        elif self._formats and self._parts.get(sheet) in self._archive.namelist():
            for row, column, style in _styled_cells(self._archive, self._parts[sheet]):
                if style in self._formats:
                    yield row, column, self._formats[style]

    def hidden(self, sheet: str) -> tuple[set[int], set[int]]:
        """Return the hidden rows and columns of a sheet, counted from 0."""
        rows, columns, part = set[int](), set[int](), self._parts.get(sheet, "")
        if part not in self._archive.namelist() or b"hidden=" not in self._archive.read(part):
            return rows, columns
        for name, about in _begun_elements(self._archive, part, frozenset({"row", "col"})):
            if about.get("hidden") in {"1", "true"} and name == "row" and about.get("r"):
                rows.add(int(about["r"]) - 1)
            elif about.get("hidden") in {"1", "true"} and name == "col":
                columns |= set(range(int(about["min"]) - 1, min(int(about["max"]), _MOST_COLUMNS)))
        return rows, columns


def _read_raised(archive: zipfile.ZipFile) -> dict[str, str]:
    if b"superscript" not in archive.read(_STRINGS):
        return {}
    raised: dict[str, str] = {}
    for text in parse_xml(archive, _STRINGS):
        words, marked = "", ""
        for run in (part for part in text if local_name(part) == "r"):
            run_words = "".join(part.text or "" for part in run if local_name(part) == "t")
            is_raised = any(part.get("val") == "superscript" for part in run.iter() if local_name(part) == "vertAlign")
            words += run_words
            marked += f"{RAISED}{run_words}{END}" if is_raised else run_words
        if marked != words:
            raised[words] = write_raised(marked)
    return raised


def _parts_of_sheets(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the names of the parts of the file with the sheets, by the sheets' names."""
    targets = {link.get("Id"): link.get("Target", "") for link in parse_xml(archive, _SHEET_LINKS)}
    parts: dict[str, str] = {}
    for sheet in parse_xml(archive, _SHEETS).iter():
        if local_name(sheet) == "sheet":
            link = next((value for name, value in sheet.attrib.items() if name.endswith("}id")), "")
            target = targets.get(link, "")
            parts[sheet.get("name", "")] = target[1:] if target.startswith("/") else f"xl/{target}"
    return parts


def column_number(letters: str) -> int:
    """Return the number of a column such as "AB", from 1."""
    return reduce(lambda number, letter: 26 * number + ord(letter) - ord("@"), letters, 0)


def _styled_cells(archive: zipfile.ZipFile, part: str) -> Iterator[tuple[int, int, str]]:
    """Yield row, column and style of each cell in a sheet; a row or cell may lack its own place."""
    row = column = -1
    for name, attributes in _begun_elements(archive, part, frozenset({"row", "c"})):
        if name == "row":
            row, column = int(attributes.get("r") or row + 2) - 1, -1
        else:
            letters = _COLUMN.match(attributes.get("r", ""))
            column = column_number(letters[0]) - 1 if letters else column + 1
            yield row, column, attributes.get("s", "0")


def _open_document_cells(archive: zipfile.ZipFile, sheet: str) -> Iterator[tuple[int, int, NumberFormat]]:
    """Yield the cells of a sheet of an OpenDocument file that are percentages or amounts of money."""
    row, after_row, column, current = 0, 0, 0, ""
    for name, cell in _begun_elements(archive, _CONTENT, _OPEN_DOCUMENT_PLACES):
        if name == "table":
            after_row, current = 0, cell.get("name", "")
        elif name == "table-row":
            row, column = after_row, 0
            after_row += int(cell.get("number-rows-repeated") or 1)
        else:
            begin, column = column, column + int(cell.get("number-columns-repeated") or 1)
            kind, currency = cell.get("value-type"), cell.get("currency")
            is_percent = kind == "percentage"
            if current == sheet and (is_percent or (kind == "currency" and currency)):
                shown = CellFormat(after="%" if is_percent else f" {currency}", is_percent=is_percent)
                yield from ((at, place, NumberFormat(shown, shown, shown)) for at in range(row, after_row)
                            for place in range(begin, column))


def _begun_elements(archive: zipfile.ZipFile, part: str,
                    wanted: frozenset[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name and the attributes of each wanted element of a part as it begins, without their namespaces."""
    with archive.open(part) as stream:
        for event, element in ET.iterparse(stream, ("start", "end")):  # noqa: S314
            if event == "end":
                element.clear()  # a sheet has an element for each of its cells
            elif (name := local_name(element)) in wanted:
                yield name, {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
