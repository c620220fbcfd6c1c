"""Reads the sentences of one chunk by spaCy's parse."""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass

from ....schemas.extraction import ExtractionRequest
from ....schemas.graph_schema import GraphSchema
from ...embedding.embedder import Embedder
from ...parsing.languages import language_of
from ...parsing.parser import Parser
from ..reading.cues import CompiledSchema, is_han
from ..reading.facts import Described, Triple
from ..reading.mentions import Sentence
from .attributes import AttributeFinder, AttributeKeys, attribute_keys
from .candidates import Evidence, Known, features, find_candidates
from .coreference import AnaphorResolver, unify_names
from .entity_typing import EntityTyper
from .grammar import Grammar
from .learned import LearnedReader
from .mentions import Mention, Reading, title_subject
from .predications import Keys, Predication, PredicationFinder, label_of, relation_keys, turned
from .terms import find_terms

KNOWN = 0.9
PROPOSED = 0.85
"""Confidence in a triple by a cue of the schema, and under a label of its own."""

_ENTRY = re.compile(
    r"[\s>*•–-]{0,20}+(?P<role>[^\W\d_][^:：|\n*,]{1,40}+)(?:,[^:：|\n*]{1,40}+)?[*\s]{0,4}+[:：][*\s]{0,4}+")


@dataclass(frozen=True, slots=True)
class ParsedReading:
    """What the parsed sentences of a chunk say."""

    names: list[str]
    types: dict[str, str]
    unsure: set[str]
    triples: list[Triple]
    """By relations of the schema whose ends they may fit."""
    proposed: list[Triple]
    attributes: list[Described]


class ParsedReader:
    """Reads in the terms of one schema. Methods may be called from several threads at once."""

    def __init__(self, compiled: CompiledSchema, embedder: Embedder, parser: Parser) -> None:
        """Take the schema; its cues are brought to the form of each language's lemmas when a text needs it."""
        self._compiled = compiled
        self._parser = parser
        self._learned = LearnedReader(compiled)
        self._typer = EntityTyper(compiled, embedder)
        self._keys: dict[str, tuple[Keys, AttributeKeys]] = {}

    def read(self, request: ExtractionRequest, skipped: Callable[[int, int], bool]) -> ParsedReading:
        """The names, triples and attributes of a chunk.

        Args:
            request: the chunk's text with its document's title.
            skipped: whether the sentence from one character to another is read elsewhere.

        Returns:
            Every end of a triple and every owner of an attribute has a type; evidence is the sentence. A pure
            function of its arguments.
        """
        return self._read(request, skipped)[0]

    def candidates(self, request: ExtractionRequest, known: Known) -> list[tuple[str, list[str]]]:
        """The parts of a text that may be names or terms, each with its features; see `RulesExtractor.candidates`."""
        _, evidence = self._read(request, lambda _start, _end: False)
        return [(candidate.name, seen) for sentence in evidence.reading.sentences
                for found in (find_candidates(evidence.reading, sentence, known),)
                for candidate, seen in zip(found, features(evidence, sentence, found), strict=True)]

    def _read(self, request: ExtractionRequest, skipped: Callable[[int, int], bool]) -> tuple[ParsedReading, Evidence]:
        language = language_of(request.text, self._parser.languages())
        doc = self._parser.parse(request.text, language)
        spans = [s for s in doc.sents if s.text.strip() and not skipped(s.start_char, s.end_char)]
        reading = Reading(doc, spans, request.title, self._compiled)
        reading.terms = find_terms(reading, self._compiled)
        about = self._title(reading, request.title, language)
        subject = about.name if about is not None else ""
        grammar = Grammar(reading)
        unify_names(reading, about, of_person=self._typer.is_person(reading, grammar, subject))
        keys, attributes = self._keys_of(language)
        finder = PredicationFinder(reading, grammar, keys)
        types, unsure = self._typer.types(reading, about, grammar, [p for p in finder.find() if p.relations])
        AnaphorResolver(reading, grammar, self._compiled, types, subject).resolve()
        predications = [*finder.find(), *_entries(reading, finder, subject)]
        evidence = Evidence(reading, dict(types), frozenset(unsure), predications)
        places = [Sentence(s.start_char, s.start_char + len(s.text.rstrip()), han=False) for s in spans]
        at = {i: place for s, place in zip(spans, places, strict=True) for i in range(s.start, s.end)}
        triples, proposed = self._triples(predications, at, types, unsure)
        for span, place in zip(spans, places, strict=True):
            learned = self._learned.triples(evidence, span, place, types, {(t.head, t.tail) for t in triples})
            unsure -= {name for t in learned for name in (t.head, t.tail)}
            triples.extend(learned)
        told = {frozenset((t.head, t.tail)) for t in triples}
        proposed = [t for t in proposed if frozenset((t.head, t.tail)) not in told]
        described = AttributeFinder(reading, grammar, self._compiled, attributes, types, subject)
        values = [d for s in reading.stated() for d in described.find(s, at[s.start])]
        names = [*([subject] if subject and spans else []), *(m.name for m in reading.names())]
        return ParsedReading(names, types, unsure, triples, proposed, values), evidence

    def _title(self, reading: Reading, title: str, language: str) -> Mention | None:
        """What the document's title names: where the text says it, else if it is a name by itself."""
        name = title_subject(title)
        said = next((m for m in reading.names() if m.name == name), None)
        if said is not None or not name or any(map(is_han, name)):
            return said
        doc = self._parser.parse(name, language)
        alone = Reading(doc, list(doc.sents), "", self._compiled).mentions
        return alone[0] if len(alone) == 1 and alone[0].name == name and not alone[0].anaphor else None

    def _keys_of(self, language: str) -> tuple[Keys, AttributeKeys]:
        found = self._keys.get(language)
        if found is None:
            def lemmas(word: str) -> frozenset[str]:
                return self._parser.lemmas(word, language)

            schema: GraphSchema = self._compiled.schema
            found = self._keys[language] = relation_keys(schema, lemmas), attribute_keys(schema, lemmas)
        return found

    def _triples(self, predications: Sequence[Predication], places: dict[int, Sentence], types: dict[str, str],
                 unsure: Set[str]) -> tuple[list[Triple], list[Triple]]:
        """Each predication under the relations that its ends fit, or else would if a guess were wrong; else proposed.

        Types that a relation corrects are changed in place.
        """
        known: list[Triple] = []
        proposed: list[Triple] = []
        for p in predications:
            sentence = places[p.token.i]
            ends = (p.head.name, p.tail.name)
            fitting = self._fitting(p, types, unsure)
            sure = round(KNOWN - 0.04 * (p.head.anaphor or p.tail.anaphor), 2)
            known.extend(Triple(head, relation, tail, sure, sentence) for relation, (head, tail) in fitting.items())
            label = "" if fitting else label_of(p)
            if label:
                head, tail = ends[::-1] if turned(p) else ends
                proposed.append(Triple(head, label, tail, PROPOSED, sentence))
        return known, proposed

    def _fitting(self, p: Predication, types: dict[str, str], unsure: Set[str]) -> dict[str, tuple[str, str]]:
        """The relations that a predication says, with their heads and tails.

        Types are those that the first relation asks for. Others fit these, and only their ends tell them from it.
        """
        ends = (p.head.name, p.tail.name)
        relations = [(r, ends[::-1] if turn else ends) for r, turn in p.relations if not self._learned.decides(r)]
        first = next((f for f in relations if not self._misfits(*f, types, unsure)), None) or next(
            (f for f in relations[:1] if p.telling and self._corrects(self._misfits(*f, types, unsure), types, unsure)),
            None)
        if first is None:
            return {}
        types.update(self._misfits(*first, types, unsure))
        others = {r: (head, tail) for r, (head, tail) in relations
                  if self._compiled.tells(r) and self._compiled.fits(types[head], r, types[tail])}
        return others | dict([first])

    def _corrects(self, misfits: Sequence[tuple[str, str]], types: dict[str, str], unsure: Set[str]) -> bool:
        """Whether what a relation asks for is told better than guessed: one end alone, and a place is no body."""
        roles = self._compiled.types.roles
        return len(misfits) == 1 and misfits[0][0] in unsure and not (
            types[misfits[0][0]] == roles.get("place") and misfits[0][1] != roles.get("person"))

    def _misfits(self, relation: str, ends: tuple[str, str], types: dict[str, str], unsure: Set[str],
                 ) -> list[tuple[str, str]]:
        """The ends whose type the relation does not admit, each with the first type that it does."""
        known = self._compiled.relation_of[relation]
        return [(name, allowed[0]) for name, allowed in zip(ends, (known.domain, known.range), strict=True)
                if not self._compiled.accepts(types[name], allowed, unsure=name in unsure)]


def _entries(reading: Reading, finder: PredicationFinder, subject: str) -> Iterator[Predication]:
    """Entries of a list of roles: 'Plant manager, Lyon: Paul Weiss', 'CEO: Ada Blum' in a document on Acme."""
    for sentence in reading.sentences:
        match = _ENTRY.match(sentence.text)
        here = [m for m in reading.mentions if sentence.start <= m.start < sentence.end and not m.anaphor]
        if match is None:
            continue
        ends = sentence.start_char + match.end()
        after = [m for m in here if reading.doc[m.start].idx >= ends]
        if not after or reading.doc[after[0].start].idx != ends:
            continue
        yield from finder.role(match["role"], after[0], [m for m in here if reading.doc[m.start].idx < ends], subject)
