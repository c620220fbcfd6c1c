"""Read PDF pages with tables, and write the tables as rows, including tables that continue on the next page."""

import logging
import re
import struct
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from io import BytesIO
from itertools import groupby
from typing import NamedTuple

import pdfplumber
from pdfminer.pdfpage import PDFPage
from pdfminer.psexceptions import PSException
from pdfplumber.page import Page
from pdfplumber.utils.exceptions import MalformedPDFException, PdfminerException

from ..grids import header_depth, is_single, read_grid, row_contents
from ..table_lines import TableLine, has_header, is_value, table_lines
from .ruled_tables import FoundTable, PageWord, find_ruled, flow_lines, line_text, read_words

# They log details of broken files, which would go to the terminal if nothing else handles them.
for _library in ("pdfminer", "pdfplumber"):
    logging.getLogger(_library).addHandler(logging.NullHandler())

_MOST_DIFFERENT = 0.02
"""The share of a page's characters in which the two libraries may differ."""
_RIGHT_TO_LEFT = frozenset({"R", "AL"})

_BROKEN = (PSException, PdfminerException, MalformedPDFException, struct.error, zlib.error, ArithmeticError,
           AssertionError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError)
"""The errors that the two libraries raise on a broken structure."""

TextLine = list[PageWord]
_NEAR = 3.0
"""The largest distance in points between the columns of a table on two pages."""
_PAGE_BREAK = "\f"
_MOSTLY = 0.8
_NUMBER = re.compile(r"\d+")
_MARKS = r"[^\w#]*+"
_PAGE_NUMBER = re.compile(rf"{_MARKS}(?:page|seite|p\.|第)?{_MARKS}#(?:{_MARKS}(?:of|von|de|共)?{_MARKS}#)?"
                          rf"{_MARKS}页?{_MARKS}", re.IGNORECASE)
_CONTINUED = re.compile(r"\A\W*(continued|fortsetzung|续表|接上表|续上表|接下页)|\b(continued|cont'd|cont|续)\W*\Z",
                        re.IGNORECASE)
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
        """The tables in the order of the blocks."""
        return [block for block in self.blocks if isinstance(block, FoundTable)]

    @property
    def lines(self) -> list[TextLine]:
        """The lines outside the tables."""
        return [line for block in self.blocks if not isinstance(block, FoundTable) for line in block]


def _pages(data: bytes, wanted: Mapping[int, int], broken: dict[int, str]) -> Iterator[tuple[int, Page]]:
    """Yield some pages of a PDF file with their object numbers."""
    missing = set(wanted.values())
    try:
        pdf = pdfplumber.open(BytesIO(data))
        for miner_page in PDFPage.create_pages(pdf.doc):
            page_id = miner_page.pageid
            if isinstance(page_id, int) and page_id in wanted:
                yield page_id, Page(pdf, miner_page, wanted[page_id])
                missing.discard(wanted[page_id])
    except _BROKEN as error:
        broken |= dict.fromkeys(missing, repr(error))


def read_layouts(data: bytes, wanted: Mapping[int, tuple[int, str]],
                 broken: dict[int, str]) -> Iterator[tuple[int, PageLayout]]:
    """Yield the number and layout of each page of a PDF file that has a table.

    A page is left out if it is broken, or if pdfminer reads other characters than the given text has. Callers then use
    that text, without tables.

    Args:
        data: see `_pages`.
        wanted: the number and text of each page that may have tables, by the page's object number.
        broken: see `_pages`.
    """
    for page_id, page in _pages(data, {page_id: number for page_id, (number, _) in wanted.items()}, broken):
        number, text = wanted[page_id]
        try:
            words = read_words(page)
            tables = find_ruled(page, words) if _is_same(words, text) else []
        except _BROKEN as error:  # other pages may be readable
            broken[number] = repr(error)
            continue
        finally:
            page.close()
        if tables:
            yield number, PageLayout(_blocks(words, tables))


def read_single_letters(data: bytes, wanted: Mapping[int, int],
                        broken: dict[int, str]) -> Iterator[tuple[int, str]]:
    """Yield the object number and the text of pages, without letters that they draw a second time in the same place.

    The arguments are those of `_pages`.
    """
    for page_id, page in _pages(data, wanted, broken):
        try:
            yield page_id, page.dedupe_chars().extract_text()
        except _BROKEN as error:
            broken[wanted[page_id]] = repr(error)


def _is_same(words: list[PageWord], text: str) -> bool:
    """Return True if words have nearly the same characters as a text; False for text from right to left."""
    if any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in set(text)):
        return False
    in_words, in_text = (Counter("".join(unicodedata.normalize("NFKC", part).split()))
                         for part in ("".join(word.text for word in words), text))
    different = (in_words - in_text).total() + (in_text - in_words).total()
    return different <= _MOST_DIFFERENT * in_text.total()


def _blocks(words: list[PageWord], tables: list[FoundTable]) -> list[list[TextLine] | FoundTable]:
    """Return the lines and tables of a page in the order of its words; a table is at the place of its first word."""
    table_of = {number: at for at, table in enumerate(tables) for number in table.words}
    blocks: list[list[TextLine] | FoundTable] = []
    placed: set[int] = set()
    for at, group in groupby(range(len(words)), key=table_of.get):
        if at is None:
            blocks.append(flow_lines([words[number] for number in group]))
        elif at not in placed:
            placed.add(at)
            blocks.append(tables[at])
    return blocks


class _Part(NamedTuple):
    """A table, or its part on one page, whose first `skipped` rows repeat captions and header of the first part."""

    page: int
    table: FoundTable
    skipped: int = 0


def read_tables(data: bytes, wanted: Mapping[int, tuple[int, str]], title: str,
                broken: dict[int, str]) -> Iterator[tuple[int, str]]:
    """Yield the pages of a PDF file that have tables.

    Args:
        data: the file's bytes.
        wanted: the number and text of each page that may have tables, by the page's object number.
        title: the subject of tables without a heading, or "".
        broken: gets the cause for each page, by its number, whose tables cannot be read.

    Yields:
        The number and text of each page that has a table, with its tables written as rows. If a table clearly continues
        on the next page, the rows there have its header, too. Each row is in the text of its page.
    """
    layouts = dict(sorted(read_layouts(data, wanted, broken)))
    written: dict[tuple[int, int], str] = {}
    for parts in _chains(layouts):
        texts = _write_parts(parts, _name(layouts[parts[0].page], parts[0].table) or title)
        written |= {(part.page, id(part.table)): text for part, text in zip(parts, texts, strict=True)}
    for number, layout in layouts.items():
        blocks = [written[number, id(block)] if isinstance(block, FoundTable) else "\n".join(map(line_text, block))
                  for block in layout.blocks]
        yield number, "\n\n".join(filter(None, blocks))


def _chains(layouts: Mapping[int, PageLayout]) -> list[list[_Part]]:
    """Return the tables of all pages, each as the list of its parts on consecutive pages."""
    chains: list[list[_Part]] = []
    last: list[_Part] = []  # the parts of the lowest table on the page before
    for number, layout in layouts.items():
        tables = sorted(layout.tables, key=lambda table: (table.box.top, table.box.x0))
        follows_page = bool(last) and last[-1].page == number - 1
        for table in tables:
            skipped = None  # None: the table continues no other one
            if follows_page and table is tables[0]:
                skipped = _repeated_rows(layouts[number - 1], last, layout, table)
            if skipped is None:
                chains.append([_Part(number, table)])
            else:
                last.append(_Part(number, table, skipped))
        lowest = max(tables, key=lambda table: table.box.bottom)
        last = next(parts for parts in reversed(chains) if parts[-1].table is lowest)
    return chains


def _repeated_rows(before: PageLayout, parts: list[_Part], layout: PageLayout, table: FoundTable) -> int | None:
    """Return whether a page's first table continues the last table of the page before, and which rows it repeats."""
    above = parts[-1].table
    has_same_columns = len(above.edges) == len(table.edges) and all(
        abs(edge - other) <= _NEAR for edge, other in zip(above.edges, table.edges, strict=True))
    if not has_same_columns:
        return None
    lines_after = [line for line in before.lines if line[0].box.top >= above.box.bottom]
    lines_between = [line for line in layout.lines if line[0].box.bottom <= table.box.top]
    if not (_is_margin(lines_after, layout) and _is_margin(lines_between, before)):
        return None
    first = parts[0].table
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


def _is_above_values(column: tuple[str, ...]) -> bool:
    """Return True if the first cell of a column is a text, and the filled cells below are mostly values."""
    filled = [cell for cell in column[1:] if cell]
    if not filled or not column[0] or is_value(column[0]):
        return False
    return sum(map(is_value, filled)) >= _MOSTLY * len(filled)


def _is_margin(lines: list[TextLine], other: PageLayout) -> bool:
    """Return True if lines are a page's header or footer: repeated on another page, page numbers, or "continued"."""
    known = {_mask_numbers(line) for line in other.lines}
    return all((text := _mask_numbers(line)) in known or _PAGE_NUMBER.fullmatch(text) or _CONTINUED.search(text)
               for line in lines)


def _mask_numbers(line: TextLine) -> str:
    return _NUMBER.sub("#", line_text(line))


def _write_parts(parts: list[_Part], title: str) -> list[str]:
    """Return the text of each part of a table."""
    captions, header, rows = read_grid(parts[0].table.grid)
    for part in parts[1:]:
        rows += [TableLine(_PAGE_BREAK), *row_contents(part.table.grid[part.skipped:])]
    title = next(reversed(captions), title)
    text = "\n".join([*captions, *table_lines(header, rows, title)])
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
    caption = _CAPTION.match(text)
    if caption:
        return text[caption.end():].rstrip("".join(_SENTENCE_END)) if len(text) <= 2 * _LONGEST_HEADING else ""
    usual = Counter((word.font, round(word.size)) for other in layout.lines for word in other).most_common(1)[0][0]
    differs = line[0].font != usual[0] or line[0].size > _LARGER * usual[1]
    return text if differs and len(text) <= _LONGEST_HEADING and not text.endswith(_SENTENCE_END) else ""
