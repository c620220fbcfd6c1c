"""The rows of an extraction's reply, and how they become the extraction of each chunk that was read.

Rows are `[type, name, ...]`, `[line, head, relation, tail, ...]` and `[line, owner, attribute, value, ...]`: a row
cites the line that states it by its number, behind which it says when and with what it holds. An empty one of its first
three cells repeats the cell above it. A row without a line's number goes to the chunk that has its names.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ...prompts.rendering import type_letters
from ...schemas.extraction import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema, SchemaElement
from ...schemas.naming import normalise
from ...text.relative_dates import relative_dates, with_meant_dates
from ...text.scripts import estimate_tokens
from ...text.sentences import split_sentences
from ...text.times import read_time

_LONGEST_LINE = 300  # characters; a longer one is cut between sentences: a number should not stand for half a page
_LONGEST_SENTENCE = 2 * _LONGEST_LINE  # a longer one is cut between its items: ninety names get several numbers
_ITEM_END = re.compile(r"[;；、，]|, ")
_CITATION = re.compile(r"\s{0,3}(?:lines?|L)?\s{0,3}(?P<number>\d{1,5})(?![\d.]*\d)"
                       r"(?P<rest>.*)", re.DOTALL | re.IGNORECASE)
UNPROPOSED = 0.5
"""Confidence of a new label in a reply that proposes none: as likely a slip as a need, so below mu (0.8 as set)."""
# The fewest tokens of text for each row and each name: they bound a reply that would repeat itself without end.
_TOKENS_OF_A_ROW, _TOKENS_OF_A_NAME = 4, 2
_FEWEST_ROWS = 6  # that are allowed for any text, however short
_MOST_LABELS = 12  # new ones in a call
_PUNCTUATION = re.compile(r"[\W_]+")
_LEAST_CELLS = 3  # head, relation and tail: what a row needs beside its line


class NumberedLine(NamedTuple):
    """A line's number in its call, the index of its request among those of the call, its text, and how it is shown."""

    number: int
    request: int
    text: str
    shown: str


class NumberedLines:
    """The numbered lines of some requests, without those that a chunk repeats from the chunk before it."""

    def __init__(self, requests: Sequence[ExtractionRequest]) -> None:
        self.requests = requests
        self.lines: list[NumberedLine] = []
        previous_pieces: list[str] = []
        for index, request in enumerate(requests):
            pieces = list(_split_lines(request.text))
            is_same_document = index > 0 and _document_name(request) == _document_name(requests[index - 1])
            # How many of its first lines are the last ones of the chunk before it: the most for which that is true.
            most_repeated = min(len(previous_pieces), len(pieces)) if is_same_document else 0
            repeated = next((count for count in range(most_repeated, 0, -1)
                             if previous_pieces[-count:] == pieces[:count]), 0)
            dates, end = relative_dates(request.text, request.said_on), 0
            for place, piece in enumerate(pieces):
                start = request.text.index(piece, end)  # behind the piece before it, as lines may be equal
                end = start + len(piece)
                if place >= repeated:
                    shown = with_meant_dates(request.text, dates, start, end)
                    self.lines.append(NumberedLine(len(self.lines) + 1, index, piece, shown))
            previous_pieces = pieces

    def text(self) -> str:
        """Return the lines as a prompt shows them: below a line of context, with the days that relative dates mean."""
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
        """Return the line whose number a cell begins with (None if no line has it), and the rest of the cell.

        The result is None if the cell does not begin with a number, or if it is rather a name ("2019 election").
        """
        if (match := _CITATION.fullmatch(cell)) is None:
            return None
        number, rest = int(match["number"]), match["rest"].strip(" \t\n,;:.|-–")
        if 0 < number <= len(self.lines):
            return self.lines[number - 1], rest
        # What may follow a line's number is a time, so other words are part of a name, as in "2019 election".
        is_name = rest and read_time(rest) is None
        return None if is_name else (None, rest)


def _split_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text that have words, long ones in parts of whole sentences or items."""
    for line in text.split("\n"):
        if not any(map(str.isalnum, line)):
            continue
        if len(line) <= _LONGEST_LINE:
            yield line.rstrip()
            continue
        begin, ends = 0, list[int]()  # of the part to yield next, and the places where a part may end
        for start, end in split_sentences(line):
            if end - start > _LONGEST_SENTENCE:
                ends += [match.end() for match in _ITEM_END.finditer(line, start, end)]
            ends.append(end)
        ends = list(dict.fromkeys(ends))  # an item may end where its sentence ends
        for end, next_end in zip(ends, [*ends[1:], None], strict=True):
            if next_end is None or next_end - begin > _LONGEST_LINE:  # the next sentence or item does not fit
                yield line[begin:end].strip()
                begin = end


def _context_line(request: ExtractionRequest, document: str, *, is_new: bool) -> str:
    """Write `[DOCUMENT > HEADING (ABOUT): OPENING]`, without what an earlier request's line shows unless `is_new`."""
    parts = [document, request.heading] if is_new else [request.heading]
    parts = [" ".join(part.split()) for part in parts if part]
    line = " > ".join(parts) or "-"
    if not is_new:
        line = f"> {line}"
    elif request.about:
        line += f" ({' '.join(request.about.split())})"
    if request.opening:
        line += f": {' '.join(request.opening.split())}"
    return f"[{line}]"


def _document_name(request: ExtractionRequest) -> str:
    """Return the document's title with its name: "it" and "she" in a text mostly stand for its title."""
    if not request.document or request.title in request.document:
        return request.document or request.title
    return f"{request.title} ({request.document})"


def _check_confidence(cells: list[str]) -> list[str]:
    """Return a new label's row; raise ValueError unless its last cell, the confidence, is a number from 0 to 1."""
    if not 0 <= float(cells[-1]) <= 1:
        raise ValueError(f"the confidence in {cells[0]!r} must be from 0 to 1")
    return cells


_Cells = Annotated[list[str], Field(min_length=1)]
_FactCells = Annotated[list[str], Field(min_length=_LEAST_CELLS)]
_NewLabel = Annotated[list[str], Field(min_length=2, max_length=3), AfterValidator(_check_confidence)]
"""A label of the model's own and its confidence, perhaps with the label's kind between them."""


class ExtractionReply(BaseModel):
    """The reply as it is written."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)

    entities: list[_Cells]
    triples: list[_FactCells]
    attributes: list[_FactCells]
    new: Annotated[list[_NewLabel], Field(json_schema_extra={"maxItems": _MOST_LABELS})] = []


def bounds_of(lines: NumberedLines) -> Mapping[str, Any]:
    """Return the JSON schemas of the lists of a reply, with lengths in proportion to the text."""
    tokens = sum(estimate_tokens(request.text) for request in lines.requests)
    # A row has the number of its line, a head, a label and a tail, or further tails.
    most_cells = 1 + _LEAST_CELLS + max(_FEWEST_ROWS, tokens // _TOKENS_OF_A_NAME)
    row = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": most_cells}
    rows = {"type": "array", "items": row, "maxItems": max(_FEWEST_ROWS, tokens // _TOKENS_OF_A_ROW)}
    return dict.fromkeys(("entities", "triples", "attributes"), rows)


class _Fact(NamedTuple):
    """A fact, the index of the request that states it, and the words that do; "" if its row cites no line."""

    request: int
    head: str
    label: str
    tail: str
    evidence: str
    time: str
    confidence: float


class ReplyConversion:
    """The conversion of one reply to the extraction of each request, with labels replaced by the schema's names."""

    def __init__(self, reply: ExtractionReply, schema: GraphSchema, lines: NumberedLines) -> None:
        self._reply, self._lines, self._requests = reply, lines, lines.requests
        self._allows_all = schema.open
        # Some models write the letter that the prompt has for a type.
        letters = {normalise(letter): name for name, letter in type_letters(schema).items()}
        self._types = letters | _names_of(schema.entity_types)
        self._relations = _names_of(schema.relation_types)
        self._attributes = _names_of(schema.attribute_types)
        # The model's own confidence in each label that the schema lacks.
        self._proposed = {normalise(label): float(confidence) for label, *_, confidence in reply.new}
        self._texts = [_normalise_words("\n".join([request.title, request.heading, request.opening, request.text]))
                       for request in self._requests]
        self._line_words = [(line, _normalise_words(line.text)) for line in lines.lines]

    def extractions(self) -> list[Extraction]:
        """Return the extraction of each request."""
        triples = [*self._facts(self._reply.triples, self._relations)]
        attributes = [*self._facts(self._reply.attributes, self._attributes)]
        names_in_facts = [set[str]() for _ in self._requests]
        for fact in (*triples, *attributes):
            names_in_facts[fact.request].add(fact.head)
        for fact in triples:
            names_in_facts[fact.request].add(fact.tail)
        # An entity goes to each request that has its name in a fact or in its text.
        entities = [list[ExtractedEntity]() for _ in self._requests]
        for entity in self._entities(set[str]().union(*names_in_facts)):
            words = _normalise_words(entity.name)
            indices = [index for index, names in enumerate(names_in_facts)
                       if entity.name in names or words in self._texts[index]]
            for index in indices or [0]:  # what no request names is rejected with the first one's
                entities[index].append(entity)
        extractions = list[Extraction]()
        for index, names in enumerate(names_in_facts):
            own_triples = [ExtractedTriple(
                head=fact.head, relation=fact.label, tail=fact.tail, evidence=fact.evidence, time=fact.time,
                confidence=fact.confidence) for fact in triples if fact.request == index]
            own_attributes = [ExtractedAttribute(
                entity=fact.head, attribute=fact.label, value=fact.tail, evidence=fact.evidence, time=fact.time,
                confidence=fact.confidence) for fact in attributes if fact.request == index]
            extractions.append(Extraction(
                entities=tuple(entities[index]), triples=tuple(own_triples), attributes=tuple(own_attributes),
                elsewhere=self._names_elsewhere(index, names)))
        return extractions

    def _names_elsewhere(self, index: int, names: Set[str]) -> tuple[str, ...]:
        """Return the `names` that a request's text lacks, but its instructions or its document's other texts have."""
        other_texts = [self._texts[other] for other in self._requests_of_same_document(index)]
        other_texts.append(_normalise_words(self._requests[index].instructions))
        found = list[str]()
        for name in sorted(names):
            words = _normalise_words(name)
            if words not in self._texts[index] and any(words in text for text in other_texts):
                found.append(name)
        return tuple(found)

    def _facts(self, rows: Iterable[Sequence[str]], terms: Mapping[str, str]) -> Iterator[_Fact]:
        """Yield a fact for each tail of each row; an empty line, head or label is that of the row above."""
        line, time, head, label = None, "", "", ""
        for row in rows:
            if len(row) <= _LEAST_CELLS:  # head, label and tail alone
                citation = None
            elif row[0].strip():
                citation = self._lines.find_cited(row[0])
            else:  # an empty cell repeats the one above
                citation = line, time
            line, time = citation or (None, "")
            # Without a line's number, the head comes first, and what follows the tail may be anything.
            own_head, own_label, *tails = row[1:] if citation else row[:_LEAST_CELLS]
            head, label = own_head.strip() or head, own_label.strip() or label
            if head and label:
                schema_label, confidence = _schema_name(label, terms), self._confidence(label, terms)
                named_tails = [tail for tail in tails if tail.strip()]
                for tail, request, evidence in self._locate(line, head, named_tails):
                    yield _Fact(request, head, schema_label, tail, evidence, time, confidence)

    def _locate(self, line: NumberedLine | None, head: str, tails: Sequence[str]) -> Iterator[tuple[str, int, str]]:
        """Yield each tail of a row with the index of the request that states it, and the cited line's text or ""."""
        names = [_normalise_words(name) for name in (head, *tails)]
        if line:
            row_index = line.request
        else:  # the request whose text has the most of the row's names, the first of several
            names_in_text = [sum(name in text for name in names) for text in self._texts]
            row_index = names_in_text.index(max(names_in_text))
        candidates = (row_index, *self._requests_of_same_document(row_index))
        for tail, words in zip(tails, names[1:], strict=True):
            index = next((other for other in candidates if words in self._texts[other]), row_index)
            evidence = ""
            if line:  # the items of a list stand in the line that a row cites or below it, each in its own line
                lines_with_tail = [other for other, text in self._line_words
                                   if other.request == index and words in text]
                below = [other for other in lines_with_tail if other.number >= line.number]
                evidence = (below or lines_with_tail or [line])[0].text
            yield tail, index, evidence

    def _requests_of_same_document(self, index: int) -> list[int]:
        own = self._requests[index]
        return [other for other, request in enumerate(self._requests)
                if other != index and (request.document, request.title) == (own.document, own.title)]

    def _entities(self, names_in_facts: Set[str]) -> Iterator[ExtractedEntity]:
        """Yield the entities of the rows `[type, name, ...]`; also of `[name, type]` and of a name alone."""
        for first, *cells in self._reply.entities:
            type_label, names = first, [name for name in cells if name.strip()]
            if first.strip() and (not names or self._is_name_first(first, names, names_in_facts)):
                type_label, names = "".join(names), [first]  # `names` was the type or nothing
            confidence = self._confidence(type_label, self._types)
            for name in names:
                yield ExtractedEntity(name=name, type=_schema_name(type_label, self._types), confidence=confidence)

    def _is_name_first(self, first: str, others: Sequence[str], names_in_facts: Set[str]) -> bool:
        """Return True if a row is `[name, type]`: its second cell is a known type, or its first is in a fact."""
        # What a fact names is no type, and a known type in the first cell stands where it should.
        if len(others) != 1 or others[0] in names_in_facts or normalise(first) in self._types:
            return False
        return normalise(others[0]) in self._types or first in names_in_facts

    def _confidence(self, label: str, known: Mapping[str, str]) -> float:
        """Return the confidence in a label: 1 if the schema allows it, else the model's own confidence in it."""
        key = normalise(label)
        if self._allows_all or key in known or not key:  # an entity may have no type
            return 1.0
        # A new label that the model did not list gets the lowest confidence of those that it listed.
        return self._proposed.get(key, min(self._proposed.values(), default=UNPROPOSED))


def _names_of(elements: Sequence[SchemaElement]) -> dict[str, str]:
    """Map all names and labels of elements, normalised, to their names: prompts show labels, the graph has names."""
    names = {normalise(name): element.name for element in elements for name in element.all_names()}
    return names | {normalise(element.name): element.name for element in elements}  # a name beats another's label


def _normalise_words(text: str) -> str:
    """Return a text's words in lower case, with one space instead of the signs between them."""
    return " ".join(_PUNCTUATION.sub(" ", normalise(text)).split())


def _schema_name(label: str, terms: Mapping[str, str]) -> str:
    return terms.get(normalise(label), label.strip())
