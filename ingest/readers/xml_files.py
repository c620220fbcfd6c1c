"""Read XML files as text: titles as headings, words as paragraphs, and elements that only have fields as rows."""

import html.entities
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from xml.etree import ElementTree as ET  # see `archives`

from ...text.cleaning import one_line
from ..decoding import decode
from ..reading import DEFAULT_LIMITS, Content, Limits, UnreadableError
from ..records import record_lines
from .archives import local_name
from .web_pages import read_html

_HTML = re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,20}(?:\s[^<>]{0,1000})?/?>")
_GAP = re.compile(r"\n[ \t]*+\n")
_DECLARATION = 200
_ENCODING = re.compile(rb"encoding[ \t]{0,9}=[ \t]{0,9}[\"']([A-Za-z0-9._-]{1,40})")
_OUTSIDE = re.compile(r"<!ENTITY\s{1,99}([\w.:-]{1,100})\s{1,99}(?:SYSTEM|PUBLIC)\b")
_FOR_PROGRAMS = frozenset({"class", "style", "role", "lang", "id", "version"})
"""Attributes that say nothing about a part with a title."""
_TITLES = frozenset({"title", "head", "heading", "article-title"})
_PARAGRAPHS = frozenset({"p", "para", "simpara", "paragraph", "seg", "quote", "abstract", "description", "summary",
                         "content", "text", "body", "note"})
"""Elements whose name says nothing about their words."""
_CODE = frozenset({"programlisting", "screen", "literallayout", "pre"})
_ITEMS = frozenset({"listitem", "list-item", "li"})
_LONGEST_FIELD, _DEEPEST_FIELD, _DEEPEST_HEADING = 1000, 2, 6
_BLOCK, _LINE = "\n\n", "\n"


def read_xml(data: bytes, _: Limits) -> Content:
    """Read the text of an XML file.

    A part begins with its title as a heading. Elements with words beside their inner elements are paragraphs, elements
    of nothing but fields are rows under their name, and any other field is a line "name: text". HTML within a text is
    read as HTML. The title is the first one in the file. Entities that name other files are counted in `unread`; expat
    rejects entities that expand to huge texts.

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
    return Content("\n\n".join(filter(None, _blocks(root, 1, title))), title, unread=unread)


def _blocks(element: ET.Element, level: int, above: str) -> Iterator[str]:
    """Yield the blocks of an element, whose heading is of a `level` and below the heading `above`."""
    if _name(element) in _CODE:
        yield f"```\n{''.join(element.itertext()).strip(chr(10))}\n```"
        return
    if not len(element) or _is_mixed(element):
        yield _line(element)
        return
    title = next(filter(_is_title, element), None)
    heading = "" if title is None else _flat(title)
    attributes = {name: value for name, value in _attributes(element).items()
                  if name not in _FOR_PROGRAMS or not (heading or name == "version")}
    if attributes and not heading:
        heading, attributes = f"{_label(element)}: {_in_words(attributes)}", {}
    if heading:
        yield f"{'#' * min(level, _DEEPEST_HEADING)} {heading}"
    if attributes:
        yield "\n".join(f"{name}: {value}" for name, value in attributes.items())
    children = [(child, _fields(child)) for child in element if child is not title]
    # Elements of one name are rows only if all of them are.
    no_rows = {child.tag for child, fields in children if len(fields or ()) < 2}  # noqa: PLR2004
    for kind, group in groupby(children, lambda pair: _kind(pair[0]) if pair[0].tag in no_rows else _label(pair[0])):
        adjacent = list(group)
        if kind == _BLOCK:
            for child, _ in adjacent:
                yield from _blocks(child, level + bool(heading), heading or above)
        elif kind == _LINE:
            yield "\n".join(filter(None, (_line(child) for child, _ in adjacent)))
        else:
            rows = [fields or {} for _, fields in adjacent]
            yield f"{kind}:\n{record_lines(rows, heading or above or kind, DEFAULT_LIMITS)}"


def _kind(element: ET.Element) -> str:
    """Return `_LINE` for an element that is written as a line beside others, and `_BLOCK` for any other one."""
    is_field = not len(element) and _name(element) not in _PARAGRAPHS | _CODE
    return _LINE if is_field or _name(element) in _ITEMS else _BLOCK


def _fields(element: ET.Element, depth: int = _DEEPEST_FIELD) -> dict[str, str] | None:
    """Return the attributes and the short inner elements of an element as fields; None if it has more than these."""
    found: dict[str, list[str]] = {name: [value] for name, value in _attributes(element).items()}
    if not len(element) and (words := _words(element)):
        found = {_label(element): [words], **found}
    if _is_mixed(element) or _name(element) in _PARAGRAPHS | _ITEMS | _CODE:
        return None
    for child in element:
        inner = _fields(child, depth - 1) if depth else None
        if inner is None or _name(child) in _PARAGRAPHS or any(len(value) > _LONGEST_FIELD for value in inner.values()):
            return None
        for name, value in inner.items():
            label = name if name == _label(child) else f"{_label(child)} {name}"
            found.setdefault(label, []).append(one_line(value))
    return {name: "; ".join(filter(None, values)) for name, values in found.items()}


def _line(element: ET.Element) -> str:
    """Return a simple element as one text: a paragraph, an item of a list, or "name: words"; "" if it is empty."""
    words = _words(element)
    if _name(element) in _ITEMS:
        return f"- {one_line(words)}" if words else ""
    if _is_mixed(element) or _name(element) in _PARAGRAPHS:
        return words
    about = _in_words(_attributes(element))
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
    """Return the attributes of an element, without those with a namespace, such as `xml:lang`."""
    return {name.replace("_", " "): one_line(value) for name, value in element.attrib.items()
            if not name.startswith("{") and name not in _FOR_PROGRAMS - {"id", "version"} and value.strip()}


def _in_words(attributes: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in attributes.items())


def _is_mixed(element: ET.Element) -> bool:
    """Return True if an element has words beside its inner elements, as a paragraph has."""
    return len(element) > 0 and any(text.strip() for text in (element.text, *(child.tail for child in element)) if text)


def _is_title(element: ET.Element) -> bool:
    """Return True if an element is a title: named as one, with words and not too long."""
    is_text = _is_mixed(element) or not len(element)
    return _name(element) in _TITLES and is_text and 0 < len(_flat(element)) <= DEFAULT_LIMITS.title
