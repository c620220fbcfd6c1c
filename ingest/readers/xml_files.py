"""Read XML files as text: the fields and tables at their head, headings, paragraphs, and other texts with names."""

import html
import html.entities
import re
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree as ET  # see `archives`

from ...text.cleaning import one_line
from ..objects import read_object
from ..reading import DEFAULT_LIMITS, Content, Limits, UnreadableError, decode
from .archives import local_name
from .web_pages import read_html

_HTML = re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,20}(?:\s[^<>]{0,1000})?/?>")
_GAP = re.compile(r"\n{3,}")
_ENCODING = re.compile(rb"encoding[ \t]{0,9}=[ \t]{0,9}[\"']([A-Za-z0-9._-]{1,40})")
_DEFINED = re.compile(r"<!ENTITY\s{1,99}([\w.:-]{1,100})\s{1,99}(?:\"([^\"]{0,10000})\"|'([^']{0,10000})')")
_USED = re.compile(r"&([\w.:-]{1,100});")
_PREDEFINED = {name: chr(code) for name, code in html.entities.name2codepoint.items()} | {"apos": "'"}
_HEADS = re.compile(r"(?i)header|head|front|info|meta|metadata|.{1,20}(?:-meta|info|header)")
"""Elements with the fields of a document, if they are the first in it: <info> of DocBook, <teiHeader>, <front>."""
_FOR_PROGRAMS = frozenset({"class", "style", "role", "lang", "version", "id"})
_TITLES = frozenset({"title", "head", "heading", "article-title"})
_PROSE = frozenset({"p", "para"})  # an element with such parts is a section of a text, and none of data
_ITEMS = _PROSE | {"li", "listitem", "item"}
_BLOCKS = _ITEMS | {"ul", "ol", "list", "itemizedlist", "orderedlist"}
_TITLE_ATTRIBUTES = ("title", "topic", "heading", "caption", "name", "label")
_PARAGRAPHS = _PROSE | {"description", "summary", "content", "text", "body", "note", "abstract", "li", "listitem"}
"""Names of elements that say nothing about their words."""
_DEEPEST_HEADING = 6


def read_xml(data: bytes, limits: Limits) -> Content:
    """Read the text of an XML file: titles as headings, words as paragraphs, and other texts as lines "name: text".

    The title is the file's first. Entities of other files are counted; expat rejects those that expand to huge texts.
    """
    declared = _ENCODING.search(data[:200])
    # Decoded here, because expat garbles encodings of several bytes a character.
    text = decode(data, declared[1].decode() if declared else None).lstrip("\ufeff \t\r\n")
    root, left_out = _parse(text.partition("?>")[2] if text.startswith("<?xml") else text)
    if local_name(root) == "html":
        return read_html(data)
    titles = (_words(element) for element in root.iter() if _is_title(element))
    title = next((words for words in titles if 0 < len(words) <= DEFAULT_LIMITS.title), "")
    head = next(iter(root), None)  # with the fields of the document, if it has parts and no words of its own
    fields: Mapping[str, object] = {}
    if head is not None and _HEADS.fullmatch(local_name(head)) and len(head) and not _has_own_words(head):
        root.remove(head)
        fields = {name: value for name, value in _fields_of(head).items() if name.lower() not in _TITLES}
    of_head = read_object(fields, limits)
    omitted = f"{left_out:,} parts that are in other files" if left_out else ""
    text = _GAP.sub("\n\n", "\n".join([of_head.text, *_lines(root, 1)])).strip()
    return Content(text, title, of_head.metadata, omitted=omitted)


def _parse(text: str) -> tuple[ET.Element, int]:
    """Return the root of an XML text, and the number of entities that other files define, which are left out."""
    # The entities' texts are given to expat, which ignores definitions behind a reference to another file.
    defined = {name: html.unescape(_HTML.sub("", one or other)) for name, one, other in _DEFINED.findall(text)}
    outside = set(_USED.findall(text)) - _PREDEFINED.keys() - defined.keys()
    parser = ET.XMLParser()  # noqa: S314  # see `archives`
    # Files use the entities of HTML without a definition, too.
    parser.entity.update(_PREDEFINED | defined | dict.fromkeys(outside, ""))
    try:
        parser.feed(text)
        return parser.close(), len(outside)
    except ET.ParseError as error:
        raise UnreadableError(f"not well-formed XML ({error}): mend it, or rename it to .txt") from error


def _fields_of(element: ET.Element) -> dict[str, object]:
    """Return what an element holds by the names of its parts, without empty ones; parts of one name are a list."""
    values_by_name: dict[str, list[object]] = {}
    for part in element:
        if value := _value_of(part):
            values_by_name.setdefault(local_name(part), []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in values_by_name.items()}


def _value_of(element: ET.Element) -> object:
    """Return the words of an element, its only field, or its fields; a person's names are one: "Ida Lang"."""
    if not len(element) or _has_own_words(element):
        return _words(element)
    if all(local_name(part).lower() in _BLOCKS for part in element):  # paragraphs and lists, such as an abstract
        items = [part for part in element.iter() if local_name(part).lower() in _ITEMS]
        return "; ".join(filter(None, map(_words, items)))
    fields: dict[str, Any] = _fields_of(element)
    names = [name for name, value in fields.items() if name.lower().endswith("name") and isinstance(value, str)]
    if len(names) > 1:  # such as "given-name" and "surname"
        fields = {"name": " ".join(fields.pop(name) for name in names), **fields}
    return next(iter(fields.values())) if len(fields) == 1 else fields


def _has_own_words(element: ET.Element) -> bool:
    """Return True if an element has words beside its parts, as a sentence with emphasis has."""
    return any(text and text.strip() for text in (element.text, *(part.tail for part in element)))


def _lines(element: ET.Element, level: int, *, is_in_prose: bool = False) -> Iterator[str]:
    """Yield the lines of an element; a title in it is a heading of `level`, and titles below that of a deeper one."""
    if local_name(element) == "table" and any(local_name(part) == "tr" for part in element.iter()):
        for part in element.iter():
            part.tag = local_name(part)
        yield f"\n{read_html(ET.tostring(element)).text}\n"
    elif not len(element) or _has_own_words(element):
        yield from _leaf_lines(element, level, is_in_prose=is_in_prose)
    else:
        is_prose = any(local_name(child).lower() in _PROSE for child in element)
        if is_prose:  # its other attributes are for programs, such as the name by which links find it
            heading = next((element.attrib[name] for name in _TITLE_ATTRIBUTES if element.get(name)), "")
            if heading:
                yield f"\n{'#' * min(level, _DEEPEST_HEADING)} {one_line(heading)}\n"
                level += 1
        elif attributes := _shown_attributes(element):
            yield f"{_label(element)}: {', '.join(attributes)}"
        level_below = level + any(map(_is_title, element))
        for child in sorted(element, key=_is_title, reverse=True):  # a title may stand behind what it is the title of
            yield from _lines(child, level if _is_title(child) else level_below, is_in_prose=is_prose)


def _leaf_lines(element: ET.Element, level: int, *, is_in_prose: bool) -> Iterator[str]:
    """Yield the line of an element without parts, or of a sentence: a heading, a paragraph, or a text with its name."""
    words = ", ".join(filter(None, [_words(element), *_shown_attributes(element)]))
    if not words:
        return
    if _is_title(element):
        yield f"\n{'#' * min(level, _DEEPEST_HEADING)} {words}\n"
    elif len(element) or is_in_prose or _label(element).lower() in _PARAGRAPHS:  # beside paragraphs, no name is needed
        yield f"{words}\n"
    else:
        yield f"{_label(element)}: {words}"


def _label(element: ET.Element) -> str:
    """Return the name of an element as words."""
    return local_name(element).replace("_", " ")


def _shown_attributes(element: ET.Element) -> list[str]:
    """Return the attributes of an element as "name value", without those that are for programs."""
    return [f"{name.replace('_', ' ')} {one_line(value)}" for name, value in element.attrib.items()
            if not name.startswith("{") and name not in _FOR_PROGRAMS and value.strip()]


def _is_title(element: ET.Element) -> bool:
    """Return True for a title of words alone: <head> is also the name of a part that holds fields."""
    return local_name(element).lower() in _TITLES and not len(element)


def _words(element: ET.Element) -> str:
    """Return all words in an element; HTML in them, as feeds have it, is read as HTML."""
    text = "".join(element.itertext())
    return read_html(text.encode()).text if "<" in text and _HTML.search(text) else one_line(text)
