"""Facts of a document's own row: its metadata, with lists taken apart and people by their names.

The row's subject is the document. A list has "; " between its items, or is of whole numbers ("1559, 2718"); people are
told by what follows their names, a handle or an address, or by the field's name.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ...schemas.extraction import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction
from ...schemas.naming import label_key
from ...text.lexicon import words
from ...text.scripts import CJK
from ...text.section_lines import BETWEEN
from ...text.section_lines import LIST_MARK as ITEM_MARK
from ...text.table_rows import DOCUMENT, LIST_MARK, Cell, Row

ALIAS = "alias"
_LONGEST_VALUE = 1000
_LONGEST_ITEM = 60
"""Characters of an item of a list; what is longer is prose with a semicolon in it."""
_MOST_WORDS = 5
"""The most words of a person's name, and of what is said above a list of people."""
_SHORT = 3
"""Letters of a word within a name that may be in lower case: "van", "de"."""
_PROSE = words("title description abstract summary subject comment comments 标题 摘要 说明")
"""Fields that are sentences: their commas and semicolons separate nothing."""
_PEOPLE = words("author authors editor editors owner owners contributor contributors reviewer reviewers maintainer "
                "maintainers shepherd champion champions sponsor delegate from to cc attendees participants present "
                "absent apologies regrets 作者 编者 编辑 译者 发件人 收件人 抄送 出席 列席 缺席 与会人员 参会人员")
"""Words of fields that are people, and of what stands above lists of people."""
_LAYOUT = words("layout sidebar sidebar_label sidebar_position permalink slug weight draft producer creator template "
                "css nav_order toc sidebar_class_name pagination_next pagination_prev hide_table_of_contents")
"""Fields that tell a program how to show the document."""
_OFFICE_FILE = re.compile(r"\.(?:pdf|docx?|xlsx?|pptx?|od[tps])\)?$", re.IGNORECASE)
_PROPERTIES = words("author created modified")
"""What a program writes into a file: an account instead of a name, and the day that a template was made."""
_FULL_NAME = re.compile(r"[^\W\d]{2,}\.? [^\W\d]")
_SLUG = re.compile(r"[a-z\d]+(?:-[a-z\d]+)+")
_NUMBERS = re.compile(r"\d{1,18}(?:,\s+\d{1,18})+")
_CONTACT = re.compile(r"\((@[\w.-]{1,60})\)|<([^<>\s]{1,100}@[^<>\s]{1,100})>|\(([^()\s]{1,100}@[^()\s]{1,100})\)")
_NAME = re.compile(r"@?[^\W\d_][^,;<>()/:\d]{0,80}|@[\w.-]{1,60}")
_JOINED = re.compile(r"[\W_]+")
_BETWEEN = re.compile(r"[,;、，；](?![^()<>]{0,200}[)>])")
"""What separates people, outside brackets."""
_LISTED = re.compile(
    rf"{ITEM_MARK.pattern}[*\[]*(?P<name>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){{1,4}}|[{CJK}]{{2,4}})\**"
    r"(?:[ \t]+\[?\(?(?P<handle>@[\w.-]{1,60}))?(?:\W|\Z)[^\n]{0,120}")
"""An item of a list: a name of two to five words, and a handle; what follows says more of the person."""
_ON_A_LINE = re.compile(
    r"^(?:[ \t]{0,8}[-*+•][ \t]{1,4})?\*{0,2}(?P<said>[^\W\d_][^\n:：*]{1,30}?)[ \t]?\*{0,2}[:：]\*{0,2}[ \t]{0,4}"
    r"(?P<people>[^\s*][^\n]{2,500}(?:\n[ \t]{1,8}(?![-*+•])[^\s:：][^\n:：]{0,200}){0,8})$", re.MULTILINE)
"""A field of people in a text, and the indented lines that go on with it."""
_AND = re.compile(r",? and ")
_MAIL = words("from to cc 发件人 收件人 抄送")
_END = "."
_OTHERS = re.compile(r"(?:[,;]|\band)?\s{0,3}et al\.?$", re.IGNORECASE)


class _Person(NamedTuple):
    name: str
    contacts: tuple[str, ...]


def facts_of_metadata(row: Row, own_type: str, person: str, evidence: str, time: str,
                      relation: Callable[[str], str]) -> Iterator[Extraction]:
    """Yield the facts of a document's row.

    Args:
        row: the row; its first cell names the document.
        own_type: the type of documents.
        person: the type of people; without one, these are values.
        evidence: the row's words.
        time: when it holds, as its field of a date says.
        relation: returns the schema's relation for a field's name, or the name.
    """
    document = row.cells[0].value
    yield Extraction(entities=(ExtractedEntity(name=document, type=own_type),),
                     attributes=tuple(_aliases(document, evidence)) if document in evidence else ())
    for cell in row.cells[1:]:
        if _tells_nothing(cell, document):
            continue
        people = read_people(cell) if person else []
        for one in people:
            yield Extraction(
                entities=(ExtractedEntity(name=one.name, type=person),),
                triples=(ExtractedTriple(head=document, relation=relation(cell.header), tail=one.name,
                                         evidence=evidence, time=time),),
                attributes=tuple(ExtractedAttribute(entity=one.name, attribute=ALIAS, value=contact, evidence=evidence)
                                 for contact in one.contacts if contact != one.name))
        if not people:
            yield Extraction(attributes=tuple(
                ExtractedAttribute(entity=document, attribute=cell.header, value=item, evidence=evidence,
                                   time="" if cell.value in time else time)
                for item in _items(cell)))


def _tells_nothing(cell: Cell, document: str) -> bool:
    """Return True for layout, properties of a file, a repeated name, the key of a page, and long texts."""
    key = label_key(cell.header).replace(" ", "_")
    # Of a document that has a key, the title is asked for by itself.
    names = key in {"title", "标题"} and document.startswith(cell.value)
    same = _JOINED.sub("", cell.value.casefold()) in _JOINED.sub("", document.casefold())
    page = key == "id" and (_SLUG.fullmatch(cell.value) is not None or (same and not cell.value.isdigit()))
    full_name = key == "author" and _FULL_NAME.match(cell.value) is not None
    written = key in _PROPERTIES and not full_name and _OFFICE_FILE.search(document) is not None
    return key in _LAYOUT or names or page or written or len(cell.value) > _LONGEST_VALUE


def _aliases(document: str, evidence: str) -> Iterator[ExtractedAttribute]:
    """Yield the key before a document's title and the title alone ("EIP-1559: Fee market")."""
    key, _, title = document.partition(": ")
    if title and " " not in key and any(map(str.isdigit, key)):
        for name in (key, title):
            yield ExtractedAttribute(entity=document, attribute=ALIAS, value=name, evidence=evidence)


def read_people(cell: Cell) -> list[_Person]:
    """Return the people of a field; none where it is not certain that all its items are people."""
    parts = [part for part in map(str.strip, _BETWEEN.split(_OTHERS.sub("", cell.value))) if part]
    people = [_Person(_CONTACT.sub("", part).strip(" \t\"'"), tuple(
        next(filter(None, groups)) for groups in _CONTACT.findall(part))) for part in parts]
    people = [one if one.name else _Person(one.contacts[0], ()) for one in people if one.name or one.contacts]
    expected = not _PEOPLE.isdisjoint(label_key(cell.header).split())
    certain = all((one.contacts or (expected and _NAME.fullmatch(one.name))) and len(one.name.split()) <= _MOST_WORDS
                  for one in people)
    return people if certain else []


def people_rows(text: str, heading: str, document: str) -> Iterator[Row]:
    """Yield a row of a document for each list of people: below a line that calls its items people, or behind it.

    "## Present" above "* Ann Lee @alee (guest)" and "* Bo Karl" is a field "Present" with these people, and so is
    "Present: Ann Lee, Bo Karl".

    Args:
        text: a chunk's text.
        heading: the headings above the chunk, outermost first, separated by " > ".
        document: the document's name in the graph; without one there is nothing to state.
    """
    for match in _ON_A_LINE.finditer(text) if document else ():
        field = Cell(match["said"].strip(), _AND.sub(", ", " ".join(match["people"].split()).rstrip(".。")))
        people = read_people(field) if label_key(field.header) not in _MAIL else []
        if len(people) > 1 and all(_is_cased(one.name) for one in people):
            yield Row(match.start(), match.end(), (Cell(DOCUMENT, document), field))
    said, items, start = heading.rpartition(BETWEEN)[2], list[tuple[int, int, re.Match[str] | None]](), 0
    for line in (*text.split("\n"), _END):
        if ITEM_MARK.match(line):
            items.append((start, start + len(line), _LISTED.fullmatch(line)))
        elif line.strip():
            listed = [f"{item['name']} ({item['handle']})" if item["handle"] else item["name"]
                      for _, _, item in items if item and _is_cased(item["name"])]
            is_field = len(said.split()) <= _MOST_WORDS and not _PEOPLE.isdisjoint(label_key(said).split())
            if document and is_field and 1 < len(listed) == len(items):
                yield Row(items[0][0], items[-1][1], (Cell(DOCUMENT, document), Cell(said, LIST_MARK.join(listed))))
            said, items = line.strip(" #*:："), []
        start += len(line) + 1


def _is_cased(name: str) -> bool:
    """Return True if the words of a name have capitals, as far as their script has any; short ones need none."""
    first, *others = name.split()
    return not first[0].islower() and all(not word[0].islower() or len(word) <= _SHORT for word in others)


def _items(cell: Cell) -> list[str]:
    """Return the items of a list, or the whole value."""
    if label_key(cell.header) in _PROSE:
        return [cell.value]
    if _NUMBERS.fullmatch(cell.value):
        return [number.strip() for number in cell.value.split(",")]
    items = [item.strip() for item in cell.value.split(LIST_MARK) if item.strip()]
    return [cell.value] if any(len(item) > _LONGEST_ITEM for item in items) else items
