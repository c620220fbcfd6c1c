"""Read PDF pages with tables, and write the tables as rows, including tables that continue on the next page."""

import logging
import re
import struct
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from io import BytesIO
from itertools import groupby
from typing import NamedTuple

import pdfplumber
from pdfminer.psexceptions import PSException
from pdfplumber.page import Page
from pdfplumber.utils.exceptions import MalformedPDFException, PdfminerException

from ..grids import header_depth, is_single, read_grid, row_contents
from ..source_tables import TableLine
from ..table_lines import has_header, names_values, table_lines
from .ruled_tables import NEAR, FoundTable, TextLine, find_ruled, flow_lines, line_text, read_words

# They log details of broken files, which would go to the terminal if nothing else handles them.
for _library in ("pdfminer", "pdfplumber"):
    logging.getLogger(_library).addHandler(logging.NullHandler())

_MOST_DIFFERENT = 0.02  # the share of a page's characters in which the two libraries may differ
_RIGHT_TO_LEFT = frozenset({"R", "AL"})
_BROKEN = (PSException, PdfminerException, MalformedPDFException, struct.error, zlib.error, ArithmeticError,
           AssertionError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError)
"""The errors that the two libraries raise on a broken structure."""

_PAGE_BREAK = "\f"
_NUMBER = re.compile(r"\d+")
_CAPTION = re.compile(r"(?:table|tab\.|tabelle|表)\s*[A-Z]?\d[\d.\-]*\s*[:.：、—–-]*\s*", re.IGNORECASE)
_SENTENCE_END = (".", "!", "?", "。", "！", "？", ";", "；", ",", "，")
_LONGEST_HEADING = 100
_LARGER = 1.15  # the size of a heading's font as a multiple of the usual one
_LINES_ABOVE = 2.5  # the largest distance between a table and its name as a multiple of the name's font size

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


def _is_same(words: TextLine, text: str) -> bool:
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
        abs(edge - other) <= NEAR for edge, other in zip(above.edges, table.edges, strict=True))
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
        has_header(texts) and any(map(names_values, zip(*texts, strict=True))))
    return None if has_own_head else 0


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
