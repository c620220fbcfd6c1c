"""XML files by their text: titles as headings, mixed content as paragraphs, elements of nothing but fields as rows."""

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
            counted in `unread`; expat refuses entities that multiply.

    Returns:
        The text. A section begins with its title or its attributes as a heading. Elements with words beside their inner
        elements are paragraphs, elements of nothing but fields are rows under their name, and any other field is a line
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
    parser = ET.XMLParser()  # noqa: S314  # see `archives`
    # For files with a document type, which usually defines the names of HTML.
    parser.entity.update({name: chr(code) for name, code in html.entities.name2codepoint.items()} | outside)
    try:
        parser.feed(text)
        root: ET.Element = parser.close()
    except ET.ParseError as error:
        raise UnreadableError(f"not well-formed XML ({error}): mend it, or rename it to .txt") from error
    return root


def _blocks(element: ET.Element, level: int, above: str, *, is_root: bool = False) -> Iterator[str]:
    """Yield the blocks of an element.

    Args:
        element: the element.
        level: the level of its heading.
        above: the heading that it is under.
        is_root: whether it is the root, whose attributes are no heading.
    """
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
    """Yield the blocks of elements; those of one name are rows if all of them have nothing but fields."""
    fields = [_fields(element) for element in elements]
    no_rows = {local_name(element) for element, own in zip(elements, fields, strict=True)
               if len(own or ()) <= 1 or (not len(element) and _name(element) in _PARAGRAPHS)}

    def run(pair: tuple[ET.Element, dict[str, str] | None]) -> str:
        """Return the name of the records that an element is one of, "line", or "block"."""
        element, own = pair
        if local_name(element) not in no_rows:
            return f"row {local_name(element)}"
        is_line = (not len(element) or len(own or ()) == 1) and _name(element) not in _PARAGRAPHS | _CODE
        return "line" if is_line or _is_item(element) else "block"

    for kind, group in groupby(zip(elements, fields, strict=True), run):
        run_of = list(group)
        if kind == "block":
            for element, _ in run_of:
                yield from _blocks(element, level, above)
        elif kind == "line":
            yield "\n".join(filter(None, (_line(element) for element, _ in run_of)))
        else:
            name = _label(run_of[0][0])
            yield f"{name}:\n{record_lines([own or {} for _, own in run_of], above or name, DEFAULT_LIMITS)}"


def _fields(element: ET.Element, depth: int = _DEEPEST_FIELD) -> dict[str, str] | None:
    """Return the attributes and inner elements of an element as short texts; None if it has anything else.

    The fields of an inner element have both names. Of inner elements with one name, none may have several fields.
    """
    found: dict[str, list[str]] = {name: [value] for name, value in _attributes(element).items()}
    if not len(element):
        words = _words(element)
        if len(words) > _LONGEST_CELL or "\n\n" in words or _name(element) in _NO_FIELDS:
            return None
        own = {_label(element): [one_line(words)]} if words else {}
        return {name: texts[0] for name, texts in {**own, **found}.items()}
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
    """Return an element with words as a paragraph, an item, or "name: words"."""
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
    """Return the rows of a table as of HTML, DocBook, TEI or Excel; an empty list if it has none."""
    rows = [[_spanning(cell) for cell in row if _name(cell) in _CELLS] for row in table.iter() if _name(row) in _ROWS]
    grid = place_cells(filter(None, rows))
    return grid_lines(grid, title) if grid else []


def _spanning(cell: ET.Element) -> SpanningCell:
    columns, rows = (int(span) if (span := cell.get(name, "")).isdecimal() and len(span) < 4 else 1  # noqa: PLR2004
                     for name in ("colspan", "rowspan"))
    return SpanningCell(GridCell(one_line(_words(cell)), _name(cell) == "th"), max(columns, 1), max(rows, 1))


def _words(element: ET.Element) -> str:
    """Return the paragraphs of an element's text; the text of HTML if it is that, as in feeds."""
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
    """Return the attributes that say something; those with a namespace are about XML, as `xml:lang` is."""
    return {name.replace("_", " "): one_line(value) for name, value in element.attrib.items()
            if not name.startswith("{") and name not in _OF_LAYOUT and value.strip()}


def _in_words(attributes: dict[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in attributes.items())


def _is_mixed(element: ET.Element) -> bool:
    """Return True if an element has words beside its inner elements, as a paragraph has."""
    beside = (element.text, *(child.tail for child in element))
    return len(element) > 0 and any(map(str.strip, filter(None, beside)))


def _is_item(element: ET.Element) -> bool:
    """Return True if an element is an item of a list with words alone."""
    return _name(element) in _ITEMS and all(_is_mixed(child) or not len(child) for child in (
        [] if _is_mixed(element) else element))


def _is_title(element: ET.Element) -> bool:
    return _name(element) in _TITLES and (_is_mixed(element) or not len(element)) and (
        0 < len(_flat(element)) <= DEFAULT_LIMITS.title)
