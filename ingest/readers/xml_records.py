"""Records in XML: elements of nothing but fields, as rows of a table."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as ET

from ...text.cleaning import one_line
from ..grids import GridCell, read_grid
from ..reading_errors import UnreadableError
from ..reading_limits import DEFAULT_LIMITS
from ..spans import SpanningCell, place_cells
from ..table_lines import table_lines
from .archives import local_name
from .web_pages import read_html

_HTML = re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,20}(?:\s[^<>]{0,1000})?/?>")
_GAP = re.compile(r"\n[ \t]*+\n")
_OF_LAYOUT = frozenset({"class", "style", "role", "lang"})
_OF_SECTIONS = _OF_LAYOUT | {"id", "version"}
_PARAGRAPHS = frozenset({"p", "para", "simpara", "paragraph"})
_ROWS, _CELLS = frozenset({"row", "tr"}), frozenset({"entry", "td", "th", "cell"})
_LONGEST_CELL = 1000

Cells = dict[str, list[str]]
"""The texts of a record by the names of its fields."""


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

    The fields of an inner element have both names. An element with several inner ones that have fields is no record.
    """
    if is_mixed(element):
        return None
    attributes: Cells = {name: [value] for name, value in read_attributes(element).items()}
    if is_leaf(element):
        own = _leaf_cells(element) or {}
        return {key or local_name(element): texts for key, texts in own.items()} if (
            len(attributes) > 1) else None
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
    if len(words) > _LONGEST_CELL or "\n\n" in words or local_name(element).lower() in _PARAGRAPHS:
        return None
    attributes = {name: [value] for name, value in read_attributes(element).items()}
    return {"": [one_line(words)], **attributes} if words else attributes


def record_rows(records: Sequence[Cells], title: str) -> Iterator[str]:
    """Yield records as rows; a field that occurs several times in one has all its texts.

    Raises:
        UnreadableError: they have too many fields.
    """
    rows = [{name: "; ".join(texts) for name, texts in cells.items()} for cells in records]
    header = list(dict.fromkeys(name for row in rows for name in row))
    if len(header) > DEFAULT_LIMITS.table_columns:
        raise UnreadableError(f"{len(header):,} fields in its records, at most {DEFAULT_LIMITS.table_columns:,} are "
                              "read: split it")
    return table_lines(header, ([row.get(name, "") for name in header] for row in rows), title)


def grid_rows(table: ET.Element, title: str) -> list[str]:
    """Return the rows of a table as of HTML, DocBook, TEI or Excel; an empty list if it has none."""
    rows = [[_spanning(cell) for cell in row if local_name(cell).lower() in _CELLS] for row in table.iter()
            if local_name(row).lower() in _ROWS]
    grid = place_cells(filter(None, rows))
    if len(grid) < 2 or max(map(len, grid)) < 2:  # noqa: PLR2004
        return [" | ".join(cell.text for cell in row) for row in grid]
    captions, header, lines = read_grid(grid)
    return [*captions, *table_lines(header, lines, captions[-1] if captions else title)]


def _spanning(cell: ET.Element) -> SpanningCell:
    columns, rows = (int(span) if (span := cell.get(name, "")).isdecimal() and len(span) < 4 else 1  # noqa: PLR2004
                     for name in ("colspan", "rowspan"))
    words = one_line(read_words("".join(cell.itertext())))
    return SpanningCell(GridCell(words, local_name(cell) == "th"), max(columns, 1), max(rows, 1))
