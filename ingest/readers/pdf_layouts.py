"""Pages of a PDF file as blocks of text and tables, in the order in which the file draws them."""

import logging
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from io import BytesIO
from itertools import groupby
from typing import NamedTuple

import pdfplumber
from pdfminer.pdfpage import PDFPage
from pdfplumber.page import Page

from .aligned_tables import find_aligned
from .pdf_words import Word, flow_lines, read_words
from .ruled_tables import FoundTable, find_ruled

# They log details of broken files, which would go to the terminal if nothing else handles them.
for _name in ("pdfminer", "pdfplumber"):
    logging.getLogger(_name).addHandler(logging.NullHandler())

_MOST_DIFFERENT = 0.02
"""The share of a page's characters in which the two libraries may differ."""
_RIGHT_TO_LEFT = frozenset({"R", "AL"})

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


def read_layouts(data: bytes, wanted: Mapping[int, tuple[int, str]]) -> Iterator[tuple[int, PageLayout]]:
    """Yield the layouts of the pages of a PDF file that have tables.

    Args:
        data: the file's bytes; an encrypted file must open without a password.
        wanted: the number and text of each page that may have tables, by the page's object number.

    Yields:
        The number and layout of each of these pages that has a table. A page is omitted if pdfminer cannot follow its
        structure, or reads other characters than the given text; callers then use that text.
    """
    try:
        pdf = pdfplumber.open(BytesIO(data))
        for page_object in PDFPage.create_pages(pdf.doc):
            page_id = page_object.pageid
            if isinstance(page_id, int) and page_id in wanted:
                number, text = wanted[page_id]
                layout = _read_layout(Page(pdf, page_object, number), text)
                if layout is not None:
                    yield number, layout
    except Exception:  # pdfplumber can raise anything on a broken structure
        logging.getLogger(__name__).debug("no tables were read from here on", exc_info=True)


def read_single_letters(data: bytes, wanted: Collection[int]) -> Iterator[tuple[int, str]]:
    """Yield the text of pages, without the letters that they draw again in the same place.

    Args:
        data: the file's bytes; an encrypted file must open without a password.
        wanted: the pages' object numbers.

    Yields:
        The object number and text of each of these pages that pdfminer can read.
    """
    try:
        pdf = pdfplumber.open(BytesIO(data))
        for number, page_object in enumerate(PDFPage.create_pages(pdf.doc), 1):
            if isinstance(page_object.pageid, int) and page_object.pageid in wanted:
                yield page_object.pageid, Page(pdf, page_object, number).dedupe_chars().extract_text()
    except Exception:  # as above: the text that pypdf reads is used
        logging.getLogger(__name__).debug("letters drawn twice stay from here on", exc_info=True)


def _read_layout(page: Page, text: str) -> PageLayout | None:
    try:
        words = read_words(page)
        tables = _find_tables(page, words) if _is_same(words, text) else []
    except Exception:  # as above, but other pages may be readable
        logging.getLogger(__name__).debug("no tables were read on page %d", page.page_number, exc_info=True)
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
