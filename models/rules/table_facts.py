"""Facts of table rows, which need no language model, regardless of the reasoner that reads the rest of a text.

The first cell of a row is an entity; every other cell describes it under its header. A header leads to another entity
if the schema has it as a relation (by name or cue) or as a type. Any other header is an attribute. Bounding maps labels
to the schema's, or turns them into proposals. Nothing is guessed from other rows, so a chunk's facts depend on the
chunk alone. Forms to fill in, layout and cells without a header state nothing. Rows that no column names, rows of which
neither their first column nor a heading says what they are, and the tables of PDFs are records alone (see
`ingest/source_tables.py`): they are facts of no entity.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from threading import Lock
from typing import NamedTuple

from cachetools import LRUCache, cached

from ...schemas.extraction import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction
from ...schemas.graph_schema import ROOT_TYPE, GraphSchema
from ...schemas.naming import label_key
from ...text.lexicon import WORDS, read_json, read_patterns, word_set
from ...text.quantities import kind_of
from ...text.scripts import has_han
from ...text.section_lines import lines_under, section_of
from ...text.table_rows import DOCUMENT, LONGEST_VALUE, Cell, Row, find_rows, states_something
from ...text.times import CELL_MARK, SECTION, read_time
from .metadata_facts import FIELDS_OF_PEOPLE, PDF_NAME, facts_of_metadata

_NOUNS: dict[str, str] = read_json("kinds.json")["nouns"]
"""The headers of columns and lists of things, by the type that schemas have for them."""
_TIME_HEADERS = WORDS["headers of times"]  # of columns that say when the rest of a row holds
_FORMS = {name: re.compile(form) for name, form in read_patterns("rules.toml")["table_facts"].items()}
_AMBIGUOUS_HEADERS = WORDS["ambiguous headers"]
"""Words that mean no type in a table, though the schema has them as cues: a record label, farmland."""
_UNAMBIGUOUS_NOUNS = {noun: kind for kind, nouns in _NOUNS.items() for noun in nouns.split(", ")}
_NUMBERING_HEADERS = word_set("no no. nr nr. # s.no 序号")
_SERIAL_HEADERS = WORDS["uncounted columns"]  # their cells are worth no fact: they only find or count something
_TITLE_HEADERS = word_set("title name 名称 标题")
_LONGEST_HEADER, _LONGEST_NAME, _LONGEST_TITLE = 8, 14, 30
"""The most words of a header, of a name, and of a name under a header such as "Title"; longer ones are sentences."""


def read_rows(text: str, title: str, heading: str, schema: GraphSchema, document: str = "") -> tuple[Extraction, str]:
    """Return the facts of the rows of a chunk, each with its row as evidence, and the text without these rows.

    The headers are compared with the schema's types and relations. `title` and `heading`, which stand above the chunk,
    may give the type of a column of names. `document` is the document's name in the graph.
    """
    rows = list(find_rows(text))
    is_pdf = PDF_NAME.search(document) is not None  # where a table begins and what its header is are guesses
    stating = [row for row in rows if row.cells[0].header == DOCUMENT or not (row.is_numbered or is_pdf)]
    found = facts_of_rows(stating, text, title, heading, schema, document=document)
    rest, begin = list[str](), 0
    for row in rows:
        rest.append(text[begin:row.start])
        for cell in row.cells[1:]:
            if len(cell.value) > LONGEST_VALUE:  # prose, which stays in the text for the reasoner to read
                # On a line with it, a header such as "Author" would be a field of the document.
                separator = "\n" if label_key(cell.header) in FIELDS_OF_PEOPLE else ": "
                rest.append(f"{cell.header}{separator}{cell.value}\n")
        begin = row.end
    return found, "".join([*rest, text[begin:]])


def facts_of_rows(rows: Sequence[Row], text: str, title: str, heading: str, schema: GraphSchema,
                  names: Callable[[str], bool] = bool, document: str = "") -> Extraction:
    """Return the facts of rows of a text; each row is the evidence of its facts.

    A cell becomes a relation if it names an entity under a header that leads to entities, and otherwise an attribute.
    A fact is qualified by the section of its row where that says what the row is about. The arguments are those of
    `read_rows`; `names` returns True if a cell's value can name an entity.
    """
    headers = _headers_of(schema)
    is_keyed = document.endswith(f": {title}")  # "RFC-20: Oslo Pumps"
    # A title is a short name of the document only if it is a part of its name in the graph.
    document_title = title if is_keyed or document.startswith(f"{title} (") else ""
    lines = {line.start: line for line in lines_under(text, heading)} if rows else {}
    found = Extraction()
    for useful in useful_rows(rows):
        subject, *cells = useful.cells
        if is_keyed and subject.value == title:  # a row that describes such a title describes the document
            subject = Cell(DOCUMENT, document)
        row = useful._replace(cells=(subject, *cells))
        line, evidence = lines[row.start], text[row.start:row.end]
        # Headings that are shown with the row anyway say nothing more about it.
        known_headings = {subject.value, title, document.rpartition(" (")[0], *(cell.header for cell in row.cells)}
        section = _section_qualifier(section_of(line, document_title, known_headings))
        if subject.header == DOCUMENT:
            # Fields under "Motion 3" are the document's, but only there: another motion may have the same.
            line_above = text[: row.start].rstrip().rpartition("\n")[2].strip()
            part = next(filter(_FORMS["numbered_part"].fullmatch, (line_above, *line.above[-1:])), "")
            found = found.combine(headers.of_document(row, evidence, section or _section_qualifier(part)))
            continue
        # A document's title says what its rows are only if no heading stands between: "Houses at St Ives" are none.
        above = [one for one in reversed(line.above) if one != title] or [title]
        row_type, is_known = headers.type_of_rows(subject.header, above)
        is_authored = not {"author", "authors"}.isdisjoint(label_key(cell.header) for cell in cells)
        # What has a title and an author is a document, and its "type" is one of documents, such as "article".
        if not is_known and label_key(subject.header) == "title" and is_authored:
            row_type, is_known = headers.type_of_rows(DOCUMENT, ())[0], True
            row = row._replace(cells=tuple(cell for cell in row.cells if label_key(cell.header) != "type"))
        # A header that is no type leaves open what the row is about; a block of fields has none, but names its subject.
        if is_known or not subject.header or not headers.last_resort:
            found = found.combine(headers.of_entity(row, row_type, evidence, section, names))
    return found


def _section_qualifier(section: str) -> str:
    """Return the qualifier of facts that are stated in a section ("section: ..."), or "" without a section."""
    return f"{SECTION[has_han(section)]}: {section}" if section else ""


def _time_of(row: Row, section: str) -> str:
    """Return when the facts of a row hold, in the words of its columns of times, and in which section."""
    time_cells = [cell for cell in row.cells[1:] if label_key(cell.header) in _TIME_HEADERS]
    words = CELL_MARK.join(f"{cell.header}: {cell.value}" for cell in time_cells)
    if len(time_cells) == 1 and not _FORMS["bound_header"].search(time_cells[0].header):
        words = time_cells[0].value
    time = read_time(words)
    says_when = time is not None and time.kind != "with"
    return "; ".join(filter(None, [words if says_when else "", section]))


class _Column(NamedTuple):
    """A column of entities.

    `label` is the relation between the row and the entities; with `backward` it leads from them to the row. `type` is
    their type, or "" if it is not known.
    """

    label: str
    backward: bool
    type: str


class _SchemaHeaders:
    """What the headers of tables mean in a schema: types and relations."""

    def __init__(self, schema: GraphSchema) -> None:
        self._schema = schema
        # The type of each header. Later entries win: cues, then unambiguous nouns, then the types' own names.
        types = list(reversed(schema.entity_types))  # the first of equal ones in the schema counts
        self._types = {label_key(cue): t.name for t in types for cue in t.rules.all_cues()}
        self._types |= {noun: self._types[kind] for noun, kind in _UNAMBIGUOUS_NOUNS.items() if kind in self._types}
        for word in _AMBIGUOUS_HEADERS:
            self._types.pop(word, None)
        self._types |= {label_key(name): t.name for t in types for name in t.all_names()}
        # The noun "employee" gives the type of people where the schema calls it otherwise.
        self.person = self._types.get("person", self._types.get("employee", ""))
        self.last_resort = next((t.name for t in schema.entity_types if t.last_resort or t.name == ROOT_TYPE), "")
        # The relation of each header, and whether it is read from tail to head. A relation's own names win over cues.
        self._relations: dict[str, tuple[str, bool]] = {}
        for relation in reversed(schema.relation_types):
            for cue in map(label_key, relation.rules.all_cues()):
                words = cue.removeprefix("<")  # a mark of cues that are read from tail to head
                possessive = _FORMS["possessive_cue"].match(words)  # "X's author"
                has_of = not possessive and words.endswith(" of") and words != " of"  # "author of"
                if possessive or has_of or words.endswith((" by", " in", " at", "于")):
                    header = possessive[1] if possessive else words.removesuffix(" of")
                    # "Y is the author of X": under the header "Author" the relation leads from the cell to the row.
                    is_backward = cue.startswith("<") != has_of
                    self._relations[header] = relation.name, is_backward
        for relation in reversed(schema.relation_types):
            self._relations |= {label_key(name): (relation.name, False) for name in relation.all_names()}

    def of_document(self, row: Row, evidence: str, section: str) -> Extraction:
        """Return the facts of a row that describes its document; `section` qualifies them, or is ""."""
        def relation_of(header: str) -> str:
            """Return the schema's relation for a field's name, or the name itself if it has none for documents."""
            label, backward = self._relations.get(label_key(header), (header, False))
            return header if backward else label  # the document does not "work for" its editor

        facts = facts_of_metadata(row, self.type_of_rows(DOCUMENT, ())[0], self.person, evidence,
                                  _time_of(row, section), relation_of)
        return reduce(Extraction.combine, facts, Extraction())

    def of_entity(self, row: Row, row_type: str, evidence: str, section: str,
                  names: Callable[[str], bool]) -> Extraction:
        """Return the facts of a row whose subject has a type; `section` qualifies them, or is ""."""
        name, time = row.cells[0].value, _time_of(row, section)
        entities, triples, attributes = {(name, row_type): None}, list[ExtractedTriple](), list[ExtractedAttribute]()
        for cell in row.cells[1:]:
            key = label_key(cell.header)
            is_serial = key in _SERIAL_HEADERS or (cell.value.isdigit() and f" {key}".endswith(" id"))
            says_nothing = is_serial or not states_something(cell.value)
            if says_nothing or len(cell.value) > LONGEST_VALUE or cell.value == name:
                continue
            # Of a block of fields, each is stated by its own line, or by a sentence with the same words.
            stated = f"{cell.header}: {cell.value}" if "\n" in evidence else evidence
            may_be_name = kind_of(cell.value) == "text" and not _FORMS["not_a_name"].search(cell.value)
            relation = self.relation(cell.header, row_type) if may_be_name and names(cell.value) else None
            if relation is None:
                # A date is not qualified by itself.
                when = section if key in _TIME_HEADERS else time
                attributes.append(ExtractedAttribute(entity=name, attribute=cell.header, value=cell.value,
                                                     evidence=stated, time=when))
                continue
            for item in _FORMS["listed"].split(cell.value):
                entities[item, relation.type] = None
                head, tail = (item, name) if relation.backward else (name, item)
                triples.append(ExtractedTriple(head=head, relation=relation.label, tail=tail, evidence=stated,
                                               time=time))
        return Extraction(entities=tuple(ExtractedEntity(name=one, type=kind) for one, kind in entities),
                          triples=tuple(triples), attributes=tuple(attributes))

    def type_of_rows(self, header: str, above: Sequence[str]) -> tuple[str, bool]:
        """Return the type of the rows' subjects, and whether a header or heading gives it, not the last resort."""
        # A heading names the things below it in the plural: the rows below "Specification" are no documents. Other
        # scripts, such as Chinese, show no plural.
        plurals = [] if header == DOCUMENT else [words for words in above if words.endswith("s") or not words.isascii()]
        of_people = self.person if any(label_key(words) in FIELDS_OF_PEOPLE for words in plurals) else ""
        known = next(filter(None, map(self._type_of_header, [header, *plurals])), of_people)
        default = header if self._schema.open else self.last_resort or header
        return known or default, bool(known) and known != default  # the most general type says nothing

    def relation(self, header: str, row_type: str) -> _Column | None:
        """Return the column of entities that a header means, or None if its cells are values."""
        label, backward = self._relations.get(label_key(header), ("", False))
        if label:
            # Read backwards, the row is the relation's tail, so its type has to be one that the tail may have.
            relation = self._schema.relation_type(label) if backward else None
            is_fitting = relation is None or row_type in relation.range
            return _Column(label, backward=backward, type="") if is_fitting else None
        type_name = self._type_of_header(header)
        return _Column(header, backward=False, type=type_name) if type_name else None

    def _type_of_header(self, words: str) -> str:
        """Return the type that a header or heading as a whole, or the noun at its end, refers to, or ""."""
        phrase = label_key(words)
        for ending in (" name", " title", "名称", "姓名"):  # "Customer Name" is a column of customers
            if phrase.endswith(ending) and phrase != ending:
                phrase = phrase.removesuffix(ending).strip()
                break
        for noun in (phrase, phrase.rpartition(" ")[2]):
            for form in (noun, noun.removesuffix("s"), re.sub("ies$", "y", noun)):
                if form in self._types:
                    return self._types[form]
        return ""


def document_type(schema: GraphSchema) -> str:
    """Return the type of documents in a schema."""
    return _headers_of(schema).type_of_rows(DOCUMENT, ())[0]


# Schemas are not hashable. An entry holds its schema, so the id means the same schema for as long as it is cached.
_headers_of = cached(LRUCache(maxsize=4), key=id, lock=Lock())(_SchemaHeaders)


def useful_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the rows that state something of a subject, without the cells that state nothing."""
    for row in rows:
        if row.cells[0].header == DOCUMENT:  # fields of a document: no merged cells
            yield row
            continue
        cells = list(_stating_cells(row))
        if len(cells) < 2:  # noqa: PLR2004 - a subject alone, of which nothing is stated
            continue
        header, value = cells[0]
        # What is too long, a sentence or a placeholder names nothing that the other cells could describe.
        is_title = not _TITLE_HEADERS.isdisjoint(header.lower().split())  # "Can machines think?" is one
        is_too_long = len(value.split()) > (_LONGEST_TITLE if is_title else _LONGEST_NAME)
        is_sentence = not is_title and _FORMS["no_name"].search(value)
        is_nameless = _FORMS["placeholder"].fullmatch(value) or "___" in value or _FORMS["nameless"].fullmatch(value)
        if is_too_long or is_sentence or is_nameless:
            continue
        if _FORMS["bare"].fullmatch(value):
            cells[0] = Cell(header, f"{header}: {value}")
        yield row._replace(cells=tuple(cells))


def _stating_cells(row: Row) -> Iterator[Cell]:
    """Yield the cells that have a header and state something, with their values without markup."""
    for column, cell in enumerate(row.cells):
        value = _FORMS["markup"].sub("", cell.value).strip()
        # A first column without a header often has the names of the rows, unless they are only counted.
        lacks_header = _FORMS["default_header"].match(cell.header) is not None and (column > 0 or value.isdigit())
        counts_rows = cell.header.lower() in _NUMBERING_HEADERS and value.isdigit()
        is_prose_header = len(cell.header.split()) > _LONGEST_HEADER
        if value and not (lacks_header or counts_rows or is_prose_header):
            yield cell._replace(value=value)

