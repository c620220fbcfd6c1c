"""Rows of tables in a stored text: one line each, in which every cell repeats its column's header.

    | Product: X200 | Price: 499 USD | Weight: 1.2 kg |

A row therefore stays understandable wherever a chunk or a quote is cut, and contains the words that questions use.
The first cell names the row's subject. Only this module writes and parses such lines.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

LONGEST_LINE = 800  # the most characters in a line, so a chunk can hold it whole; a longer single cell is not cut
LONGEST_VALUE = 200  # the longest cell that is a value; a longer one is prose
DOCUMENT = "Document"  # header of the first cell in the row that describes the document itself
LIST_MARK = "; "  # between the items of a cell that is a list
SET_APART = re.compile(r"\s*(?:\||[-*+•]\s|\d+[.)]\s)")  # how a row of a table or an item begins
NUMBER_OF = r"(?<=\w)(?: (?:Number|No\.?|Nr\.?|#|Range|ID|Code)|编号|序号|号码)"
"""A regular expression for what a header of numbers adds to the noun for what is numbered: "Invoice Number"."""
_MARK = re.compile("[★☆⭐✓✔✗✘✅❌]")  # signs that answer by themselves: a rating, yes or no
_NUMBERED = "row"  # the header of the first cell in a row that no column names
_OPEN, _BETWEEN, _CLOSE, _COLON = "| ", " | ", " |", ": "


class Cell(NamedTuple):
    """A cell that is not empty."""

    header: str
    value: str


def numbered_cell(title: str, number: int) -> Cell:
    """Return the first cell of a row that no column names, such as "ballots row 7"."""
    return Cell(_NUMBERED, f"{title} {_NUMBERED} {number}".strip())


class Row(NamedTuple):
    """A line of a text, characters `start` to `end`, that is a row; the first cell names its subject."""

    start: int
    end: int
    cells: tuple[Cell, ...]

    @property
    def is_numbered(self) -> bool:
        """Whether no column names the row, so that its cells are facts of no entity."""
        header, name = self.cells[0]
        title, _, number = name.rpartition(f"{_NUMBERED} ")
        return header == _NUMBERED and number.isdecimal() and title[-1:] in {"", " "}


def states_something(value: str) -> bool:
    """Return True for a cell with letters, digits or a sign of `_MARK`; a dash alone says that there is no value."""
    return any(map(str.isalnum, value)) or _MARK.search(value) is not None


def row_lines(cells: Sequence[Cell]) -> Iterator[str]:
    """Write a row as one or more lines; each line repeats the first cell, which names the row's subject."""
    first, *others = [f"{_clean_text(header).replace(_COLON, ' ')}{_COLON}{_clean_text(value)}"
                      for header, value in cells]
    line = first
    for cell in others:  # however long a cell is, a line has at least one beside the first
        if line != first and len(line) + len(cell) > LONGEST_LINE:
            yield f"{_OPEN}{line}{_CLOSE}"
            line = first
        line = f"{line}{_BETWEEN}{cell}"
    yield f"{_OPEN}{line}{_CLOSE}"


def find_rows(text: str) -> Iterator[Row]:
    """Find the lines of a text that are rows, in order; every cell of a row has a header and a value."""
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        if line.startswith(_OPEN) and line.endswith(_CLOSE):
            parts = [part.partition(_COLON) for part in line[len(_OPEN) : -len(_CLOSE)].split(_BETWEEN)]
            if all(header.strip() and value.strip() for header, _, value in parts):
                yield Row(start, end, tuple(Cell(header.strip(), value.strip()) for header, _, value in parts))
        start = end + 1


def numbered_columns(text: str) -> tuple[str, ...]:
    """Return the columns of a text that consists of numbered rows alone; () for any other, and if a cell is prose."""
    rows = list(find_rows(text))
    cells = [cell for row in rows for cell in row.cells[1:]]
    is_all_numbered = len(rows) == text.count("\n") + 1 and all(row.is_numbered for row in rows)
    has_prose = any(len(cell.value) > LONGEST_VALUE for cell in cells)
    return tuple(dict.fromkeys(cell.header for cell in cells)) if is_all_numbered and not has_prose else ()


def _clean_text(text: str) -> str:
    """Return a text without bars, line breaks and blanks side by side, which would take the row apart."""
    return " ".join(text.replace("|", "/").split())
