"""Read XML files as text, and JSON files as records, in the process with limited memory.

In XML, titles are headings, words are paragraphs, and other texts are lines "name: text".
"""

import html.entities
import re
from collections.abc import Iterator
from itertools import groupby
from xml.etree import ElementTree as ET  # see `archives`

from ...schemas.formats.small_files import check_depth
from ...text.cleaning import one_line
from ..decoding import decode
from ..metadata import clean_metadata
from ..reading import DEFAULT_LIMITS, Content, Limits, UnreadableError
from ..records import BadRecordError, is_row, object_lines, parse, read_fields, read_record, record_lines
from .archives import local_name
from .web_pages import read_html

_HTML = re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,20}(?:\s[^<>]{0,1000})?/?>")
_GAP = re.compile(r"\n[ \t]*+\n")
_DECLARATION = 200
_ENCODING = re.compile(rb"encoding[ \t]{0,9}=[ \t]{0,9}[\"']([A-Za-z0-9._-]{1,40})")
_OUTSIDE = re.compile(r"<!ENTITY\s{1,99}([\w.:-]{1,100})\s{1,99}(?:SYSTEM|PUBLIC)\b")
_FOR_PROGRAMS = frozenset({"class", "style", "role", "lang", "version"})
_TITLES = frozenset({"title", "head", "heading", "article-title"})
_PARAGRAPHS = frozenset({"p", "para", "simpara", "paragraph", "seg", "quote", "abstract", "description", "summary",
                         "content", "text", "body", "note"})
"""Elements whose name says nothing about their words."""
_CODE = frozenset({"programlisting", "screen", "literallayout", "pre"})
_ITEMS = frozenset({"listitem", "list-item", "li"})
_DEEPEST_HEADING = 6


def read_xml(data: bytes, _: Limits) -> Content:
    """Read the text of an XML file.

    A part begins with its title as a heading, or else with its name and attributes. Elements with words beside their
    inner elements are paragraphs, and any other text is a line "name: text". HTML within a text is read as HTML. The
    title is the first one in the file. Entities that name other files are counted in `unread`; expat rejects entities
    that expand to huge texts.

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
    title = next((_flat(element) for element in root.iter() if _is_title(element)), "")
    unread = f"{len(outside):,} parts that are in other files were not read: add these files" if outside else ""
    return Content("\n\n".join(filter(None, _blocks(root, 1))), title, unread=unread)


def _blocks(element: ET.Element, level: int) -> Iterator[str]:
    if _name(element) in _CODE:
        yield f"```\n{''.join(element.itertext()).strip(chr(10))}\n```"
        return
    if _is_simple(element):
        yield _line(element)
        return
    title = next(filter(_is_title, element), None)
    if title is not None:
        yield f"{'#' * min(level, _DEEPEST_HEADING)} {_flat(title)}"
    children = [child for child in element if child is not title]
    above = [f"{name}: {value}" for name, value in _attributes(element).items() if title is None or name != "id"]
    if title is None and (above or (_is_line(children[0]) and _name(children[0]) not in _ITEMS)):
        above.insert(0, f"{_label(element)}:")
    for is_line, group in groupby(children, _is_line):
        adjacent = list(group)
        above += filter(None, map(_line, adjacent if is_line else ()))
        if above:
            yield "\n".join(above)
            above = []
        for child in () if is_line else adjacent:
            yield from _blocks(child, level + (title is not None))


def _is_line(element: ET.Element) -> bool:
    """Return True if an element is written as a line beside others: an item of a list, or a name with a short text."""
    if _name(element) in _ITEMS:
        return _is_simple(element) or all(map(_is_simple, element))
    return _is_simple(element) and _name(element) not in _PARAGRAPHS | _CODE


def _line(element: ET.Element) -> str:
    """Return a simple element as one text: a paragraph, an item of a list, or "name: words"; "" if it is empty."""
    words = _words(element)
    if _name(element) in _ITEMS:
        return f"- {one_line(words)}" if words else ""
    if len(element) or _name(element) in _PARAGRAPHS:
        return words
    about = ", ".join(f"{name} {value}" for name, value in _attributes(element).items())
    text = f"{one_line(words)} ({about})" if words and about else one_line(words) or about
    return f"{_label(element)}: {text}" if text else ""


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
    """Return the attributes that are content: not those for programs or with a namespace, such as `xml:lang`."""
    return {name.replace("_", " "): one_line(value) for name, value in element.attrib.items()
            if not name.startswith("{") and name not in _FOR_PROGRAMS and value.strip()}


def _is_simple(element: ET.Element) -> bool:
    """Return True if an element has only text, or words beside its inner elements, as a paragraph has."""
    return not len(element) or any(text.strip() for text in (element.text, *(child.tail for child in element)) if text)


def _is_title(element: ET.Element) -> bool:
    """Return True if an element is a title: named as one, with words and not too long."""
    return _name(element) in _TITLES and _is_simple(element) and 0 < len(_flat(element)) <= DEFAULT_LIMITS.title


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
        return Content("", records=[(at, _fields(at, value, limits)) for at, value in enumerate(records)])
    try:
        check_depth(content, limits.json_depth)
    except ValueError as error:
        raise UnreadableError(str(error)) from error
    table = object_lines(content, "", limits) if isinstance(content, dict) else record_lines(
        [read_fields(record) for record in records if isinstance(record, dict)], "", limits)
    return Content("", records=[(None, [None, "", table, {}])])


def _fields(number: int, value: object, limits: Limits) -> list[object] | str:
    try:
        record = read_record(number, value, limits)
    except BadRecordError as error:
        return str(error)
    return [record.id, record.title, record.text, clean_metadata(record.metadata)]


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
