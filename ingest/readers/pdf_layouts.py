"""Pages of a PDF file as blocks of text and tables, in the order in which the file draws them."""

import logging
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

from .aligned_tables import find_aligned
from .pdf_words import Word, flow_lines, read_words
from .ruled_tables import FoundTable, find_ruled

# They log details of broken files, which would go to the terminal if nothing else handles them.
for _name in ("pdfminer", "pdfplumber"):
    logging.getLogger(_name).addHandler(logging.NullHandler())

_MOST_DIFFERENT = 0.02
"""The share of a page's characters in which the two libraries may differ."""
_RIGHT_TO_LEFT = frozenset({"R", "AL"})

_BROKEN = (PSException, PdfminerException, MalformedPDFException, struct.error, zlib.error, ArithmeticError,
           AssertionError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError)
"""What the two libraries raise on a broken structure: errors of their own, or those of whatever they find in it."""

TextLine = list[Word]


class PageLayout(NamedTuple):
    """A page with at least one table."""

    blocks: list[list[TextLine] | FoundTable]

    @property
    def tables(self) -> list[FoundTable]:
        """The tables in the order of the blocks."""
        return [block for block in self.blocks if isinstance(block, FoundTable)]

    @property
    def lines(self) -> list[TextLine]:
        """The lines outside the tables."""
        return [line for block in self.blocks if not isinstance(block, FoundTable) for line in block]


def read_layouts(data: bytes, wanted: Mapping[int, tuple[int, str]],
                 broken: dict[int, str]) -> Iterator[tuple[int, PageLayout]]:
    """Yield the layouts of the pages of a PDF file that have tables.

    Args:
        data: the file's bytes; an encrypted file must open without a password.
        wanted: the number and text of each page that may have tables, by the page's object number.
        broken: gets the cause for each page, by its number, whose structure pdfminer cannot follow.

    Yields:
        The number and layout of each of these pages that has a table. A page is omitted if it is broken, or if pdfminer
        reads other characters than the given text; callers then use that text.
    """
    left = {number for number, _ in wanted.values()}
    try:
        pdf = pdfplumber.open(BytesIO(data))
        for page_object in PDFPage.create_pages(pdf.doc):
            page_id = page_object.pageid
            if isinstance(page_id, int) and page_id in wanted:
                number, text = wanted[page_id]
                layout = _read_layout(Page(pdf, page_object, number), text, broken)
                left.discard(number)
                if layout is not None:
                    yield number, layout
    except _BROKEN as error:
        broken |= dict.fromkeys(left, repr(error))


def read_single_letters(data: bytes, wanted: Mapping[int, int],
                        broken: dict[int, str]) -> Iterator[tuple[int, str]]:
    """Yield the text of pages, without the letters that they draw again in the same place.

    Args:
        data: the file's bytes; an encrypted file must open without a password.
        wanted: the number of each page by its object number.
        broken: as in `read_layouts`.

    Yields:
        The object number and text of each of these pages that pdfminer can read.
    """
    left = set(wanted.values())
    try:
        pdf = pdfplumber.open(BytesIO(data))
        for number, page_object in enumerate(PDFPage.create_pages(pdf.doc), 1):
            if isinstance(page_object.pageid, int) and page_object.pageid in wanted:
                yield page_object.pageid, Page(pdf, page_object, number).dedupe_chars().extract_text()
                left.discard(wanted[page_object.pageid])
    except _BROKEN as error:
        broken |= dict.fromkeys(left, repr(error))


def _read_layout(page: Page, text: str, broken: dict[int, str]) -> PageLayout | None:
    try:
        words = read_words(page)
        tables = _find_tables(page, words) if _is_same(words, text) else []
    except _BROKEN as error:  # other pages may be readable
        broken[page.page_number] = repr(error)
        return None
    finally:
        page.close()
    return PageLayout(_blocks(words, tables)) if tables else None


def _find_tables(page: Page, words: list[Word]) -> list[FoundTable]:
    ruled = find_ruled(page, words)
    taken = frozenset().union(*(table.words for table in ruled))
    return [*ruled, *find_aligned(page, [word for word in words if word.number not in taken])]


def _is_same(words: list[Word], text: str) -> bool:
    """Return True if words are those of a text, which must not be written from right to left."""
    if any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in set(text)):
        return False
    here, there = (Counter("".join(unicodedata.normalize("NFKC", part).split()))
                   for part in ("".join(word.text for word in words), text))
    different = (here - there).total() + (there - here).total()
    return different <= _MOST_DIFFERENT * there.total()


def _blocks(words: list[Word], tables: list[FoundTable]) -> list[list[TextLine] | FoundTable]:
    """Return the page in the order of its words; a table comes where its first word does."""
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
