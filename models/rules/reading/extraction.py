"""The extraction half of the rules reasoner: from a chunk's text to entities, triples, attributes."""

import re
import threading
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field

from ....schemas.extraction import (
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
    ExtractionRequest,
)
from ....schemas.formats.loading import load_schema
from ....schemas.graph_schema import GraphSchema
from ....text.sentences import split_sentences
from ....text.values import find_values
from ...embedding.embedder import Embedder, Vectors, products
from .attributes import AttributeFinder, Described
from .chinese import ChineseMentions
from .coreference import AnaphorResolver, find_subject, unify_names
from .cues import CompiledSchema, Hit, compile_schema, fold, is_han, readable
from .english import EnglishMentions
from .entity_typing import EntityTyper
from .furnishing import broader, furnish, kinds_of
from .labels import relation_label
from .learned import LearnedReader
from .mentions import ANAPHORS, Mention, Sentence, Source, merge, quoted_mentions, title_mentions
from .openings import edition_mentions, opening_mention
from .phrases import Phrase, PhraseFinder
from .proposals import AttributeProposer
from .relations import RelationFinder, Triple
from .span_features import Reading, span_features
from .spans import Known, Span, find_spans, tokens_of
from .verbless import VerblessFinder, tail_mentions

OPEN_GUESSES = "general"
"""The seed whose types are guessed under an open schema."""

_LEAST_RELATION_SIMILARITY = 0.7
_PHRASES_KEPT = 20_000
_LONGEST_NAME = 200
_HAN_SHARE = 0.15
_NON_WORD = re.compile(r"\W+")


@dataclass(slots=True)
class _Prepared:
    """What is computed once for a schema: its compiled cues, vectors and phrases seen."""

    compiled: CompiledSchema
    typer: EntityTyper
    learned: LearnedReader
    relation_vectors: Vectors | None
    similar: dict[str, list[str]] = field(default_factory=dict)
    """Phrase -> relations whose description is near it, nearest first."""


class RulesExtractor:
    """Extracts by rules. Methods may be called from several threads at once."""

    def __init__(self, embedder: Embedder) -> None:
        """Keep the embedder; schemas are prepared when first seen.

        Args:
            embedder: for the few names and phrases that no cue decides.
        """
        self._embedder = embedder
        self._lock = threading.Lock()
        self._prepared: dict[str, _Prepared] = {}
        self._latest: tuple[GraphSchema, _Prepared] | None = None

    def extract(self, request: ExtractionRequest, schema: GraphSchema) -> Extraction:
        """The entities, triples and attributes that the rules find in one chunk.

        Args:
            request: the chunk's text with its document's title.
            schema: the schema in force. Under an open one types are guesses of the general seed,
                whose relations and attributes are used by their names where its cues stand.

        Returns:
            Names as written, in full where a short form or pronoun stands for them; every end of a
            triple is declared; every `evidence` is a sentence of the text, verbatim. A pure function
            of its arguments and the embedder.
        """
        prepared = self._prepare(schema)
        source, sentences, types, unsure = self._understand(request, prepared)
        readings = _readings(source, sentences, types, unsure)
        joins = PhraseFinder(source)
        triples: list[Triple] = []
        phrases: list[Phrase] = []
        for reading in readings:
            own = [t for t in reading.by_rule if not prepared.learned.decides(t.relation)]
            learned = prepared.learned.triples(reading, types)
            unsure.difference_update(name for t in learned for name in (t.head, t.tail))
            own.extend(learned)
            triples.extend(own)
            phrases.extend(joins.phrases(reading.sentence, own))
        triples = settle_types(triples, types, unsure, prepared.compiled)
        triples.extend(self._from_phrases(phrases, types, prepared, is_open=schema.open))
        attributes = self._attributes(source, sentences, types)
        return _assemble(source, sentences, types, triples, attributes)

    def candidates(self, request: ExtractionRequest, schema: GraphSchema, known: Known,
                   ) -> list[tuple[Span, list[str]]]:
        """The parts of a text that may be names or terms, each with what is seen of it: what is learned from.

        Args:
            request: as for `extract`.
            schema: a bounded schema.
            known: terms that are candidates wherever they stand, in place of those of the schema.
        """
        source, sentences, types, unsure = self._understand(request, self._prepare(schema))
        return [candidate for reading in _readings(source, sentences, types, unsure)
                for spans in (find_spans(source, reading.sentence, reading.tokens, known),)
                for candidate in zip(spans, span_features(reading, spans), strict=True)]

    @staticmethod
    def _understand(request: ExtractionRequest, prepared: _Prepared,
                    ) -> tuple[Source, list[Sentence], dict[str, str], set[str]]:
        """The chunk with its sentences, their mentions named, the type of every name, and which types are guesses."""
        source = Source(request.text, fold(request.text), request.title, prepared.compiled)
        sentences = find_mentions(source)
        subject = find_subject(source, sentences)
        unify_names(sentences, subject, prepared.compiled)
        types, unsure = prepared.typer.types(source, sentences, subject)
        AnaphorResolver(prepared.compiled, types, subject).resolve(sentences)
        return source, sentences, types, unsure

    def _prepare(self, schema: GraphSchema) -> _Prepared:
        """What belongs to a schema: found by the object itself, which is quick, else by its content."""
        latest = self._latest
        if latest is not None and latest[0] is schema:
            return latest[1]
        with self._lock:
            key = schema.model_dump_json()
            known = self._prepared.get(key)
            if known is None:
                guesses = load_schema(OPEN_GUESSES) if schema.open else furnish(schema)
                texts = [f"{readable(r.name)}: {r.description}" for r in guesses.relation_types]
                compiled = compile_schema(guesses, kinds_of(guesses), broader)
                known = _Prepared(compiled, EntityTyper(compiled, self._embedder), LearnedReader(compiled),
                                  self._embedder.encode(texts) if texts else None)
                self._prepared[key] = known
            self._latest = (schema, known)
            return known

    def _from_phrases(self, phrases: Sequence[Phrase], types: dict[str, str], prepared: _Prepared,
                      *, is_open: bool) -> list[Triple]:
        """Phrases as the schema's nearest relation where one fits, else under their own words."""
        if not is_open:
            self._compare([p.words for p in phrases], prepared)
        triples = []
        for phrase in phrases:
            near = [] if is_open else [r for r in prepared.similar.get(phrase.words, ()) if
                                       prepared.compiled.fits(types[phrase.head], r, types[phrase.tail])]
            if near and prepared.learned.decides(near[0]):
                continue
            label = (near[0], False) if near else relation_label(phrase.words)
            if label:
                head, tail = (phrase.tail, phrase.head) if label[1] else (phrase.head, phrase.tail)
                relation = _NON_WORD.sub("_", label[0]).strip("_")
                triples.append(Triple(head, relation, tail, phrase.confidence, phrase.sentence))
        return triples

    def _compare(self, words: Iterable[str], prepared: _Prepared) -> None:
        """Fill `prepared.similar` for phrases not seen before, in one call of the embedder."""
        fresh = sorted({w for w in words if w not in prepared.similar})
        if not fresh or prepared.relation_vectors is None:
            return
        names = [r.name for r in prepared.compiled.schema.relation_types]
        similarity = products(self._embedder.encode(fresh), prepared.relation_vectors)
        with self._lock:
            if len(prepared.similar) + len(fresh) > _PHRASES_KEPT:
                prepared.similar.clear()
            for row, phrase in zip(similarity, fresh, strict=True):
                near = sorted((-float(s), name) for s, name in zip(row, names, strict=True))
                prepared.similar[phrase] = [name for s, name in near if -s >= _LEAST_RELATION_SIMILARITY]

    @staticmethod
    def _attributes(source: Source, sentences: Sequence[Sentence], types: dict[str, str]) -> list[Described]:
        finder, proposer = AttributeFinder(source, types), AttributeProposer(source, types)
        hits = list(source.compiled.attributes.find(source.folded))
        found: list[Described] = []
        for sentence in sentences:
            known = list(finder.find(sentence, _within(hits, sentence)))
            found.extend((*known, *proposer.propose(sentence, known)))
        return found


def _readings(source: Source, sentences: Sequence[Sentence], types: dict[str, str], unsure: Set[str]) -> list[Reading]:
    """The sentences with what the schema's cues say of them, before any type is settled."""
    finder, verbless = RelationFinder(source, types, unsure), VerblessFinder(source, types, unsure)
    by_rule = [(*finder.triples(sentence), *verbless.triples(sentence)) for sentence in sentences]
    told, guessed = dict(types), frozenset(unsure)
    return [Reading(source, sentence, tokens_of(source, sentence), told, guessed, triples)
            for sentence, triples in zip(sentences, by_rule, strict=True)]


def find_mentions(source: Source) -> list[Sentence]:
    """The chunk's sentences with their mentions, values and relation cues; nothing resolved yet.

    Args:
        source: the chunk.
    """
    values = find_values(source.text)
    hits = list(source.compiled.relations.find(source.folded))
    sentences = [Sentence(start, end, han=_is_han(source.text[start:end]))
                 for start, end in split_sentences(source.text)]
    english = EnglishMentions(source, sentences)
    chinese = ChineseMentions(source, sentences)
    roles = source.compiled.types.roles
    for i, sentence in enumerate(sentences):
        sentence.values = [v for v in values if sentence.start <= v.start and v.end <= sentence.end]
        sentence.hits = _within(hits, sentence)
        as_values = [Mention(v.start, v.end, v.text, "value", v.kind) for v in sentence.values if v.kind in roles]
        found = chinese.find(i) if sentence.han else english.find(i)
        found = [m for m in found if not any(v.start <= m.start and m.end <= v.end for v in sentence.values)]
        sentence.mentions = [m for m in merge(title_mentions(source, sentence), quoted_mentions(source, sentence),
                                              tail_mentions(source, sentence), as_values,
                                              opening_mention(source, sentence),
                                              edition_mentions(source, sentence), found)
                             if m.end - m.start <= _LONGEST_NAME]
        sentence.values = [v for v in sentence.values if not any(
            m.kind != "value" and m.start <= v.start and v.end <= m.end for m in sentence.mentions)]
    return sentences


def settle_types(triples: Sequence[Triple], types: dict[str, str], unsure: Set[str],
                 compiled: CompiledSchema) -> list[Triple]:
    """Give names that stand in triples the type of their kind that the surest of these asks for.

    Args:
        triples: whose ends are of an admitted type or of the kind of one.
        types: name -> type; changed in place.
        unsure: the names whose type is a guess.
        compiled: the schema.

    Returns:
        The triples that fit the types so settled, in their order.
    """
    settled: set[str] = set()
    for triple in sorted(triples, key=lambda t: -t.confidence):
        relation = compiled.relation_of[triple.relation]
        for name, allowed in ((triple.head, relation.domain), (triple.tail, relation.range)):
            if name not in settled and not compiled.schema.is_a(types[name], allowed):
                kin = compiled.bare if name in unsure else compiled.types.kin.get(types[name], frozenset())
                types[name] = next((kind for kind in allowed if kind in kin), types[name])
            settled.add(name)
    return [t for t in triples if compiled.fits(types[t.head], t.relation, types[t.tail])]


def _is_han(text: str) -> bool:
    return sum(map(is_han, text)) > _HAN_SHARE * len(text)


def _within(hits: list[list[Hit]], sentence: Sentence) -> list[list[Hit]]:
    inside = ([h for h in group if h.end <= sentence.end] for group in hits
              if sentence.start <= group[0].start < sentence.end)
    return [group for group in inside if group]


def _assemble(source: Source, sentences: Sequence[Sentence], types: dict[str, str],
              triples: Sequence[Triple], attributes: Sequence[Described]) -> Extraction:
    """The extraction in the order of the text; of equal facts the surest stays."""
    spoken = [m.name for s in sentences for m in s.mentions if m.kind not in ANAPHORS]
    used = [name for t in triples for name in (t.head, t.tail)] + [a.entity for a in attributes]
    names = [name for name in dict.fromkeys([*spoken, *used]) if name.strip()]
    best: dict[tuple[str, str, str], Triple] = {}
    for triple in triples:
        key = (triple.head, triple.relation, triple.tail)
        if key not in best or best[key].confidence < triple.confidence:
            best[key] = triple
    described: dict[tuple[str, str, str], Described] = {}
    for found in attributes:
        described.setdefault((found.entity, found.attribute, found.value), found)
    return Extraction(
        entities=tuple(ExtractedEntity(name=name, type=types[name][:100]) for name in names),
        triples=tuple(ExtractedTriple(head=t.head, relation=t.relation, tail=t.tail, confidence=t.confidence,
                                      evidence=source.text[t.sentence.start : t.sentence.end])
                      for t in best.values()),
        attributes=tuple(ExtractedAttribute(entity=a.entity, attribute=a.attribute, value=a.value,
                                            confidence=a.confidence,
                                            evidence=source.text[a.sentence.start : a.sentence.end])
                         for a in described.values()),
    )
