"""Read HTML as plain text with headings in Markdown and tables of data as rows, and books (epub) by their pages."""

import posixpath
import re
from collections.abc import Iterator
from itertools import groupby, islice
from operator import itemgetter
from typing import NamedTuple
from urllib.parse import unquote

from bs4 import BeautifulSoup, UnusualUsageWarning
from bs4.dammit import EncodingDetector
from bs4.element import CData, NavigableString, PageElement, PreformattedString, Tag
from bs4.exceptions import ParserRejectedMarkup

from ...runtime.libraries import ignoring
from ..decoding import decode
from ..grids import GridCell, SpanningCell, grid_lines, place_cells
from ..reading import END, NOTE, RAISED, Content, Limits, UnreadableError, count_sources, list_counts, write_raised
from .archives import local_name, open_archive, parse_xml

_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
_PARAGRAPHS = frozenset({"p", "ul", "ol", "dl", "table", "blockquote", "pre", "figure", "hr", "section", "article",
                         "aside", "header", "footer", "main", "nav", "form"})
_LINES = frozenset({"div", "li", "dt", "dd", "tr", "caption", "figcaption", "option", "legend", "address", "details",
                    "summary"})
_CELLS = ["td", "th"]
_BLOCKS = _PARAGRAPHS | _LINES | {"td", "th"}
_SPACES = re.compile(r"[ \t\n\r\f]+")  # HTML's white space: a no-break space stays
_NO_WIDTH = dict.fromkeys(map(ord, "\u200b\u2060\ufeff"))
"""Characters that only say where a line may break, or may not; no browser shows them."""
_GAP = re.compile(r"[ \n\v\x1f]+")
_META = {"author": "author", "article:author": "author", "dc.creator": "author", "date": "date", "dc.date": "date",
         "article:published_time": "date", "description": "description", "keywords": "keywords"}
_LONGEST_NUMBER = 6
_LINE = "\v"  # marks where a line begins or ends; any number of consecutive marks is one line break
_INDENT = "\x1f"  # marks one level of indentation, of a line inside an item of a list
_LISTS = frozenset({"ul", "ol"})
_DEEPEST_LIST = 20  # levels of indentation; on pages without end tags, the parser nests items, too
_AFTER_MARK = re.compile(r"\x1e(?:[ \v\x1f]*+(?!(?:-|\d{1,6}\.) \x1e))?")
"""The separators between the mark of an item and its words; they stay if a list inside the item follows."""
_LONGEST_CELL = 1000  # the longest cell of a table of data; a longer one is part of a page
_OF_LAYOUT = ["table", "h1", "h2", "h3", "h4", "h5", "h6", "form", "pre"]
# Not `head`: if its end tag is missing, the parser puts the whole page into it.
_UNSEEN = frozenset({"title", "script", "style", "template", "noscript", "svg", "iframe", "object"})
_MOST_SPANNED = 1000  # the limit of browsers
_OF_SITE = ("nav, [role=navigation], [role=search], [role=menubar], .noprint, .d-print-none, .mw-editsection, "
            ".mw-cite-backlink, .mw-hidden-catlinks, .hatnote, .ambox")
"""Menus, and parts that MediaWiki's and Bootstrap's style sheets do not print."""
_CONTACT = "address, a[href^='tel:'], a[href^='mailto:']"
_FOOTNOTE_MARK = re.compile(r"\s*\[[^\[\]]{1,20}\]\s*")
_MOST_IN_MARK = 5
_HIDDEN = re.compile(r"display:\s*none")
_MOST_INLINE = 20  # the most tags around a text that are looked at to find its paragraph
_ENDS = (".", ":", ";", ",", "!", "?", "。", "：", "；", "，", "！", "？")
_CONTAINER = "META-INF/container.xml"
_FIELDS = {"creator": "author", "date": "date", "publisher": "publisher", "language": "language", "subject": "subject"}


def read_html(data: bytes, _: Limits | None = None) -> Content:
    """Read the visible text of a page, in the encoding that it declares.

    The text is without menus (see `_remove_unsaid_parts`), with headings as `# ` lines, list items as `- ` lines, and
    preformatted text in fences. Tables of data are rows in the form of `text/table_rows.py`; other tables are lines
    with ` | ` between cells. The title is that of the page without the name of its site, or else its first `h1`. The
    metadata comes from its `meta` tags. Its pictures are not read but counted.
    """
    soup = parse_html(decode(data, EncodingDetector.find_declared_encoding(data, is_html=True)))
    struck = _remove_unsaid_parts(soup)
    mark_raised(soup)
    title = _line(soup.title) if soup.title else ""
    main_headings = [*filter(None, map(_line, soup.find_all("h1")))]
    has_site = len(main_headings) == 1 and re.match(re.escape(main_headings[0]) + " [-–—|·:] ", title)
    if main_headings and (has_site or not title):
        title = main_headings[0]
    blocks: list[str] = []
    for is_preformatted, pieces in groupby(_pieces(soup, title), key=itemgetter(1)):
        block = "".join(text for text, _ in pieces)
        if not is_preformatted:
            blocks.append(write_raised(_GAP.sub(_gap, _AFTER_MARK.sub("", block)).strip()))
        elif (code := block.replace(_LINE, "\n").strip("\n")).strip():
            blocks.append(write_raised(f"```\n{code}\n```"))
    fields = {str(tag.get("name") or tag.get("property") or "").lower(): str(tag["content"])
              for tag in soup.find_all("meta", content=True, limit=1000)}
    omitted = [count_sources(str(tag.get("src") or "") for tag in soup.find_all("img")),
               list_counts({"struck-out text": struck})]
    return Content("\n\n".join(filter(None, blocks)), title,
                   {_META[name]: value for name, value in fields.items() if name in _META},
                   omitted=", ".join(filter(None, omitted)))


def _remove_unsaid_parts(soup: BeautifulSoup) -> int:
    """Remove what is hidden or struck out, and what belongs to the site; return how many parts are struck out."""
    links = (tag.parent for tag in soup.find_all("a", hreflang=True))
    translations = [parent for parent in links if isinstance(parent, Tag) and parent.name == "li"]
    struck = soup.find_all(["s", "strike", "del"])
    hidden = [*filter(_is_footnote_mark, soup.find_all("sup")), *soup.find_all(style=_HIDDEN),
              *soup.find_all(hidden=True)]
    most, removed = _count_letters(soup) / 2, set[int]()
    for tag in [*soup.select(_OF_SITE), *translations, *hidden, *struck]:
        if id(tag) in removed:
            continue
        if _count_letters(tag) >= most:  # the page itself, whatever it is called
            break
        removed.update(map(id, (tag, *tag.descendants)))
        tag.replace_with(" ")
    mains = soup.select("main, [role=main]")
    part = mains[0] if len(mains) == 1 and _count_letters(mains[0]) > _count_letters(soup) / 2 else None
    while part is not None and part.parent is not None and part.name != "body":
        # Remove what is around the main part, except the head and a footer with an address.
        for tag in [child for child in part.parent.children if isinstance(child, Tag) and child is not part]:
            if tag.name != "head" and not (tag.name == "footer" and tag.select(_CONTACT)):
                tag.extract()
        part = part.parent
    return sum(id(tag) in removed for tag in struck)


def _short_text(tag: Tag) -> str:
    """Return the text of a tag with few parts, each a text or a tag around texts; "" if it has more.

    A tag without an end has the rest of the page in it.
    """
    parts = tag.contents[:_MOST_IN_MARK + 1]
    inner = [text for part in parts for text in (part.contents[:_MOST_IN_MARK] if isinstance(part, Tag) else [part])]
    is_short = len(parts) <= _MOST_IN_MARK and all(isinstance(text, NavigableString) for text in inner)
    return "".join(map(str, inner)).strip() if is_short else ""


def _is_footnote_mark(tag: Tag) -> bool:
    """Return True for a link to a part of the page whose text is in square brackets, such as "[1]"."""
    link = tag.contents[0] if len(tag.contents) == 1 else None
    return (isinstance(link, Tag) and "#" in str(link.get("href") or "")
            and _FOOTNOTE_MARK.fullmatch(_short_text(link)) is not None)


def mark_raised(soup: BeautifulSoup) -> None:
    """Put the marks of `write_raised` around raised texts; one with a link, or that begins a note, marks a note."""
    raised = [(tag, text) for tag in soup.find_all("sup") if (text := _short_text(tag))]
    begins_note = set[str]()  # the texts with which a paragraph begins: "1" in front of the note itself
    for tag, text in raised:
        before = tag.previous_element
        while isinstance(before, NavigableString) and not before.strip():
            before = before.previous_element
        if isinstance(before, Tag) and before.name in _BLOCKS - set(_CELLS):
            begins_note.add(text)
    for tag, text in raised:
        links = [part for part in (tag.parent, *tag.contents)
                 if isinstance(part, Tag) and part.name == "a" and part.get("href")]
        tag.insert(0, NavigableString(NOTE if text in begins_note or links else RAISED))
        tag.append(NavigableString(END))


def _count_letters(tag: Tag) -> int:
    return sum(len("".join(_visible(text).split())) for text in tag.find_all(string=True))


def parse_html(text: str) -> BeautifulSoup:
    """Parse a page, in which the openings of comments, sections and tags that have no end are text."""
    for opening, closing in (("<!--", "-->"), ("<![", "]>"), ("<", ">")):
        last = text.rfind(closing) + 1
        text = text[:last] + text[last:].replace(opening, "&lt;" if opening == "<" else " ")
    with ignoring(UnusualUsageWarning):  # it warns of XHTML and of pages without a tag, which can both be read
        try:
            return BeautifulSoup(text, "html.parser")
        except ParserRejectedMarkup as error:
            raise UnreadableError(f"broken HTML ({error}): fix its declarations") from error


class _Node(NamedTuple):
    """A node of a page on the way through it."""

    node: PageElement
    is_preformatted: bool = False
    lists: int = 0  # how many lists it is in
    is_left: bool = False  # True once its content is done


def _pieces(soup: BeautifulSoup, heading: str) -> Iterator[tuple[str, bool]]:
    """Yield the texts of a page in order, each with whether it is preformatted; `heading` names tables."""
    stack = [_Node(soup)]  # no recursion, because pages nest deeper than Python may
    while stack:
        node, is_preformatted, lists, is_left = stack.pop()
        if isinstance(node, Tag) and is_left:
            yield _edge(node, lists), is_preformatted
        elif isinstance(node, Tag) and node.name in _HEADINGS:
            words = _line(node)
            heading = words or heading
            yield (f"\n\n{'#' * int(node.name[1])} {words}\n\n" if words else "\n\n"), is_preformatted
        elif isinstance(node, Tag) and node.name == "table" and (rows := _read_table(node, heading)):
            yield f"\n\n{rows}\n\n", is_preformatted
        elif isinstance(node, Tag) and node.name not in _UNSEEN:
            yield _edge(node, lists) + _mark(node, lists), is_preformatted
            stack.append(_Node(node, is_preformatted, lists, is_left=True))
            is_inside_pre = is_preformatted or node.name == "pre"
            lists_inside = min(lists + (node.name in _LISTS), _DEEPEST_LIST)
            stack.extend(_Node(child, is_inside_pre, lists_inside) for child in reversed(node.contents))
        elif isinstance(node, CData) or (
                isinstance(node, NavigableString) and not isinstance(node, PreformattedString)):
            text = str(node).translate(_NO_WIDTH)
            yield (text if is_preformatted else _SPACES.sub(" ", text)), is_preformatted


def _edge(tag: Tag, lists: int) -> str:
    """Return the separator between a tag's content and its surroundings; `lists` is how many lists it is in."""
    if tag.name in _PARAGRAPHS and not lists:
        return "\n\n"
    if tag.name in _PARAGRAPHS or tag.name in _LINES:
        return _LINE + _INDENT * (lists if tag.name != "li" else 0)
    return ""


def _mark(tag: Tag, lists: int) -> str:
    """Return the mark before a tag's content: a bar between cells, a dash or number of an item, a line break."""
    if tag.name in _CELLS:
        before = tag.find_previous_sibling(_CELLS)
        return " | " if isinstance(before, Tag) and not any(
            isinstance(child, Tag) and child.name in _PARAGRAPHS for cell in (before, tag) for child in cell.contents
        ) else ""  # cells with paragraphs, as in Word files, are not separated
    if tag.name == "li":
        is_numbered = tag.parent is not None and tag.parent.name == "ol"
        # \x1e ends the mark; see `_AFTER_MARK`.
        return f"{_INDENT * (lists - 1)}{f'{_number_item(tag)}.' if is_numbered else '-'} \x1e"
    return "\n" if tag.name == "br" else ""


def _number_item(item: Tag) -> int:
    """Return the number of an item of a numbered list: the one that the page declares, or else the next one."""
    before = item.find_previous_sibling("li")
    list_start = item.parent.get("start") if item.parent is not None and before is None else None
    declared = str(item.get("value") or list_start or "")
    if declared.isascii() and declared.isdigit() and len(declared) < _LONGEST_NUMBER:
        number = int(declared)
    else:
        number = 1 + int(str(before.get("value") or 0)) if isinstance(before, Tag) else 1
    item["value"] = str(number)  # the item after this one counts on from it
    return number


def _line(tag: Tag) -> str:
    return write_raised(_SPACES.sub(" ", tag.get_text()).strip())


def _gap(match: re.Match[str]) -> str:
    """Return the white space for a run of blanks, line breaks and marks: an empty line, a line break or a blank."""
    white_space = match[0]
    if white_space.count("\n") > 1:
        return "\n\n"
    indentation = "  " * (len(white_space) - len(white_space.rstrip(_INDENT)))
    return f"\n{indentation}" if "\n" in white_space or _LINE in white_space else " "


def _read_table(table: Tag, heading: str) -> str:
    """Return the caption and the rows of a table of data, or "" for a table that serves for layout."""
    if table.get("role") == "presentation" or table.find(_OF_LAYOUT):
        return ""
    grid = place_cells(rows_of_table(table))
    if len(grid) <= 1 or max(map(len, grid)) <= 1 or (
            max(len(cell.text) for row in grid for cell in row) > _LONGEST_CELL):
        return ""
    caption = write_raised(" ".join(table.caption.get_text(" ").split())) if table.caption else ""
    return "\n".join(grid_lines(grid, heading, caption))


def rows_of_table(table: Tag) -> list[list[SpanningCell]]:
    """Return the cells of a table row by row; cells may lack their end tags."""
    # The texts of each cell, each with the block that it is in.
    rows: list[list[tuple[Tag, list[tuple[int, str]]]]] = []
    for node in table.descendants:
        if isinstance(node, Tag) and node.name == "tr":
            rows.append([])
        elif isinstance(node, Tag) and node.name in _CELLS and rows:
            rows[-1].append((node, []))
        elif rows and rows[-1] and (text := " " if isinstance(node, Tag) and node.name == "br" else _visible(node)):
            block = next((tag for tag in islice(node.parents, _MOST_INLINE) if tag.name in _BLOCKS), None)
            rows[-1][-1][1].append((id(block), text))
    return [[SpanningCell(GridCell(_cell_text(texts), cell.name == "th"), _read_span(cell, "colspan"),
                          _read_span(cell, "rowspan")) for cell, texts in row] for row in rows if row]


def _cell_text(pieces: list[tuple[int, str]]) -> str:
    """Return the paragraphs of a cell on one line; one that does not end a sentence ends with a semicolon."""
    text = ""
    for _, group in groupby(pieces, key=itemgetter(0)):
        if block := " ".join("".join(piece for _, piece in group).split()):
            separator = " " if text.endswith(_ENDS) else "; "
            text += f"{separator if text else ''}{block}"
    return write_raised(text)


def _visible(node: PageElement) -> str:
    """Return the text of a node, or "" if it is none or not shown."""
    is_shown = isinstance(node, NavigableString) and not isinstance(node, PreformattedString) and (
        node.parent is None or node.parent.name not in _UNSEEN)
    return str(node).translate(_NO_WIDTH) if is_shown else ""


def _read_span(cell: Tag, direction: str) -> int:
    value = str(cell.get(direction) or "")
    is_number = value.isascii() and value.isdigit() and len(value) < _LONGEST_NUMBER
    return min(max(int(value), 1), _MOST_SPANNED) if is_number else 1


def read_epub(data: bytes, limits: Limits) -> Content:
    """Read a book: the text of each page as `read_html` returns it."""
    with open_archive(data, "an EPUB file", limits) as archive:
        names = set(archive.namelist())
        if _CONTAINER not in names:
            raise UnreadableError(f"not an EPUB file (no {_CONTAINER}): export it again")
        root = next((e.get("full-path", "") for e in parse_xml(archive, _CONTAINER).iter()
                     if local_name(e) == "rootfile"), "")
        package = list(parse_xml(archive, root).iter())
        pages = {e.get("id"): posixpath.normpath(posixpath.join(posixpath.dirname(root), unquote(e.get("href", ""))))
                 for e in package if local_name(e) == "item" and "html" in e.get("media-type", "")}
        spine = [pages.get(e.get("idref")) for e in package if local_name(e) == "itemref"]
        # A page that occurs several times in the spine is read once.
        texts = [read_html(archive.read(name)).text for name in dict.fromkeys(spine) if name in names]
        pictures = sum(1 for e in package if local_name(e) == "item" and e.get("media-type", "").startswith("image/"))
    fields = {local_name(e): e.text or "" for e in reversed(package) if e.text}
    return Content("\n\n".join(filter(None, texts)), fields.get("title", ""),
                   {_FIELDS[name]: value for name, value in fields.items() if name in _FIELDS},
                   omitted=list_counts({"picture": pictures}))
