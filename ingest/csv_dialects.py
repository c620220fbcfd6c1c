"""How a CSV file is written: its delimiter, and the lines before its rows."""

import csv
from collections.abc import Iterator
from io import StringIO
from itertools import groupby
from typing import NamedTuple

_DELIMITERS = ",;\t|"
SAMPLE = 64 * 1024
"""The characters of a file that decide on its dialect."""
_ROWS = 50
_DECLARED = "sep="


class Dialect(NamedTuple):
    """A file's delimiter, and the number of lines that only declare it (Excel writes `sep=;`)."""

    delimiter: str
    skipped: int = 0


def detect_dialect(begin: str) -> Dialect:
    """Return the dialect that splits the longest run of rows into equally many values.

    Args:
        begin: the beginning of a file, at most `SAMPLE` characters.
    """
    first = begin.partition("\n")[0]
    declared = first.strip().strip('"')
    if declared.lower().startswith(_DECLARED) and len(declared) == len(_DECLARED) + 1:
        return Dialect(declared[-1], 1)
    if first.strip().lower() == _DECLARED and first.rstrip("\r\n").endswith("\t"):
        return Dialect("\t", 1)
    lines = begin if len(begin) < SAMPLE else begin[:begin.rfind("\n") + 1] or begin
    return Dialect(max(_DELIMITERS, key=lambda delimiter: _fit(lines, delimiter)))


def _fit(text: str, delimiter: str) -> tuple[int, int]:
    """Return the length of the longest run of rows with equally many values, more than one, and that number."""
    runs = ((sum(1 for _ in run), width) for width, run in groupby(_widths(text, delimiter)) if width > 1)
    return max(runs, default=(0, 0))


def _widths(text: str, delimiter: str) -> Iterator[int]:
    rows = csv.reader(StringIO(text, newline=""), strict=True, delimiter=delimiter)
    for _ in range(_ROWS):
        try:
            row = next(rows, None)
        except csv.Error:  # another dialect, or a quoted value that goes on after the sample
            return
        if row is None:
            return
        yield len(row)
