"""Spreadsheets (xlsx, xls, ods): each sheet with its tables, and each number as its cell shows it.

calamine reads neither formats nor which rows are hidden, so these are read from the archive itself.
"""

import re
import zipfile
from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from functools import reduce
from io import BytesIO
from typing import NamedTuple
from xml.etree import ElementTree as ET  # see `archives`

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetVisibleEnum

from ..grids import GridCell, sheet_lines
from ..reading import END, RAISED, Content, Limits, UnreadableError, list_counts, write_raised
from . import archives
from .archives import PASSWORD, local_name, open_archive, parse_xml

_WORKBOOK, _WORKBOOK_LINKS, _STYLES = "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/styles.xml"
_STRINGS = "xl/sharedStrings.xml"
_COMMENTS = ((re.compile(r"xl/comments\d*\.xml"), b"<comment "), (re.compile(r"content\.xml"), b"<office:annotation "))
"""The parts of a file with comments, and the mark at the beginning of each; the second is of OpenDocument files."""
_DRAWING = re.compile(r"xl/drawings/drawing\d*\.xml")
_CHART = re.compile(r"xl/charts/chart\d*\.xml")
_SHEET = re.compile(r"xl/worksheets/sheet\d*+\.xml")
_REFERENCE = re.compile(rb'<(?:x:)?c r="([A-Z]{1,3}[0-9]{1,7})"')
_PLACE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_UNCALCULATED = re.compile(rb"</f>(?:<v ?/>)?</c>")  # a formula that no spreadsheet has calculated
_MOST_CELLS = 20_000_000  # the most cells of a sheet: a sheet declares its size, and all its cells are allocated
_MOST_COLUMNS = 16_384  # that a sheet of Excel has; a file may declare any number to be hidden
_PERCENT_FORMATS = {9: "0%", 10: "0.00%"}
"""The built-in formats of percentages. Those of currencies show the currency of the reader's machine."""
_TOKEN = re.compile(r'"(?P<quoted>[^"]{0,99})"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]{0,9})(?:-[^\]]{0,19})?\]|'
                    r"\[(?P<rule>[^\]]{0,19})\]|[_*].|(?P<figures>General|[0#?.,/]+(?:E[+-][0#?]+)?)|(?P<other>.)",
                    re.IGNORECASE | re.DOTALL)
_SECTIONS = re.compile(r'((?:"[^"]*"|\\.|[^";\\])*)(?:;|$)', re.DOTALL)
_CODE = re.compile("0{2,}")  # figures of a number with leading zeros, such as a postal code
_SCALED = re.compile(r"[0#?],+(?:\.|$)")  # each comma behind the figures divides the number by a thousand
_SIGN = re.compile("[$¢-¥֏؋৲৳฿៛₠-⃀﷼﹩＄￠￡￥￦%‰°]")  # of a currency or a unit
_THOUSANDTHS = re.compile(r"[1-9]\d{0,2}\.\d{3}")


def read_spreadsheet(data: bytes, limits: Limits) -> Content:
    """Read the non-empty sheets with their stored values; a merged cell's value is in each of its places."""
    is_archive = data.startswith(archives.ZIP_MARK)
    no_parts = zipfile.ZipFile(BytesIO(), "w")  # those of an xls file, which is no archive
    with open_archive(data, "a spreadsheet", limits) if is_archive else no_parts as archive:
        return _read_sheets(data, archive, limits)


def _read_sheets(data: bytes, archive: zipfile.ZipFile, limits: Limits) -> Content:
    """Read the sheets of a workbook; raise UnreadableError only if one cannot be read and no other has text."""
    problems = list[str]()
    data, far = _without_far_cells(data, archive, limits.table_columns)
    if far:
        problems.append(f"{list_counts({'cell': far})} beyond {limits.table_columns:,} columns and {_MOST_CELLS:,} "
                        "places of a sheet: move what is there, or split it")
    try:
        workbook = CalamineWorkbook.from_filelike(BytesIO(data))
    except CalamineError as error:
        if "password" in str(error).lower():
            raise UnreadableError(PASSWORD) from error
        raise archives.not_of_kind(data, "a spreadsheet", str(error)) from error
    about, look, parts = archives.properties(archive), _Look(archive), _parts_of_sheets(archive)
    title, texts, left_out = about.pop("title", ""), dict[str, str](), Counter(_count_unread(archive))
    for name, about_sheet in zip(workbook.sheet_names, workbook.sheets_metadata, strict=True):
        if about_sheet.visible != SheetVisibleEnum.Visible:
            left_out["hidden sheet"] += 1
            continue
        look.read_sheet(parts.get(name, ""))
        try:
            rows = _shown_rows(workbook.get_sheet_by_name(name), look, limits, left_out)
            text = "\n".join(sheet_lines(rows, title or name))
        except UnreadableError as error:
            problems.append(f"the sheet {name!r}: {error}")
            continue
        if text:
            texts[name] = text
    if problems and not texts:
        raise UnreadableError("; ".join(problems))
    text = "\n\n".join(f"# {name}\n\n{text}" for name, text in texts.items())
    unread_formats = "" if _WORKBOOK in archive.namelist() else "number formats, such as per cent"  # only xlsx has it
    return Content(text if len(texts) > 1 else "".join(texts.values()), title, about, unread="; ".join(problems),
                   omitted=", ".join(filter(None, [unread_formats, list_counts(left_out)])))


def _without_far_cells(data: bytes, archive: zipfile.ZipFile, most_columns: int) -> tuple[bytes, int]:
    """Return a workbook without the cells beyond the columns and rows that are read of a sheet, and their number."""
    sheets: dict[str, ET.Element] = {}
    left_out = 0
    for name in filter(_SHEET.fullmatch, archive.namelist()):
        places = [_read_place(reference.decode()) for reference in set(_REFERENCE.findall(archive.read(name)))]
        width = max((column for _, column in places if column <= most_columns), default=1)
        last_row = _MOST_CELLS // width  # with which the sheet has no more cells than allowed
        if all(row <= last_row and column <= most_columns for row, column in places):
            continue
        sheets[name] = parse_xml(archive, name)
        for row_of_cells in sheets[name].iterfind(".//{*}row"):
            for cell in list(row_of_cells):
                row, column = _read_place(cell.get("r", ""))
                if row > last_row or column > most_columns:
                    row_of_cells.remove(cell)
                    left_out += 1
    return (archives.replace_parts(archive, sheets), left_out) if left_out else (data, 0)


def _parts_of_sheets(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the names of the parts of the file with the sheets, by the sheets' names."""
    if _WORKBOOK not in archive.namelist():
        return {}
    targets = {link.get("Id"): link.get("Target", "") for link in parse_xml(archive, _WORKBOOK_LINKS)}
    parts: dict[str, str] = {}
    for sheet in parse_xml(archive, _WORKBOOK).iterfind(".//{*}sheet"):
        link_id = next((value for name, value in sheet.attrib.items() if name.endswith("}id")), "")
        target = targets.get(link_id, "")
        parts[sheet.get("name", "")] = target[1:] if target.startswith("/") else f"xl/{target}"
    return parts


def _count_unread(archive: zipfile.ZipFile) -> dict[str, int]:
    """Return how many things of each kind in a spreadsheet are not read; the numbers of a chart are in cells, too."""
    names = archive.namelist()
    return {"picture": sum(name.startswith(("xl/media/", "Pictures/")) for name in names),
            "chart": sum(_CHART.fullmatch(name) is not None for name in names) + archives.count_new_charts(archive),
            "embedded file": sum(name.startswith("xl/embeddings/") for name in names),
            "uncalculated formula": sum(len(_UNCALCULATED.findall(archive.read(name))) for name in names
                                        if _SHEET.fullmatch(name)),
            "comment": sum(archive.read(name).count(mark) for name in names
                           for part, mark in _COMMENTS if part.fullmatch(name)),
            "text box": sum(archive.read(name).count(b":txBody>") // 2 for name in names if _DRAWING.fullmatch(name))}


def _shown_rows(sheet: CalamineSheet, look: "_Look", limits: Limits, left_out: Counter[str]) -> list[list[str]]:
    """Return the rows of a sheet that are shown; `left_out` counts the rows and columns that are not."""
    last_row, last_column = sheet.end or (-1, -1)  # None for an empty sheet
    height, width = last_row + 1, last_column + 1
    if width > limits.table_columns or height * width > _MOST_CELLS:
        raise UnreadableError(f"a sheet of {width:,} columns and {height:,} rows, at most "
                              f"{limits.table_columns:,} columns and {_MOST_CELLS:,} cells are read: split it")
    values = sheet.to_python(skip_empty_area=False)
    rows = [[look.raised.get(value, value) if isinstance(value, str) else _text(value) for value in row]
            for row in values]
    for (at, column), cell_format in look.formats.items():
        value = values[at][column] if at < len(values) and column < len(values[at]) else None
        if isinstance(value, float):
            rows[at][column] = cell_format.write(value)
    for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
        if top < len(rows) and left < len(rows[top]):
            merged = GridCell(rows[top][left])
            for row in rows[top:bottom + 1]:
                row[left:right + 1] = [merged] * len(row[left:right + 1])
    left_out["hidden row"] += sum(any(row) for at, row in enumerate(rows) if at in look.hidden_rows)
    hidden_columns = look.hidden_columns.intersection(range(width))
    left_out["hidden column"] += sum(any(row[column] for row in rows) for column in hidden_columns)
    shown_columns = [column for column in range(width) if column not in look.hidden_columns]
    return [[row[column] for column in shown_columns] for at, row in enumerate(rows) if at not in look.hidden_rows]


def _text(value: object) -> str:
    """Return a cell's value as text: whole numbers without a point, dates in ISO form without an empty time."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    return value.isoformat() if isinstance(value, date | time) else str(value)


class CellFormat(NamedTuple):
    """How a cell shows a number: the words around it, whether it is in per cent, and the fewest figures."""

    before: str = ""
    after: str = ""
    is_percent: bool = False
    figures: int = 0

    def write(self, value: float) -> str:
        """Return a number as the cell shows it, such as "12.5%" or "-$1200", in plain figures."""
        amount = abs(Decimal(f"{value:.15g}"))  # the figures that spreadsheets keep
        text = format(100 * amount if self.is_percent else amount, "f")
        text = (text.rstrip("0").rstrip(".") if "." in text else text).zfill(self.figures)
        # Three decimals of an amount could be read as thousands: "1.125 €".
        text += "0" if (self.before or self.after) and _THOUSANDTHS.fullmatch(text) else ""
        return f"{'-' if value < 0 else ''}{self.before}{text}{self.after}"


def _parse_format(code: str) -> CellFormat | None:
    """Parse a format such as `#,##0.00 "€"`; return None if it adds nothing to a number, or not to every number.

    Of its sections the first is for numbers from zero on, the second, if there is one, for those below, and the third
    for zero alone, whose conditions count, but not its words; a fourth is for texts. An empty section, which hides its
    numbers, adds nothing and is passed over.
    """
    sections = [_parse_section(section) for section in _SECTIONS.findall(code)[:3] if section]
    if not sections or None in sections:
        return None
    from_zero, below_zero = sections[0], sections[min(1, len(sections) - 1)]
    return from_zero if from_zero == below_zero != CellFormat() else None


def _parse_section(section: str) -> CellFormat | None:
    """Return what a section of a format adds to a number; None if it holds on a condition, or is a date."""
    before, after, figures, is_percent = "", "", "", False
    for token in _TOKEN.finditer(section):
        is_condition = token["rule"] and token["rule"][0] in "<>="
        if is_condition or (token["other"] or "").isalpha():  # a letter is a part of a date
            return None
        figures += token["figures"] or ""
        is_percent = is_percent or token["other"] == "%"
        word = next(filter(None, token.group("quoted", "escaped", "currency", "other")), "")
        if figures:
            after += word
        else:
            before += word
    # Signs and brackets of negative numbers are no words: `CellFormat.write` puts the sign in front.
    before, after = _words_around(before.lstrip(" -+(")), _words_around(after.rstrip(" -)"))
    if _SCALED.search(figures) and not _SIGN.search(after):  # the number is written in full, without "M" or "k"
        after = ""
    return CellFormat(before, after, is_percent, len(figures) if _CODE.fullmatch(figures) else 0)


def _words_around(text: str) -> str:
    """Return the text around a number, or "" if it has neither letters nor the sign of a unit or a currency."""
    return text.replace("\xa0", " ") if any(map(str.isalpha, text)) or _SIGN.search(text) else ""


class _Look:
    """How a workbook shows its cells: raised figures, and the formats and hidden parts of one sheet at a time."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.raised: dict[str, str] = {}  # texts with raised figures, as `write_raised` writes them, by the plain ones
        self.formats: dict[tuple[int, int], CellFormat] = {}  # by row and column, all counted from 0
        self.hidden_rows, self.hidden_columns = set[int](), set[int]()
        self._formats_by_style: dict[str, CellFormat] = {}  # those that change how a number is shown
        if _STYLES in archive.namelist():
            styles = parse_xml(archive, _STYLES)
            codes = _PERCENT_FORMATS | {int(element.get("numFmtId", "0")): element.get("formatCode", "")
                                        for element in styles.iterfind(".//{*}numFmt")}
            for number, style in enumerate(styles.iterfind("{*}cellXfs/*")):
                if parsed := _parse_format(codes.get(int(style.get("numFmtId", "0")), "")):
                    self._formats_by_style[str(number)] = parsed
        if _STRINGS in archive.namelist() and b"superscript" in archive.read(_STRINGS):
            for text in parse_xml(archive, _STRINGS):
                words = marked = ""
                for run in text.iterfind("{*}r"):
                    run_words = "".join(part.text or "" for part in run.iterfind("{*}t"))
                    is_raised = any(part.get("val") == "superscript" for part in run.iterfind(".//{*}vertAlign"))
                    words += run_words
                    marked += f"{RAISED}{run_words}{END}" if is_raised else run_words
                self.raised[words] = write_raised(marked)

    def read_sheet(self, part: str) -> None:
        """Read the look of the sheet in a part of the file; the part is only parsed if it may show something."""
        self.formats, self.hidden_rows, self.hidden_columns = {}, set(), set()
        if part not in self._archive.namelist() or not (
                self._formats_by_style or b"hidden=" in self._archive.read(part)):
            return
        with self._archive.open(part) as stream:
            for event, element in ET.iterparse(stream, ("start", "end")):  # noqa: S314
                if event == "end":
                    element.clear()  # a sheet has an element for each of its cells
                else:
                    self._note_element(local_name(element), element.attrib)

    def _note_element(self, name: str, about: Mapping[str, str]) -> None:
        """Note the format of a cell, or that a row or columns are hidden."""
        is_hidden = about.get("hidden") in {"1", "true"}
        if name == "c" and about.get("s", "0") in self._formats_by_style:
            row, column = _read_place(about.get("r", ""))
            if row:  # the cell says where it is
                self.formats[row - 1, column - 1] = self._formats_by_style[about.get("s", "0")]
        elif name == "row" and is_hidden and about.get("r"):
            self.hidden_rows.add(int(about["r"]) - 1)
        elif name == "col" and is_hidden:
            self.hidden_columns.update(range(int(about["min"]) - 1, min(int(about["max"]), _MOST_COLUMNS)))


def _read_place(reference: str) -> tuple[int, int]:
    """Return the row and the column, from 1, of a place such as "AB12"; (0, 0) for any other text."""
    place = _PLACE.fullmatch(reference)
    letters, row = place.groups() if place else ("", "0")
    return int(row), reduce(lambda number, letter: 26 * number + ord(letter) - ord("@"), letters, 0)
