"""Read PDF pages with tables, and write the tables as rows, including tables that continue on the next page."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, groupby
from typing import NamedTuple

from ..grids import header_depth, is_single, read_grid, row_contents
from ..source_tables import TableLine
from ..table_lines import has_header, names_values, table_lines
from .page_tables import CAPTION, NEAR, FoundTable, caption_below, find_caption, find_open, find_ruled
from .pdf_pages import DrawnPage, TextLine, flow_lines, line_text, mask_numbers

_PAGE_BREAK = "\f"
_FIGURE = re.compile(r"fig(?:ure|\.)|abb\.|图", re.IGNORECASE)
_LINES_BELOW = 4.0  # the largest distance of a figure's caption below its frame, in lines
_CONTINUED = re.compile(r"\bcont(?:inued|\.|’d|'d)|续|suite|Fortsetzung", re.IGNORECASE)
_SENTENCE_END = (".", "!", "?", "。", "！", "？", ";", "；", ",", "，", ":", "：")
_LONGEST_HEADING, _FEWEST_LETTERS = 100, 2
LARGER = 1.15  # the size of a heading's font as a multiple of the usual one
_LINES_ABOVE = 2.5  # the largest distance between a table and its name as a multiple of the name's font size


Layout = list[list[TextLine] | FoundTable]  # the blocks of a page in reading order: a table, or lines of text


class _Part(NamedTuple):
    """A table, or its part on one page, whose first `skipped` rows repeat those of the first part."""

    page: int
    table: FoundTable
    skipped: int = 0


def lay_out(page: DrawnPage) -> Layout:
    """Return the lines and tables of a page in the order of its words; a table is at the place of its first word."""
    ruled = find_ruled(page)
    figures = [word for word in page.words if _FIGURE.match(word.text)]  # whose captions stand below diagrams
    found = [table for table in (*ruled, *find_open(page, [table.box for table in ruled]))
             if not any(0 <= word.box.top - table.box.bottom <= _LINES_BELOW * word.size
                        and word.box.x0 <= table.box.x1 for word in figures)]
    table_of = {number: table for table in _with_captions(found, page) for number in table.words}
    blocks: Layout = []
    placed = set[int]()
    for table, words in groupby(page.words, key=lambda word: table_of.get(word.number)):
        if table is None:
            blocks.append(flow_lines(list(words)))
        elif id(table) not in placed:
            placed.add(id(table))
            blocks.append(table)
    return blocks


def _with_captions(tables: Sequence[FoundTable], page: DrawnPage) -> list[FoundTable]:
    """Return the tables of a page with the captions that stand above or below all of them."""
    inside = frozenset[int]().union(*(table.words for table in tables))
    outside = [word for word in page.words if word.number not in inside]
    captions = [(find_caption(outside, table.box)[0], caption_below(outside, table.box)) for table in tables]
    first = min(range(len(tables)), key=lambda at: tables[at].box.top, default=None)
    # If the first table has its caption below it, a caption above another one may be that of the table before.
    are_below = first is not None and not captions[first][0] and bool(captions[first][1])
    all_below = {below for _, below in captions}
    return [table._replace(caption=below if are_below and (below or above in all_below) else above or below)
            for table, (above, below) in zip(tables, captions, strict=True)]


def lines_of(layout: Layout) -> list[TextLine]:
    """Return the lines of a page outside its tables."""
    return [*chain.from_iterable(block for block in layout if not isinstance(block, FoundTable))]


def _tables_of(layout: Layout) -> list[FoundTable]:
    """Return the tables of a page from top to bottom."""
    tables = [block for block in layout if isinstance(block, FoundTable)]
    return sorted(tables, key=lambda table: (table.box.top, table.box.x0))


def write_tables(layouts: Sequence[Layout], title: str, usual: tuple[str, float]) -> dict[int, str]:
    """Return the text of each table by its `id`, with the header also on further pages of a table."""
    written: dict[int, str] = {}
    for parts in _join_parts(layouts):
        name = _find_name(layouts[parts[0].page], parts[0].table, usual) or title
        written |= {id(part.table): text for part, text in zip(parts, _write_parts(parts, name), strict=True)}
    return written


def _join_parts(layouts: Sequence[Layout]) -> list[list[_Part]]:
    """Return the tables of all pages, each as the list of its parts on consecutive pages."""
    chains: list[list[_Part]] = []
    above: list[_Part] = []  # the parts of the lowest table on the page before, which the first one may continue
    for page, layout in enumerate(layouts):
        lowest: list[_Part] = []
        for table in _tables_of(layout):
            repeated = _repeated_rows(layouts[page - 1], above, layout, table) if above else None
            parts = above if repeated is not None else []
            if repeated is None:
                chains.append(parts)
            parts.append(_Part(page, table, repeated or 0))
            if not lowest or table.box.bottom > lowest[-1].table.box.bottom:
                lowest = parts
            above = []
        above = lowest
    return chains


def _repeated_rows(page_before: Layout, parts: list[_Part], layout: Layout, table: FoundTable) -> int | None:
    """Return how many of a table's rows repeat those above the table that it continues; None if it continues none."""
    above, first = parts[-1].table, parts[0].table
    if len(above.edges) != len(table.edges):
        return None
    if _CONTINUED.search(table.caption):
        return sum(all(cell.is_header for cell in row) for row in table.grid)
    has_same_columns = all(abs(edge - other) <= NEAR for edge, other in zip(above.edges, table.edges, strict=True))
    lines_after = [line for line in lines_of(page_before) if line.box.top >= above.box.bottom]
    lines_between = [line for line in lines_of(layout) if line.box.bottom <= table.box.top]
    if not has_same_columns or not _is_margin(lines_after, layout) or not _is_margin(lines_between, page_before):
        return None
    captions = next(at for at, row in enumerate(first.grid) if not is_single(row))
    head = captions + header_depth(first.grid[captions:])
    if captions < head and table.grid[:head] == first.grid[:head]:
        return head
    has_own_header = any(all(cell.is_header for cell in row) for row in table.grid) or (
        has_header(table.grid) and any(map(names_values, zip(*table.grid, strict=True))))
    return None if is_single(table.grid[0]) or has_own_header else 0


def _is_margin(lines: list[TextLine], other: Layout) -> bool:
    """Return True if lines are a page's header or footer: numbers, or repeated on another page but for numbers."""
    return set(map(mask_numbers, lines)) <= {"#", *map(mask_numbers, lines_of(other))}


def _write_parts(parts: list[_Part], title: str) -> list[str]:
    """Return the text of each part of a table; all parts have the header of the first."""
    captions, header, rows = read_grid(parts[0].table.grid)
    for part in parts[1:]:
        further = row_contents(part.table.grid[part.skipped:])
        above, below = rows[-1], next(iter(further), TableLine(""))
        # A row without a name is the end of one that the page divides.
        if not isinstance(above, TableLine) and not isinstance(below, TableLine) and not below[0]:
            rows[-1] = [f"{cell} {more}".strip() for cell, more in zip(above, below, strict=True)]
            further.pop(0)
        rows += [TableLine(_PAGE_BREAK), *further]
    text = "\n".join([*captions, *table_lines(header, rows, next(reversed(captions), title))])
    return [page.strip("\n") for page in text.split(_PAGE_BREAK)]


def _find_name(layout: Layout, table: FoundTable, usual: tuple[str, float]) -> str:
    """Return the name of a table: the caption or heading in the line right above it, or ""."""
    if table.caption:
        return CAPTION.sub("", table.caption, count=1).rstrip("".join(_SENTENCE_END))[:2 * _LONGEST_HEADING]
    above = [line for line in lines_of(layout)
             if 0 <= table.box.top - line.box.bottom <= _LINES_ABOVE * line.size
             and line.box.x0 < table.box.x1 and line.box.x1 > table.box.x0]
    if not above:
        return ""
    line = max(above, key=lambda line: line.box.bottom)
    text = line_text(line)
    return text if is_heading(text, line_style(line), usual) else ""


def usual_font(pages: Iterable[DrawnPage]) -> tuple[str, float]:
    """Return the font and the size of most letters of a file."""
    letters = Counter[tuple[str, float]]()
    for page in pages:
        for word in page.words:
            letters[word.font, round(word.size, 1)] += len(word.text)
    return max(letters, key=lambda font: (letters[font], font), default=("", 1.0))


def line_style(line: TextLine) -> tuple[str, float] | None:
    """Return the font and size of all words of a line; None if they differ."""
    styles = {(word.font, round(word.size, 1)) for word in line}
    return styles.pop() if len(styles) == 1 else None


def is_heading(text: str, style: tuple[str, float] | None, usual: tuple[str, float]) -> bool:
    """Return True for a short text in a bold or larger font than most of the document."""
    if style is None or (style[1] <= LARGER * usual[1] and (style[0] == usual[0] or style[1] < usual[1])):
        return False
    return (len(text) <= _LONGEST_HEADING and sum(map(str.isalpha, text)) >= _FEWEST_LETTERS
            and not text[0].islower() and not text.endswith((*_SENTENCE_END, "-")))
