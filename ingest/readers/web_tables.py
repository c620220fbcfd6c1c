"""Tables of HTML pages as rows of text, except layout tables."""

from collections.abc import Sequence
from typing import NamedTuple

from bs4.element import NavigableString, PreformattedString, Tag

from ..grids import GridCell, read_grid
from ..spans import SpanningCell, place_cells
from ..table_lines import table_lines

LONGEST_CELL = 1000
"""The longest cell of a table of data; a longer one is part of a page."""
_OF_LAYOUT = ["table", "h1", "h2", "h3", "h4", "h5", "h6", "form", "pre"]
# Not `head`: if its end tag is missing, the parser puts the whole page into it.
UNSEEN = frozenset({"title", "script", "style", "template", "noscript", "svg", "iframe", "object"})
_MOST_SPANNED = 1000  # the limit of browsers


def read_table(table: Tag, heading: str) -> str:
    """Write a table of data as lines.

    Args:
        table: a `table` element.
        heading: the heading above it.

    Returns:
        The caption and the rows, with a cell that spans several places in each of them. Returns "" for a layout table:
        one with a table, a heading or a long text in a cell, or with only one row or column.
    """
    if table.get("role") == "presentation" or table.find(_OF_LAYOUT):
        return ""
    grid = _grid(_rows(table))
    if not (len(grid) > 1 < max(map(len, grid)) and max(len(c.text) for row in grid for c in row) <= LONGEST_CELL):
        return ""
    captions, header, rows = read_grid(grid)
    if table.caption:
        captions.insert(0, " ".join(table.caption.get_text(" ").split()))
    title = next(filter(None, reversed(captions)), heading)
    return "\n".join(filter(None, [*captions, *table_lines(header, rows, title)]))


class _Cell(NamedTuple):
    tag: Tag
    words: list[str]


def _rows(table: Tag) -> list[list[_Cell]]:
    """Return the cells row by row; without end tags, the parser nests each cell in the one before."""
    rows: list[list[_Cell]] = []
    for node in table.descendants:
        if isinstance(node, Tag):
            if node.name == "tr":
                rows.append([])
            elif node.name in {"td", "th"} and rows:
                rows[-1].append(_Cell(node, []))
        elif isinstance(node, NavigableString) and not isinstance(node, PreformattedString) and rows and rows[-1] and (
                node.parent is None or node.parent.name not in UNSEEN):
            rows[-1][-1].words.extend(node.split())
    return [row for row in rows if row]


def _grid(rows: Sequence[Sequence[_Cell]]) -> list[list[GridCell]]:
    """Return the cells in all places that they span; an empty list if there are too many."""
    return place_cells([SpanningCell(GridCell(" ".join(cell.words), cell.tag.name == "th"),
                                     _read_span(cell.tag, "colspan"), _read_span(cell.tag, "rowspan"))
                        for cell in row] for row in rows)


def _read_span(cell: Tag, direction: str) -> int:
    value = str(cell.get(direction) or "")
    return min(max(int(value), 1), _MOST_SPANNED) if value.isascii() and value.isdigit() and len(value) < 6 else 1  # noqa: PLR2004
