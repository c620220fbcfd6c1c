"""Find the words of a PDF page, and its tables whose cells have lines around them."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from pdfplumber.page import Page
from pdfplumber.table import Table, merge_edges
from pdfplumber.utils.geometry import filter_edges

from ...text.cleaning import CELL_BREAK
from ...text.scripts import CJK
from ..grids import GridCell, GridRow, header_depth, is_single

NEAR = 3.0  # the largest distance in points between ends of lines that meet, or columns of a table on two pages
_MOST_CROSSINGS = 5_000
"""The most crossings of vertical and horizontal lines; a drawing has more, and finding its cells takes minutes."""
_STANDS_OUT = 2.0  # the most points by which a word may extend over the edge of its cell
_MOST_HOLES = 0.2  # the largest share of a table's places that may lack their lines
_LONGEST_CELL = 1000
_LONGEST_NAME = 100
"""The longest name. Longer cells in the first row, or many in the first column, show that the grid frames text."""
_LONG_NAMES = 0.25
_REGULAR = 0.7  # the smallest share of rows with a separate cell in each column; a form has fewer
_FILLED = 0.5  # the smallest share of cells with text; a form to be filled in has fewer
_LABELS = 0.3  # the largest share of labels ("Name:") in a column after the first; a form has more
_LABEL = re.compile(r"[^:：]{1,40}(?::(?=\s|\Z)|：)")
_WORD_GAP = 0.15  # the widest gap within a word as a share of the font size
_CJK_GAP = 0.4  # the narrowest space between two CJK letters as a share of the size; narrower gaps are justification
_SAME_LINE = 0.5  # the largest difference between the middles of words in one line, as a share of the smaller height
_ENDS_CJK = re.compile(f"[{CJK}\u3000-\u303f\uff00-\uff65]\\Z")
_BEGINS_CJK = re.compile(f"[{CJK}\u3000-\u303f\uff00-\uff65]")
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\Z")


class Box(NamedTuple):
    """A rectangle in points; y grows downwards."""

    x0: float
    top: float
    x1: float
    bottom: float


class PageWord(NamedTuple):
    """A word of a page, with the size and font of its first letter; `number` is its place in the order of drawing."""

    number: int
    text: str
    box: Box
    size: float
    font: str
    upright: bool

    @property
    def center(self) -> tuple[float, float]:
        """The middle of the word."""
        return (self.box.x0 + self.box.x1) / 2, (self.box.top + self.box.bottom) / 2


TextLine = list[PageWord]


class FoundTable(NamedTuple):
    """A table on a page."""

    box: Box
    edges: tuple[float, ...]  # the left edge of each column and the right edge of the last one
    grid: list[list[GridCell]]
    words: frozenset[int]  # the numbers of its words


def read_words(page: Page) -> list[PageWord]:
    """Return the words of a page in the order in which the file draws them."""
    found = page.extract_words(use_text_flow=True, x_tolerance_ratio=_WORD_GAP, return_chars=True)
    return [PageWord(number, word["text"], Box(word["x0"], word["top"], word["x1"], word["bottom"]),
                     word["chars"][0]["size"], word["chars"][0]["fontname"], word["chars"][0]["upright"])
            for number, word in enumerate(found)]


def flow_lines(words: Sequence[PageWord]) -> list[list[PageWord]]:
    """Return words as lines in the order in which the file draws them."""
    lines: list[list[PageWord]] = []
    for word in words:
        if lines and _is_level(lines[-1][-1], word) and word.box.x0 >= lines[-1][-1].box.x0:
            lines[-1].append(word)
        else:
            lines.append([word])
    return lines


def line_text(line: Sequence[PageWord]) -> str:
    """Return a line's words as text, with spaces where the gap between two words is wide enough."""
    text = line[0].text
    for before, word in pairwise(line):
        gap = (word.box.x0 - before.box.x1) / max(word.size, 1.0)
        is_between_cjk = _ENDS_CJK.search(text) and _BEGINS_CJK.match(word.text)
        text += word.text if gap < (_CJK_GAP if is_between_cjk else _WORD_GAP) else f" {word.text}"
    return text


def _cell_text(words: Iterable[PageWord]) -> str:
    """Return the words of a cell in one line, without spaces between Chinese at line ends.

    Words that are broken at line ends are marked (see `cleaning.broken_word_joiner`).
    """
    lines: list[list[PageWord]] = []
    for word in sorted(words, key=lambda word: (word.center[1], word.box.x0)):
        if lines and _is_level(lines[-1][0], word):
            lines[-1].append(word)
        else:
            lines.append([word])
    text = ""
    for line in (sorted(line, key=lambda word: word.box.x0) for line in lines):
        words_of_line = line_text(line)
        if _HYPHENATED.search(text):
            text = text[:-1] + CELL_BREAK
        elif text and not (_ENDS_CJK.search(text) and _BEGINS_CJK.match(words_of_line)):
            text += " "
        text += words_of_line
    return text


def _is_level(word: PageWord, other: PageWord) -> bool:
    height = min(word.box.bottom - word.box.top, other.box.bottom - other.box.top)
    return abs(word.center[1] - other.center[1]) < _SAME_LINE * height


def find_ruled(page: Page, words: Sequence[PageWord]) -> list[FoundTable]:
    """Return the tables of a page whose cells have lines around them, from top to bottom.

    Not included are frames, forms, page layouts, and grids of lines that cross words.
    """
    straight = [edge for edge in page.edges if edge["orientation"]]  # slanted sides of shapes have none
    edges = merge_edges(filter_edges(straight, min_length=1), NEAR, NEAR, NEAR, NEAR)
    vertical = sum(edge["orientation"] == "v" for edge in edges)
    crossings = vertical * (len(edges) - vertical)
    if not 0 < crossings <= _MOST_CROSSINGS:
        return []
    tables = [_fill_cells(table, words) for table in page.find_tables(
        {"snap_tolerance": NEAR, "join_tolerance": NEAR, "intersection_tolerance": NEAR})]
    return [table for table in tables if table is not None and _is_data(table.grid)]


def _fill_cells(table: Table, words: Sequence[PageWord]) -> FoundTable | None:
    """Return the table with its words in its cells; None if words cross its lines or too many cells are missing."""
    box = Box(*table.bbox)
    lefts = sorted({edge for cell in table.cells for edge in (cell[0], cell[2])})
    tops = sorted({edge for cell in table.cells for edge in (cell[1], cell[3])})
    cell_at = {(row, column): number for number, cell in enumerate(table.cells)
               for row in range(tops.index(cell[1]), tops.index(cell[3]))
               for column in range(lefts.index(cell[0]), lefts.index(cell[2]))}
    if len(cell_at) < (1 - _MOST_HOLES) * (len(lefts) - 1) * (len(tops) - 1):
        return None
    inside: dict[int, list[PageWord]] = {}
    for word in words:
        x, y = word.center
        if box.x0 <= x < box.x1 and box.top <= y < box.bottom:
            place = cell_at.get((bisect_right(tops, y) - 1, bisect_right(lefts, x) - 1))
            if place is None or not word.upright:
                return None
            left, _, right, _ = table.cells[place]
            if word.box.x0 < left - _STANDS_OUT or word.box.x1 > right + _STANDS_OUT:
                return None
            inside.setdefault(place, []).append(word)
    cells = [GridCell(_cell_text(inside.get(number, ()))) for number in range(len(table.cells))]
    height, width = range(len(tops) - 1), range(len(lefts) - 1)
    grid = [[cells[cell_at[row, column]] if (row, column) in cell_at else GridCell("") for column in width]
            for row in height]
    fonts = [[frozenset(word.font for word in inside.get(cell_at.get((row, column), -1), ())) for column in width]
             for row in height]
    return FoundTable(box, tuple(lefts), _with_headers(grid, fonts),
                      frozenset(word.number for words in inside.values() for word in words))


def _with_headers(grid: list[list[GridCell]], fonts: list[list[frozenset[str]]]) -> list[list[GridCell]]:
    """Return a grid in which the first row, or the first of two columns, is marked as headers if it stands out."""
    top = next((at for at, row in enumerate(grid) if not is_single(row)), 0)  # captions may be above it
    top_fonts = frozenset[str]().union(*fonts[top])
    fonts_below = frozenset[str]().union(*(fonts_of_cell for row in fonts[top + 1 :] for fonts_of_cell in row))
    header_places: list[tuple[int, int]] = []
    if fonts_below and not top_fonts & fonts_below and all(cell.text for cell in grid[top][1:]):
        header_places = [(top, column) for column in range(len(grid[top]))]
    elif len(grid[0]) == 2:  # noqa: PLR2004 - properties and their values
        label_fonts, value_fonts = (frozenset().union(*(row[at] for row in fonts)) for at in (0, 1))
        labels = [row[0].text for row in grid if row[0].text and not is_single(row)]
        with_colon = sum(label.endswith((":", "：")) for label in labels)
        if (value_fonts and not label_fonts & value_fonts) or with_colon > _REGULAR * len(labels):
            header_places = [(row, 0) for row in range(len(grid)) if not is_single(grid[row])]
    headers = {id(grid[row][at]): GridCell(grid[row][at].text, is_header=True) for row, at in header_places}
    return [[headers.get(id(cell), cell) for cell in row] for row in grid]


def _is_data(grid: Sequence[GridRow]) -> bool:
    """Return True if a grid is a table of data, rather than a form, a frame or the layout of a page."""
    if len(grid) < 2 or len(grid[0]) < 2:  # noqa: PLR2004 - a single row or column
        return False
    cells = {id(cell): cell for row in grid for cell in row}.values()
    body = [row for row in grid if not is_single(row)]
    depth = header_depth(body) if body else 0
    rows = body[depth:]
    if not rows or max(len(cell.text) for cell in cells) > _LONGEST_CELL:
        return False
    has_paragraphs = (max(len(cell.text) for cell in body[0]) > _LONGEST_NAME
                      or sum(len(row[0].text) > _LONGEST_NAME for row in rows) > _LONG_NAMES * len(rows))
    has_empty_header = depth > 0 and sum(bool(cell.text) for cell in body[depth - 1]) < _FILLED * len(body[0])
    whole_rows = sum(not any(left is right for left, right in pairwise(row)) for row in rows)
    is_irregular = whole_rows < _REGULAR * len(rows)
    if has_paragraphs or has_empty_header or is_irregular:
        return False
    columns = [[cell.text for cell in column if cell.text] for column in zip(*rows, strict=True)]
    is_filled = sum(map(bool, columns)) > 1 and sum(map(len, columns)) >= _FILLED * len(rows) * len(columns)
    has_labels = any(sum(bool(_LABEL.match(text)) for text in column) > _LABELS * len(column)
                     for column in columns[1:])
    return is_filled and not has_labels
