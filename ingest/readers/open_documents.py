"""OpenDocument texts and presentations (odt, odp): headings, lists, tables and notes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree import ElementTree as ET  # see `archives`

from ...text.cleaning import one_line
from ..grids import GridCell, SpanningCell, grid_lines, place_cells
from ..metadata import CREATED
from ..reading import DEFAULT_LIMITS, Content, Limits, UnreadableError, list_counts
from .archives import local_name, open_archive, parse_xml

_MANIFEST = "META-INF/manifest.xml"
_DEEPEST_HEADING, _LONGEST_NUMBER = 6, 6
_UNREAD = {"annotation": "comment", "object": "embedded object", "image": "picture"}
_EDGES = frozenset({"header", "footer", "header-first", "footer-first", "header-left", "footer-left"})
_SKIPPED = frozenset({"tracked-changes", "annotation", "annotation-end", "forms", "sequence-decls", "table-of-content",
                      "alphabetical-index", "illustration-index", "user-index", "settings", "image", "object"})
_META = {"initial-creator": "author", "creator": "author", "date": "date", "creation-date": CREATED,
         "subject": "subject", "keyword": "keywords", "description": "description"}


def read_open_document(data: bytes, limits: Limits) -> Content:
    """Read the text of an OpenDocument file.

    Args:
        data: the file's bytes.
        limits: the largest unpacked size.

    Returns:
        The text: headings and slides as `# ` lines, items of lists as `- ` lines or with their numbers, tables as rows,
        notes where they are referred to. Deleted text is left out. Comments, pictures, charts, page headers and footers
        are counted in `omitted`.

    Raises:
        UnreadableError: the bytes are no such file, it is too large, or it is protected by a password.
    """
    with open_archive(data, "an OpenDocument file", limits) as archive:
        if "content.xml" not in archive.namelist():
            raise UnreadableError("not an OpenDocument file (no content.xml): open it in its program and save it again")
        if _MANIFEST in archive.namelist() and b"encryption-data" in archive.read(_MANIFEST):
            raise UnreadableError("protected by a password: save it without one")
        content = parse_xml(archive, "content.xml")
        styles = parse_xml(archive, "styles.xml") if "styles.xml" in archive.namelist() else ET.Element("none")
        about = _read_meta(parse_xml(archive, "meta.xml")) if "meta.xml" in archive.namelist() else {}
    body = next((element for element in content if local_name(element) == "body"), content)
    title = about.pop("title", "")
    writer = _Writer(title, _read_styles([content, styles]))
    text = "\n\n".join(filter(None, writer.blocks(body)))
    counts = Counter(_UNREAD[name] for element in body.iter() if (name := local_name(element)) in _UNREAD)
    counts.update(local_name(element).split("-")[0] for element in styles.iter()
                  if local_name(element) in _EDGES and _words(element))
    return Content(text, title or writer.first_heading, about, omitted=list_counts(dict(sorted(counts.items()))))


def _read_meta(root: ET.Element) -> dict[str, str]:
    fields: dict[str, str] = {}
    for element in root.iter():
        name, text = local_name(element), (element.text or "").strip()
        if name == "title":
            fields["title"] = text
        elif name in _META and text:
            fields.setdefault(_META[name], text[:10] if "date" in name else text)
    return fields


class _Styles(NamedTuple):
    titles: frozenset[str]
    """The styles of a document's title."""
    numbers: frozenset[tuple[str, int]]
    """The styles of lists, and their levels from 1, that have numbers."""


def _read_styles(roots: Sequence[ET.Element]) -> _Styles:
    """Return the names of the title styles, and the (list style, level) pairs that are numbered.

    Direct formatting is saved as an automatic style whose parent is the named style, so children of "Title" are titles.
    """
    titles, numbered_levels = {"Title"}, set()
    for element in (element for root in roots for element in root.iter()):
        name = _attribute(element, "name")
        if local_name(element) == "style" and _attribute(element, "parent-style-name") == "Title":
            titles.add(name)
        elif local_name(element) == "list-style":
            numbered_levels |= {(name, _number(level, "level")) for level in element
                        if local_name(level) == "list-level-style-number" and _attribute(level, "num-format")}
    return _Styles(frozenset(titles), frozenset(numbered_levels))


class _Writer:
    """The blocks of a document in order; it remembers the heading that a table is under, and the lists' numbers."""

    def __init__(self, title: str, styles: _Styles) -> None:
        self.first_heading = ""
        self._heading = title
        self._styles = styles
        self._last: dict[str, int] = {}

    def blocks(self, element: ET.Element) -> Iterator[str]:
        """Yield the blocks within an element."""
        for child in element:
            name = local_name(child)
            if name == "page":
                yield from self._page(child)
            elif name == "h" or (name == "p" and _attribute(child, "style-name") in self._styles.titles):
                yield self._head(_words(child), int(_attribute(child, "outline-level") or "1"))
            elif name == "p":
                yield _words(child)
                yield from self._boxes(child)
            elif name == "list":
                yield "\n".join(self._items(child, _attribute(child, "style-name")))
            elif name == "table":
                yield self._table(child)
            elif name not in _SKIPPED:
                yield from self.blocks(child)

    def _head(self, text: str, level: int) -> str:
        self._heading = text or self._heading
        self.first_heading = self.first_heading or text
        return f"{'#' * max(1, min(level, _DEEPEST_HEADING))} {text}" if text else ""

    def _page(self, page: ET.Element) -> Iterator[str]:
        """Yield a slide under its title, else its name."""
        frames = list(page)
        title = next((frame for frame in frames if _attribute(frame, "class") == "title" and _boxed_words(frame)), None)
        yield self._head(_boxed_words(title) if title is not None else _attribute(page, "name"), 1)
        for frame in frames:
            if frame is not title:
                yield from self.blocks(frame)

    def _boxes(self, element: ET.Element) -> Iterator[str]:
        """Yield the text of the frames that are anchored in a paragraph."""
        for child in element:
            yield from (self.blocks if local_name(child) == "text-box" else self._boxes)(child)

    def _items(self, listed: ET.Element, style: str, level: int = 1) -> Iterator[str]:
        """Yield the items of a list; a list may continue the numbers of the one before or of one that it names."""
        indent, last = "  " * (level - 1), 0
        if level == 1:
            continued = style if _attribute(listed, "continue-numbering") == "true" else ""
            last = self._last.get(_attribute(listed, "continue-list") or continued, 0)
        for item in listed:
            start = _attribute(item, "start-value")
            number = int(start) if start.isdecimal() and len(start) < _LONGEST_NUMBER else last + 1
            mark = f"{indent}{number}. " if (style, level) in self._styles.numbers else f"{indent}- "
            for child in item:
                if local_name(child) == "list":
                    yield from self._items(child, _attribute(child, "style-name") or style, level + 1)
                elif words := _words(child):
                    yield f"{mark}{words}"
                    mark, last = f"{indent}  ", number
        if level == 1:
            self._last |= {style: last, _attribute(listed, "id"): last, "": 0}

    def _table(self, table: ET.Element) -> str:
        grid = place_cells(_rows(table))
        grid = [row for row in grid if any(cell.text for cell in row)]
        return "\n".join(grid_lines(grid, self._heading)) if grid else ""


def _rows(table: ET.Element) -> Iterator[list[SpanningCell]]:
    for element in table.iter():
        if local_name(element) == "table-row":
            cells = [cell for cell in element if local_name(cell) == "table-cell"]
            yield [SpanningCell(GridCell(_words(cell)), _number(cell, "number-columns-spanned"),
                                _number(cell, "number-rows-spanned")) for cell in cells]


def _number(cell: ET.Element, name: str) -> int:
    value = _attribute(cell, name)
    return min(max(int(value), 1), DEFAULT_LIMITS.table_columns) if (
        value.isdecimal() and len(value) < _LONGEST_NUMBER) else 1


def _words(element: ET.Element) -> str:
    """Return the text within an element on one line; a note stands in brackets where it is referred to."""
    return one_line("".join(_pieces(element)))


def _boxed_words(frame: ET.Element) -> str:
    return " ".join(filter(None, (_words(part) for part in frame.iter() if local_name(part) in {"p", "h"})))


def _pieces(element: ET.Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        name = local_name(child)
        if name in {"s", "tab", "line-break"}:
            yield " "
        elif name == "note":
            yield f" [{' '.join(_words(part) for part in child if local_name(part) == 'note-body')}]"
        elif name not in _SKIPPED and name != "text-box":
            yield from _pieces(child)
            yield " " if name in {"p", "h"} else ""
        yield child.tail or ""


def _attribute(element: ET.Element, name: str) -> str:
    return next((value for key, value in element.attrib.items() if key.endswith(f"}}{name}")), "")
