"""Read PDF pages with tables, and write the tables as rows, including tables that continue on the next page."""

import logging
import re
import struct
import unicodedata
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from io import BytesIO
from itertools import groupby, pairwise
from typing import NamedTuple

import pdfplumber
from pdfminer.psexceptions import PSException
from pdfplumber.page import Page
from pdfplumber.table import Table, merge_edges
from pdfplumber.utils.exceptions import MalformedPDFException, PdfminerException
from pdfplumber.utils.geometry import filter_edges

from ...text.cleaning import CELL_BREAK
from ...text.scripts import CJK
from ..grids import GridCell, GridRow, header_depth, is_single, read_grid, row_contents
from ..table_lines import TableLine, has_header, is_value, table_lines

# They log details of broken files, which would go to the terminal if nothing else handles them.
for _library in ("pdfminer", "pdfplumber"):
    logging.getLogger(_library).addHandler(logging.NullHandler())

_MOST_DIFFERENT = 0.02  # the share of a page's characters in which the two libraries may differ
_RIGHT_TO_LEFT = frozenset({"R", "AL"})
_BROKEN = (PSException, PdfminerException, MalformedPDFException, struct.error, zlib.error, ArithmeticError,
           AssertionError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError)
"""The errors that the two libraries raise on a broken structure."""

_NEAR = 3.0  # the largest distance in points between ends of lines that meet, or columns of a table on two pages
_PAGE_BREAK = "\f"
_MOSTLY = 0.8
_NUMBER = re.compile(r"\d+")
_CAPTION = re.compile(r"(?:table|tab\.|tabelle|表)\s*[A-Z]?\d[\d.\-]*\s*[:.：、—–-]*\s*", re.IGNORECASE)
_SENTENCE_END = (".", "!", "?", "。", "！", "？", ";", "；", ",", "，")
_LONGEST_HEADING = 100
_LARGER = 1.15  # the size of a heading's font as a multiple of the usual one
_LINES_ABOVE = 2.5  # the largest distance between a table and its name as a multiple of the name's font size
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


class PageLayout(NamedTuple):
    """A page with at least one table, as blocks in reading order: a table, or lines of text."""

    blocks: list[list[TextLine] | FoundTable]

    @property
    def tables(self) -> list[FoundTable]:
        """The tables from top to bottom."""
        tables = [block for block in self.blocks if isinstance(block, FoundTable)]
        return sorted(tables, key=lambda table: (table.box.top, table.box.x0))

    @property
    def lines(self) -> list[TextLine]:
        """The lines outside the tables."""
        return [line for block in self.blocks if not isinstance(block, FoundTable) for line in block]


class _Part(NamedTuple):
    """A table, or its part on one page, whose first `skipped` rows repeat captions and header of the first part."""

    page: int
    table: FoundTable
    skipped: int = 0


def read_pages(data: bytes, wanted: Mapping[int, str], doubled: Set[int], title: str,
               broken: dict[int, str]) -> dict[int, str]:
    """Return the texts of the pages of a PDF file that have tables or draw letters twice, by the page's number.

    A page is left out if it is broken, or if pdfminer reads other characters than the given text has.

    If a table clearly continues on the next page, the rows there have its header, too. `wanted` has the text of each
    page that may have tables or draws letters twice (those in `doubled`), by its number from 0. `title` is the subject
    of tables without a heading, or "". `broken` gets the cause for each page that cannot be read.
    """
    texts: dict[int, str] = {}
    layouts: dict[int, PageLayout] = {}
    for number, page in _open_pages(data, wanted, broken):
        try:
            single = page.dedupe_chars() if number in doubled else page
            layout = _read_layout(single, "" if number in doubled else wanted[number])
            if layout.tables:
                layouts[number] = layout
            elif number in doubled:
                texts[number] = single.extract_text()
        except _BROKEN as error:  # other pages may be readable
            broken[number] = repr(error)
        finally:
            page.close()
    written: dict[int, str] = {}
    for parts in _chains(layouts):
        name = _name(layouts[parts[0].page], parts[0].table) or title
        written |= {id(part.table): text for part, text in zip(parts, _write_parts(parts, name), strict=True)}
    for number, layout in layouts.items():
        blocks = [written[id(block)] if isinstance(block, FoundTable) else "\n".join(map(line_text, block))
                  for block in layout.blocks]
        texts[number] = "\n\n".join(filter(None, blocks))
    return texts


def _open_pages(data: bytes, wanted: Mapping[int, str], broken: dict[int, str]) -> Iterator[tuple[int, Page]]:
    try:
        pages = pdfplumber.open(BytesIO(data), pages=[number + 1 for number in wanted]).pages
    except _BROKEN as error:
        broken |= dict.fromkeys(wanted, repr(error))
    else:
        yield from ((page.page_number - 1, page) for page in pages)


def _read_layout(page: Page, text: str) -> PageLayout:
    """Return the lines and tables of a page in the order of its words; a table is at the place of its first word.

    There are no tables if the words differ from `text`, if that is given.
    """
    words = read_words(page)
    tables = find_ruled(page, words) if not text or _is_same(words, text) else []
    table_of = {number: table for table in tables for number in table.words}
    blocks: list[list[TextLine] | FoundTable] = []
    for table, group in groupby(words, key=lambda word: table_of.get(word.number)):
        if table is None:
            blocks.append(flow_lines(list(group)))
        elif not any(block is table for block in blocks):
            blocks.append(table)
    return PageLayout(blocks)


def _is_same(words: list[PageWord], text: str) -> bool:
    """Return True if words have nearly the same characters as a text; False for text from right to left."""
    if any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in set(text)):
        return False
    in_words, in_text = (Counter("".join(unicodedata.normalize("NFKC", part).split()))
                         for part in ("".join(word.text for word in words), text))
    different = (in_words - in_text).total() + (in_text - in_words).total()
    return different <= _MOST_DIFFERENT * in_text.total()


def _chains(layouts: Mapping[int, PageLayout]) -> list[list[_Part]]:
    """Return the tables of all pages, each as the list of its parts on consecutive pages."""
    chains: list[list[_Part]] = []
    lowest: list[_Part] = []  # the parts of the lowest table on the page before
    for number, layout in sorted(layouts.items()):
        first, *others = layout.tables
        skipped = None
        if lowest and lowest[-1].page == number - 1:
            skipped = _repeated_rows(layouts[number - 1], lowest, layout, first)
        if skipped is None:  # it continues no other table
            chains.append([_Part(number, first)])
        else:
            lowest.append(_Part(number, first, skipped))
        chains += [[_Part(number, table)] for table in others]
        last = max(layout.tables, key=lambda table: table.box.bottom)
        lowest = next(parts for parts in reversed(chains) if parts[-1].table is last)
    return chains


def _repeated_rows(before: PageLayout, parts: list[_Part], layout: PageLayout, table: FoundTable) -> int | None:
    """Return how many of a table's rows repeat those of the lowest table of the page before; None if it is another."""
    above, first = parts[-1].table, parts[0].table
    has_same_columns = len(above.edges) == len(table.edges) and all(
        abs(edge - other) <= _NEAR for edge, other in zip(above.edges, table.edges, strict=True))
    lines_after = [line for line in before.lines if line[0].box.top >= above.box.bottom]
    lines_between = [line for line in layout.lines if line[0].box.bottom <= table.box.top]
    if not has_same_columns or not _is_margin(lines_after, layout) or not _is_margin(lines_between, before):
        return None
    captions = next(at for at, row in enumerate(first.grid) if not is_single(row))
    head = captions + header_depth(first.grid[captions:])
    texts = [[cell.text for cell in row] for row in table.grid]
    for start in {0, captions}:  # with its captions, or without them
        repeated = [[cell.text for cell in row] for row in first.grid[start:head]]
        if captions < head and texts[: len(repeated)] == repeated:
            return len(repeated)
    has_own_head = is_single(table.grid[0]) or any(all(cell.is_header for cell in row) for row in table.grid) or (
        has_header(texts) and any(map(_is_above_values, zip(*texts, strict=True))))
    return None if has_own_head else 0


def _is_above_values(column: Sequence[str]) -> bool:
    """Return True if the first cell of a column is a text, and the filled cells below are mostly values."""
    filled = [cell for cell in column[1:] if cell]
    is_text = bool(filled and column[0]) and not is_value(column[0])
    return is_text and sum(map(is_value, filled)) >= _MOSTLY * len(filled)


def _is_margin(lines: list[TextLine], other: PageLayout) -> bool:
    """Return True if lines are a page's header or footer: numbers, or repeated on another page but for numbers."""
    def masked(line: TextLine) -> str:
        return _NUMBER.sub("#", line_text(line)).strip(" -–—")

    return {masked(line) for line in lines} <= {"#", *map(masked, other.lines)}


def _write_parts(parts: list[_Part], title: str) -> list[str]:
    captions, header, rows = read_grid(parts[0].table.grid)
    for part in parts[1:]:
        rows += [TableLine(_PAGE_BREAK), *row_contents(part.table.grid[part.skipped:])]
    text = "\n".join([*captions, *table_lines(header, rows, next(reversed(captions), title))])
    return [page.strip("\n") for page in text.split(_PAGE_BREAK)]


def _name(layout: PageLayout, table: FoundTable) -> str:
    """Return the name of a table: the caption or heading in the line right above it, or ""."""
    above = [line for line in layout.lines
             if 0 <= table.box.top - line[0].box.bottom <= _LINES_ABOVE * line[0].size
             and line[0].box.x0 < table.box.x1 and line[-1].box.x1 > table.box.x0]
    if not above:
        return ""
    line = max(above, key=lambda line: line[0].box.bottom)
    text = line_text(line)
    if caption := _CAPTION.match(text):
        return text[caption.end():].rstrip("".join(_SENTENCE_END)) if len(text) <= 2 * _LONGEST_HEADING else ""
    usual = Counter((word.font, round(word.size)) for other in layout.lines for word in other).most_common(1)[0][0]
    differs = line[0].font != usual[0] or line[0].size > _LARGER * usual[1]
    return text if differs and len(text) <= _LONGEST_HEADING and not text.endswith(_SENTENCE_END) else ""


# --- words and ruled tables of a page


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


def cell_text(words: Iterable[PageWord]) -> str:
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
    edges = merge_edges(filter_edges(straight, min_length=1), _NEAR, _NEAR, _NEAR, _NEAR)
    vertical = sum(edge["orientation"] == "v" for edge in edges)
    crossings = vertical * (len(edges) - vertical)
    if not 0 < crossings <= _MOST_CROSSINGS:
        return []
    tables = [_fill_cells(table, words) for table in page.find_tables(
        {"snap_tolerance": _NEAR, "join_tolerance": _NEAR, "intersection_tolerance": _NEAR})]
    return [table for table in tables if table is not None and is_data(table.grid)]


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
    cells = [GridCell(cell_text(inside.get(number, ()))) for number in range(len(table.cells))]
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


def is_data(grid: Sequence[GridRow]) -> bool:
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
