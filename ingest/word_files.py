"""Word files (docx) to plain text that keeps the headings, as Markdown writes them."""

import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import docx
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph

from .failures import UnreadableError
from .limits import DEFAULT_LIMITS, Limits

_HEADING = re.compile(r"Heading ([1-6])")
_PARAGRAPH, _TABLE, _ROW, _CELL, _RUN = (qn(f"w:{tag}") for tag in ("p", "tbl", "tr", "tc", "r"))
_SIGNS = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
# What was deleted or moved away, and the second copy of a text box for old versions of Word.
_UNSEEN = (qn("w:del"), qn("w:moveFrom"), f"{_COMPATIBILITY}Fallback")
_MAX_PARTS = 10_000  # a few dozen and one for each picture are usual; python-docx loads all of them
_OLE_MARK = bytes.fromhex("d0cf11e0a1b11ae1")


def read_docx(data: bytes, limits: Limits = DEFAULT_LIMITS) -> tuple[str, str]:
    """The text of a Word file.

    Args:
        data: the file's bytes.
        limits: the largest size when unpacked.

    Returns:
        The paragraphs, headings as `# ` lines, and table rows as lines with ` | ` between cells;
        and the title: the first paragraph in the style Title or Heading 1, else an empty string.
        Tracked insertions and content controls are read, deletions, notes and margins are not.

    Raises:
        UnreadableError: the bytes are no Word file, or a larger one than is read.
    """
    _check(data, limits)
    try:
        document = docx.Document(BytesIO(data))
    except Exception as error:  # python-docx lets through whatever zip and XML parsing raise
        raise UnreadableError(f"a broken Word file ({error}): open it in Word and save it again") from error
    body = document.element.body
    for element in list(body.iter(*_UNSEEN)):
        element.getparent().remove(element)
    blocks = [(text, level) for text, level in _blocks(body, document) if text]
    title = next((text for text, level in blocks if level == 1), "")
    return "\n\n".join(f"{'#' * level} {text}" if level else text for text, level in blocks), title


def _check(data: bytes, limits: Limits) -> None:
    if data.startswith(_OLE_MARK):
        raise UnreadableError("protected by a password, or in the format of Word before 2007: save it as docx "
                              "without a password")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            entries = archive.infolist()
            # What an entry unpacks to is never more than it declares: `zipfile` stops there.
            size = sum(entry.file_size for entry in entries)
    except zipfile.BadZipFile as error:
        raise UnreadableError(f"not a Word file ({error}): open it in Word and save it again") from error
    if size > limits.file_bytes:
        raise UnreadableError(f"{size:,} bytes when unpacked, larger than {limits.size()}: split it, or take "
                              "pictures out")
    if len(entries) > _MAX_PARTS:
        raise UnreadableError(f"{len(entries):,} parts in it, at most {_MAX_PARTS:,} are read: split it, or take "
                              "pictures out")


# Elements are typed Any: lxml, on which python-docx stands, has no types.
def _blocks(element: Any, document: Any) -> Iterator[tuple[str, int]]:
    """Paragraphs and tables in order, and their level as a heading (0: none)."""
    for child in element:
        if child.tag == _PARAGRAPH:
            level = _level(Paragraph(child, document))
            text = _text(child)
            yield (" ".join(text.split()) if level else text), level
        elif child.tag == _TABLE:
            yield "\n".join(_row(row) for row in _own(child, _ROW)), 0
        else:  # content controls and the like
            yield from _blocks(child, document)


def _level(paragraph: Paragraph) -> int:
    name = (paragraph.style.name if paragraph.style else None) or ""
    heading = _HEADING.fullmatch(name)
    return int(heading[1]) if heading else int(name == "Title")


def _text(paragraph: Any) -> str:
    """All text of a paragraph, with that of tracked insertions, which `Paragraph.text` leaves out."""
    nodes = (node for run in paragraph.iter(_RUN) for node in run)
    return "".join(node.text or "" if node.tag == qn("w:t") else _SIGNS.get(node.tag, "") for node in nodes).strip()


def _row(row: Any) -> str:
    cells = (" ".join(_text(paragraph) for paragraph in cell.iter(_PARAGRAPH)) for cell in _own(row, _CELL))
    return " | ".join(" ".join(cell.split()) for cell in cells)


def _own(parent: Any, tag: str) -> Iterator[Any]:
    """The elements of a table or row that are not those of a table within it."""
    return (element for element in parent.iter(tag) if next(element.iterancestors(parent.tag)) is parent)
