"""The rows of an extraction's reply, and how they become the extraction of each chunk that was read.

Rows are `[type, name, ...]`, `[line, head, relation, tail, ...]` and `[line, owner, attribute, value, ...]`: a row
cites the line that states it by its number, and after the number says when and with what it holds. An empty one of its
first three cells repeats the cell above it. They cost less than half the tokens of rows that copy words, and models
write them well; every cell is a string, so strict JSON-schema decoding (which knows no tuples) can still enforce them.
A row without a line's number goes to the chunk that has its names.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ...prompts.schema_text import type_letters
from ...schemas.extraction import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema, SchemaElement
from ...schemas.naming import normalise
from ...text.relative_dates import relative_dates, with_meant_dates
from ...text.scripts import estimate_tokens
from ...text.sentences import split_sentences
from ...text.times import read_time

_LONGEST_LINE = 300
"""Characters of a line from which it is cut between sentences: a number should not stand for half a page."""
_LONGEST_SENTENCE = 2 * _LONGEST_LINE
"""Characters of a sentence from which it is cut between its items: ninety names get several numbers."""
_ITEM_END = re.compile(r"[;；、，]|, ")
_CITATION = re.compile(r"\s{0,3}(?:lines?|L)?\s{0,3}(?P<number>\d{1,5})(?![\d.]*\d)"
                       r"(?P<rest>.*)", re.DOTALL | re.IGNORECASE)
UNPROPOSED = 0.5
"""Confidence of a label that is not in the schema, in a reply that proposes none: as likely a slip as a need. It stays
below the default acceptance threshold mu = 0.8."""
_TOKENS_OF_A_ROW, _TOKENS_OF_A_NAME = 4, 2
"""The fewest tokens of text for each row and each name: they bound a reply that would repeat itself without end."""
_FEWEST_ROWS = 6
_MOST_LABELS = 12
"""New ones in a call."""
_PUNCTUATION = re.compile(r"[\W_]+")
_LEAST_CELLS = 3
"""Head, relation and tail: what a row needs beside its line."""


class NumberedLine(NamedTuple):
    """A line's number in its call, the index of its request among those of the call, its text, and how it is shown."""

    number: int
    request: int
    text: str
    shown: str


class NumberedLines:
    """The numbered lines of some requests, without those that a chunk repeats from the chunk before it.

    Above the lines of each request stands one with its context, in brackets. Lines are shown with the date behind
    each relative one that the document's date decides.
    """

    def __init__(self, requests: Sequence[ExtractionRequest]) -> None:
        self.requests = requests
        self.lines: list[NumberedLine] = []
        previous_pieces: list[str] = []
        for index, request in enumerate(requests):
            pieces = list(_pieces(request.text))
            is_same_document = index > 0 and _document_name(request) == _document_name(requests[index - 1])
            most = min(len(previous_pieces), len(pieces)) if is_same_document else 0  # how many lines may be repeated
            repeated = next((count for count in range(most, 0, -1) if previous_pieces[-count:] == pieces[:count]), 0)
            for piece, shown in zip(pieces[repeated:], _with_dates(request, pieces)[repeated:], strict=True):
                self.lines.append(NumberedLine(len(self.lines) + 1, index, piece, shown))
            previous_pieces = pieces

    def text(self) -> str:
        """Return the lines as a prompt shows them."""
        shown = list[str]()
        request_index, document = -1, ""
        for line in self.lines:
            if line.request != request_index:
                request_index = line.request
                request, previous_document = self.requests[request_index], document
                document = _document_name(request)
                shown.append(_context_line(request, document, is_new=document != previous_document))
            shown.append(f"{line.number} {line.shown}")
        return "\n".join(shown)

    def find_cited(self, cell: str) -> tuple[NumberedLine | None, str] | None:
        """Return the line whose number a cell begins with, and the rest of the cell.

        The line is None if no line has that number. The result is None if the cell does not begin with the number of a
        line, or if it is rather a name ("2019 election").
        """
        if (match := _CITATION.fullmatch(cell)) is None:
            return None
        number, rest = int(match["number"]), match["rest"].strip(" \t\n,;:.|-–")
        if 0 < number <= len(self.lines):
            return self.lines[number - 1], rest
        is_name = rest and read_time(rest) is None
        return None if is_name else (None, rest)


def _pieces(text: str) -> Iterator[str]:
    """Yield the lines of a text that have words, long ones in parts of whole sentences or items."""
    for line in text.split("\n"):
        if not any(map(str.isalnum, line)):
            continue
        if len(line) <= _LONGEST_LINE:
            yield line.rstrip()
            continue
        begin, ends = 0, list[int]()
        for start, end in split_sentences(line):
            if end - start > _LONGEST_SENTENCE:  # cut between its items, too
                ends += [match.end() for match in _ITEM_END.finditer(line, start, end)]
            ends.append(end)
        ends = list(dict.fromkeys(ends))
        for end, next_end in zip(ends, [*ends[1:], None], strict=True):
            if next_end is None or next_end - begin > _LONGEST_LINE:  # the next sentence or item does not fit
                yield line[begin:end].strip()
                begin = end


def _with_dates(request: ExtractionRequest, pieces: Sequence[str]) -> list[str]:
    """Return the pieces of a request's text, with the date that each relative one means behind it."""
    dates = relative_dates(request.text, request.said_on)
    end = 0
    shown = list[str]()
    for piece in pieces:
        start = request.text.index(piece, end)
        end = start + len(piece)
        shown.append(with_meant_dates(request.text, dates, start, end))
    return shown


def _context_line(request: ExtractionRequest, document: str, *, is_new: bool) -> str:
    """Return the line above those of a request: `[DOCUMENT > HEADING (ABOUT): OPENING]`.

    If the document is that of the request before, it is `[> HEADING: OPENING]`.
    """
    parts = [document, request.heading] if is_new else [request.heading]
    line = " > ".join(" ".join(part.split()) for part in parts if part) or "-"
    if not is_new:
        line = f"> {line}"
    elif request.about:
        line += f" ({' '.join(request.about.split())})"
    if request.opening:
        line += f": {' '.join(request.opening.split())}"
    return f"[{line}]"


def _document_name(request: ExtractionRequest) -> str:
    """Return the document's name, with its title, which "it" and "she" mostly stand for."""
    if not request.document or request.title in request.document:
        return request.document or request.title
    return f"{request.title} ({request.document})"


_Cells = Annotated[list[str], Field(min_length=1)]
_FactCells = Annotated[list[str], Field(min_length=_LEAST_CELLS)]


def _check_confidence(cells: list[str]) -> list[str]:
    """Refuse a new label's row whose last cell is not a number from 0 to 1."""
    if not 0 <= float(cells[-1]) <= 1:
        raise ValueError(f"the confidence in {cells[0]!r} must be from 0 to 1")
    return cells


_NewLabel = Annotated[list[str], Field(min_length=2, max_length=3), AfterValidator(_check_confidence)]
"""A label of the model's own and its confidence, perhaps with the label's kind between them."""


class ExtractionReply(BaseModel):
    """The reply as it is written."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)

    entities: list[_Cells]
    triples: list[_FactCells]
    attributes: list[_FactCells]
    new: Annotated[list[_NewLabel], Field(json_schema_extra={"maxItems": _MOST_LABELS})] = []

    def convert(self, schema: GraphSchema, lines: NumberedLines) -> list[Extraction]:
        """Return the extraction of each request, with labels replaced by the schema's names."""
        return _Conversion(self, schema, lines).extractions()


def bounds_of(lines: NumberedLines) -> Mapping[str, Any]:
    """Return the JSON schemas of the lists of a reply, with lengths in proportion to the text.

    A row has the number of its line, a head, a label and a tail, or further tails.
    """
    tokens = sum(estimate_tokens(request.text) for request in lines.requests)
    row = {"type": "array", "items": {"type": "string"}, "minItems": 1,
           "maxItems": _LEAST_CELLS + 1 + max(_FEWEST_ROWS, tokens // _TOKENS_OF_A_NAME)}
    rows = {"type": "array", "items": row, "maxItems": max(_FEWEST_ROWS, tokens // _TOKENS_OF_A_ROW)}
    return dict.fromkeys(("entities", "triples", "attributes"), rows)


class _FactRow(NamedTuple):
    """A row of facts with one head and label; `line` is None if it cites none."""

    line: NumberedLine | None
    head: str
    label: str
    tails: Sequence[str]
    condition: str
    """When and with what it holds."""


class _LocatedTail(NamedTuple):
    """A tail of a row, the index of the request that states it, and the words that do; "" if the row cites no line."""

    request: int
    tail: str
    evidence: str


@dataclass
class _RequestParts:
    """What a reply extracts from one request."""

    entities: list[ExtractedEntity] = field(default_factory=list)
    triples: list[ExtractedTriple] = field(default_factory=list)
    attributes: list[ExtractedAttribute] = field(default_factory=list)

    def names_in_facts(self) -> set[str]:
        """Return the names of entities in the triples and attributes."""
        names = {attribute.entity for attribute in self.attributes}
        for triple in self.triples:
            names |= {triple.head, triple.tail}
        return names


class _Conversion:
    """The conversion of one reply to the extraction of each request."""

    def __init__(self, reply: ExtractionReply, schema: GraphSchema, lines: NumberedLines) -> None:
        self._reply = reply
        self._lines = lines
        self._open = schema.open
        # Some models write the letter that the prompt has for a type.
        letters = {normalise(letter): name for name, letter in type_letters(schema).items()}
        self._types = letters | _names_of(schema.entity_types)
        self._relations = _names_of(schema.relation_types)
        self._attributes = _names_of(schema.attribute_types)
        self._proposed = {normalise(label): float(confidence) for label, *_, confidence in reply.new}
        self._texts = [_normalise_words("\n".join([one.title, one.heading, one.opening, one.text]))
                       for one in lines.requests]
        self._line_words = [(line, _normalise_words(line.text)) for line in lines.lines]
        self._instructions = [_normalise_words(one.instructions) for one in lines.requests]

    def extractions(self) -> list[Extraction]:
        parts = [_RequestParts() for _ in self._texts]
        for row in self._fact_rows(self._reply.triples):
            confidence = self._confidence(row.label, self._relations)
            for located in self._located_tails(row):
                parts[located.request].triples.append(ExtractedTriple(
                    head=row.head, relation=_schema_name(row.label, self._relations), tail=located.tail,
                    evidence=located.evidence, time=row.condition, confidence=confidence))
        for row in self._fact_rows(self._reply.attributes):
            confidence = self._confidence(row.label, self._attributes)
            for located in self._located_tails(row):
                parts[located.request].attributes.append(ExtractedAttribute(
                    entity=row.head, attribute=_schema_name(row.label, self._attributes), value=located.tail,
                    evidence=located.evidence, time=row.condition, confidence=confidence))
        names_in_facts = [part.names_in_facts() for part in parts]
        for entity in self._entities(set[str]().union(*names_in_facts)):
            indices = [index for index, names in enumerate(names_in_facts)
                       if entity.name in names or _normalise_words(entity.name) in self._texts[index]]
            for index in indices or [0]:  # a name that no text has goes to the first request, where it is rejected
                parts[index].entities.append(entity)
        extractions = []
        for index, (part, names) in enumerate(zip(parts, names_in_facts, strict=True)):
            others = [self._texts[other] for other in self._requests_of_same_document(index)]
            absent = [name for name in names if _normalise_words(name) not in self._texts[index]]
            elsewhere = sorted(name for name in absent if any(
                _normalise_words(name) in text for text in (self._instructions[index], *others)))
            extractions.append(Extraction(entities=tuple(part.entities), triples=tuple(part.triples),
                                          attributes=tuple(part.attributes), elsewhere=tuple(elsewhere)))
        return extractions

    def _fact_rows(self, rows: Iterable[Sequence[str]]) -> Iterator[_FactRow]:
        """Yield the rows of facts that have a head and a label, their own or those of the row above."""
        line, condition, head, label = None, "", "", ""
        for row in rows:
            if len(row) <= _LEAST_CELLS:  # head, label and tail alone
                citation = None
            elif row[0].strip():
                citation = self._lines.find_cited(row[0])
            else:  # an empty cell repeats the one above
                citation = line, condition
            line, condition = citation or (None, "")
            own_head, own_label, *tails = row[1:] if citation else row[:_LEAST_CELLS]
            head, label = own_head.strip() or head, own_label.strip() or label
            if head and label:
                yield _FactRow(line, head, label, [tail for tail in tails if tail.strip()], condition)

    def _requests_of_same_document(self, index: int) -> list[int]:
        own = self._lines.requests[index]
        return [other for other, request in enumerate(self._lines.requests)
                if other != index and (request.document, request.title) == (own.document, own.title)]

    def _located_tails(self, row: _FactRow) -> Iterator[_LocatedTail]:
        """Yield the tails of a row, each with the request and the line that state it."""
        names = [_normalise_words(name) for name in (row.head, *row.tails)]
        # Without a line, the request whose text has the most of the row's names, the first of several.
        row_index = row.line.request if row.line else max(
            range(len(self._texts)), key=lambda index: sum(name in self._texts[index] for name in names))
        for tail in row.tails:
            wanted = _normalise_words(tail)
            candidates = (row_index, *self._requests_of_same_document(row_index))
            index = next((other for other in candidates if wanted in self._texts[other]), row_index)
            evidence = ""
            if row.line:  # the items of a list stand in the line that a row cites or below it, each in its own line
                lines = [line for line, text in self._line_words if line.request == index and wanted in text]
                below = [line for line in lines if line.number >= row.line.number]
                evidence = (below or lines or [row.line])[0].text
            yield _LocatedTail(index, tail, evidence)

    def _entities(self, names_in_facts: Set[str]) -> Iterator[ExtractedEntity]:
        """Yield the entities of the rows `[type, name, ...]`; also of `[name, type]` and of a name alone."""
        for type_label, *cells in self._reply.entities:
            names = [name for name in cells if name.strip()]
            if type_label.strip() and (not names or self._is_name_first(type_label, names, names_in_facts)):
                type_label, names = "".join(names), [type_label]  # noqa: PLW2901
            confidence = self._confidence(type_label, self._types)
            for name in names:
                yield ExtractedEntity(name=name, type=_schema_name(type_label, self._types), confidence=confidence)

    def _is_name_first(self, first: str, others: Sequence[str], names_in_facts: Set[str]) -> bool:
        """Return True if a row is `[name, type]`: its second cell is a known type, or its first is in a fact."""
        if len(others) != 1 or others[0] in names_in_facts or normalise(first) in self._types:
            return False
        return normalise(others[0]) in self._types or first in names_in_facts

    def _confidence(self, label: str, known: Mapping[str, str]) -> float:
        """Return the confidence in a label; one used but not listed counts as the least certain one that is listed."""
        key = normalise(label)
        if self._open or key in known or not key:
            return 1.0
        return self._proposed.get(key, min(self._proposed.values(), default=UNPROPOSED))


def _names_of(elements: Sequence[SchemaElement]) -> dict[str, str]:
    """Map all names and labels of elements to their names: prompts show labels, the graph has names."""
    names = dict[str, str]()
    for element in elements:
        names.update((normalise(name), element.name) for name in element.all_names())
    return names | {normalise(element.name): element.name for element in elements}  # a name beats another's label


def _normalise_words(text: str) -> str:
    """Return a text's words in lower case, with one space instead of the signs between them."""
    return " ".join(_PUNCTUATION.sub(" ", normalise(text)).split())


def _schema_name(label: str, terms: Mapping[str, str]) -> str:
    return terms.get(normalise(label), label.strip())
