"""Leave out the cells of a workbook (xlsx) that lie far from all others: its reader makes every cell up to the last."""

import re
import zipfile
from collections.abc import Iterable
from io import BytesIO
from itertools import pairwise
from xml.etree.ElementTree import tostring

from .archives import local_name, parse_xml

_SHEET = re.compile(r"xl/worksheets/sheet\d*+\.xml")
_REFERENCE = re.compile(rb'<(?:x:)?c r="([A-Z]{1,3})([0-9]{1,7})"')
_WIDE, _HIGH = 100, 10_000
"""Empty columns or rows between a stray cell and the others."""


def without_stray_cells(data: bytes, archive: zipfile.ZipFile, most_columns: int, most_cells: int) -> tuple[bytes, int]:
    """Return a workbook without its stray cells, and their number; as it is, if no sheet is too large to be read."""
    sheets: dict[str, bytes] = {}
    left_out = 0
    for name in filter(_SHEET.fullmatch, archive.namelist()):
        found = _REFERENCE.findall(archive.read(name))
        columns, rows = {_column(letters) for letters, _ in found}, {int(row) for _, row in found}
        if found and (max(columns) > most_columns or max(columns) * max(rows) > most_cells):
            sheets[name], count = _cut(archive, name, _last_before_gap(columns, _WIDE), _last_before_gap(rows, _HIGH))
            left_out += count
    return (_rewrite(archive, sheets), left_out) if left_out else (data, 0)


def _column(letters: bytes) -> int:
    """Return a column's number, from 1."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def _last_before_gap(used: Iterable[int], gap: int) -> int:
    ordered = sorted(used)
    return next((before for before, after in pairwise(ordered) if after - before > gap), ordered[-1])


def _cut(archive: zipfile.ZipFile, name: str, last_column: int, last_row: int) -> tuple[bytes, int]:
    """Return a sheet's XML without the cells behind a column or row, and the number of these cells."""
    root, count = parse_xml(archive, name), 0
    for row in root.iter():
        for cell in list(row) if local_name(row) == "row" else ():
            reference = cell.get("r", "")
            letters = reference.rstrip("0123456789")
            if _column(letters.encode()) > last_column or int(reference[len(letters):] or 0) > last_row:
                row.remove(cell)
                count += 1
    return tostring(root), count


def _rewrite(archive: zipfile.ZipFile, parts: dict[str, bytes]) -> bytes:
    written = BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as copy:
        for name in archive.namelist():
            copy.writestr(name, parts.get(name) or archive.read(name))
    return written.getvalue()
