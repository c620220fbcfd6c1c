"""Rows of tables as they stand in a stored text: one line each, every cell with its column's header.

    | Product: X200 | Price: 499 USD | Weight: 1.2 kg |

A row so means the same wherever a chunk or a quote is cut, and its words are found by the words of a question. The
first cell names what the row is about. A line is written and read here alone.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

LONGEST_LINE = 800
"""Characters of a line, unless a single cell has more: a chunk holds it whole."""
DOCUMENT = "Document"
"""Header of the first cell of the row with what is known about a document itself."""
_OPEN, _BETWEEN, _CLOSE, _COLON = "| ", " | ", " |", ": "


class Cell(NamedTuple):
    """A cell that is not empty."""

    header: str
    value: str


class Row(NamedTuple):
    """A line of a text, characters `start` to `end`, that is a row; the first cell names what it is about."""

    start: int
    end: int
    cells: tuple[Cell, ...]


def row_lines(cells: Sequence[Cell]) -> Iterator[str]:
    """A row as lines; one that would be too long goes on in further lines, each with the first cell again.

    Args:
        cells: at least one; white space counts as one space.
    """
    first, *others = [_written(cell) for cell in cells]
    line, length = [first], len(first)
    for cell in others:
        if len(line) > 1 and length + len(cell) > LONGEST_LINE:
            yield f"{_OPEN}{_BETWEEN.join(line)}{_CLOSE}"
            line, length = [first], len(first)
        line.append(cell)
        length += len(_BETWEEN) + len(cell)
    yield f"{_OPEN}{_BETWEEN.join(line)}{_CLOSE}"


def find_rows(text: str) -> Iterator[Row]:
    """The lines of a text that are rows, in order."""
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        if line.startswith(_OPEN) and line.endswith(_CLOSE):
            parts = [part.partition(_COLON) for part in line[len(_OPEN) : -len(_CLOSE)].split(_BETWEEN)]
            if all(header.strip() and value.strip() for header, _, value in parts):
                yield Row(start, end, tuple(Cell(header.strip(), value.strip()) for header, _, value in parts))
        start = end + 1


def _written(cell: Cell) -> str:
    header, value = (" ".join(part.replace("|", "/").split()) for part in cell)
    return f"{header.replace(_COLON, ' ')}{_COLON}{value}"
