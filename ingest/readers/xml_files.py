"""Read XML files: titles as headings, mixed content as paragraphs, and elements that only have fields as rows.

A field is a name with a short text: an attribute, or an element without inner elements.
"""

import html.entities
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.etree import ElementTree as ET  # see `archives`

from ...text.cleaning import one_line
from ..decoding import decode
from ..grids import GridCell, SpanningCell, grid_lines, place_cells
from ..reading import DEFAULT_LIMITS, Content, Limits, UnreadableError
from ..records import record_lines
from .archives import local_name
from .web_pages import read_html

_HTML = re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,20}(?:\s[^<>]{0,1000})?/?>")
_GAP = re.compile(r"\n[ \t]*+\n")
_DECLARATION = 200
_ENCODING = re.compile(rb"encoding[ \t]{0,9}=[ \t]{0,9}[\"']([A-Za-z0-9._-]{1,40})")
_OUTSIDE = re.compile(r"<!ENTITY\s{1,99}([\w.:-]{1,100})\s{1,99}(?:SYSTEM|PUBLIC)\b")
_OF_LAYOUT = frozenset({"class", "style", "role", "lang"})
_OF_SECTIONS = frozenset({"id", "version"})
"""Attributes of a section with a title that are for links and programs."""
_TITLES = frozenset({"title", "head", "heading", "article-title"})
_PARAGRAPHS = frozenset({"p", "para", "simpara", "paragraph", "seg", "quote", "abstract", "description", "summary",
                         "content", "text", "body", "note"})
_NO_FIELDS = frozenset({"p", "para", "simpara", "paragraph"})
_CODE = frozenset({"programlisting", "screen", "literallayout", "pre"})
_ITEMS = frozenset({"listitem", "list-item", "li"})
_TABLES = frozenset({"table", "informaltable"})
_ROWS, _CELLS = frozenset({"row", "tr"}), frozenset({"entry", "td", "th", "cell"})
_LONGEST_CELL = 1000
_DEEPEST_HEADING, _DEEPEST_FIELD = 6, 2


def read_xml(data: bytes, _: Limits) -> Content:
    """Read the text of an XML file.

    Args:
        data: the file's bytes, in the encoding that it declares. Entities that name other files are left out and
            counted in `unread`; expat rejects entities that expand to huge texts.

    Returns:
        The text. A section begins with its title or its attributes as a heading. Elements with words beside their inner
        elements are paragraphs, elements that only have fields are rows under their name, and any other field is a line
        "name: text". HTML within a text is read as HTML. The title is the first one in the file.

    Raises:
        UnreadableError: the bytes are not well-formed XML.
    """
    declared = _ENCODING.search(data[:_DECLARATION])
    # Decoded here, because expat garbles encodings of several bytes a character.
    text = decode(data, declared[1].decode() if declared else None).lstrip("\ufeff \t\r\n")
    if text.startswith("<?xml"):
        text = text.partition("?>")[2]
    outside = dict.fromkeys(_OUTSIDE.findall(text), "")
    root = _parse(text, outside)
    if local_name(root) == "html":
        return read_html(data)
    title = next((_flat(element) for element in root.iter() if _is_title(element)), "")
    return Content("\n\n".join(filter(None, _blocks(root, 1, title, is_root=True))), title,
                   unread=f"{len(outside):,} parts that are in other files were not read: add these files" if outside
                   else "")


def _parse(text: str, outside: dict[str, str]) -> ET.Element:
    """Parse XML; `outside` has the replacements of entities that name other files."""
    parser = ET.XMLParser()  # noqa: S314  # see `archives`
    # Define the entities of HTML, because files with a document type may use them without defining them.
    parser.entity.update({name: chr(code) for name, code in html.entities.name2codepoint.items()} | outside)
    try:
        parser.feed(text)
        root: ET.Element = parser.close()
    except ET.ParseError as error:
        raise UnreadableError(f"not well-formed XML ({error}): mend it, or rename it to .txt") from error
    return root


def _blocks(element: ET.Element, level: int, above: str, *, is_root: bool = False) -> Iterator[str]:
    """Yield the blocks of an element, whose heading is of a `level` and below the heading `above`."""
    name = _name(element)
    if name in _CODE:
        code = "".join(element.itertext()).strip("\n")
        yield f"```\n{code}\n```" if code.strip() else ""
        return
    if not len(element) or _is_mixed(element):
        yield _line(element)
        return
    title = next(filter(_is_title, element), None)
    heading = "" if title is None else _flat(title)
    if name in _TABLES and (rows := _table_rows(element, heading or above)):
        yield "\n".join(filter(None, (heading, *rows)))
        return
    attributes = _attributes(element)
    if heading or is_root:
        attributes = {key: value for key, value in attributes.items() if key not in _OF_SECTIONS}
    elif attributes:
        heading, attributes = f"{_label(element)}: {_in_words(attributes)}", {}
    yield f"{'#' * min(level, _DEEPEST_HEADING)} {heading}" if heading else ""
    yield "\n".join(f"{key}: {value}" for key, value in attributes.items())
    yield from _inner([child for child in element if child is not title], level + bool(heading), heading or above)


def _inner(elements: Sequence[ET.Element], level: int, above: str) -> Iterator[str]:
    """Yield the blocks of some elements beside each other."""
    fields = [_fields(element) for element in elements]
    not_row_names = {local_name(element) for element, own_fields in zip(elements, fields, strict=True)
                     if len(own_fields or ()) <= 1 or (not len(element) and _name(element) in _PARAGRAPHS)}

    def kind_of(pair: tuple[ET.Element, dict[str, str] | None]) -> str:
        """Return how an element is written: "row NAME", "line" or "block"."""
        element, own_fields = pair
        if local_name(element) not in not_row_names:
            return f"row {local_name(element)}"
        is_line = (not len(element) or len(own_fields or ()) == 1) and _name(element) not in _PARAGRAPHS | _CODE
        return "line" if is_line or _is_item(element) else "block"

    for kind, group in groupby(zip(elements, fields, strict=True), kind_of):
        adjacent = list(group)
        if kind == "block":
            for element, _ in adjacent:
                yield from _blocks(element, level, above)
        elif kind == "line":
            yield "\n".join(filter(None, (_line(element) for element, _ in adjacent)))
        else:
            name = _label(adjacent[0][0])
            rows = [own_fields or {} for _, own_fields in adjacent]
            yield f"{name}:\n{record_lines(rows, above or name, DEFAULT_LIMITS)}"


def _fields(element: ET.Element, depth: int = _DEEPEST_FIELD) -> dict[str, str] | None:
    """Return the fields of an element: its attributes and inner elements with their short texts."""
    found: dict[str, list[str]] = {name: [value] for name, value in _attributes(element).items()}
    if not len(element):
        words = _words(element)
        if len(words) > _LONGEST_CELL or "\n\n" in words or _name(element) in _NO_FIELDS:
            return None
        own_text = {_label(element): [one_line(words)]} if words else {}
        return {name: texts[0] for name, texts in {**own_text, **found}.items()}
    if _is_mixed(element) or not depth or not (found or any(not len(child) for child in element)):
        return None
    seen: set[str] = set()
    for child in element:
        inner = _fields(child, depth - 1)
        if inner is None or (len(inner) > 1 and _name(child) in seen):
            return None
        seen.add(_name(child))
        for name, text in inner.items():
            found.setdefault(name if name == _label(child) else f"{_label(child)} {name}", []).append(text)
    return {name: "; ".join(texts) for name, texts in found.items()}


def _line(element: ET.Element) -> str:
    """Return a simple element as one text: a paragraph, an item of a list, or "name: words"; "" if it is empty."""
    words = _words(element)
    if _is_item(element):
        return f"- {one_line(words)}" if words else ""
    if words and (_is_mixed(element) or _name(element) in _PARAGRAPHS):
        return words
    if fields := _fields(element):
        (name, value), *others = fields.items()
        label = name if name == _label(element) else f"{_label(element)} {name}"
        return f"{label}: {value}{f' ({_in_words(dict(others))})' if others else ''}"
    return f"{_label(element)}: {one_line(words)}" if words else ""


def _table_rows(table: ET.Element, title: str) -> list[str]:
    """Return the lines of a table in the form of HTML, DocBook, TEI or Excel; an empty list if it has no rows."""
    rows = [[_spanning(cell) for cell in row if _name(cell) in _CELLS] for row in table.iter() if _name(row) in _ROWS]
    grid = place_cells(filter(None, rows))
    return grid_lines(grid, title) if grid else []


def _spanning(cell: ET.Element) -> SpanningCell:
    """Return a cell with the numbers of columns and rows that it spans, 1 if these are missing or invalid."""
    columns, rows = (int(span) if (span := cell.get(name, "")).isdecimal() and len(span) < 4 else 1  # noqa: PLR2004
                     for name in ("colspan", "rowspan"))
    return SpanningCell(GridCell(one_line(_words(cell)), _name(cell) == "th"), max(columns, 1), max(rows, 1))


def _words(element: ET.Element) -> str:
    """Return all words in an element, by paragraphs; HTML in them, as feeds have it, is read as HTML."""
    text = "".join(element.itertext())
    if "<" in text and _HTML.search(text):
        return read_html(text.encode()).text
    return "\n\n".join(filter(None, map(one_line, _GAP.split(text))))


def _flat(element: ET.Element) -> str:
    return one_line("".join(element.itertext()))


def _name(element: ET.Element) -> str:
    return local_name(element).lower()


def _label(element: ET.Element) -> str:
    return local_name(element).replace("_", " ")


def _attributes(element: ET.Element) -> dict[str, str]:
    """Return the attributes that are content: not those for layout, nor those with a namespace, such as `xml:lang`."""
    return {name.replace("_", " "): one_line(value) for name, value in element.attrib.items()
            if not name.startswith("{") and name not in _OF_LAYOUT and value.strip()}


def _in_words(attributes: dict[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in attributes.items())


def _is_mixed(element: ET.Element) -> bool:
    """Return True if an element has words beside its inner elements, as a paragraph has."""
    words_beside = (element.text, *(child.tail for child in element))
    return len(element) > 0 and any(map(str.strip, filter(None, words_beside)))


def _is_item(element: ET.Element) -> bool:
    """Return True if an element is an item of a list that has only words, but no lists or tables in it."""
    if _name(element) not in _ITEMS:
        return False
    return _is_mixed(element) or all(_is_mixed(child) or not len(child) for child in element)


def _is_title(element: ET.Element) -> bool:
    """Return True if an element is a title: named as one, with words and not too long."""
    is_text = _is_mixed(element) or not len(element)
    return _name(element) in _TITLES and is_text and 0 < len(_flat(element)) <= DEFAULT_LIMITS.title
