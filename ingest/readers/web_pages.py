"""Read HTML as plain text with headings in Markdown and tables of data as rows."""

import re
from itertools import chain, islice

from bs4 import BeautifulSoup, UnusualUsageWarning
from bs4.dammit import EncodingDetector
from bs4.element import NavigableString, Tag
from bs4.exceptions import ParserRejectedMarkup

from ...runtime.libraries import ignoring
from ...text.cleaning import one_line
from ..grids import GridCell, grid_lines, place_cells
from ..reading import END, NOTE, RAISED, Content, UnreadableError, count_sources, decode, list_counts, write_raised

_HEADINGS = [f"h{level}" for level in range(1, 7)]
_PARAGRAPHS = frozenset({"p", "ul", "ol", "dl", "table", "blockquote", "pre", "figure", "hr", "section", "article",
                         "aside", "header", "footer", "main", "nav", "form"})
_LINES = frozenset({"div", "li", "dt", "dd", "tr", "caption", "figcaption", "option", "legend", "address", "details",
                    "summary"})
_CELLS = ["td", "th"]
_SPACES = re.compile(r"[ \t\n\r\f]+")  # HTML's white space: a no-break space stays
_NO_WIDTH = dict.fromkeys(map(ord, "\u200b\u2060\ufeff"))
_META = {"author": "author", "article:author": "author", "dc.creator": "author", "date": "date", "dc.date": "date",
         "article:published_time": "date", "description": "description", "keywords": "keywords"}
_LONGEST_NUMBER = 6  # figures of what counts rows and columns
_BAR, _BREAK, _ITEM, _INDENT, _LINE = "\x1c", "\x1d", "\x1e", "\x1f", "\v"
"""Marks in the text of a page, all of them white space: a bar between cells; a line break, two of which make an empty
line; the end of an item's dash or number; a level of indentation of a line inside an item; where a line begins or
ends, any number of which make one line break."""
_GAP = re.compile(rf"[ {_BREAK}{_INDENT}{_LINE}]+")
_AFTER_MARK = re.compile(rf"{_ITEM}(?:[{_INDENT}{_LINE} ]*+(?!(?:-|\d{{1,6}}\.) {_ITEM}))?")
"""The separators between the mark of an item and its words; they stay if a list inside the item follows."""
_BLOCKS_OF_CELL = re.compile(rf"(?:{_LINE}|{_BREAK}{{2,}})[{_INDENT}]*(?:(?:-|\d{{1,6}}\.) {_ITEM})?")
_HIDE_SPACES = {ord(space): chr(0xFDD6 + number) for number, space in enumerate(" \t\n\r\f")}
_SHOW_SPACES = {ord(stand_in): chr(space) for space, stand_in in _HIDE_SPACES.items()}
"""White space in code and tables has stand-ins while that of the page is made even."""
_LISTS = frozenset({"ul", "ol"})
_DEEPEST_LIST = 20  # levels of indentation
_DEEPEST = 5_000  # tags around each other
_LONGEST_CELL = 1000  # the longest cell of a table of data; a longer one is part of a page
_OF_LAYOUT = ["table", *_HEADINGS, "form", "pre"]  # no table of data has them in it
_UNSEEN = ["head", "title", "script", "style", "template", "noscript", "svg", "iframe", "object"]
_MOST_SPANNED = 1000  # the limit of browsers
# Menus, links for editing, and notices on a page of a wiki.
_OF_SITE = ("nav, [role=navigation], [role=search], [role=menubar], .noprint, .d-print-none, .mw-editsection, "
            ".mw-cite-backlink, .mw-hidden-catlinks, .hatnote, .ambox")
_CONTACT = "address, a[href^='tel:'], a[href^='mailto:']"
_FOOTNOTE_MARK = re.compile(r"\[[^\[\]]{1,20}\]")
_MOST_IN_MARK = 5  # pieces of text in a raised tag; one that is never closed takes in the rest of the page
_HIDDEN = re.compile(r"display:\s*none")
_ENDS = (".", ":", ";", ",", "!", "?", "。", "：", "；", "，", "！", "？")


def read_html(data: bytes, _: object = None) -> Content:
    """Read the visible text of a page without its menus, with headings, lists and code as in Markdown.

    Tables of data are rows in the form of `text/table_rows.py`; other tables are lines with ` | ` between cells.
    """
    soup = parse_html(decode(data, EncodingDetector.find_declared_encoding(data, is_html=True)))
    title = next(map(_line, soup.select("title:not(svg title)")), "")
    fields = {str(tag.get("name") or tag.get("property") or "").lower(): str(tag["content"])
              for tag in soup.find_all("meta", content=True, limit=1000)}
    struck = _remove_hidden_parts(soup)
    omitted = [count_sources(str(tag.get("src") or "") for tag in soup.find_all("img")),
               list_counts({"struck-out text": struck})]
    mark_tags(soup)
    main_headings = [*filter(None, map(_line, soup.find_all("h1")))]
    # A title such as "Quiet bells | Alder News" is the page's only heading and the name of the site.
    names_site = len(main_headings) == 1 and re.match(re.escape(main_headings[0]) + " [-–—|·:] ", title)
    if main_headings and (names_site or not title):
        title = main_headings[0]
    _write_blocks(soup, title)
    # First the page's white space is made even, without the marks; then each run of marks becomes white space.
    text = _SPACES.sub(" ", soup.get_text().translate(_NO_WIDTH).replace(_BAR, " | "))
    text = _GAP.sub(_write_gap, _AFTER_MARK.sub("", text)).strip().translate(_SHOW_SPACES)
    return Content(write_raised(text), title, {_META[name]: value for name, value in fields.items() if name in _META},
                   omitted=", ".join(filter(None, omitted)))


def parse_html(text: str) -> BeautifulSoup:
    """Parse a page; one with too deeply nested tags, for which the library takes very long, is refused."""
    with ignoring(UnusualUsageWarning):  # it warns of XHTML and of pages without a tag, which can both be read
        try:
            soup = BeautifulSoup(text, "lxml")
        except ParserRejectedMarkup as error:
            raise UnreadableError(f"broken HTML ({error}): fix its declarations") from error
    depths: dict[int, int] = {}
    for tag in soup.find_all(True):
        depths[id(tag)] = depths.get(id(tag.parent), 0) + 1
    if max(depths.values(), default=0) > _DEEPEST:
        raise UnreadableError(f"tags that are nested deeper than {_DEEPEST:,} levels: close them")
    return soup


def _remove_hidden_parts(soup: BeautifulSoup) -> int:
    """Remove what is hidden or struck out, and what belongs to the site; return how many parts are struck out."""
    for tag in soup.find_all(_UNSEEN):
        tag.extract()
    translations = [tag.parent for tag in soup.select("li > a[hreflang]") if tag.parent]  # the page in other languages
    struck = soup.find_all(["s", "strike", "del"])
    # Links such as "[1]" to a part of the page are marks of footnotes.
    marks = [tag for tag in soup.find_all("sup") if _FOOTNOTE_MARK.fullmatch(_short_text(tag))
             and tag.select_one("a[href*='#']:only-child") is not None]
    hidden = [*marks, *soup.find_all(style=_HIDDEN), *soup.find_all(hidden=True)]
    most, removed = _count_letters(soup) / 2, set[int]()
    for tag in [*soup.select(_OF_SITE), *translations, *hidden, *struck]:
        if id(tag) in removed:
            continue
        if _count_letters(tag) >= most:  # the page itself, whatever it is called: what is left stays, too
            break
        removed.update(map(id, (tag, *tag.descendants)))
        tag.replace_with(" ")
    mains = soup.select("main, [role=main]")  # all else on the page is left out, except an address in its footer
    if len(mains) == 1 and _count_letters(mains[0]) > _count_letters(soup) / 2:
        footers = [tag for tag in soup.find_all("footer") if tag.select(_CONTACT) and mains[0] not in tag.parents]
        parts = [tag.extract() for tag in (mains[0], *footers)]
        soup.clear()
        soup.extend(parts)
    return sum(id(tag) in removed for tag in struck)


def _count_letters(tag: Tag) -> int:
    """Return the number of characters of a tag's text without white space."""
    return len("".join(tag.get_text().split()))


def _short_text(tag: Tag) -> str:
    """Return the text of a tag with few pieces of text; "" for any other."""
    texts = [*islice(tag.strings, _MOST_IN_MARK + 1)]
    return "".join(texts).strip() if len(texts) <= _MOST_IN_MARK else ""


def mark_tags(soup: BeautifulSoup) -> None:
    """Put the marks between blocks, lines, items and cells into the text of a page, and those around raised texts."""
    _mark_raised(soup)
    depths: dict[int, int] = {}  # in how many lists the content of a tag is
    for tag in soup.find_all(True):
        depth = depths.get(id(tag.parent), 0)
        depths[id(tag)] = min(depth + (tag.name in _LISTS), _DEEPEST_LIST)
        if tag.name == "ol":
            number = _read_number(tag, "start", 1) - 1
            for item in tag.find_all("li", recursive=False):  # with the number that the page declares, or the next one
                number = _read_number(item, "value", number + 1)
                item["value"] = str(number)
        mark = edge = ""  # what is in front of the tag's words, and what is around them
        if tag.name in _PARAGRAPHS:
            edge = _LINE + _INDENT * depth if depth else 2 * _BREAK  # no empty lines inside a list
        elif tag.name == "li":
            number_or_dash = f"{tag['value']}." if tag.parent is not None and tag.parent.name == "ol" else "-"
            mark = f"{_INDENT * (depth - 1)}{number_or_dash} {_ITEM}"
            edge = _LINE
        elif tag.name in _LINES:
            edge = _LINE + _INDENT * depth
        elif tag.name in _CELLS:
            before = tag.find_previous_sibling(_CELLS)
            # Cells with paragraphs, as in Word files, are not separated.
            parts = chain(before.contents, tag.contents) if isinstance(before, Tag) else ()
            has_paragraph = any(isinstance(part, Tag) and part.name in _PARAGRAPHS for part in parts)
            mark = _BAR if before is not None and not has_paragraph else ""
        elif tag.name == "br":
            mark = _BREAK
        if edge or mark:
            tag.insert(0, NavigableString(edge + mark))
            tag.append(NavigableString(edge))


def _mark_raised(soup: BeautifulSoup) -> None:
    """Put the marks of `write_raised` around raised texts; one with a link marks a note."""
    for tag in filter(_short_text, soup.find_all("sup")):
        is_note = tag.select_one("a[href]") or tag.find_parent("a", href=True)
        tag.insert(0, NavigableString(NOTE if is_note else RAISED))
        tag.append(NavigableString(END))


def _read_number(tag: Tag, name: str, default: int) -> int:
    """Return the number in an attribute of a tag; the default if it has none, or one that no page would have."""
    value = str(tag.get(name) or "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < _LONGEST_NUMBER else default


def _write_blocks(soup: BeautifulSoup, heading: str) -> None:
    """Put the text of each heading, table of data and preformatted block in its place; `heading` names tables."""
    for tag in soup.find_all([*_HEADINGS, "table", "pre"]):
        block = ""  # without one, as for a table of layout, the tag stays as it is
        if tag.name == "table":
            block = _read_table(tag, heading)
        elif tag.name == "pre":
            code = tag.get_text().translate({ord(mark): "\n" for mark in (_LINE, _BREAK)}).strip("\n")
            block = f"```\n{code}\n```" if code.strip() else ""
        elif words := _line(tag):
            heading, block = words, f"{'#' * int(tag.name[1])} {words}"
        if block:
            tag.string = f"{2 * _BREAK}{block.translate(_HIDE_SPACES)}{2 * _BREAK}"


def _line(tag: Tag) -> str:
    """Return the words of a tag on one line, without the marks of `mark_tags`."""
    return write_raised(one_line(tag.get_text()))


def _write_gap(match: re.Match[str]) -> str:
    """Return the white space for a run of blanks, line breaks and marks: an empty line, a line break or a blank."""
    white_space = match[0]
    if white_space.count(_BREAK) > 1:
        return "\n\n"
    indentation = "  " * (len(white_space) - len(white_space.rstrip(_INDENT)))
    return f"\n{indentation}" if _BREAK in white_space or _LINE in white_space else " "


def _read_table(table: Tag, heading: str) -> str:
    """Return the caption and the rows of a table of data, or "" for a table that serves for layout."""
    if table.get("role") == "presentation" or table.find(_OF_LAYOUT):
        return ""
    grid = read_grid(table)
    is_single_row_or_column = len(grid) <= 1 or max(map(len, grid)) <= 1
    if is_single_row_or_column or max(map(len, chain(*grid))) > _LONGEST_CELL:
        return ""
    return "\n".join(grid_lines(grid, heading, _line(table.caption) if table.caption else ""))


def read_grid(table: Tag) -> list[list[GridCell]]:
    """Return the cells of a table whose tags are marked."""
    def read_cell(cell: Tag) -> tuple[GridCell, int, int]:
        width, height = (min(max(_read_number(cell, name, 1), 1), _MOST_SPANNED) for name in ("colspan", "rowspan"))
        return GridCell(_cell_text(cell), is_header=cell.name == "th"), width, height

    rows = (row.find_all(_CELLS, recursive=False) for row in table.find_all("tr"))
    return place_cells(list(map(read_cell, row)) for row in rows if row)


def _cell_text(cell: Tag) -> str:
    """Return the paragraphs of a cell on one line; one that does not end a sentence ends with a semicolon."""
    text = ""
    for block in filter(None, map(one_line, _BLOCKS_OF_CELL.split(cell.get_text().translate(_NO_WIDTH)))):
        separator = " " if text.endswith(_ENDS) else "; "
        text += f"{separator if text else ''}{block}"
    return write_raised(text)
