"""Find the captions, the header and the rows of a table that is given as a grid of cells.

A merged cell spans several places of the grid. HTML, Word and PDF tables use the same grid, so that a merged cell means
the same in all of them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from .reading import DEFAULT_LIMITS
from .source_tables import TableLine, TableRow
from .table_lines import has_header, is_value, table_lines

_PAIR = 2  # places of a property and its value
_MOST_CELLS = 1_000_000
_ENUMERATED = re.compile(r"\(?(?:[a-z]|[ivx]{1,6}|\d{1,3})[.)]", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class GridCell:
    """A cell; the same object is in every place that the cell spans."""

    text: str
    is_header: bool = False  # True if the file declares the cell to be a header


GridRow = Sequence[GridCell]


class GridTable(NamedTuple):
    """A grid in the form that `table_lines` takes, and the lines above it."""

    captions: list[str]
    header: list[str]
    rows: list[TableRow]


def read_grid(grid: Sequence[GridRow]) -> GridTable:
    """Split a table of at least two columns into captions, header and rows.

    The captions are the leading rows of a single cell that spans all columns. The header are the rows that the file
    declares, or the first row if it has no values, with the rows below it that divide its merged cells; it may be
    empty. In the rows, a merged cell's text is in each of its places, and a row of a single cell is a `TableLine`.
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


def grid_lines(grid: Sequence[GridRow], title: str, caption: str = "") -> list[str]:
    """Return a table as lines of text; a single row or column gives its cells, with bars between those of a row.

    `title` is the subject of a table without captions; the file's own `caption` is the first line.
    """
    if len(grid) == 1 or max(map(len, grid)) == 1:
        return [" | ".join(cell.text for cell in row) for row in grid]
    if all(len(row) == _PAIR and _ENUMERATED.fullmatch(row[0].text) for row in grid):  # paragraphs set as a table
        return [f"{row[0].text} {row[1].text}" for row in grid]
    has_merged_cells = [any(left is right for left, right in pairwise(row)) and not is_single(row) for row in grid]
    if sum(has_merged_cells) >= max(2, len(grid) / 2):  # a form, whose rows are labels and the values beside them
        pairs = list[TableRow]()
        for row in grid:
            texts = [cell.text for cell in dict.fromkeys(row) if cell.text]
            if len(texts) == 1:
                pairs.append(TableLine(texts[0]))
            elif len(texts) % 2:
                pairs.append([texts[0], "; ".join(texts[1:])])
            else:
                pairs += zip(texts[::2], texts[1::2], strict=True)
        return [*filter(None, [caption]), *table_lines([], pairs, caption or title)]
    captions, header, rows = read_grid(grid)
    if any(cell.is_header for row in grid for cell in row):
        subject = grid[0][0].text if is_single(grid[0]) and grid[0][0].is_header else title
    else:
        subject = next(reversed(captions), title)
    return [*filter(None, [caption]), *captions, *table_lines(header, rows, caption or subject)]


def row_contents(rows: Sequence[GridRow]) -> list[TableRow]:
    """Return the cells' texts of each row; a row that is a single cell becomes a `TableLine`."""
    return [TableLine(row[0].text) if is_single(row) else [cell.text for cell in row] for row in rows]


def header_depth(rows: Sequence[GridRow]) -> int:
    """Return how many of the first rows are the header (see `read_grid`); all rows have the same width."""
    depth = next((at for at, row in enumerate(rows) if not all(cell.is_header for cell in row)), len(rows))
    if depth == 0:
        has_row_headers = rows[0][0].is_header  # the file declares headers in the first column only
        depth = int(not has_row_headers and has_header(_cell_texts(rows)))
    while 0 < depth < len(rows) - 1 and _is_divided(rows, depth):
        depth += 1
    return depth


def _is_divided(rows: Sequence[GridRow], depth: int) -> bool:
    """Return True if the row at `depth` belongs to the header: it names the parts of merged cells in the row above."""
    above, row = rows[depth - 1], rows[depth]
    is_merged = [above[at] in (*above[at + 1 : at + 2], *above[max(at - 1, 0) : at]) for at in range(len(above))]
    if not any(is_merged) or is_single(row) or not has_header(_cell_texts(rows[depth:])):
        return False
    unmerged = [at for at, merged in enumerate(is_merged) if not merged]
    if not unmerged:  # only values in the next row tell names of parts from data
        return any(is_value(cell.text) for cell in rows[depth + 1])
    return all(row[at] is above[at] or not (is_merged[0] or row[at].text) for at in unmerged)


def is_single(row: GridRow) -> bool:
    """Return True if one cell spans the whole row."""
    return all(left is right for left, right in pairwise(row))


def _cell_texts(rows: Sequence[GridRow]) -> list[list[str]]:
    return [[cell.text for cell in row] for row in rows]


class SpanningCell(NamedTuple):
    """A cell, and how many columns and rows it spans."""

    cell: GridCell
    columns: int = 1
    rows: int = 1


def place_cells(rows: Iterable[Sequence[SpanningCell]]) -> list[list[GridCell]]:
    """Put each cell into all places of the grid that it spans; return an empty list if the grid becomes too large."""
    grid: list[list[GridCell]] = []
    # Cells of earlier rows that span the next row, by column, each with how many rows it still spans.
    below: dict[int, tuple[int, GridCell]] = {}
    size = 0
    for row in rows:
        line: list[GridCell] = []
        from_above, below = below, {}
        for spanning in (*row, None):  # None is the end of the row, which cells from above may follow
            while len(line) in from_above:
                rows_to_span, placed = from_above.pop(len(line))
                below |= {len(line): (rows_to_span - 1, placed)} if rows_to_span > 1 else {}
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
