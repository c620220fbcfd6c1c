"""Word files (docx): mammoth converts the visible text to HTML, which is read as a page."""

import re
from io import BytesIO
from itertools import accumulate

import mammoth
from bs4 import BeautifulSoup, Tag

from ..content import Content
from ..counting import list_counts
from ..reading_limits import Limits
from .archives import not_of_kind, open_archive, properties
from .web_pages import read_html
from .web_tables import LONGEST_CELL, read_table
from .word_parts import count_unread, left_out_parts, with_equations

_STYLES = "p[style-name='Title'] => h1:fresh"
_TABLE_TAG = re.compile(r"<(/?)table>")


def read_docx(data: bytes, limits: Limits) -> Content:
    """Read the text of a Word file as `read_html` returns it.

    The title is the first paragraph in the style Title or Heading 1. Tracked insertions and content controls are read;
    deletions and pictures are not. Equations are text; headers, footers, comments, charts and diagrams
    follow the text.

    Raises:
        UnreadableError: the bytes are not a Word file, or it is too large.
    """
    with open_archive(data, "a Word file", limits) as archive:
        about = properties(archive)
        left_out = list(left_out_parts(archive))
        unread = count_unread(archive)
        if not any(name.startswith("word/") for name in archive.namelist()):
            raise not_of_kind(data, "a Word file", "no document in it")
    nothing = mammoth.images.img_element(lambda _: {})
    html = mammoth.convert_to_html(BytesIO(with_equations(data)), style_map=_STYLES, convert_image=nothing).value
    page = read_html(f'<meta charset="utf-8">{_flatten_nested_tables(html)}'.encode())
    return Content("\n\n".join(filter(None, [page.text, *left_out])), page.title or about.pop("title", ""), about,
                   omitted=list_counts(unread))


def _flatten_nested_tables(html: str) -> str:
    """Replace a table within a cell of a table of data by its text, so the outer table keeps its rows.

    A table with another one in its first row or column lays out a page: there the inner tables are the data.
    """
    depths = accumulate(-1 if match[1] else 1 for match in _TABLE_TAG.finditer(html))
    if max(depths, default=0) < 2:  # noqa: PLR2004 - no table within another
        return html
    soup = BeautifulSoup(html, "html.parser")
    for table in reversed(soup.find_all("table")):  # inner tables before outer ones
        outer = table.find_parent("table")
        if outer is not None and _is_of_data(outer) and len(text := _cell_text(table)) <= LONGEST_CELL:
            table.replace_with(text)
    return str(soup)


def _is_of_data(outer: Tag) -> bool:
    parts = [outer, *outer.find_all(["thead", "tbody"], recursive=False)]
    rows = [row.find_all(["td", "th"], recursive=False)
            for part in parts for row in part.find_all("tr", recursive=False)]
    plain = [cell for row in rows for cell in (row if row is rows[0] else row[:1])]
    return len(rows) > 1 and not any(cell.find("table") for cell in plain)


def _cell_text(table: Tag) -> str:
    """Write a table in one line: its rows as "Part: Pole, Count: 2; Part: Peg, Count: 8" if it is data, else words."""
    lines = read_table(table, "").split("\n")
    rows = [line.removeprefix("| ").removesuffix(" |").replace(" | ", ", ") for line in lines]
    return "; ".join(filter(None, rows)) or " ".join(table.get_text(" ").split())
