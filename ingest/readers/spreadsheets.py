"""Spreadsheets (xlsx, xls, ods): each sheet with its tables."""

import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from io import BytesIO

from python_calamine import CalamineSheet, CalamineWorkbook

from ..content import Content
from ..reading_errors import UnreadableError
from ..reading_limits import Limits
from ..sheet_tables import SheetRow, sheet_lines, split_blocks
from .archives import open_archive, properties

_MOST_CELLS = 20_000_000
"""The most cells of a sheet: a sheet declares its size, and all its cells are allocated."""


def read_spreadsheet(data: bytes, limits: Limits) -> Content:
    """Read the non-empty sheets with their stored values; a merged cell's value is in each of its places.

    Raises:
        UnreadableError: the file is too large.
    """
    about: dict[str, str] = {}
    if zipfile.is_zipfile(BytesIO(data)):
        with open_archive(data, "a spreadsheet", limits) as archive:
            about = properties(archive)
    workbook = CalamineWorkbook.from_filelike(BytesIO(data))
    title = about.pop("title", "")
    sheets: list[tuple[str, str]] = []
    for name in workbook.sheet_names:
        text = "\n".join(_lines(workbook.get_sheet_by_name(name), title or name, limits))
        if text:
            sheets.append((name, text))
    alone = len(sheets) == 1
    return Content("\n\n".join(text if alone else f"# {name}\n\n{text}" for name, text in sheets), title, about)


def _lines(sheet: CalamineSheet, title: str, limits: Limits) -> Iterator[str]:
    height, width = (last + 1 for last in sheet.end or (-1, -1))
    if width > limits.table_columns or height * width > _MOST_CELLS:
        raise UnreadableError(f"a sheet of {width:,} columns and {height:,} rows, at most "
                              f"{limits.table_columns:,} columns and {_MOST_CELLS:,} cells are read: split it")
    rows = [[_text(value) for value in row] for row in sheet.to_python(skip_empty_area=False)]
    merged: dict[tuple[int, int], int] = {}
    for number, ((top, left), (bottom, right)) in enumerate(sheet.merged_cell_ranges or ()):
        for at, row in enumerate(rows[top : bottom + 1], top):
            row[left : right + 1] = [rows[top][left]] * len(row[left : right + 1])
            merged |= {(at, column): number for column in range(left, right + 1)}
    yield from sheet_lines(split_blocks([SheetRow(at, row) for at, row in enumerate(rows)]), title, merged)


def _text(value: object) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    return value.isoformat() if isinstance(value, date | time) else str(value)
