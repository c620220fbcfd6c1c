"""The extraction half of the rules reasoner: from a chunk's text to entities, triples, attributes."""

import threading
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

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
from ...embedding.embedder import Embedder
from ...parsing.parser import Parser
from ..chinese.reader import ChineseReading, read_chinese
from ..parsed.candidates import Known
from ..parsed.reader import ParsedReader
from .cues import CompiledSchema, compile_schema, is_han
from .facts import Described, Triple
from .furnishing import broader, furnish, kinds_of
from .mentions import ANAPHORS

OPEN_GUESSES = "general"
"""The seed whose types are guessed under an open schema."""

_HAN_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What is computed once for a schema."""

    compiled: CompiledSchema
    reader: ParsedReader


class RulesExtractor:
    """Extracts by rules. Methods may be called from several threads at once."""

    def __init__(self, embedder: Embedder, parser: Parser | None = None) -> None:
        """Keep the models; schemas are prepared when first seen.

        Args:
            embedder: for the few names that nothing else gives a type.
            parser: of the texts; None for one of the installed pipelines.
        """
        self._embedder = embedder
        self._parser = parser or Parser()
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
            of its arguments and the models.
        """
        prepared = self._prepare(schema)
        text = request.text
        parsed = prepared.reader.read(request, lambda start, end: _is_han(text, (start, end)))
        chinese = read_chinese(request, [span for span in split_sentences(text) if _is_han(text, span)],
                               prepared.compiled)
        types, unsure = dict(parsed.types), set(parsed.unsure)
        _merge_types(types, unsure, chinese)
        triples = settle_types([*parsed.triples, *chinese.triples], types, unsure, prepared.compiled)
        spoken = [m.name for s in chinese.sentences for m in s.mentions if m.kind not in ANAPHORS]
        return _assemble(text, [*parsed.names, *spoken], types, [*triples, *parsed.proposed, *chinese.proposed],
                         [*parsed.attributes, *chinese.attributes])

    def candidates(self, request: ExtractionRequest, schema: GraphSchema, known: Known) -> list[tuple[str, list[str]]]:
        """The parts of a text that may be names or terms, each with what is seen of it: what is learned from.

        Args:
            request: as for `extract`.
            schema: a bounded schema.
            known: terms that are candidates wherever they stand, in place of those of the schema.
        """
        return self._prepare(schema).reader.candidates(request, known)

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
                compiled = compile_schema(guesses, kinds_of(guesses), broader)
                known = _Prepared(compiled, ParsedReader(compiled, self._embedder, self._parser))
                self._prepared[key] = known
            self._latest = (schema, known)
            return known


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


def _is_han(text: str, span: tuple[int, int]) -> bool:
    start, end = span
    return sum(map(is_han, text[start:end])) > _HAN_SHARE * (end - start)


def _merge_types(types: dict[str, str], unsure: set[str], chinese: ChineseReading) -> None:
    """Add the types of the names in Chinese sentences; what is told counts before a guess. In place."""
    for name, kind in chinese.types.items():
        if name not in types or (name in unsure and (name not in chinese.unsure or is_han(name[0]))):
            types[name] = kind
            unsure.discard(name)
            if name in chinese.unsure:
                unsure.add(name)


def _assemble(text: str, spoken: Iterable[str], types: dict[str, str], triples: Sequence[Triple],
              attributes: Sequence[Described]) -> Extraction:
    """The extraction in the order of the sentences; of equal facts the surest stays."""
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
                                      evidence=text[t.sentence.start : t.sentence.end])
                      for t in best.values()),
        attributes=tuple(ExtractedAttribute(entity=a.entity, attribute=a.attribute, value=a.value,
                                            confidence=a.confidence,
                                            evidence=text[a.sentence.start : a.sentence.end])
                         for a in described.values()),
    )
