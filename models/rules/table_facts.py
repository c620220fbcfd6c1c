"""Facts of table rows, which need no language model, regardless of the reasoner that reads the rest of a text.

The first cell of a row is an entity; every other cell describes it under its header. A header leads to another entity
if the schema has it as a relation (by name or cue) or as a type. Any other header is an attribute. Bounding maps labels
to the schema's, or turns them into proposals. Nothing is guessed from other rows, so a chunk's facts depend on the
chunk alone.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from threading import Lock
from typing import NamedTuple

from cachetools import LRUCache, cached

from ...schemas.extraction import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction
from ...schemas.graph_schema import ROOT_TYPE, GraphSchema
from ...schemas.naming import label_key
from ...text.lexicon import words
from ...text.quantities import kind_of
from ...text.scripts import has_han
from ...text.section_lines import lines_under, section_of
from ...text.table_rows import DOCUMENT, Cell, Row, find_rows, states_something
from ...text.times import CELL_MARK, SECTION, read_time, split_qualifiers
from .metadata_facts import facts_of_metadata
from .useful_rows import useful_rows

_LONGEST_VALUE = 200
"""The longest cell that is a value; a longer one is prose for the reasoner."""
_NOUNS = {
    "person": "employee staff customer contact member attendee participant speaker author owner 员工 姓名 人员 客户",
    "organization": "supplier vendor client partner manufacturer employer publisher 供应商 客户单位 制造商 厂家",
    "product": "model item sku article part good 型号 商品 货号",
    "work": "document",
    "location": "plant office warehouse branch store 城市 地址 工厂",
}
"""The headers of columns and lists of things, by the type that schemas have for them."""
_NAMING = (" name", " title", "名称", "姓名")
"""The endings that a header adds to the noun for its cells."""
_TIMES = frozenset(label_key(header) for header in (
    "year", "fiscal year", "financial year", "quarter", "month", "date", "period", "as of", "since", "from",
    "valid from", "until", "valid until",
    "年", "年份", "年度", "财年", "季度", "月份", "日期", "期间", "截至", "有效期至"))
"""The headers of columns that say when the rest of a row holds."""
_ENDS = re.compile(r"since|from|until|至$", re.IGNORECASE)
"""Headers without which the cell would say another time."""
_NO_NAME = re.compile(r"[,?:]\s?\S|[?:]$|://")
"""Lists, prompts and addresses."""
_LISTED = "、"
_NO_THINGS = words("network label labels item items notes note order host term head status series part arm unit method")
"""Headers that mean a thing only elsewhere: a record label, a religious order, an arm of the army."""
_UNAMBIGUOUS_NOUNS = {noun: kind for kind, nouns in _NOUNS.items() for noun in nouns.split()}


def read_rows(text: str, title: str, heading: str, schema: GraphSchema, document: str = "") -> tuple[Extraction, str]:
    """Return the facts of the rows of a chunk.

    Args:
        text: the chunk's text.
        title: the document's title; with `heading` it may give the type of a column of names.
        heading: the headings above the chunk, outermost first.
        schema: the schema whose types and relations are compared with headers.
        document: the document's name in the graph.

    Returns:
        The facts, each with its row as evidence, and the text without the rows that were read.
    """
    rows = list(find_rows(text))
    found = facts_of_rows(rows, text, title, heading, schema, document=document)
    rest, begin = list[str](), 0
    for row in rows:
        long = (f"{cell.header}: {cell.value}\n" for cell in row.cells[1:] if len(cell.value) > _LONGEST_VALUE)
        rest += [text[begin:row.start], *long]
        begin = row.end
    return found, "".join([*rest, text[begin:]])


def facts_of_rows(rows: Sequence[Row], text: str, title: str, heading: str, schema: GraphSchema,
                  names: Callable[[str], bool] = bool, document: str = "") -> Extraction:
    """Return the facts of rows of a text; each row is the evidence of its facts.

    A fact holds with the section that its row stands in, as far as that says of what the row is. The arguments are
    those of `read_rows`; `names` returns True if a cell's value can name an entity.
    """
    if not rows:
        return Extraction()
    words = _words_of(schema)
    entities: dict[tuple[str, str], None] = {}
    triples: list[ExtractedTriple] = []
    attributes: list[ExtractedAttribute] = []
    rows = [_of_document(row, title, document) for row in useful_rows(rows)]
    own, telling = Extraction(), _telling_columns(rows)
    label = _label_of(document, title)
    lines = {line.start: line for line in lines_under(text, heading)}
    for row in rows:
        name, evidence, line = row.cells[0].value, text[row.start:row.end], lines[row.start]
        section = _marked(section_of(line, label, {name, title, *(cell.header for cell in row.cells)}))
        if row.cells[0].header == DOCUMENT:
            own = own.combine(words.of_document(row, evidence, section))
            continue
        kind, is_told = words.type_of_rows(row.cells[0].header, (*reversed(line.above), title))
        section = section or _marked("" if is_told else label)
        time = "; ".join(filter(None, [_time_of(row), section]))
        entities[name, kind] = None
        for header, value in row.cells[1:]:
            if len(value) > _LONGEST_VALUE or not states_something(value):
                continue
            leads = kind_of(value) == "text" and value != name and not _NO_NAME.search(value) and names(value)
            relation = words.relation(header, kind) if leads else None
            if relation is None:
                condition = "; ".join(filter(None, [section, _on_the_day(row)])) if _is_time(header) else _condition(
                    row, header, time, telling.get(row.cells[0], ""))
                attributes.append(ExtractedAttribute(entity=name, attribute=header, value=value, evidence=evidence,
                                                     time=condition))
                continue
            for one in value.split(_LISTED):
                if relation.type == "" or not one[:1].islower():
                    entities[one, relation.type] = None
                ends = (one, name) if relation.backward else (name, one)
                triples.append(ExtractedTriple(head=ends[0], relation=relation.label, tail=ends[1], evidence=evidence,
                                               time=time))
    return own.combine(Extraction(entities=tuple(ExtractedEntity(name=name, type=kind) for name, kind in entities),
                                  triples=tuple(triples), attributes=tuple(attributes)))


def _of_document(row: Row, title: str, document: str) -> Row:
    """Return a row that describes its document, where the document's title is its subject and follows its key."""
    is_titled = row.cells[0].value == title and document.endswith(f": {title}")
    return row._replace(cells=(Cell(DOCUMENT, document), *row.cells[1:])) if is_titled else row


def _marked(section: str) -> str:
    """Return the qualifier of what is stated in a section."""
    return f"{SECTION[has_han(section)]}: {section}" if section else ""


def _label_of(document: str, title: str) -> str:
    """Return the title that a document is called by; "" of one without."""
    return title if document.endswith(f": {title}") or document.startswith(f"{title} (") else ""


def _telling_columns(rows: Iterable[Row]) -> dict[Cell, str]:
    """Return the column that tells the rows of one subject apart, by the cell that names it; the first that does.

    A value of a row is then one of its subject only with what this column says: "gas: 2140" of "SLOAD" with
    "type: cold".
    """
    by_subject: dict[Cell, list[dict[str, str]]] = {}
    for row in rows:
        by_subject.setdefault(row.cells[0], []).append({cell.header: cell.value for cell in row.cells[1:]})
    return {subject: next((header for header in same[0] if len({values.get(header) for values in same}) == len(same)),
                          "") for subject, same in by_subject.items() if len(same) > 1}


def _condition(row: Row, header: str, time: str, telling: str) -> str:
    """Return when and with what a value of a row holds: its time, and another column that tells the row."""
    beside = (f"{cell.header}: {cell.value}" for cell in row.cells[1:] if cell.header == telling != header)
    return "; ".join(filter(None, [time, *(one for one in beside if split_qualifiers(one)[1])]))


def _on_the_day(row: Row) -> str:
    """Return what a row says of its time ("Shift: night"), if it is one thing in words; else ""."""
    others = [cell for cell in row.cells[1:] if not _is_time(cell.header)]
    said = f"{others[0].header}: {others[0].value}" if len(others) == 1 and kind_of(others[0].value) == "text" else ""
    return said if split_qualifiers(said)[1] else ""


def _time_of(row: Row) -> str:
    """Return when the facts of a row hold: what its column of times says, or its two columns of a beginning and an end.

    Empty where there is none, more than these, or no time in them.
    """
    found = [cell for cell in row.cells[1:] if _is_time(cell.header)]
    bare = len(found) == 1 and not _ENDS.search(found[0].header)
    said = found[0].value if bare else CELL_MARK.join(f"{cell.header}: {cell.value}" for cell in found)
    time = read_time(said)
    return said if time and time.kind != "with" else ""


def _is_time(header: str) -> bool:
    """Return True if a column of this header says when the other cells of a row hold."""
    return label_key(header) in _TIMES


class _Column(NamedTuple):
    """A column of entities: the relation to them, whether it leads to the row, and their type ("" if open)."""

    label: str
    backward: bool
    type: str


class _Words:
    """The types and relations of a schema by the headers of tables."""

    def __init__(self, schema: GraphSchema) -> None:
        self._schema = schema
        # The type of each header. Later entries win: cues, then unambiguous nouns, then the types' own names.
        types = list(reversed(schema.entity_types))  # the first of equal ones in the schema counts
        self._types = {label_key(cue): t.name for t in types for cue in t.rules.all_cues()}
        self._types |= {noun: self._types[kind] for noun, kind in _UNAMBIGUOUS_NOUNS.items() if kind in self._types}
        self._types |= {label_key(name): t.name for t in types for name in t.all_names()}
        self._types.pop("field", None)  # in a table a field is one of a form or a message, not farmland
        self.person = self._types.get("person", self._types.get("employee", ""))
        self.last_resort = next((t.name for t in schema.entity_types if t.last_resort or t.name == ROOT_TYPE), "")
        # The relation of each header, and whether it is read from tail to head.
        self._relations: dict[str, tuple[str, bool]] = {}
        for relation in reversed(schema.relation_types):
            for cue in relation.rules.all_cues():
                self._relations |= _header_of(label_key(cue), relation.name)
        self._relations |= {label_key(name): (r.name, False) for r in reversed(schema.relation_types)
                            for name in r.all_names()}

    def of_document(self, row: Row, evidence: str, section: str) -> Extraction:
        """Return the facts of a document's own row, or of one in a section that describes it."""
        time = "; ".join(filter(None, [_time_of(row), section]))
        found = facts_of_metadata(row, self.type_of_rows(DOCUMENT, ())[0], self.person, evidence, time,
                                  lambda header: self._relations.get(label_key(header), (header, False))[0])
        return reduce(Extraction.combine, found, Extraction())

    def type_of_rows(self, header: str, above: Sequence[str]) -> tuple[str, bool]:
        """Return the type of a column's entities, and whether it is told.

        It is told by its header, else by the headings above; else it is the last resort.
        """
        # A heading names the things below it in the plural: the rows below "Specification" are no documents.
        plural = [] if header == DOCUMENT else [words for words in above if words.endswith("s") or not words.isascii()]
        own = [] if label_key(header).split(" ", 1)[0] in _NO_THINGS else [header]
        known = next(filter(None, map(self._type, (*own, *plural))), "")
        resort = header if self._schema.open else self.last_resort or header
        return known or resort, bool(known) and known != resort

    def relation(self, header: str, row_type: str) -> _Column | None:
        """Return the relation to a cell that names another entity; None if the cell is a value.

        A header that leads to the row ("Capital" in a row of France) does so only if the relation ends at the row's
        type: the "Director" of a play does not work for it, and the "Department" of a person is no part of her.
        """
        label, backward = self._relations.get(label_key(header), ("", False))
        known = self._schema.relation_type(label) if backward else None
        if label and (known is None or row_type in known.range):
            return _Column(label, backward=backward, type="")
        if label:
            return None
        # A column of articles within a row is a code or kind of the row's subject.
        plain = label_key(header).rpartition(" ")[2]
        type_name = "" if label_key(header) in _NOUNS["product"].split() or plain in _NO_THINGS else self._type(header)
        return _Column(header, backward=False, type=type_name) if type_name else None

    def _type(self, words: str) -> str:
        """Return the type that the noun at the end of a text refers to, or ""."""
        key = label_key(words)
        key = next((key.removesuffix(end).strip() for end in _NAMING if key.endswith(end) and key != end), key)
        forms = (form for noun in (key, key.rpartition(" ")[2])
                 for form in (noun, noun.removesuffix("s"), f"{noun.removesuffix('ies')}y"))
        return next((self._types[form] for form in forms if form in self._types), "")


# Schemas are not hashable. An entry holds its schema, so the id means the same schema for as long as it is cached.
@cached(LRUCache(maxsize=4), key=id, lock=Lock())
def _words_of(schema: GraphSchema) -> _Words:
    return _Words(schema)


def _header_of(cue: str, relation: str) -> dict[str, tuple[str, bool]]:
    """Return the header for a cue, read as "its ... is", with its relation and whether that leads to the row."""
    backward, cue = cue.startswith("<"), cue.removeprefix("<")
    for start, end in (("'s ", ""), ("的", ""), ("", " of")):
        if len(cue) > len(start + end) and start + end and cue.startswith(start) and cue.endswith(end):
            # "the author of X is Y": the relation leads from X, though the words lead from Y.
            return {cue.removeprefix(start).removesuffix(end): (relation, backward != bool(end))}
    return {cue: (relation, backward)} if cue.endswith((" by", " in", " at", "于")) else {}
