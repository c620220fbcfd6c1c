"""Find the tables of a PDF page whose cells have lines around them."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

import networkx

from ...text.cleaning import CELL_BREAK
from ..grids import GridCell, GridRow, header_depth, is_single
from .pdf_pages import CJK_LETTER, Box, DrawnPage, PageWord, TextLine, line_text, parts_of, rows_of

NEAR = 3.0  # the largest distance in points between ends of lines that meet, or columns of a table on two pages
_MOST_CROSSINGS = 2_000  # of vertical and horizontal lines; a drawing has more, and finding its cells takes long
_STANDS_OUT = 2.0  # the most points by which a word may extend over the edge of its cell
_MOST_HOLES = 0.2  # the largest share of a table's places that may lack their lines
_LONGEST_CELL = 1000
_LONGEST_NAME = 100  # The longest name of a row. Many longer cells in the first column show that the grid frames text.
_LONG_NAMES = 0.25
_REGULAR = 0.7  # the smallest share of rows with a separate cell in each column; a form has fewer
_FILLED = 0.5  # the smallest share of cells with text; a form to be filled in has fewer
_LABELS = 0.3  # the largest share of labels ("Name:") in a column after the first; a form has more
_LABEL = re.compile(r"[^:：]{1,40}(?::(?=\s|\Z)|：)")
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\Z")


class FoundTable(NamedTuple):
    """A table on a page."""

    box: Box
    edges: tuple[float, ...]  # the left edge of each column and the right edge of the last one
    grid: list[list[GridCell]]
    words: frozenset[int]  # the numbers of its words
    caption: str = ""  # the words above it that begin with its number


def cell_text(words: Iterable[PageWord]) -> str:
    """Return the words of a cell in one line, without spaces between Chinese at line ends."""
    text = ""
    for line in rows_of(words):
        words_of_line = line_text(line)
        if _HYPHENATED.search(text):
            text = text[:-1] + CELL_BREAK
        elif text and not (CJK_LETTER.match(text[-1]) and CJK_LETTER.match(words_of_line)):
            text += " "
        text += words_of_line
    return text


def find_ruled(page: DrawnPage) -> list[FoundTable]:
    """Return the tables of a page whose cells have lines around them, from top to bottom."""
    # `join_lines` joins horizontal lines, so vertical ones are given with x and y exchanged.
    columns = join_lines([Box(line.top, line.x0, line.bottom, line.x1) for line in page.lines])
    ends: dict[int, list[Box]] = {}  # where vertical lines end together, a page may divide a row
    for column in columns:
        for end in (column.x0, column.x1):
            ends.setdefault(round(end), []).append(column)
    breaks = [Box(lines[0].top, end, lines[-1].top, end) for end, lines in ends.items() if len(lines) > 1]
    rows = join_lines([*page.lines, *breaks])
    if not 0 < len(rows) * len(columns) <= _MOST_CROSSINGS:
        return []
    # Cells of one table have corners in common.
    meetings = networkx.Graph((cell, (x, y)) for cell in _find_cells(rows, columns) for x in (cell.x0, cell.x1)
                              for y in (cell.top, cell.bottom))
    groups = ([node for node in group if isinstance(node, Box)] for group in networkx.connected_components(meetings))
    tables = [_fill_cells(sorted(cells, key=lambda cell: (cell.top, cell.x0)), page.words) for cells in groups]
    return [table for table in tables if table is not None and _is_data(table.grid)]


def join_lines(lines: Iterable[Box]) -> list[Box]:
    """Return the horizontal lines; pieces at one height that meet are one line."""
    level: list[Box] = []
    for line in sorted(lines, key=lambda line: line.top):
        if line.bottom == line.top and line.x1 - line.x0 >= 1:
            height = level[-1].top if level and line.top - level[-1].top <= NEAR else line.top
            level.append(Box(line.x0, height, line.x1, height))
    joined: list[Box] = []
    for line in sorted(level, key=lambda line: (line.top, line.x0)):
        if joined and joined[-1].top == line.top and line.x0 <= joined[-1].x1 + NEAR:
            joined[-1] = joined[-1]._replace(x1=max(joined[-1].x1, line.x1))
        else:
            joined.append(line)
    return joined


def _find_cells(rows: Sequence[Box], columns: Sequence[Box]) -> Iterator[Box]:
    """Yield the smallest rectangles with lines on all sides; `columns` are vertical lines with x and y exchanged."""
    def crosses(row: Box, column: Box) -> bool:
        return (row.x0 - NEAR <= column.top <= row.x1 + NEAR) and (column.x0 - NEAR <= row.top <= column.x1 + NEAR)

    for top in rows:
        lefts = [column for column in columns if crosses(top, column)]
        for at, left in enumerate(lefts):
            # The smallest rectangle ends at the first line below that has a corner with a line to the right.
            cells = (Box(left.top, top.top, right.top, bottom.top)
                     for bottom in rows if bottom.top > top.top and crosses(bottom, left)
                     for right in lefts[at + 1:] if crosses(bottom, right))
            yield from islice(cells, 1)


def _fill_cells(boxes: Sequence[Box], words: Sequence[PageWord]) -> FoundTable | None:
    """Return the table with its words in its cells; None if words cross its lines or too many cells are missing."""
    lefts = sorted({edge for cell in boxes for edge in (cell.x0, cell.x1)})
    tops = sorted({edge for cell in boxes for edge in (cell.top, cell.bottom)})
    number_at = {(row, column): number for number, cell in enumerate(boxes)  # of the cell, by the places of the grid
                 for row in range(tops.index(cell.top), tops.index(cell.bottom))
                 for column in range(lefts.index(cell.x0), lefts.index(cell.x1))}
    height, width = range(len(tops) - 1), range(len(lefts) - 1)
    words_of = _words_of_cells(boxes, number_at, lefts, tops, words)
    if words_of is None or len(number_at) < (1 - _MOST_HOLES) * len(height) * len(width):
        return None
    cells = [GridCell(cell_text(words_of.get(number, ()))) for number in range(len(boxes))]
    grid = [[cells[number_at[row, column]] if (row, column) in number_at else GridCell("") for column in width]
            for row in height]
    for number, words_of_cell in words_of.items():
        row, lines = tops.index(boxes[number].top), rows_of(words_of_cell)
        if is_single(grid[row]) and any(len(parts_of(line)) > 1 for line in lines):  # no lines between its cells
            grid[row] = split_cells(lines, lefts)
    fonts = [[frozenset(word.font for word in words_of.get(number_at.get((row, column), -1), ())) for column in width]
             for row in height]
    return FoundTable(Box(lefts[0], tops[0], lefts[-1], tops[-1]), tuple(lefts), _with_headers(grid, fonts),
                      frozenset(word.number for words in words_of.values() for word in words))


def _words_of_cells(boxes: Sequence[Box], number_at: Mapping[tuple[int, int], int], lefts: Sequence[float],
                    tops: Sequence[float], words: Sequence[PageWord]) -> dict[int, list[PageWord]] | None:
    """Return the words in each cell by its number; None if a word stands between cells, over an edge or turned."""
    words_of: dict[int, list[PageWord]] = {}
    for word in words:
        x, y = word.center
        if not (lefts[0] <= x < lefts[-1] and tops[0] <= y < tops[-1]):
            continue
        number = number_at.get((bisect_right(tops, y) - 1, bisect_right(lefts, x) - 1))
        if number is None or not word.upright or word.box.x0 < boxes[number].x0 - _STANDS_OUT or (
                word.box.x1 > boxes[number].x1 + _STANDS_OUT):
            return None
        words_of.setdefault(number, []).append(word)
    return words_of


def split_cells(lines: Iterable[TextLine], edges: Sequence[float]) -> list[GridCell]:
    """Return a row's cells; the words of a part that is wider than its column are in the columns where they stand."""
    words: list[list[PageWord]] = [[] for _ in edges[1:]]
    for part in (part for line in lines for part in parts_of(line)):
        first = sum(edge <= part[0].box.x0 + NEAR for edge in edges[1:-1])
        is_wide = sum(edge <= part[-1].box.x1 - NEAR for edge in edges[1:-1]) > first
        for word in part:
            words[sum(edge <= word.center[0] for edge in edges[1:-1]) if is_wide else first].append(word)
    return [GridCell(cell_text(words_of_cell)) for words_of_cell in words]


def _with_headers(grid: list[list[GridCell]], fonts: list[list[frozenset[str]]]) -> list[list[GridCell]]:
    """Return a grid in which the first row, or the first of two columns, is marked as headers if it stands out."""
    top = next((at for at, row in enumerate(grid) if not is_single(row)), 0)  # captions may be above it
    fonts_below = frozenset[str]().union(*(cell_fonts for row in fonts[top + 1:] for cell_fonts in row))
    has_own_font = bool(fonts_below) and fonts_below.isdisjoint(frozenset[str]().union(*fonts[top]))
    headers: list[GridCell] = []
    if has_own_font and all(grid[top][1:]):
        headers = grid[top]
    elif len(grid[0]) == 2:  # noqa: PLR2004 - properties and their values
        label_fonts, value_fonts = (frozenset[str]().union(*(row[at] for row in fonts)) for at in (0, 1))
        first_cells = [row[0] for row in grid if not is_single(row)]
        if value_fonts and not label_fonts & value_fonts:
            headers = first_cells
    for cell in headers:
        cell.is_header = True
    return grid


def _is_data(grid: Sequence[GridRow]) -> bool:
    """Return True if a grid is a table of data, rather than a form, a frame or the layout of a page."""
    if len(grid) < 2 or len(grid[0]) < 2:  # noqa: PLR2004 - a single row or column
        return False
    cells = [cell for row in grid for cell in row]
    body = [row for row in grid if not is_single(row)]
    depth = header_depth(body) if body else 0
    rows = body[depth:]
    if not rows or max(map(len, cells)) > _LONGEST_CELL:
        return False
    has_paragraphs = sum(len(row[0]) > _LONGEST_NAME for row in rows) > _LONG_NAMES * len(rows)
    is_continued = not body[0][0]  # the first row is the end of one on the page before
    filled_names = sum(map(bool, body[depth - 1]))
    has_empty_header = depth > 0 and not is_continued and filled_names < _FILLED * len(body[0])
    whole_rows = sum(not any(left is right for left, right in pairwise(row)) for row in rows)
    if has_paragraphs or has_empty_header or whole_rows < _REGULAR * len(rows):  # the last: irregular
        return False
    columns = [list(filter(None, column)) for column in zip(*rows, strict=True)]
    is_filled = sum(map(bool, columns)) > 1 and sum(map(len, columns)) >= _FILLED * len(rows) * len(columns)
    has_labels = any(sum(bool(_LABEL.match(text)) for text in column) > _LABELS * len(column) for column in columns[1:])
    return is_filled and not has_labels
