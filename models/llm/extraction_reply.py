"""The rows of an extraction's reply, and how they become the extraction of each chunk that was read.

Rows are `[type, name, ...]`, `[line, head, relation, tail, ...]` and `[line, owner, attribute, value, ...]`: a row
cites the line that states it by its number, and after the number says when and with what it holds. They cost half the
tokens of rows that copy words, and models write them well; every cell is a string, so strict JSON-schema decoding
(which knows no tuples) can still enforce them. A row without a line's number may name words and time in its last cells
instead, as the prompt files of earlier versions ask for: `[name, type]`, `[head, relation, tail, words, time]`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from ...prompts.schema_text import type_letters
from ...schemas.extraction import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema, SchemaElement
from ...schemas.naming import normalise
from ...text.sentences import split_sentences
from ...text.times import read_time
from ...text.tokens import estimate_tokens

_LONGEST = 300
"""Characters of a line from which it is cut between sentences: a number should not stand for half a page."""
_CITED = re.compile(r"\s{0,3}(?:lines?|L)?\s{0,3}(?P<number>\d{1,5})(?![\d.]*\d)(?P<rest>.*)",
                    re.DOTALL | re.IGNORECASE)
UNPROPOSED = 0.5
"""Confidence of a label that is not in the schema and was not proposed either: as likely a slip as a
need. It stays below the default acceptance threshold mu = 0.8."""
_TOKENS_OF_A_ROW, _TOKENS_OF_A_NAME = 4, 2
"""Fewer words of a text state no fact, and name nothing: these bound a reply that would repeat itself without end."""
_FEWEST = 6
_MOST_LABELS = 5
"""New ones in a call."""
_SIGNS = re.compile(r"[\W_]+")
_CELLS = 3
"""Head, relation and tail: what a row needs beside its line."""


class NumberedLine(NamedTuple):
    """A line's text, and the place of its request among those of the call."""

    request: int
    text: str


class NumberedLines:
    """The numbered lines of some requests, and what stands above them in brackets, without a number."""

    def __init__(self, requests: Sequence[ExtractionRequest]) -> None:
        self.requests = requests
        self.lines: list[NumberedLine] = []
        before: list[str] = []
        for place, request in enumerate(requests):
            pieces = list(_pieces(request.text))
            same = place > 0 and _name(request) == _name(requests[place - 1])
            repeated = _count_repeated(before, pieces) if same else 0
            self.lines += [NumberedLine(place, text) for text in pieces[repeated:]]
            before = pieces

    def text(self) -> str:
        """Return the lines as a prompt shows them."""
        shown, place, before = list[str](), -1, ""
        for number, line in enumerate(self.lines, 1):
            if line.request != place:
                place = line.request
                shown.append(_context(self.requests[place], before))
                before = _name(self.requests[place])
            shown.append(f"{number} {line.text}")
        return "\n".join(shown)

    def find_cited(self, cell: str) -> tuple[NumberedLine | None, str] | None:
        """Return the line that a cell begins with the number of, and what follows the number.

        The line is None where there is none of that number; all is None if the cell is no line's number.
        """
        match = _CITED.fullmatch(cell)
        if match is None:
            return None
        number, rest = int(match["number"]), match["rest"].strip(" \t\n,;:.|-–")
        if 0 < number <= len(self.lines):
            return self.lines[number - 1], rest
        return None if rest and read_time(rest) is None else (None, rest)  # "2019 election" is a name


def _pieces(text: str) -> Iterator[str]:
    """Yield the lines of a text that have words, long ones in parts of whole sentences."""
    for line in text.split("\n"):
        if not any(map(str.isalnum, line)):
            continue
        if len(line) <= _LONGEST:
            yield line.rstrip()
            continue
        begin = 0
        sentences = split_sentences(line)
        for (_, end), following in zip(sentences, [*sentences[1:], None], strict=True):
            if following is None or following[1] - begin > _LONGEST:
                yield line[begin:end].strip()
                begin = end


def _count_repeated(before: Sequence[str], pieces: Sequence[str]) -> int:
    """Return how many lines at the beginning of a chunk repeat the end of the one before it."""
    return next((count for count in range(min(len(before), len(pieces)), 0, -1)
                 if before[-count:] == pieces[:count]), 0)


def _name(request: ExtractionRequest) -> str:
    """Return the document's name, with its title, which "it" and "she" mostly stand for."""
    if not request.document or request.title in request.document:
        return request.document or request.title
    return f"{request.title} ({request.document})"


def _context(request: ExtractionRequest, name_before: str) -> str:
    """Return the line above the lines of a request; the document's name only where it changes."""
    is_new = _name(request) != name_before
    above = [_name(request) if is_new else "", request.heading]
    named = " > ".join(" ".join(part.split()) for part in above if part) or "-"
    about = f" ({' '.join(request.about.split())})" if request.about and is_new else ""
    opening = f": {' '.join(request.opening.split())}" if request.opening else ""
    return f"[{'' if is_new else '> '}{named}{about}{opening}]"


class NewLabel(BaseModel):
    """A label of the model's own."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    label: str
    kind: str = ""
    confidence: float = Field(ge=0, le=1)


_Cells = Annotated[list[str], Field(min_length=1)]
_FactCells = Annotated[list[str], Field(min_length=_CELLS)]


class ExtractionReply(BaseModel):
    """The reply as it is written."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)

    entities: list[_Cells]
    triples: list[_FactCells]
    attributes: list[_FactCells]
    new: Annotated[list[NewLabel], Field(json_schema_extra={"maxItems": _MOST_LABELS})] = []

    def convert(self, schema: GraphSchema, lines: NumberedLines) -> list[Extraction]:
        """Return the extraction of each request, with labels replaced by the schema's names."""
        return _Conversion(self, schema, lines).extractions()


def bounds_of(lines: NumberedLines) -> Mapping[str, Any]:
    """Return the JSON schemas of the lists of a reply, whose lengths the text bounds."""
    tokens = sum(estimate_tokens(request.text) for request in lines.requests)
    row = {"type": "array", "items": {"type": "string"}, "minItems": 1,
           "maxItems": _CELLS + 1 + max(_FEWEST, tokens // _TOKENS_OF_A_NAME)}
    rows = {"type": "array", "items": row, "maxItems": max(_FEWEST, tokens // _TOKENS_OF_A_ROW)}
    return dict.fromkeys(("entities", "triples", "attributes"), rows)


class _FactRow(NamedTuple):
    """A row of facts with one head and relation: of the request at a place, None if it is not said."""

    place: int | None
    head: str
    label: str
    tails: Sequence[str]
    words: str
    time: str


class _Conversion:
    """The work on one reply."""

    def __init__(self, reply: ExtractionReply, schema: GraphSchema, lines: NumberedLines) -> None:
        self._reply, self._lines, self._terms, self._open = reply, lines, _Terms(schema), schema.open
        self._proposed = {(new.kind, normalise(new.label)): new.confidence for new in reply.new}
        self._folded = [_fold("\n".join([one.title, one.heading, one.opening, one.text])) for one in lines.requests]
        self._instructions = [_fold(one.instructions) for one in lines.requests]
        self._triples = list(self._fact_rows(reply.triples, self._terms.relations))
        self._attributes = list(self._fact_rows(reply.attributes, self._terms.attributes))

    def extractions(self) -> list[Extraction]:
        """Return the extraction of each request; an entity goes with those that use or name it."""
        triples: list[list[ExtractedTriple]] = [[] for _ in self._folded]
        attributes: list[list[ExtractedAttribute]] = [[] for _ in self._folded]
        entities: list[list[ExtractedEntity]] = [[] for _ in self._folded]
        for row in self._triples:
            for place, triple in self._triples_of(row):
                triples[place].append(triple)
        for row in self._attributes:
            for place, attribute in self._attributes_of(row):
                attributes[place].append(attribute)
        used = [{*(name for one in own for name in (one.head, one.tail)), *(one.entity for one in values)}
                for own, values in zip(triples, attributes, strict=True)]
        for entity in self._entities():
            places = [place for place, names in enumerate(used)
                      if entity.name in names or _fold(entity.name) in self._folded[place]]
            for place in places or [0]:
                entities[place].append(entity)
        return [Extraction(entities=tuple(kinds), triples=tuple(own), attributes=tuple(values),
                           elsewhere=tuple(sorted(name for name in names if self._is_elsewhere(name, place))))
                for place, (kinds, own, values, names) in enumerate(
                    zip(entities, triples, attributes, used, strict=True))]

    def _fact_rows(self, rows: Iterable[Sequence[str]], known: Mapping[str, str]) -> Iterator[_FactRow]:
        for row in rows:
            cited = self._read_citation(row, known) if len(row) > _CELLS else None
            if cited is not None:
                (line, condition), (head, label, *tails) = cited, row[1:]
                place, words = (line.request, line.text) if line else (None, "")
            else:
                head, label, tail, words, condition, *_ = [*row, "", ""]
                place, tails = None, [tail]
            if head.strip() and label.strip():
                yield _FactRow(place, head, label, [tail for tail in tails if tail.strip()], words, condition)

    def _read_citation(self, row: Sequence[str], known: Mapping[str, str]) -> tuple[NumberedLine | None, str] | None:
        """Return what a row's first cell cites; None if it is a name, which a label follows: "3 Idiots", "1984"."""
        cited = self._lines.find_cited(row[0])
        if cited is None or (cited[0] is not None and not cited[1]):
            return cited
        labels = known.keys() | {label for _, label in self._proposed}
        return None if normalise(row[1]) in labels and normalise(row[2]) not in labels else cited

    def _place(self, row: _FactRow) -> int:
        """Return the place of the request that a row is of; without a line, the first one that has its names."""
        if row.place is not None:
            return row.place
        wanted = [_fold(name) for name in (row.words, row.head, *row.tails) if name.strip()]
        return max(range(len(self._folded)), key=lambda place: sum(name in self._folded[place] for name in wanted))

    def _siblings(self, place: int) -> list[int]:
        """Return the places of the other requests of the same document."""
        own = self._lines.requests[place]
        return [other for other, request in enumerate(self._lines.requests)
                if other != place and (request.document, request.title) == (own.document, own.title)]

    def _is_elsewhere(self, name: str, place: int) -> bool:
        """Return True if a name is not in a request's text, but in another one of its document or the instructions."""
        wanted = _fold(name)
        return wanted not in self._folded[place] and any(wanted in text for text in (
            self._instructions[place], *(self._folded[other] for other in self._siblings(place))))

    def _cells(self, row: _FactRow) -> Iterator[tuple[int, str, str]]:
        """Yield the tails of a row with their places and the words that state them.

        A row of a long list cites one line, and its items may stand in further parts of the document.
        """
        place = self._place(row)
        for tail in row.tails:
            wanted = _fold(tail)
            holder = place if wanted in self._folded[place] else next(
                (other for other in self._siblings(place) if wanted in self._folded[other]), place)
            cited = wanted in _fold(row.words) or not row.words
            yield holder, tail, row.words if cited else self._line_with(holder, wanted) or row.words

    def _line_with(self, place: int, wanted: str) -> str:
        return next((line.text for line in self._lines.lines
                     if line.request == place and wanted in _fold(line.text)), "")

    def _triples_of(self, row: _FactRow) -> Iterator[tuple[int, ExtractedTriple]]:
        for place, tail, words in self._cells(row):
            yield place, ExtractedTriple(
                head=row.head, relation=_schema_name(row.label, self._terms.relations), tail=tail, evidence=words,
                time=row.time, confidence=self._confidence(row.label, self._terms.relations, "relation"))

    def _attributes_of(self, row: _FactRow) -> Iterator[tuple[int, ExtractedAttribute]]:
        """Yield the attributes that a row states, with the position of their text among those of the call."""
        for position, value, quote in self._cells(row):
            yield position, ExtractedAttribute(
                entity=row.head, attribute=_schema_name(row.label, self._terms.attributes), value=value,
                evidence=quote, time=row.time,
                confidence=self._confidence(row.label, self._terms.attributes, "attribute"))

    def _entities(self) -> Iterator[ExtractedEntity]:
        named = {name for row in self._triples for name in (row.head, *row.tails)}
        named |= {row.head for row in self._attributes}
        for row in self._reply.entities:
            kind, *names = row
            others = [name for name in names if name.strip()]
            # `[name, type]`, or a name alone.
            if kind.strip() and (not others or (
                    len(others) == 1 and others[0] not in named and normalise(kind) not in self._terms.types
                    and (normalise(others[0]) in self._terms.types or kind in named))):
                kind, others = "".join(others), [kind]
            for name in others:
                yield ExtractedEntity(name=name, type=_schema_name(kind, self._terms.types),
                                      confidence=self._confidence(kind, self._terms.types, "type"))

    def _confidence(self, label: str, known: Mapping[str, str], kind: str) -> float:
        key = normalise(label)
        if self._open or key in known or not key:
            return 1.0
        # A kind that was left out, or is another word for it, is no reason to lose the proposal.
        return self._proposed.get((kind, key), max((said for (_, new), said in self._proposed.items() if new == key),
                                                   default=UNPROPOSED))


class _Terms:
    """The schema's elements by all they are called: prompts show labels, the graph speaks names."""

    def __init__(self, schema: GraphSchema) -> None:
        # Some models write the letter that the prompt has for a type.
        letters = {normalise(letter): name for name, letter in type_letters(schema).items()}
        self.types = letters | self._names(schema.entity_types)
        self.relations = self._names(schema.relation_types)
        self.attributes = self._names(schema.attribute_types)

    @staticmethod
    def _names(elements: Sequence[SchemaElement]) -> dict[str, str]:
        called = {normalise(name): e.name for e in elements for name in e.all_names()}
        return called | {normalise(e.name): e.name for e in elements}  # a name beats another's label


def _fold(text: str) -> str:
    """Return a text's words in one case, without the signs between them."""
    return " ".join(_SIGNS.sub(" ", normalise(text)).split())


def _schema_name(label: str, terms: Mapping[str, str]) -> str:
    return terms.get(normalise(label), label.strip())
