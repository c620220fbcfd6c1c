"""Read XML files as text, and JSON files as records, in the process with limited memory."""

import html.entities
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET  # see `archives`

from ...schemas.formats.small_files import check_depth
from ...text.cleaning import one_line
from ..decoding import decode
from ..metadata import clean_metadata
from ..reading import DEFAULT_LIMITS, Content, Limits, UnreadableError
from ..records import BadRecordError, is_row, object_lines, parse, read_fields, read_record, record_lines
from .archives import local_name
from .bibliographies import csl_works
from .web_pages import read_html

_HTML = re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,20}(?:\s[^<>]{0,1000})?/?>")
_GAP = re.compile(r"\n{3,}")
_DECLARATION = 200
_ENCODING = re.compile(rb"encoding[ \t]{0,9}=[ \t]{0,9}[\"']([A-Za-z0-9._-]{1,40})")
_OUTSIDE = re.compile(r"<!ENTITY\s{1,99}([\w.:-]{1,100})\s{1,99}(?:SYSTEM|PUBLIC)\b")
_FOR_PROGRAMS = frozenset({"class", "style", "role", "lang", "version", "id"})
_TITLES = frozenset({"title", "head", "heading", "article-title"})
_PARAGRAPHS = frozenset({"p", "para", "description", "summary", "content", "text", "body", "note", "abstract", "li",
                         "listitem"})
"""Elements whose name says nothing about their words."""
_DEEPEST_HEADING = 6


def read_xml(data: bytes, _: Limits) -> Content:
    """Read the text of an XML file: titles as headings, words as paragraphs, and other texts as lines "name: text".

    The title is the first one in the file. Entities that name other files are counted in `unread`; expat rejects
    entities that expand to huge texts.

    Raises:
        UnreadableError: the bytes are not well-formed XML.
    """
    declared = _ENCODING.search(data[:_DECLARATION])
    # Decoded here, because expat garbles encodings of several bytes a character.
    text = decode(data, declared[1].decode() if declared else None).lstrip("\ufeff \t\r\n")
    if text.startswith("<?xml"):
        text = text.partition("?>")[2]
    outside = dict.fromkeys(_OUTSIDE.findall(text), "")
    parser = ET.XMLParser()  # noqa: S314  # see `archives`
    # Define the entities of HTML, because files with a document type may use them without defining them.
    parser.entity.update({name: chr(code) for name, code in html.entities.name2codepoint.items()} | outside)
    try:
        parser.feed(text)
        root: ET.Element = parser.close()
    except ET.ParseError as error:
        raise UnreadableError(f"not well-formed XML ({error}): mend it, or rename it to .txt") from error
    if local_name(root) == "html":
        return read_html(data)
    title = next((words for element in root.iter() if _is_title(element)
                  and 0 < len(words := _words(element)) <= DEFAULT_LIMITS.title), "")
    unread = f"{len(outside):,} parts that are in other files were not read: add these files" if outside else ""
    return Content(_GAP.sub("\n\n", "\n".join(_lines(root, 1))).strip(), title, unread=unread)


def _lines(element: ET.Element, level: int) -> Iterator[str]:
    about = [f"{name.replace('_', ' ')} {one_line(value)}" for name, value in element.attrib.items()
             if not name.startswith("{") and name not in _FOR_PROGRAMS and value.strip()]
    has_words = any(text.strip() for text in (element.text, *(child.tail for child in element)) if text)
    if has_words or not len(element):
        words = ", ".join(filter(None, [_words(element), *about]))
        if words and _is_title(element):
            yield f"\n{'#' * min(level, _DEEPEST_HEADING)} {words}\n"
        elif words:
            is_paragraph = len(element) or _name(element) in _PARAGRAPHS
            yield f"{words}\n" if is_paragraph else f"{local_name(element).replace('_', ' ')}: {words}"
        return
    if about:
        yield f"{local_name(element).replace('_', ' ')}: {', '.join(about)}"
    below = level + any(map(_is_title, element))
    for child in sorted(element, key=_is_title, reverse=True):
        yield from _lines(child, level if _is_title(child) else below)


def _is_title(element: ET.Element) -> bool:
    return _name(element) in _TITLES and not len(element)


def _words(element: ET.Element) -> str:
    """Return all words in an element; HTML in them, as feeds have it, is read as HTML."""
    text = "".join(element.itertext())
    return read_html(text.encode()).text if "<" in text and _HTML.search(text) else one_line(text)


def _name(element: ET.Element) -> str:
    return local_name(element).lower()


def read_json(data: bytes, limits: Limits) -> Content:
    """Read the records of a list, of an object with a list in `documents` or `data`, or of a single record.

    Returns:
        Records for `records.read_listed`: the number from 0, and either the id, title, text and metadata, or the reason
        why the record cannot be used. If no record has a `text`, the whole file is a table: one record without a
        number.

    Raises:
        UnreadableError: the file is not JSON, or has no records.
    """
    text = decode(data)
    if not text.strip():
        return Content("")
    try:
        content = parse(text)
    except BadRecordError as error:
        raise UnreadableError(str(error)) from error
    records = _list_records(content)
    if not records or not all(map(is_row, records)):
        read: list[tuple[int | None, Any]] = []
        for number, value in enumerate(records):
            try:
                record = read_record(number, value, limits)
                fields = [record.id, record.title, record.text, clean_metadata(record.metadata)]
                read.append((number, fields))
            except BadRecordError as error:
                read.append((number, str(error)))
        return Content("", records=read)
    try:
        check_depth(content, limits.json_depth)
    except ValueError as error:
        raise UnreadableError(str(error)) from error
    table = object_lines(content, "", limits) if isinstance(content, dict) else record_lines(
        csl_works(records) or [read_fields(record) for record in records if isinstance(record, dict)], "", limits)
    return Content("", records=[(None, [None, "", table, {}])])


def _list_records(content: object) -> list[object]:
    """Return the records of a file: its list, the list in `documents` or `data`, or the whole object as one record."""
    if isinstance(content, list):
        return content
    if isinstance(content, dict):
        for key in ("documents", "data"):
            if isinstance(content.get(key), list) and "text" not in content:
                return list(content[key])
        return [content]
    raise UnreadableError("neither a list of records nor an object: write "
                          '[{"text": "...", "id": "...", "title": "..."}, ...]')
