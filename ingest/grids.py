"""Grids of cells, some of which span several places: the captions above the rows, their header, and the rows.

HTML, Word and PDF tables use the same grid, so a merged cell means the same in all of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from .reading import DEFAULT_LIMITS
from .table_lines import TableLine, has_header, is_value, table_lines

_SOME = 0.2
"""The smallest share of values, and of other cells, in a column that counts as mixed."""
_PAIR = 2
"""Places of a property and its value."""
_MOST_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class GridCell:
    """A cell; the same object is in every place that the cell spans."""

    text: str
    is_header: bool = False
    """Whether the file declares the cell to be a header."""


GridRow = Sequence[GridCell]


class GridTable(NamedTuple):
    """A grid in the form that `table_lines` takes, and the lines above it."""

    captions: list[str]
    header: list[str]
    rows: list[Sequence[str] | TableLine]


def read_grid(grid: Sequence[GridRow]) -> GridTable:
    """Split a table into captions, header and rows.

    Args:
        grid: rows of at least two columns; short rows lack their last cells.

    Returns:
        The captions: the leading rows of a single cell that spans all columns. The header: the rows that the file
        declares, or the first row if it has no values, with the rows below it that divide its merged cells; empty if
        there is none. The rows: a merged cell's text is in each of its places, and a row of a single cell is a `Line`.
    """
    width = max(map(len, grid))
    rows = [[*row, *(GridCell("") for _ in range(width - len(row)))] for row in grid]
    captions: list[str] = []
    while is_single(rows[0]) and not all(map(is_single, rows)):
        captions.append(rows.pop(0)[0].text)
    depth = header_depth(rows)
    header = [" ".join(dict.fromkeys(filter(None, (cell.text for cell in column))))
              for column in zip(*rows[:depth], strict=True)]
    return GridTable([text for text in captions if text], header, row_contents(rows[depth:]))


def grid_lines(grid: Sequence[GridRow], title: str) -> list[str]:
    """Return a table as lines: its captions and rows, or the cells of a single row or column with bars between them.

    Args:
        grid: at least one row.
        title: the subject of a table without captions.
    """
    if len(grid) == 1 or max(map(len, grid)) == 1:
        return [" | ".join(cell.text for cell in row) for row in grid]
    if _is_form(grid):
        return list(table_lines([], [pair for row in grid for pair in _label_pairs(row)], title))
    captions, header, rows = read_grid(grid)
    return [*captions, *table_lines(header, rows, next(reversed(captions), title))]


def _is_form(grid: Sequence[GridRow]) -> bool:
    """Return True if half the rows have cells that span columns: then the first row does not name these columns."""
    spanning = [any(left is right for left, right in pairwise(row)) and not is_single(row) for row in grid]
    return sum(spanning) >= max(_PAIR, len(grid) / 2)


def _label_pairs(row: GridRow) -> list[Sequence[str] | TableLine]:
    """Return a form's row as labels, each with the value beside it; an odd number of cells has one label, the first."""
    texts = [cell.text for cell in dict.fromkeys(row) if cell.text]
    if len(texts) == 1:
        return [TableLine(texts[0])]
    if len(texts) % 2:
        return [[texts[0], "; ".join(texts[1:])]]
    return [list(pair) for pair in zip(texts[::2], texts[1::2], strict=True)]


def row_contents(rows: Sequence[GridRow]) -> list[Sequence[str] | TableLine]:
    """Return the texts of rows; a row that is one cell is a line between them."""
    return [TableLine(row[0].text) if is_single(row) else [cell.text for cell in row] for row in rows]


def header_depth(rows: Sequence[GridRow]) -> int:
    """Return how many of the rows, which all have the same width, are the header."""
    declared = next((at for at, row in enumerate(rows) if not all(cell.is_header for cell in row)), len(rows))
    names_rows = rows[0][0].is_header  # the first column has headers, but the first row is not a header
    depth = declared or int(not (names_rows or _is_of_properties(rows)) and has_header(_texts(rows)))
    while 0 < depth < len(rows) - 1 and _is_divided(rows, depth):
        depth += 1
    return depth


def _is_of_properties(rows: Sequence[GridRow]) -> bool:
    """Return True if the second of two columns has mixed values, because then a row is a property with its value."""
    below = [is_value(row[-1].text) for row in rows[1:] if row[-1].text]
    return len(rows[0]) == _PAIR and len(below) > 1 and _SOME * len(below) <= sum(below) <= (1 - _SOME) * len(below)


def _is_divided(rows: Sequence[GridRow], depth: int) -> bool:
    """Return True if the row at `depth` names the parts of merged cells in the row above it.

    The other columns must then continue into that row, or be empty in it if the first column is not merged; otherwise
    it is a row of data.
    """
    above, row = rows[depth - 1], rows[depth]
    merged = [above[at] in (*above[at + 1 : at + 2], *above[max(at - 1, 0) : at]) for at in range(len(above))]
    others = [at for at, is_merged in enumerate(merged) if not is_merged]
    return (any(merged) and not is_single(row) and has_header(_texts(rows[depth:]))
            and all(row[at] is above[at] or not (merged[0] or row[at].text) for at in others)
            and (bool(others) or any(is_value(cell.text) for cell in rows[depth + 1])))


def is_single(row: GridRow) -> bool:
    """Return True if one cell spans the whole row."""
    return all(left is right for left, right in pairwise(row))


def _texts(rows: Sequence[GridRow]) -> list[list[str]]:
    return [[cell.text for cell in row] for row in rows]


class SpanningCell(NamedTuple):
    """A cell, and how many columns and rows it spans."""

    cell: GridCell
    columns: int = 1
    rows: int = 1


def place_cells(rows: Iterable[Sequence[SpanningCell]]) -> list[list[GridCell]]:
    """Return the cells in all places that they span; an empty list if there are too many."""
    grid: list[list[GridCell]] = []
    below: dict[int, tuple[int, GridCell]] = {}
    size = 0
    for row in rows:
        line: list[GridCell] = []
        waiting, below = below, {}
        for spanning in (*row, None):
            while len(line) in waiting:
                left, placed = waiting.pop(len(line))
                below |= {len(line): (left - 1, placed)} if left > 1 else {}
                line.append(placed)
            if spanning is not None:
                for _ in range(spanning.columns):
                    below |= {len(line): (spanning.rows - 1, spanning.cell)} if spanning.rows > 1 else {}
                    line.append(spanning.cell)
            if len(line) > DEFAULT_LIMITS.table_columns:
                return []
        grid.append(line)
        size += len(line)
        if size > _MOST_CELLS:
            return []
    return grid
