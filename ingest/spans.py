"""Rows of cells that span several places, as a grid with the same cell in each of its places."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .grids import GridCell
from .reading_limits import DEFAULT_LIMITS

_MOST_CELLS = 1_000_000


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
