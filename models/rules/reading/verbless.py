"""Triples that no verb between two names carries: by what the subject is said to be, a known term, or types alone.

The cues for these are marks: `{noun}`, `{modifier}`, `=term`, `~`.
"""

import re
from collections.abc import Iterator, Set
from itertools import pairwise

from ....schemas.graph_schema import ANY
from ..lexicon import words
from ..name_words import NATIONALITIES
from .arguments import grammatical_subject
from .cues import MODIFIER, NOUN, SUFFIX, TERM_IS_TAIL, TYPES_SUFFICE, CompiledSchema, Hit, fold
from .mentions import ANAPHORS, Mention, Sentence, Source
from .relations import Triple

_COMPLEMENT = re.compile(
    r"(?<![^\s,)])(?:is|was|are|were|became)\s+(?:an?|the|one\s+of\s+the)\s+(?P<words>[^.;:()]{3,140})")
_PHRASE_END = re.compile(
    r",|\s(?:of|in|for|by|from|at|on|who|which|that|whose|where|when|with|to|and\s(?:the|an?)|[^\W\d_]+ed|written|"
    r"made|set|starring|featuring|between|during|as|best|now)\b")
_WORD = re.compile(r"(?<!\w)[^\W\d_][\w'’-]*(?:\s['’]s)?")
_STATUS = words(
    "former retired professional amateur late famous notable prominent leading successful current international "
    "national young old first second third fourth fifth sixth seventh eighth ninth tenth debut final last only new "
    "upcoming short full-length feature-length feature live popular well-known independent black-and-white silent "
    "colour color low-budget direct-to-video made-for-television")
"""Adjectives of standing, order and make: they say nothing of what kind a thing is."""

_SURE_TERM = 0.7
_SURE_COMPLEMENT = 0.75
_SURE_TYPES = 0.5


def tail_mentions(source: Source, sentence: Sentence) -> list[Mention]:
    """The words in a sentence that are a relation's tail by its vocabulary or by what the subject is said to be."""
    found = [_term(source, group[0].start, group[0].end, group[0].elements[0][0])
             for group in source.compiled.terms.find(source.folded, sentence.start, sentence.end)]
    return [*found, *(mention for _, mention in _complements(source, sentence))]


def _complements(source: Source, sentence: Sentence) -> Iterator[tuple[str, Mention]]:
    """(mark, mention) for the noun and the modifiers of 'is a Kenyan long-distance runner'."""
    marked = source.compiled.marked
    if sentence.han or not (marked[NOUN] or marked[MODIFIER]):
        return
    match = _COMPLEMENT.search(source.folded, sentence.start, sentence.end)
    if match is None:
        return
    end = _PHRASE_END.search(match["words"])
    phrase = match["words"][: end.start()] if end else match["words"]
    start = match.start("words")
    spans = [(start + w.start(), start + w.end()) for w in _WORD.finditer(phrase)]
    text = source.text
    while spans and (source.folded[slice(*spans[0])] in NATIONALITIES | _STATUS or text[spans[0][0]].isupper()):
        del spans[0]
    if any(b - a > 1 for (_, a), (b, _) in pairwise(spans)):
        return
    head = next((i for i in range(len(spans) - 1, -1, -1)
                 if source.compiled.types.of_word(source.folded[slice(*spans[i])])), None)
    if marked[NOUN] and spans:
        yield NOUN, _term(source, spans[0][0], spans[-1][1], marked[NOUN][0])
    elif marked[MODIFIER] and head:
        yield MODIFIER, _term(source, spans[0][0], spans[head - 1][1], marked[MODIFIER][0])


def _term(source: Source, start: int, end: int, relation: str) -> Mention:
    """A mention of a term, hinting at the one type that the relation leads to."""
    allowed = source.compiled.relation_of[relation].range
    hint = allowed[0] if len(allowed) == 1 and ANY not in allowed else ""
    return Mention(start, end, source.text[start:end], "term", hint)


class VerblessFinder:
    """Reads such triples out of the sentences of one chunk."""

    def __init__(self, source: Source, types: dict[str, str], unsure: Set[str]) -> None:
        """Take the chunk, the types of its names, and the names whose type is a guess."""
        self._unsure = unsure
        self._source = source
        self._compiled: CompiledSchema = source.compiled
        self._types = types

    def triples(self, sentence: Sentence) -> Iterator[Triple]:
        """The triples of a sentence: by complements, by terms, by the endings of names, by types."""
        for mark, term in _complements(self._source, sentence):
            if term in sentence.mentions:
                for relation in self._compiled.marked[mark]:
                    yield from self._of_tail(sentence, relation, term, _SURE_COMPLEMENT, mark)
        for group in self._compiled.terms.find(self._source.folded, sentence.start, sentence.end):
            hit = group[0]
            for relation, _ in hit.elements:
                yield from self._of_tail(sentence, relation, self._tail(relation, hit), _SURE_TERM,
                                         TERM_IS_TAIL + hit.phrase)
        for name in sentence.mentions:
            if name.kind not in ANAPHORS:
                yield from self._of_name(sentence, name)

    def _of_name(self, sentence: Sentence, name: Mention) -> Iterator[Triple]:
        """The triples that a name is the tail of by its last word, or by a type that is told."""
        ending = fold(name.name.split()[-1])
        for relation in self._compiled.endings.get(ending, ()):
            if self._fits(relation, name, head=False, guesses=True):
                yield from self._of_tail(sentence, relation, name, _SURE_TERM, TERM_IS_TAIL + SUFFIX + ending)
        if name.name in self._unsure:
            return
        for relation in self._compiled.marked[TYPES_SUFFICE]:
            allowed = self._compiled.relation_of[relation].range
            if self._compiled.schema.is_a(self._types.get(name.name, ""), allowed):
                yield from self._of_tail(sentence, relation, name, _SURE_TYPES, TYPES_SUFFICE)

    def _tail(self, relation: str, hit: Hit) -> Mention:
        """A relation's own term as a mention; inside a longer name it is an entity too ('English Premier League')."""
        term = _term(self._source, hit.start, hit.end, relation)
        types = self._compiled.types
        self._types.setdefault(term.name, term.hint or types.fallback)
        return term

    def _of_tail(self, sentence: Sentence, relation: str, tail: Mention, confidence: float,
                 cue: str) -> Iterator[Triple]:
        """The tail with the sentence's subject for head, else with the nearest mention that fits."""
        others = [m for m in sentence.mentions if m.name != tail.name and m.kind != "term"]
        fitting = ([m for m in others if self._fits(relation, m, head=True)]
                   or [m for m in others if self._fits(relation, m, head=True, guesses=True)])
        first = grammatical_subject(self._source.folded, sentence)
        if not fitting:
            return
        head = first if first in fitting else min(fitting, key=lambda m: (abs(m.start - tail.start), m.start))
        if head is not None:
            yield Triple(head.name, relation, tail.name, confidence, sentence, cue)

    def _fits(self, relation: str, mention: Mention, *, head: bool, guesses: bool = False) -> bool:
        known = self._compiled.relation_of[relation]
        return self._compiled.accepts(self._types.get(mention.name, ""), known.domain if head else known.range,
                                      unsure=guesses and mention.name in self._unsure)
