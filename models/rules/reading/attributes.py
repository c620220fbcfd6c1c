"""Attribute values: dates, quantities and short texts beside the schema's cue words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ....schemas.graph_schema import AttributeType
from ....text.values import Value
from ..name_words import NATIONALITIES
from .arguments import Accepts, Clause
from .cues import NATIONALITY, Hit, fold
from .mentions import ANAPHORS, Mention, Sentence, Source

_LIFE = re.compile(r"\s*[(（](?P<life>[^()（）]{4,120})[)）]")
_SPAN = re.compile(r"\s*[–—－\-~至]+\s*")
_BIRTH_CUES = frozenset({"born", "出生"})
_DEATH_CUES = frozenset({"died", "逝世"})
_IS = re.compile(r"(?:\s*\([^()]{0,250}\))?,?\s+(?:is|was|became)\s+(?:an?|the)\s+(?P<words>[^,.;:()]{3,90})")
_HAN_IS = re.compile(r"(?:[（(][^（）()]{0,80}[)）])?(?:是|为)(?:一[位名个])?(?P<words>[^，。；,;是为]{2,48})")
_CLAUSE = re.compile(
    r"\s+(?:who|which|that|whose|where|when|from|in|for|with|at|by|known|born|best|of|on|after|"
    r"and\s+(?:one|the|an?|later|former))\b")
_TEXT_VALUE = re.compile(
    r"\s*(?:by\s+the\s+name\s+(?:of\s+)?|as\s+)?[\"“‘《「*]?"
    r"(?P<words>[^,.;:()\"”“《》」*，。；：（）\n]{2,60})")
_TEXT_END = re.compile(
    r"\s+(?:and|or|in|by|for|which|who|is|was|because|after|until|when|from|to|on|due|since|as|with)\s")
_FILLER = re.compile(
    r"\b(?:of|is|was|were|about|approximately|around|over|nearly|almost|roughly|some|a|an|the|in|on|at|to|by|and|"
    r"more|than|just|only|total|up|reached|stood|totalled|totaled|since|from|has|had|its|are|early|late|officially|"
    r"originally|first|during|year|years|under|until|back)\b|[为是达到了约有共计于在的至：:逾超过近,，\s]")
_LONGEST_GAP = 70
_MOST_FILLER = 2
_HAN_GAP = 6
_LONGEST_TEXT = 8
_IS_CUES = frozenset({"is a", "was a", "is an", "was an", "is the", "was the", "是", "是一位", "是一名",
                      "is one of", "was one of"})


@dataclass(frozen=True, slots=True)
class Described:
    """An attribute's value for an entity, with the sentence it was read in."""

    entity: str
    attribute: str
    value: str
    confidence: float
    sentence: Sentence


class AttributeFinder:
    """Reads attribute values out of the sentences of one chunk."""

    def __init__(self, source: Source, types: dict[str, str]) -> None:
        """Take the chunk and the types of its names."""
        self._source = source
        self._types = types
        self._attributes = source.compiled.attribute_of
        self._birth = self._with_cue(_BIRTH_CUES)
        self._death = self._with_cue(_DEATH_CUES)

    def _with_cue(self, cues: frozenset[str]) -> AttributeType | None:
        return next((a for a in self._attributes.values() if a.kind == "date" and cues & set(a.rules.all_cues())), None)

    def find(self, sentence: Sentence, hits: list[list[Hit]]) -> Iterator[Described]:
        """The attributes that a sentence gives.

        Args:
            sentence: with resolved mentions.
            hits: the attribute cues in it.
        """
        for mention in sentence.mentions:
            if mention.kind not in ANAPHORS:
                yield from self._life_dates(sentence, mention)
        yield from self._complement(sentence)
        for group in hits:
            for hit in group:
                found = [d for name, _ in hit.elements if (d := self._of_hit(sentence, hit, self._attributes[name]))]
                if found:
                    yield from found
                    break

    def _owns(self, attribute: AttributeType) -> Accepts:
        is_a = self._source.compiled.schema.is_a
        return lambda mention: is_a(self._types.get(mention.name, ""), attribute.owners)

    def _life_dates(self, sentence: Sentence, mention: Mention) -> Iterator[Described]:
        """'(7 November 1867 – 4 July 1934)' after a name: born and died."""
        match = _LIFE.match(self._source.text, mention.end, sentence.end)
        if not match:
            return
        dates = [v for v in sentence.values if v.kind == "date" and match.start() <= v.start < match.end()]
        pair = (self._birth, self._death)
        if len(dates) == 1:
            ends = _SPAN.split(dates[0].text)
            if len(ends) == 2 and all(len(end) >= 4 for end in ends):  # noqa: PLR2004 - '1867–1934'
                texts = ends
            else:
                return
        elif len(dates) == 2 and _SPAN.search(self._source.text, dates[0].end, dates[1].start):  # noqa: PLR2004
            texts = [value.text for value in dates]
        else:
            return
        for attribute, text in zip(pair, texts, strict=True):
            if attribute and self._owns(attribute)(mention):
                yield Described(mention.name, attribute.name, text.strip(), 0.92, sentence)

    def _complement(self, sentence: Sentence) -> Iterator[Described]:
        """'is a Polish physicist who ...': what the subject is said to be, and of which people."""
        subject = sentence.mentions[0] if sentence.mentions else None
        if subject is None:
            return
        pattern = _HAN_IS if sentence.han else _IS
        match = pattern.match(self._source.text, subject.end, sentence.end)
        if not match:
            return
        words = _CLAUSE.split(match["words"], maxsplit=1)[0].strip()
        if sentence.han:
            words = words.rsplit("的", 1)[-1]
        for attribute in self._attributes.values():
            cues = set(attribute.rules.all_cues())
            if attribute.kind != "text" or not self._owns(attribute)(subject):
                continue
            if NATIONALITY in cues:
                people = next((w for w in words.split() if w.casefold() in NATIONALITIES), "")
                if people:
                    yield Described(subject.name, attribute.name, people, 0.85, sentence)
            if cues & _IS_CUES and len(words.split()) <= _LONGEST_TEXT and words:
                yield Described(subject.name, attribute.name, words, 0.8, sentence)

    def _of_hit(self, sentence: Sentence, hit: Hit, attribute: AttributeType) -> Described | None:
        if hit.phrase in _IS_CUES or hit.phrase == NATIONALITY or self._inside_name(sentence, hit):
            return None
        if attribute.kind == "text":
            return self._text_value(sentence, hit, attribute)
        value, confidence = self._value_near(sentence, hit, attribute)
        if value is None:
            return None
        owner = self._owner(sentence, hit, value, attribute)
        if owner is None:
            return None
        sure = confidence * (0.94 if owner.kind in ANAPHORS else 1.0)
        return Described(owner.name, attribute.name, value.text.strip(), round(sure, 2), sentence)

    @staticmethod
    def _inside_name(sentence: Sentence, hit: Hit) -> bool:
        return any(m.start <= hit.start and hit.end <= m.end for m in sentence.mentions if m.kind not in ANAPHORS)

    def _value_near(self, sentence: Sentence, hit: Hit, attribute: AttributeType) -> tuple[Value | None, float]:
        """The value that the cue leads to, or of which it is the unit ('500 inhabitants')."""
        values = [v for v in sentence.values if v.kind == attribute.kind]
        unit = next((v for v in values if v.start < hit.start and hit.end <= v.end + 1), None)
        if unit:
            return unit, 0.85
        after = next((v for v in values if v.start >= hit.end), None)
        if after and after.start - hit.end <= _LONGEST_GAP:
            gap = self._bare_gap(sentence, hit.end, after.start)
            close = len(gap) <= _HAN_GAP if sentence.han else len(gap.split()) <= _MOST_FILLER
            if close:
                return after, 0.75 if gap else 0.9
        before = next((v for v in reversed(values) if v.end <= hit.start), None)
        if before and (attribute.kind == "number" or sentence.han):
            gap = self._bare_gap(sentence, before.end, hit.start)
            if len(gap) <= (_HAN_GAP if sentence.han else 0):
                return before, 0.75
        return None, 0.0

    def _bare_gap(self, sentence: Sentence, start: int, end: int) -> str:
        """What stands between, without mentions and filling words; a stop where a clause ends."""
        text = self._source.folded[start:end]
        for mention in sentence.mentions:
            if start <= mention.start and mention.end <= end:
                text = text.replace(self._source.folded[mention.start : mention.end], " ")
        if re.search(r"[;；。]|\b(?:who|which|and|but|when|where)\b", text):
            return "x" * _LONGEST_GAP if not sentence.han else text + "x" * _HAN_GAP
        return _FILLER.sub(" ", text).strip() if not sentence.han else _FILLER.sub("", text)

    def _owner(self, sentence: Sentence, hit: Hit, value: Value, attribute: AttributeType) -> Mention | None:
        """The one described: before the cue, or between it and the value ('founded Apple in 1976')."""
        owns = self._owns(attribute)
        between = [m for m in sentence.mentions if hit.end <= m.start and m.end <= value.start and owns(m)]
        start = min(hit.start, value.start)
        subject = Clause(self._source, sentence, start, max(hit.end, value.start)).subject(owns).mentions
        if subject:
            return subject[-1] if len(subject) == 1 else subject[0]
        return between[0] if between else None

    def _text_value(self, sentence: Sentence, hit: Hit, attribute: AttributeType) -> Described | None:
        own_name = hit.phrase not in {fold(cue) for cue in attribute.rules.all_cues()}
        if own_name and not re.match(r"\s*[:：是]", self._source.text[hit.end : hit.end + 3]):
            return None
        match = _TEXT_VALUE.match(self._source.text, hit.end, sentence.end)
        if not match:
            return None
        words = match["words"].strip()
        if not sentence.han:
            words = _TEXT_END.split(words, maxsplit=1)[0]
        subject = Clause(self._source, sentence, hit.start, hit.end).subject(self._owns(attribute)).mentions
        if not subject or not words or len(words.split()) > _LONGEST_TEXT or words == subject[-1].name:
            return None
        return Described(subject[-1].name, attribute.name, words, 0.75, sentence)
