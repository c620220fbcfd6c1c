"""Rows of fields in a text ("Capacity: 40 people"), and facts of a document's own row: its metadata.

The row's subject is the document. A list has "; " between its items, or is of whole numbers ("1559, 2718"); people are
told by what follows their names, a handle or an address, or by the field's name.

Neighbouring lines "key: value" are a row whose first cell is the name in the heading or title above them, where
general headings ("Contact", "Overview") do not count. At least three fields that no name stands above, as at the
beginning of a form, are those of the document; so are two with numbers, dates or ratings.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from ...ingest.field_sections import read_blocks
from ...schemas.extraction import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction
from ...schemas.naming import label_key
from ...text.dates import parse_date
from ...text.lexicon import WORDS, read_patterns, word_set
from ...text.quantities import kind_of
from ...text.scripts import CJK
from ...text.section_lines import BETWEEN, is_telling, is_unfilled, lines_under
from ...text.section_lines import LIST_MARK as ITEM_MARK
from ...text.table_rows import DOCUMENT, LIST_MARK, Cell, Row, states_something
from .recognition.name_kinds import infer_type, split_people

ALIAS = "alias"
PDF_NAME = re.compile(r"\.pdf\)?\Z", re.IGNORECASE)  # the end of a PDF's name in the graph: "A Paper (paper.pdf)"
_LONGEST_VALUE = 1000  # characters of a field; a longer one is text
_LONGEST_ITEM = 60  # characters of an item of a list; what is longer is prose with a semicolon in it
_MOST_WORDS = 5  # the most words of a person's name, and of what is said above a list of people
_LONGEST_PARTICLE = 3  # letters of a word within a name that may be in lower case: "van", "de"
_PROSE_FIELDS = WORDS["fields of prose"]  # they are sentences: their commas and semicolons separate nothing
FIELDS_OF_PEOPLE = WORDS["fields of people"]  # words of fields that are people, and of what stands above their lists
_LAYOUT_FIELDS = WORDS["layout fields"]  # fields that tell a program how to show the document
_SETTINGS = {("editor", "markdown"), ("editor", "code"), ("published", "true")}
"""What a wiki writes above each page: which of its editors opens the page, which is no person, and that it is shown."""
_FILE_PROPERTIES = word_set("author created modified")
"""Fields that a program fills in: often with an account instead of a name, or the date of the template."""
_FORMS = {name: re.compile(form) for name, form in read_patterns("rules.toml")["metadata_facts"].items()}
_letters = partial(_FORMS["non_letters"].sub, "")
_LISTED_PERSON = re.compile(
    rf"{ITEM_MARK.pattern}[*\[]*(?:[A-Z]{{2,5}}:[ \t])?"
    rf"(?P<name>[^\W\d_][\w.'’-]*(?: [‘'\"“]?[^\W\d_][\w.'’\"”-]*){{1,4}}|[{CJK}]{{2,4}})\**"
    r"(?:[ \t]+\[?\(?(?P<handle>@[\w.-]{1,60}))?(?:\W|\Z)[^\n]{0,120}")
"""An item of a list: a name of two to five words, with its initials or a handle if they are there, then details."""
_MAIL_FIELDS = word_set("from to cc 发件人 收件人 抄送")
_LINE_AFTER_TEXT = "."  # ends a list at the end of the text
_NOT_KEYS = WORDS["no keys of fields"]
_MOST_KEY_WORDS = 4  # a longer key is the beginning of a sentence
_MOST_WORDS_OF_ENTRY = 6  # what is longer, in most fields of a block, are notes of a discussion
_FEWEST_VALUES, _FEWEST_FIELDS = 2, 3
"""The fewest fields of a form: two of numbers, dates and ratings alone, or three of any kind; fewer may be chance."""
_LONGEST_FIELD = 100  # characters of an item; a longer one is prose behind a colon


class _ListItem(NamedTuple):
    """A line of a list, and the match of `_LISTED_PERSON` if it names a person."""

    start: int
    end: int
    person: re.Match[str] | None


class _Person(NamedTuple):
    """A person's name, and the handles and addresses beside it."""

    name: str
    contacts: tuple[str, ...]


def facts_of_metadata(row: Row, own_type: str, person: str, evidence: str, time: str,
                      relation: Callable[[str], str]) -> Iterator[Extraction]:
    """Yield the facts of a document's row, for each field its people or its values, and the document if it has any.

    `own_type` is the type of documents, and `person` that of people; if it is "", people are values. `time` says when
    the facts hold, in the words of the field for the date. `relation` returns the relation for a field's name.
    """
    document = row.cells[0].value
    key, _, title = document.partition(": ")  # "EIP-1559: Fee market" has two aliases
    is_keyed = title and " " not in key and any(map(str.isdigit, key))
    aliases = (key, title) if is_keyed and document in evidence else ()  # each fact is in its evidence
    telling = [cell for cell in row.cells[1:] if not _is_uninformative(cell, document)]
    if telling or aliases:  # a document of which nothing is stated is a file, and no entity
        yield Extraction(entities=(ExtractedEntity(name=document, type=own_type),), attributes=tuple(
            ExtractedAttribute(entity=document, attribute=ALIAS, value=alias, evidence=evidence) for alias in aliases))
    for cell in telling:
        people = read_people(cell) if person else []
        for name, contacts in people:
            yield Extraction(
                entities=(ExtractedEntity(name=name, type=person),),
                triples=(ExtractedTriple(head=document, relation=relation(cell.header), tail=name, evidence=evidence,
                                         time=time),),
                attributes=tuple(ExtractedAttribute(entity=name, attribute=ALIAS, value=contact, evidence=evidence)
                                 for contact in contacts if contact != name))
        if not people:
            time_of_field = "" if cell.value in time else time  # the date of the document is no date of itself
            yield Extraction(attributes=tuple(
                ExtractedAttribute(entity=document, attribute=cell.header, value=item, evidence=evidence,
                                   time=time_of_field) for item in _items_of(cell)))


def is_setting(field: str, value: str) -> bool:
    """Return True for a field that tells a program how to show the document, or numbers another field."""
    label = label_key(field)
    # "affiliation: 1" is the first of the affiliations.
    numbers_affiliation = "affiliation" in label and not any(map(str.isalpha, value.rpartition(":")[2]))
    return numbers_affiliation or label in _LAYOUT_FIELDS or (label, value.casefold()) in _SETTINGS


def _items_of(cell: Cell) -> list[str]:
    """Return the values of a field: the items of a list, or the field as a whole if it is prose."""
    separator = "," if _FORMS["numbers"].fullmatch(cell.value) else LIST_MARK  # a comma may be within any other value
    parts = cell.value.split(separator)
    items = [part.strip() for part in parts if part.strip()]
    is_prose = label_key(cell.header) in _PROSE_FIELDS or any(len(item) > _LONGEST_ITEM for item in items)
    return [cell.value] if is_prose else items


def _is_uninformative(cell: Cell, document: str) -> bool:
    """Return True for a field of no interest: layout, a repeated title, an id made of it, a property, long text."""
    key = label_key(cell.header).replace(" ", "_")
    repeats_title = key in {"title", "标题"} and document.startswith(cell.value)
    is_in_name = _letters(cell.value.casefold()) in _letters(document.casefold())
    repeats_date = is_in_name and bool(parse_date(cell.value))
    is_page_id = key == "id" and _FORMS["slug"].fullmatch(cell.value) is not None
    is_full_name = key == "author" and " " in cell.value
    is_of_program = key in _FILE_PROPERTIES and not is_full_name
    is_file_property = is_of_program and _FORMS["office_file"].search(document) is not None
    return (is_setting(cell.header, cell.value) or repeats_title or repeats_date or is_page_id or is_file_property
            or len(cell.value) > _LONGEST_VALUE)


def read_people(cell: Cell) -> list[_Person]:
    """Return the people of a field, or an empty list unless all its items are certainly people.

    An item is a person if it has a handle or an address, or if the field's name is one of people and the item looks
    like a name. A contact without a name serves as the name. A body among the people is left out.
    """
    people = list[_Person]()
    listed = _FORMS["people_separator"].split(_FORMS["et_al"].sub("", cell.value))
    for part in chain.from_iterable(map(split_people, listed)):
        contacts = tuple(next(filter(None, groups)) for groups in _FORMS["contact"].findall(part))
        name = _FORMS["contact"].sub("", part).strip(" \t\"'*†\\") or next(iter(contacts), "")
        if name and not is_unfilled(name) and infer_type(name) in {"", "Person"}:
            people.append(_Person(name, contacts))
    is_field_of_people = not FIELDS_OF_PEOPLE.isdisjoint(label_key(cell.header).split())
    are_known = all(one.contacts or (is_field_of_people and _FORMS["person"].fullmatch(one.name)) for one in people)
    are_short = all(len(one.name.split()) <= _MOST_WORDS for one in people)
    return people if are_known and are_short else []


def people_rows(text: str, heading: str, document: str) -> Iterator[Row]:
    """Yield a row of a document for each list of people whose label says so, such as "Present" or "Authors".

    The list stands behind its label on one line ("Present: Ann Lee, Bo Karl"), or below it ("## Present" above
    "* Ann Lee @alee (guest)" and "* Bo Karl"). Both give a field "Present" with these people. `heading` has the
    headings above the text, outermost first; without a `document` there is nothing to state.
    """
    if not document:
        return
    for match in _FORMS["people_on_a_line"].finditer(text):
        listed = _FORMS["absent_person"].sub("", " ".join(match["people"].split()))
        field = Cell(match["label"].strip(), _FORMS["and"].sub(", ", listed.rstrip(".。*")))
        # A mail's own sender and receivers are read from its head; these may be of a mail that it quotes.
        people = read_people(field) if label_key(field.header) not in _MAIL_FIELDS else []
        # One name alone may be anything behind a colon.
        if len(people) > 1 and all(_has_capitals(one.name) for one in people):
            yield Row(match.start(), match.end(), (Cell(DOCUMENT, document), field))
    for label, listed_items in lists_of_people(text, heading):
        # "Kari Jordan (not present)" may stand among those present.
        items = [item for item in listed_items
                 if _FORMS["absent"].search(label) or not _FORMS["absent"].search(text, item.start, item.end)]
        persons = [item.person for item in items if item.person and _has_capitals(item.person["name"])]
        names = [f"{one['name']} ({one['handle']})" if one["handle"] else one["name"] for one in persons]
        if 1 < len(names) >= len(items) - 1:  # one odd line is left out: "rudd (@rudderman)"
            yield Row(items[0].start, items[-1].end, (Cell(DOCUMENT, document), Cell(label, LIST_MARK.join(names))))


def lists_of_people(text: str, heading: str) -> Iterator[tuple[str, list[_ListItem]]]:
    """Yield each list whose label is that of people: the label and the items."""
    # A list ends at the next line that is no item; `label` is the last line before it.
    label, items, start = heading.rpartition(BETWEEN)[2], list[_ListItem](), 0
    for line in (*text.split("\n"), _LINE_AFTER_TEXT):
        if ITEM_MARK.match(line):
            items.append(_ListItem(start, start + len(line), _LISTED_PERSON.fullmatch(line)))
        elif line.strip():
            is_field = len(label.split()) <= _MOST_WORDS and not FIELDS_OF_PEOPLE.isdisjoint(label_key(label).split())
            if is_field and items:
                yield label, items
            label, items = line.strip(" #*:："), []
        start += len(line) + 1


def _has_capitals(name: str) -> bool:
    """Return False if a word of a name begins in lower case; short words after the first may ("van", "de")."""
    first, *others = name.split()
    return not first[0].islower() and all(not word[0].islower() or len(word) <= _LONGEST_PARTICLE for word in others)


def field_rows(text: str, title: str, heading: str, names: Callable[[str], bool], document: str) -> Iterator[Row]:
    """Yield the fields of a chunk's text ("Capacity: 40 people") as rows of what they describe.

    `title` is the subject in the document's title, and `names` returns True if a heading is a name. If a key and the
    title name the `document` ("RFC-20: Oslo Pumps"), fields under the title describe the document.
    """
    if PDF_NAME.search(document):  # there "Table 2: ..." is a caption, and "Qa: ..." a part of a formula
        return
    subject = document if document.endswith(f": {title}") else title
    blocks = [*read_blocks(lines_under(text, heading, subject))]
    counts = Counter(name.casefold() for block in blocks for name in block.names.values())
    for block in blocks:
        values = {name: block.value(key) for key, name in block.names.items()}
        # "EIP-20: Token" is no field, but a thing in a list.
        fields = [Cell(name, value.rstrip(".。;；*")) for name, value in values.items()
                  if _is_field(name, value) and not _FORMS["item_number"].match(name)]
        # The innermost heading that is a name; one of general words ("Overview") names no subject.
        owner = next((name for name in reversed(block.above) if is_telling(name)
                      and names(title if name == subject else name)), "")
        if not owner and _is_form(fields):
            owner = document
        if owner == document:  # one of two presidents may be the previous one
            fields = [field for field in fields if counts[field.header.casefold()] == 1]
        if not owner or not fields:
            continue
        if owner != document:  # lists in a document's own fields are taken apart later, by `facts_of_metadata`
            fields = [Cell(field.header, item) for field in fields for item in field.value.split(LIST_MARK)]
        yield Row(block.start, block.end, (Cell(DOCUMENT if owner == document else "", owner), *fields))


def _is_form(fields: Sequence[Cell]) -> bool:
    """Return True for enough fields with distinct keys, at most half of them links or sentences, to be a form."""
    has_no_text = all(kind_of(one.value) != "text" or not any(map(str.isalnum, one.value)) for one in fields)
    fewest = _FEWEST_VALUES if has_no_text else _FEWEST_FIELDS
    sentence_count = sum(len(one.value.split()) > _MOST_WORDS_OF_ENTRY for one in fields)
    link_count = sum(_FORMS["link"].match(one.value) is not None for one in fields)
    has_few_others = 2 * link_count <= len(fields) and 2 * sentence_count <= len(fields)
    return len(fields) >= fewest and has_few_others


def _is_field(key: str, value: str) -> bool:
    """Return True for a field that states something: no prose, address, date as a key, or key such as "Note"."""
    key_words = [word for word in key.lower().split() if any(map(str.isalnum, word))]
    has_sentences = ". " in value or "。" in value.rstrip("。")
    is_prose = has_sentences or any(len(item) > _LONGEST_FIELD for item in value.split(LIST_MARK))
    has_no_value = value.casefold().rstrip(" .") in WORDS["cells without a value"] or is_unfilled(value, key)
    is_address_or_unknown = value.startswith(("//", "??"))  # "https: //example.org"
    is_code = value.endswith((",", "{", "(")) or "->" in value or key.count("(") != key.count(")")
    says_nothing = is_code or is_address_or_unknown or has_no_value
    if is_prose or says_nothing or not states_something(value):
        return False
    return len(key_words) <= _MOST_KEY_WORDS and _NOT_KEYS.isdisjoint(key_words[:1]) and not parse_date(key)
