"""Reads the Chinese sentences of one chunk."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from ....schemas.extraction import ExtractionRequest
from ....text.values import find_values
from ...parsing.chinese import load_tagger
from ..reading.cues import CompiledSchema, Hit, fold
from ..reading.facts import Described, Triple
from ..reading.mentions import Mention, Sentence, Source
from .attributes import AttributeReader, is_heading
from .mentions import ChineseMentions, ChineseSentence
from .relations import RelationReader
from .resolution import AnaphorResolver, find_subject, type_names, unify_names
from .syntax import Clause, clauses

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ChineseReading:
    """What the Chinese sentences of a chunk say."""

    sentences: Sequence[Sentence]
    """Their mentions, resolved, in the order of the text."""

    types: dict[str, str]
    """Name -> type."""

    unsure: set[str]
    """The names whose type is a guess."""

    triples: list[Triple]
    """By relations of the schema."""

    proposed: list[Triple]
    """Under their own verb."""

    attributes: list[Described]


def read_chinese(request: ExtractionRequest, spans: Sequence[tuple[int, int]],
                 compiled: CompiledSchema) -> ChineseReading:
    """The names, triples and attributes of the Chinese sentences of a chunk.

    Args:
        request: the chunk's text with its document's title.
        spans: (start, end) in characters of its sentences in Chinese, in order.
        compiled: the schema in force.

    Returns:
        Every end of a triple and every owner of an attribute has a type; evidence is the sentence. A
        pure function of its arguments.

    Raises:
        ParsingError: the Chinese model is missing or altered.
    """
    if not spans:
        return ChineseReading((), {}, set(), [], [], [])
    source = Source(request.text, fold(request.text), request.title, compiled)
    sentences, finder = _find_mentions(source, spans)
    subject = find_subject(source, finder.title, sentences)
    about = subject.name if subject else ""
    unify_names(sentences, about, finder.alias)
    types, unsure = type_names(source, sentences, subject)
    AnaphorResolver(source, types, about, finder.roles).resolve(sentences)
    reading = ChineseReading(sentences, types, unsure, [], [], [])
    _Facts(source, reading, finder.alias).read(about)
    return reading


def _find_mentions(source: Source, spans: Sequence[tuple[int, int]]) -> tuple[list[ChineseSentence], ChineseMentions]:
    """The sentences with their words, mentions, values and relation cues; nothing resolved yet."""
    tagger = load_tagger()
    (title,) = tagger.tag(source.title, [(0, len(source.title))]) if source.title else ([],)
    sentences = [ChineseSentence(start, end, han=True, words=words)
                 for (start, end), words in zip(spans, tagger.tag(source.text, spans), strict=True)]
    finder = ChineseMentions(source, sentences, title)
    values = _Ordered(find_values(source.text), lambda value: value.start)
    hits = _by_start(list(source.compiled.relations.find(source.folded)))
    roles = source.compiled.types.roles
    for i, sentence in enumerate(sentences):
        sentence.hits = hits.within(sentence)
        own = values.within(sentence)
        names = finder.find(i, sentence)
        names = [m for m in names if m.kind == "quoted" or not any(v.start <= m.start and m.end <= v.end for v in own)]
        inside = {place for m in names for place in range(m.start, m.end)}
        sentence.values = [v for v in own if v.start not in inside]
        as_values = [Mention(v.start, v.end, v.text, "value", v.kind) for v in sentence.values if v.kind in roles]
        sentence.mentions = sorted((*names, *as_values), key=lambda m: m.start)
    return sentences, finder


class _Facts:
    """Reads sentence after sentence, with what each clause speaks of."""

    def __init__(self, source: Source, reading: ChineseReading, aliases: dict[str, str]) -> None:
        self._reading = reading
        self._compiled = source.compiled
        self._text = source.text
        self._relations = RelationReader(source.compiled, reading.types)
        self._attributes = AttributeReader(source, reading.types, aliases)
        self._hits = _by_start(list(source.compiled.attributes.find(source.folded)))
        self._topic: Mention | None = None

    def read(self, subject: str) -> None:
        """Fill the reading; `subject` is what the document is about, or ""."""
        self._topic = Mention(0, 0, subject, "pronoun") if subject else None
        self._attributes.record = self._topic
        for sentence in self._reading.sentences:
            if isinstance(sentence, ChineseSentence):
                self._sentence(sentence)

    def _sentence(self, sentence: ChineseSentence) -> None:
        parts = list(clauses(sentence, self._text))
        hits = _by_start(self._hits.within(sentence))
        cues = _by_start(sentence.hits)
        described = list(self._attributes.of_names(sentence))
        main: Mention | None = None
        before = self._topic
        for at, clause in enumerate(parts):
            opening = clause.opening()
            introduced = bool(opening) and self._relations.introduces(clause, opening[0])
            is_value = self._attributes.knows(clause.tokens[0].text)
            clause.topic, clause.same_sentence = (main or before) if introduced else self._topic, main is not None
            if is_heading(clause):
                described.extend(self._attributes.headed(sentence, clause, list(_content(parts, at + 1))))
            triples = self._relations.triples(sentence, clause, cues.within(clause))
            triples.extend(self._relations.proposed(sentence, clause, triples))
            for triple in triples:
                known_to_schema = triple.relation in self._compiled.relation_of
                (self._reading.triples if known_to_schema else self._reading.proposed).append(triple)
            known = list(self._attributes.known(sentence, clause, hits.within(clause)))
            described.extend((*known, *self._attributes.proposed(sentence, clause, described + known)))
            if opening and not is_value and clause.speaks_of(opening[-1]):
                self._topic = replace(opening[0], kind="pronoun")
                main = main if introduced else main or self._topic
        self._reading.attributes.extend(described)
        self._topic = main or before


def _content(parts: Sequence[Clause], at: int) -> Iterator[Clause]:
    """The clauses of a heading: up to a gap or a semicolon."""
    for clause in parts[at:]:
        yield clause
        if clause.after in {" ", "；", ";", "。", "：", ":"}:
            return


class _Ordered(Generic[T]):
    """Items in the order of the text, found by place."""

    def __init__(self, items: Sequence[T], start: Callable[[T], int]) -> None:
        self._items = items
        self._starts = [start(item) for item in items]

    def within(self, part: Sentence | Clause) -> list[T]:
        """The items that begin in a sentence or clause."""
        return list(self._items[bisect_left(self._starts, part.start) : bisect_left(self._starts, part.end)])


def _by_start(hits: Sequence[list[Hit]]) -> _Ordered[list[Hit]]:
    return _Ordered(hits, lambda group: group[0].start)
