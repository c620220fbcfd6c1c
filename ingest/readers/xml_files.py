"""XML files by their text: titles as headings, mixed content as paragraphs, records as rows."""

import html.entities
import re
from collections import Counter, defaultdict
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
_OF_LAYOUT = frozenset({"class", "style", "role", "lang"})
_OF_SECTIONS = _OF_LAYOUT | {"id", "version"}
_PARAGRAPHS_IN_RECORDS = frozenset({"p", "para", "simpara", "paragraph"})
_ROWS, _CELLS = frozenset({"row", "tr"}), frozenset({"entry", "td", "th", "cell"})
_LONGEST_CELL = 1000

Cells = dict[str, list[str]]
"""The texts of a record by the names of its fields."""
_DECLARATION = 200
_ENCODING = re.compile(rb"encoding[ \t]{0,9}=[ \t]{0,9}[\"']([A-Za-z0-9._-]{1,40})")
_OUTSIDE = re.compile(r"<!ENTITY\s{1,99}([\w.:-]{1,100})\s{1,99}(?:SYSTEM|PUBLIC)\b")
_TITLES = frozenset({"title", "head", "heading", "article-title"})
_HEADS = frozenset({"info", "bookinfo", "articleinfo", "front", "article-meta", "title-group", "teiheader", "filedesc",
                    "titlestmt", "header", "meta", "metadata"})
"""Elements around the title of a whole document."""
_PARAGRAPHS = frozenset({"p", "para", "simpara", "paragraph", "seg", "quote", "abstract", "description", "summary",
                         "content", "text", "body", "note"})
_CODE = frozenset({"programlisting", "screen", "literallayout", "pre"})
_ITEMS = frozenset({"listitem", "list-item", "li"})
_TABLES = frozenset({"table", "informaltable"})
_DEEPEST_HEADING = 6
_MOST_ELEMENTS = 2_000_000
_MOST_NESTED = 200


def is_leaf(element: ET.Element) -> bool:
    """Return True if an element has no elements in it."""
    return len(element) == 0


def is_mixed(element: ET.Element) -> bool:
    """Return True if an element has words beside its inner elements, as a paragraph has."""
    beside = (element.text, *(child.tail for child in element))
    return not is_leaf(element) and any(map(str.strip, filter(None, beside)))


def read_attributes(element: ET.Element, *, is_section: bool = False) -> dict[str, str]:
    """Return the attributes that say something.

    Those with a namespace are about XML, as `xml:lang` is. Those of a section or root may be its `id` for links or the
    version of its format.
    """
    skipped = _OF_SECTIONS if is_section else _OF_LAYOUT
    return {name: one_line(value) for name, value in element.attrib.items()
            if not name.startswith("{") and name not in skipped and value.strip()}


def read_words(text: str) -> str:
    """Return the paragraphs of a text; the text of HTML if it is that, as in feeds."""
    if "<" in text and _HTML.search(text):
        return read_html(text.encode()).text
    return "\n\n".join(filter(None, map(one_line, _GAP.split(text))))


def read_cells(element: ET.Element, *, may_nest: bool = True) -> Cells | None:
    """Return the fields of a record: attributes and inner elements with short texts; None if it is no record.

    The fields of an inner element have both names. Of inner elements with one name, none may have several fields.

    Args:
        element: the element.
        may_nest: whether its inner elements may have inner elements, too.
    """
    if is_mixed(element):
        return None
    attributes: Cells = {name: [value] for name, value in read_attributes(element).items()}
    if is_leaf(element):
        if len(attributes) <= 1:
            return None
        return {key or local_name(element): texts for key, texts in (_leaf_cells(element) or {}).items()}
    cells = attributes
    names = Counter(map(local_name, element))
    may_nest = may_nest and bool(cells or any(map(is_leaf, element)))
    for child in element:
        name = local_name(child)
        inner = _leaf_cells(child) if is_leaf(child) else _nested_cells(child) if may_nest else None
        if inner is None or (names[name] > 1 and len(inner) > 1):
            return None
        for key, texts in inner.items():
            cells.setdefault(f"{name} {key}".strip(), []).extend(texts)
    return cells if len(cells) > 1 else None


def _nested_cells(element: ET.Element) -> Cells | None:
    if len(element) == 1 and is_leaf(element[0]) and not is_mixed(element):
        inner = _leaf_cells(element[0])
        return inner if inner is None else {f"{local_name(element[0])} {key}".strip(): texts
                                            for key, texts in inner.items()}
    return read_cells(element, may_nest=False)


def _leaf_cells(element: ET.Element) -> Cells | None:
    """Return the text of a field under "" and its attributes; None if it is a paragraph or too long for a cell."""
    words = read_words(element.text or "")
    if len(words) > _LONGEST_CELL or "\n\n" in words or local_name(element).lower() in _PARAGRAPHS_IN_RECORDS:
        return None
    attributes = {name: [value] for name, value in read_attributes(element).items()}
    return {"": [one_line(words)], **attributes} if words else attributes


def grid_rows(table: ET.Element, title: str) -> list[str]:
    """Return the rows of a table as of HTML, DocBook, TEI or Excel; an empty list if it has none."""
    rows = [[_spanning(cell) for cell in row if local_name(cell).lower() in _CELLS] for row in table.iter()
            if local_name(row).lower() in _ROWS]
    grid = place_cells(filter(None, rows))
    return grid_lines(grid, title) if grid else []


def _spanning(cell: ET.Element) -> SpanningCell:
    columns, rows = (int(span) if (span := cell.get(name, "")).isdecimal() and len(span) < 4 else 1  # noqa: PLR2004
                     for name in ("colspan", "rowspan"))
    words = one_line(read_words("".join(cell.itertext())))
    return SpanningCell(GridCell(words, local_name(cell) == "th"), max(columns, 1), max(rows, 1))


def read_xml(data: bytes, _: Limits) -> Content:
    """Read the text of an XML file.

    Args:
        data: the file's bytes, in the encoding that it declares. Entities that name other files are left out and
            counted in `unread`; expat refuses entities that multiply.

    Returns:
        The text. A section begins with its title or its attributes as a heading. Elements with words beside their inner
        elements are paragraphs, elements of nothing but fields are rows under their name, and any other field is a line
        "name: text". HTML within a text is read as HTML. The title is that of the root, of its head, or of the only
        section of its kind.

    Raises:
        UnreadableError: the bytes are not well-formed XML, or have too many or too deeply nested elements.
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
    writer = _Writer(_head_title(root))
    blocks = list(writer.blocks(root, 1, is_root=True))
    return Content("\n\n".join(filter(None, blocks)), writer.title,
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
    level, count, depth = [root], 0, 0
    while level:
        count, depth = count + len(level), depth + 1
        level = [child for element in level for child in element]
    if count > _MOST_ELEMENTS or depth > _MOST_NESTED:
        raise UnreadableError(f"{count:,} elements nested {depth:,} deep, at most {_MOST_ELEMENTS:,} and "
                              f"{_MOST_NESTED:,} are read: split it")
    return root


def _head_title(element: ET.Element) -> str:
    """Return the title in the head of a document, such as `info` of DocBook; "" if there is none."""
    for child in element:
        if local_name(child).lower() in _HEADS:
            title = next((_flat(inner) for inner in child if _is_title(inner)), "") or _head_title(child)
            if title:
                return title
    return ""


class _Writer:
    """The blocks of a document in order; it remembers the heading that a row is under."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._heading = title

    def blocks(self, element: ET.Element, level: int, *, is_only: bool = True, is_root: bool = False) -> Iterator[str]:
        """Yield the blocks of an element.

        Args:
            element: the element.
            level: the level of its heading.
            is_only: whether it and each element around it are the only ones of their names.
            is_root: whether it is the root, whose attributes are no heading.
        """
        name = local_name(element).lower()
        if name in _CODE:
            yield _fence("".join(element.itertext()).strip("\n"))
            return
        if is_leaf(element) or is_mixed(element):
            yield _field(element)
            return
        title = next((child for child in element if _is_title(child) or (is_root and _is_title(child, "name"))), None)
        heading = _flat(title) if title is not None else ""
        if heading and is_only:
            self.title = self.title or heading
        attributes = read_attributes(element, is_section=bool(heading) or is_root)
        if name in _TABLES and (rows := grid_rows(element, heading or self._heading)):
            yield "\n".join(filter(None, (heading, *rows)))
            return
        if not heading and not is_root and attributes:
            heading, attributes = f"{_label(local_name(element))}: {_list_attributes(attributes)}", {}
        if heading:
            yield f"{'#' * min(level, _DEEPEST_HEADING)} {heading}"
            self._heading = heading
        yield "\n".join(f"{_label(key)}: {value}" for key, value in attributes.items())
        rest = [child for child in element if child is not title]
        yield from self._inner(rest, level + bool(heading), is_only=is_only)

    def _inner(self, elements: Sequence[ET.Element], level: int, *, is_only: bool) -> Iterator[str]:
        """Yield the blocks of elements; those of one name are rows if all of them are records."""
        named = defaultdict[str, list[Cells | None]](list)
        for element in elements:
            named[local_name(element)].append(read_cells(element))
        is_row = {name: None not in cells for name, cells in named.items()}
        for (name, is_block), group in groupby(elements, lambda element: _run_of(element, is_row)):
            children = list(group)
            if name:
                rows = [named[name].pop(0) or {} for _ in children]
                texts = [{key: "; ".join(some) for key, some in cells.items()} for cells in rows]
                yield f"{_label(name)}:\n{record_lines(texts, self._heading or name, DEFAULT_LIMITS)}"
            elif is_block:
                for child in children:
                    yield from self.blocks(child, level, is_only=is_only and len(named[local_name(child)]) == 1)
            else:
                yield "\n".join(filter(None, map(_field, children)))


def _run_of(element: ET.Element, is_row: dict[str, bool]) -> tuple[str, bool]:
    """Return the name of the records that an element is one of, and whether it is a block of its own, no line."""
    name = local_name(element)
    if is_row[name]:
        return name, False
    is_line = _is_item(element) or _is_wrapper(element) or (
        is_leaf(element) and name.lower() not in _PARAGRAPHS | _CODE)
    return "", not is_line


def _is_item(element: ET.Element) -> bool:
    """Return True if an element is an item of a list with words alone."""
    return local_name(element).lower() in _ITEMS and all(
        is_mixed(child) or is_leaf(child) for child in ([] if is_mixed(element) else element))


def _is_wrapper(element: ET.Element) -> bool:
    """Return True if an element has one field in it and nothing else, as `author` may have a `name`."""
    return len(element) == 1 and is_leaf(element[0]) and not is_mixed(element) and (
        local_name(element[0]).lower() not in _PARAGRAPHS | _CODE)


def _is_title(element: ET.Element, *also: str) -> bool:
    return local_name(element).lower() in (*_TITLES, *also) and (is_leaf(element) or is_mixed(element)) and (
        0 < len(_flat(element)) <= DEFAULT_LIMITS.title)


def _field(element: ET.Element) -> str:
    """Return an element with words as a paragraph or as "name: words", and one without words by its attributes."""
    name = local_name(element)
    words = read_words("".join(element.itertext()))
    if _is_item(element):
        return f"- {one_line(words)}" if words else ""
    if words and (is_mixed(element) or name.lower() in _PARAGRAPHS):
        return words
    attributes = read_attributes(element)
    if words and _is_wrapper(element):
        name, attributes = f"{name} {local_name(element[0])}", attributes | read_attributes(element[0])
    if not words:
        return "\n".join(f"{_label(name)} {_label(key)}: {value}" for key, value in attributes.items())
    return f"{_label(name)}: {one_line(words)}{f' ({_list_attributes(attributes)})' if attributes else ''}"


def _fence(code: str) -> str:
    return f"```\n{code}\n```" if code.strip() else ""


def _flat(element: ET.Element) -> str:
    return one_line("".join(element.itertext()))


def _list_attributes(attributes: dict[str, str]) -> str:
    return ", ".join(f"{_label(name)} {value}" for name, value in attributes.items())


def _label(name: str) -> str:
    return name.replace("_", " ")
