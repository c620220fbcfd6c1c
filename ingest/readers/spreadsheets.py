"""Spreadsheets (xlsx, xls, ods): each sheet with its tables."""

import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from io import BytesIO
from itertools import pairwise
from xml.etree.ElementTree import Element

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetVisibleEnum

from ..reading import Content, Limits, UnreadableError, list_counts
from ..sheet_tables import SheetRow, sheet_lines, split_blocks
from .archives import (
    PASSWORD,
    ZIP_MARK,
    count_new_charts,
    local_name,
    not_of_kind,
    open_archive,
    parse_xml,
    properties,
    replace_parts,
)
from .cell_formats import SheetFormats, column_number

_OLD_COMMENTS = re.compile(r"xl/comments\d*\.xml")
_DRAWING = re.compile(r"xl/drawings/drawing\d*\.xml")
_CHART = re.compile(r"xl/charts/chart\d*\.xml")
_SHEET = re.compile(r"xl/worksheets/sheet\d*+\.xml")
_REFERENCE = re.compile(rb'<(?:x:)?c r="([A-Z]{1,3})([0-9]{1,7})"')
_WIDE, _HIGH = 100, 10_000
"""Empty columns or rows between a cell that lies far from all others and these."""
_UNCALCULATED = re.compile(rb"</f>(?:<v ?/>)?</c>")
"""A formula without a value: a program wrote it, and no spreadsheet calculated it."""
_MOST_CELLS = 20_000_000  # the most cells of a sheet: a sheet declares its size, and all its cells are allocated


def read_spreadsheet(data: bytes, limits: Limits) -> Content:
    """Read the non-empty sheets with their stored values; a merged cell's value is in each of its places.

    Numbers are written as their cells show them (see `cell_formats`), except in the old format xls.
    """
    if not data.startswith(ZIP_MARK):
        return _read_sheets(data, None, limits)
    with open_archive(data, "a spreadsheet", limits) as archive:
        return _read_sheets(data, archive, limits)


def _read_sheets(data: bytes, archive: zipfile.ZipFile | None, limits: Limits) -> Content:
    problems = list[str]()
    if archive:
        data, stray = _without_stray_cells(data, archive, limits.table_columns)
        if stray:
            problems.append(f"{list_counts({'cell': stray})} far from all others: move what is there to the table")
    try:
        workbook = CalamineWorkbook.from_filelike(BytesIO(data))
    except CalamineError as error:
        raise UnreadableError(PASSWORD) if "password" in str(error).lower() else (
            not_of_kind(data, "a spreadsheet", str(error))) from error
    about = properties(archive) if archive else {}
    notes = [*_notes(archive)] if archive else []
    formats = SheetFormats(archive) if archive else None
    title = about.pop("title", "")
    sheets: list[tuple[str, str]] = []
    hidden = Counter[str]()
    for name, about_sheet in zip(workbook.sheet_names, workbook.sheets_metadata, strict=True):
        if about_sheet.visible != SheetVisibleEnum.Visible:
            hidden["hidden sheet"] += 1
            continue
        try:
            text = "\n".join(_lines(workbook.get_sheet_by_name(name), formats, title or name, limits, hidden))
        except UnreadableError as error:
            problems.append(f"the sheet {name!r}: {error}")
            continue
        if text:
            sheets.append((name, text))
    if problems and not sheets:
        raise UnreadableError("; ".join(problems))
    sheets += [("Comments", "\n".join(notes))] if notes else []
    alone = len(sheets) == 1
    return Content("\n\n".join(text if alone else f"# {name}\n\n{text}" for name, text in sheets), title, about,
                   unread="; ".join(problems),
                   omitted=list_counts({**_count_unread(archive), **hidden}) if archive else
                   ", ".join(filter(None, ["number formats, such as per cent", list_counts(hidden)])))


def _without_stray_cells(data: bytes, archive: zipfile.ZipFile, most_columns: int) -> tuple[bytes, int]:
    """Return a workbook without the cells far from all others, and their number, if a sheet is too large to be read."""
    sheets: dict[str, Element] = {}
    left_out = 0
    for name in filter(_SHEET.fullmatch, archive.namelist()):
        references = set(_REFERENCE.findall(archive.read(name)))
        columns = {column_number(letters.decode()) for letters, _ in references}
        rows = {int(row) for _, row in references}
        if not columns or (max(columns) <= most_columns and max(columns) * max(rows) <= _MOST_CELLS):
            continue
        last_column, last_row = _last_before_gap(columns, _WIDE), _last_before_gap(rows, _HIGH)
        sheets[name] = parse_xml(archive, name)
        for row in (element for element in sheets[name].iter() if local_name(element) == "row"):
            for cell in list(row):
                reference = cell.get("r", "")
                letters = reference.rstrip("0123456789")
                if column_number(letters) > last_column or int(reference[len(letters):] or 0) > last_row:
                    row.remove(cell)
                    left_out += 1
    return (replace_parts(archive, sheets), left_out) if left_out else (data, 0)


def _last_before_gap(used: Iterable[int], gap: int) -> int:
    ordered = sorted(used)
    return next((before for before, after in pairwise(ordered) if after - before > gap), ordered[-1])


def _notes(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the comments on cells and the texts of boxes."""
    names = archive.namelist()
    threads = [name for name in names if name.startswith("xl/threadedComments/")]
    for name in sorted(threads or (name for name in names if _OLD_COMMENTS.fullmatch(name))):
        for element in parse_xml(archive, name).iter():
            text = "".join(part.text or "" for part in element.iter() if local_name(part) in {"t", "text"})
            if element.get("ref") and text.strip():
                yield f"Comment on cell {element.get('ref')}: {' '.join(text.split())}"
    for name in sorted(filter(_DRAWING.fullmatch, names)):
        for box in parse_xml(archive, name).iter():
            text = " ".join(part.text or "" for part in box.iter() if local_name(part) == "t")
            if local_name(box) == "txBody" and text.strip():
                yield f"Text box: {' '.join(text.split())}"


def _count_unread(archive: zipfile.ZipFile) -> dict[str, int]:
    """Return how many things of each kind in a spreadsheet are not read; the numbers of a chart are in cells, too."""
    names = archive.namelist()
    return {"picture": sum(1 for name in names if name.startswith(("xl/media/", "Pictures/"))),
            "chart": sum(1 for name in names if _CHART.fullmatch(name)) + count_new_charts(archive),
            "embedded file": sum(1 for name in names if name.startswith("xl/embeddings/")),
            "uncalculated formula": sum(len(_UNCALCULATED.findall(archive.read(name))) for name in names
                                        if _SHEET.fullmatch(name)),
            "comment": archive.read("content.xml").count(b"<office:annotation ") if "content.xml" in names else 0}


def _lines(sheet: CalamineSheet, formats: SheetFormats | None, title: str, limits: Limits,
           hidden: Counter[str]) -> Iterator[str]:
    """Yield the lines of the tables of a sheet; `hidden` counts the rows and columns that are not shown."""
    height, width = (last + 1 for last in sheet.end or (-1, -1))
    if width > limits.table_columns or height * width > _MOST_CELLS:
        raise UnreadableError(f"a sheet of {width:,} columns and {height:,} rows, at most "
                              f"{limits.table_columns:,} columns and {_MOST_CELLS:,} cells are read: split it")
    values = sheet.to_python(skip_empty_area=False)
    raised = formats.raised if formats else {}
    rows = [[raised.get(value, value) if isinstance(value, str) else _text(value) for value in row] for row in values]
    for at, column, known in formats.cells(sheet.name) if formats else ():
        value = values[at][column] if at < len(values) and column < len(values[at]) else None
        if isinstance(value, float):
            rows[at][column] = known.write(value)
    merged: dict[tuple[int, int], int] = {}
    for number, ((top, left), (bottom, right)) in enumerate(sheet.merged_cell_ranges or ()):
        for at, row in enumerate(rows[top : bottom + 1], top):
            row[left : right + 1] = [rows[top][left]] * len(row[left : right + 1])
            merged |= {(at, column): number for column in range(left, right + 1)}
    hidden_rows, hidden_columns = formats.hidden(sheet.name) if formats else (set[int](), set[int]())
    filled = {at for row in rows for at, text in enumerate(row) if text}
    hidden["hidden row"] += sum(any(row) for at, row in enumerate(rows) if at in hidden_rows)
    hidden["hidden column"] += len(filled & hidden_columns)
    places = [at for at in range(width) if at not in hidden_columns]
    shown_at = {place: at for at, place in enumerate(places)}
    merged = {(at, shown_at[place]): number for (at, place), number in merged.items() if place in shown_at}
    shown = (SheetRow(at, [row[place] for place in places]) for at, row in enumerate(rows) if at not in hidden_rows)
    yield from sheet_lines([*split_blocks(shown)], title, merged)


def _text(value: object) -> str:
    """Return a cell's value as text: whole numbers without a point, dates in ISO form without an empty time."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    return value.isoformat() if isinstance(value, date | time) else str(value)
