"""Word files (docx): mammoth converts the visible text to HTML, which is read as a page."""

import re
from io import BytesIO
from itertools import accumulate

import mammoth
from bs4 import BeautifulSoup, Tag

from ..content import Content
from ..reading_limits import Limits
from .archives import open_archive, properties
from .web_pages import read_html
from .web_tables import LONGEST_CELL, read_table

_STYLES = "p[style-name='Title'] => h1:fresh"
_TABLE_TAG = re.compile(r"<(/?)table>")


def read_docx(data: bytes, limits: Limits) -> Content:
    """Read the text of a Word file as `read_html` returns it.

    The title is the first paragraph in the style Title or Heading 1. Tracked insertions and content controls are read;
    deletions and pictures are not.

    Raises:
        UnreadableError: the bytes are not a Word file, or it is too large.
    """
    with open_archive(data, "a Word file", limits) as archive:
        about = properties(archive)
    nothing = mammoth.images.img_element(lambda _: {})
    html = mammoth.convert_to_html(BytesIO(data), style_map=_STYLES, convert_image=nothing).value
    page = read_html(f'<meta charset="utf-8">{_flatten_nested_tables(html)}'.encode())
    return Content(page.text, page.title or about.pop("title", ""), about)


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
