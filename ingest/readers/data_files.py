"""Read XML files as text, and JSON files and bibliographies (BibTeX, RIS, CSL-JSON) as records."""

import html.entities
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any
from xml.etree import ElementTree as ET  # see `archives`

from pybtex.database import Entry, parse_string
from pybtex.errors import capture
from pybtex.richtext import Text

from ...schemas.formats.small_files import check_depth
from ...text.cleaning import one_line
from ..decoding import decode
from ..reading import DEFAULT_LIMITS, Content, Limits, UnreadableError
from ..records import (
    BadRecordError,
    Fields,
    is_row,
    object_lines,
    parse,
    read_fields,
    read_records,
    record_lines,
)
from .archives import local_name
from .web_pages import read_html

_HTML = re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,20}(?:\s[^<>]{0,1000})?/?>")
_GAP = re.compile(r"\n{3,}")
_ENCODING = re.compile(rb"encoding[ \t]{0,9}=[ \t]{0,9}[\"']([A-Za-z0-9._-]{1,40})")
_ENTITY = re.compile(r"<!ENTITY\s{1,99}([\w.:-]{1,100})\s{1,99}(SYSTEM|PUBLIC|)|&([\w.:-]{1,100});")
_PREDEFINED = {name: chr(code) for name, code in html.entities.name2codepoint.items()} | {"apos": "'"}
_HEADS = re.compile(r"(?i)header|head|front|info|meta|metadata|.{1,20}(?:-meta|info|header)")
"""Elements with the fields of a document, if they are the first in it: <info> of DocBook, <teiHeader>, <front>."""
_FOR_PROGRAMS = frozenset({"class", "style", "role", "lang", "version", "id"})
_TITLES = frozenset({"title", "head", "heading", "article-title"})
_PARAGRAPHS = frozenset({"p", "para", "description", "summary", "content", "text", "body", "note", "abstract", "li",
                         "listitem"})  # names of elements that say nothing about their words
_DEEPEST_HEADING = 6
_VENUES = ("journal", "journaltitle", "booktitle", "publisher", "school", "institution", "howpublished")
_FURTHER_FIELDS = ("volume", "number", "pages", "keywords", "abstract", "url")
_RIS = re.compile(r"^(?P<tag>[A-Z][A-Z0-9])  - ?(?P<value>[^\n]*)$", re.MULTILINE)
_RIS_FIELDS = {"TI": "title", "T1": "title", "PY": "year", "Y1": "year", "JO": "venue", "JF": "venue", "T2": "venue",
               "PB": "venue", "DO": "doi", "VL": "volume", "IS": "number", "AB": "abstract", "UR": "url",
               "AU": "author", "A1": "author", "KW": "keywords"}
_COMMENT = re.compile(r"^[ \t]*+%[^\n]*+", re.MULTILINE)  # for BibTeX it is no comment if it has an "@"
_STYLE = re.compile(r"\\(?:text[a-z]{2}|emph|underline)\{([^{}]{0,300})\}")  # such as of one's own name
_DOI_ADDRESS = re.compile(r"https?://(?:dx\.)?doi\.org/")
_YEAR = re.compile(r"\d{4}")


def read_xml(data: bytes, _: Limits) -> Content:
    """Read the text of an XML file: titles as headings, words as paragraphs, and other texts as lines "name: text".

    The title is the first one in the file. Entities that name other files are counted in `unread`; expat rejects
    entities that expand to huge texts.
    """
    declared = _ENCODING.search(data[:200])
    # Decoded here, because expat garbles encodings of several bytes a character.
    text = decode(data, declared[1].decode() if declared else None).lstrip("\ufeff \t\r\n")
    if text.startswith("<?xml"):
        text = text.partition("?>")[2]
    defined, used = set(_PREDEFINED), set[str]()
    for name, elsewhere, reference in _ENTITY.findall(text):
        (defined if name and not elsewhere else used).add(name or reference)
    outside = used - defined  # which another file defines
    parser = ET.XMLParser()  # noqa: S314  # see `archives`
    # Define the entities of HTML, because files with a document type may use them without defining them.
    parser.entity.update(_PREDEFINED | dict.fromkeys(outside, ""))
    try:
        parser.feed(text)
        root: ET.Element = parser.close()
    except ET.ParseError as error:
        raise UnreadableError(f"not well-formed XML ({error}): mend it, or rename it to .txt") from error
    if local_name(root) == "html":
        return read_html(data)
    titles = (_words(element) for element in root.iter() if _is_title(element))
    title = next((words for words in titles if 0 < len(words) <= DEFAULT_LIMITS.title), "")
    metadata, head = dict[str, object](), next(iter(root), None)
    if head is not None and _HEADS.fullmatch(local_name(head)) and len(head) and not _has_own_words(head):
        root.remove(head)
        metadata = {name: value for name, value in _fields_of(head).items() if name.lower() not in _TITLES}
    unread = f"{len(outside):,} parts that are in other files were not read: add these files" if outside else ""
    return Content(_GAP.sub("\n\n", "\n".join(_lines(root, 1))).strip(), title, metadata, unread=unread)


def _fields_of(element: ET.Element) -> dict[str, object]:
    """Return what an element holds by the names of its parts, without empty ones; parts of one name are a list."""
    values_by_name: dict[str, list[object]] = {}
    for part in element:
        if value := _value_of(part):
            values_by_name.setdefault(local_name(part), []).append(value)
    fields: dict[str, object] = {}
    for name, values in values_by_name.items():
        objects = [value for value in values if isinstance(value, dict) and "name" not in value]
        if len(objects) == len(values) > 1:  # revisions, each with a date and a remark
            fields[name] = {key: [one[key] for one in objects if key in one] for key in dict.fromkeys(chain(*objects))}
        else:
            fields[name] = values[0] if len(values) == 1 else values
    return fields


def _value_of(element: ET.Element) -> object:
    """Return the words of an element, its only field, or its fields; a person's names are one: "Ida Lang"."""
    if not len(element) or _has_own_words(element):
        return _words(element)
    fields = _fields_of(element)
    names = [name for name, value in fields.items() if name.lower().endswith("name") and isinstance(value, str)]
    if len(names) > 1:
        fields = {"name": " ".join(str(fields.pop(name)) for name in names), **fields}
    return next(iter(fields.values())) if len(fields) == 1 else fields


def _has_own_words(element: ET.Element) -> bool:
    """Return True if an element has words beside its parts, as a sentence with emphasis has."""
    return any(text and text.strip() for text in (element.text, *(part.tail for part in element)))


def _lines(element: ET.Element, level: int) -> Iterator[str]:
    """Yield the lines of an element; a title in it is a heading of `level`, and titles below that of a deeper one."""
    attributes = [f"{name.replace('_', ' ')} {one_line(value)}" for name, value in element.attrib.items()
                  if not name.startswith("{") and name not in _FOR_PROGRAMS and value.strip()]
    label = local_name(element).replace("_", " ")
    if not len(element) or _has_own_words(element):
        words = ", ".join(filter(None, [_words(element), *attributes]))
        if words and _is_title(element):
            yield f"\n{'#' * min(level, _DEEPEST_HEADING)} {words}\n"
        elif words and (len(element) or label.lower() in _PARAGRAPHS):
            yield f"{words}\n"
        elif words:
            yield f"{label}: {words}"
        return
    if attributes:
        yield f"{label}: {', '.join(attributes)}"
    below = level + any(map(_is_title, element))
    for child in sorted(element, key=_is_title, reverse=True):  # a title may stand behind what it is the title of
        yield from _lines(child, level if _is_title(child) else below)


def _is_title(element: ET.Element) -> bool:
    return local_name(element).lower() in _TITLES and not len(element)


def _words(element: ET.Element) -> str:
    """Return all words in an element; HTML in them, as feeds have it, is read as HTML."""
    text = "".join(element.itertext())
    return read_html(text.encode()).text if "<" in text and _HTML.search(text) else one_line(text)


def read_json(data: bytes, limits: Limits) -> Content:
    """Read the records of a list, of an object with a list in `documents` or `data`, or of a single record."""
    text = decode(data)
    try:
        value = parse(text) if text.strip() else []
        if not isinstance(value, list | dict):
            raise BadRecordError("neither a list of records nor an object: write "
                                 '[{"text": "...", "id": "...", "title": "..."}, ...]')
        records = value if isinstance(value, list) else [value]
        if isinstance(value, dict) and "text" not in value:
            lists = (value[key] for key in ("documents", "data") if isinstance(value.get(key), list))
            records = next(lists, records)
        if not records or not all(map(is_row, records)):
            numbered = ((f"record {number}", record) for number, record in enumerate(records))
            return Content("", records=list(read_records(numbered, limits)))
        check_depth(value, limits.json_depth)
    except ValueError as error:  # not JSON, or nested too deeply
        raise UnreadableError(str(error)) from error
    if isinstance(value, dict):
        names = (value.get(name) for name in ("title", "name"))  # of the thing that the file is about
        title = next((name for name in names if isinstance(name, str) and len(name) <= limits.title), "")
        return Content(object_lines(value, "", limits), one_line(title))
    are_works = all({"title", "type"} <= row.keys() and {"issued", "author"} & row.keys() for row in records)
    return Content(record_lines(list(map(_csl_work if are_works else read_fields, records)), "", limits))


def _csl_work(record: dict[str, Any]) -> Fields:
    """Return a work of a CSL-JSON file, as Zotero writes it, with the names that its fields have in other formats."""
    people = [person.get("literal") or f"{person.get('given', '')} {person.get('family', '')}"
              for person in record.get("author") or () if isinstance(person, dict)]
    year = _YEAR.search(str(record.get("issued") or ""))
    return read_fields({"title": record["title"], "author": people, "year": year and year[0],
                        "venue": record.get("container-title"), "type": record["type"], "doi": record.get("DOI"),
                        "abstract": record.get("abstract")})


def read_bib(data: bytes, limits: Limits) -> Content:
    """Read a BibTeX file: each entry is a row with title, author, year and venue; UnreadableError if it has none."""
    with capture() as errors:
        entries = parse_string(_STYLE.sub(r"\1", _COMMENT.sub("", decode(data))), "bibtex").entries
    works = [_bibtex_work(key, entry) for key, entry in entries.items() if entry.fields or entry.persons]
    if not works:
        raise UnreadableError(f"not BibTeX that can be read ({errors[0] if errors else 'no entry'}): mend the entry")
    unread = f"{len(errors)} of its entries ({errors[0]}): mend them" if errors else ""
    return Content(record_lines(works, "", limits), unread=unread)


def _bibtex_work(key: str, entry: Entry) -> Fields:
    fields = {name.lower(): one_line(str(Text.from_latex(value))) for name, value in entry.fields.items()}
    authors: list[str] = []
    for person in entry.persons.get("author") or entry.persons.get("editor") or ():
        parts = (*person.first_names, *person.middle_names, *person.prelast_names, *person.last_names,
                 *person.lineage_names)
        authors.append(one_line(str(Text.from_latex(" ".join(parts)))))
    return {"title": fields.get("title", ""), "author": "; ".join(authors),
            "year": fields.get("year", "") or fields.get("date", "")[:4],
            "venue": next((fields[name] for name in _VENUES if fields.get(name)), ""), "type": entry.type, "key": key,
            "doi": _DOI_ADDRESS.sub("", fields.get("doi", "")),
            **{name: fields.get(name, "") for name in _FURTHER_FIELDS}}


def read_ris(data: bytes, limits: Limits) -> Content:
    """Read a RIS file, as EndNote and Zotero write it; UnreadableError if it has no entry."""
    works: list[dict[str, str]] = []
    for line in _RIS.finditer(decode(data).replace("\r\n", "\n")):
        name, value = _RIS_FIELDS.get(line["tag"], ""), one_line(line["value"])
        if line["tag"] == "TY":  # the first line of a work
            works.append({"title": "", "author": "", "year": "", "venue": "", "doi": "", "type": value})
        elif works and name in {"author", "keywords"}:  # which have a line for each of them
            if name == "author":  # "Blum, Ada"
                value = " ".join(reversed([part.strip() for part in value.split(",", 1)]))
            works[-1][name] = "; ".join(filter(None, [works[-1].get(name, ""), value]))
        elif works and name and not works[-1].get(name):
            works[-1][name] = value[:4] if name == "year" else _DOI_ADDRESS.sub("", value)
    if not works:
        raise UnreadableError("no entry of a bibliography in it (TY  - ...): export it again")
    return Content(record_lines(works, "", limits))
