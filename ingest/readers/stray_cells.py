"""Leave out the cells of a workbook (xlsx) that lie far from all others: its reader makes every cell up to the last."""

import re
import zipfile
from collections.abc import Iterable
from itertools import pairwise
from xml.etree.ElementTree import Element

from .archives import local_name, parse_xml, replace_parts
from .cell_formats import column_number

_SHEET = re.compile(r"xl/worksheets/sheet\d*+\.xml")
_REFERENCE = re.compile(rb'<(?:x:)?c r="([A-Z]{1,3})([0-9]{1,7})"')
_WIDE, _HIGH = 100, 10_000
"""Empty columns or rows between a stray cell and the others."""


def without_stray_cells(data: bytes, archive: zipfile.ZipFile, most_columns: int, most_cells: int) -> tuple[bytes, int]:
    """Return a workbook without its stray cells, and their number; as it is, if no sheet is too large to be read."""
    sheets: dict[str, Element] = {}
    left_out = 0
    for name in filter(_SHEET.fullmatch, archive.namelist()):
        letters_used, rows_used = set[bytes](), set[bytes]()
        for found in _REFERENCE.finditer(archive.read(name)):
            letters_used.add(found[1])
            rows_used.add(found[2])
        columns, rows = {column_number(letters.decode()) for letters in letters_used}, set(map(int, rows_used))
        if columns and (max(columns) > most_columns or max(columns) * max(rows) > most_cells):
            sheets[name], count = _cut(archive, name, _last_before_gap(columns, _WIDE), _last_before_gap(rows, _HIGH))
            left_out += count
    return (replace_parts(archive, sheets), left_out) if left_out else (data, 0)


def _last_before_gap(used: Iterable[int], gap: int) -> int:
    ordered = sorted(used)
    return next((before for before, after in pairwise(ordered) if after - before > gap), ordered[-1])


def _cut(archive: zipfile.ZipFile, name: str, last_column: int, last_row: int) -> tuple[Element, int]:
    """Return a sheet's XML without the cells behind a column or row, and the number of these cells."""
    root, count = parse_xml(archive, name), 0
    for row in root.iter():
        for cell in list(row) if local_name(row) == "row" else ():
            reference = cell.get("r", "")
            letters = reference.rstrip("0123456789")
            if column_number(letters) > last_column or int(reference[len(letters):] or 0) > last_row:
                row.remove(cell)
                count += 1
    return root, count
