"""What stands on the two sides of a cue: the mentions that can be a verb's subject and object."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..name_words import (
    AUXILIARIES,
    CHINESE_AGENT_MARKERS,
    CHINESE_MARKERS,
    DETERMINERS,
    PREPOSITIONS,
    SUBORDINATORS,
    VERB_FORMS,
)
from .mentions import Mention, Sentence, Source

Accepts = Callable[[Mention], bool]

_BRACKETS = re.compile(r"\([^()]*\)?|（[^（）]*）?|\[[^\[\]]*\]")
_RELATIVE_CLAUSE = re.compile(r",\s*(?:who|which|an?|the)\b[^,;]*,")
_LINK = re.compile(
    r"(?:[\s,\"”’']|['’]s\b|\b(?:who|which|that|was|is|were|are|has|had|have|been|be|being|also|later|then|"
    r"first|originally|the|a|an|currently|now|once|soon|subsequently|became|becomes|did|would|will|shall|can|could|may|might|to|"
    r"one of|both|jointly|famously|[^\W\d_]+ly)\b)*")
_AND = re.compile(r"\s*(?:,|&|,?\s*\b(?:and|or|with)\b|、|和|与|及|以及)?\s*(?:the\s+|by\s+)?[\"“《]?\s*")
_REAL_AND = re.compile(r"\s*(?:,|&|,?\s*\b(?:and|or)\b|、|和|与|及|以及)\s*(?:the\s+)?[\"”》“《]*\s*")
_STOP = re.compile(r";|\b(?:who|whom|whose|which|that|where|when|while|but|because|although|before|until|whereas|"
                   r"and (?:he|she|it|they|was|were|is|are|has|had|later|then))\b")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_HAN_STOP = re.compile(r"[，。；;！？]|,\s")
_HAN_FILL = re.compile(
    r"[了于在的曾又也并还已年被由其中首先共同主要成功正式地为和与及是后即则均都将所一家座名位]"
    r"|[、\s\"“”《》『』「」,，]|(?:首次|先后|同年|同时|目前|后来)")
_POSSESSED = re.compile(r"['’]s\s|(?:its|his|her|their|whose)\s")
_NAMED = re.compile(r",?\s+(?:(?:was|is|the|named|called|composer|fellow|[^\W\d_]+ist)\s+){0,3}[\"“‘]?")
_IS_A = re.compile(r"(?:\s*\([^()]*\))?\s+(?:is|was|are|were)\s+(?:an?|the|one of the)\s+[^,.;:()]{3,90}\s+")
_TIGHT = re.compile(
    r"\s+(?:the\s+)?(?:(?:city|town|state|province|village|county|district|country|region|heart|\w+ern)\s+"
    r"(?:of\s+)?)?")
_AFTER_COMMA = re.compile(r",\s+(?:the\s+)?$")
_LEAD_IN = 60
_REACH = 90
_HAN_REACH = 14
_MOST_WORDS = 6
_PATIENCE = 4


class Side(NamedTuple):
    """Mentions on one side of a cue, with how sure it is that they belong to it."""

    mentions: tuple[Mention, ...]
    confidence: float


NOTHING = Side((), 0.0)


class Clause:
    """A sentence as seen from one cue in it."""

    def __init__(self, source: Source, sentence: Sentence, start: int, end: int) -> None:
        """Take the cue's place in the chunk."""
        self._text = source.folded
        self._sentence = sentence
        self._start = start
        self._end = end
        before = [m for m in sentence.mentions if m.end <= start or m.start <= start < m.end]
        before = [m for m in before if not self._in_closed_bracket(m)]
        owner = before[-1] if before and before[-1].end >= start else None
        self._before = [m for m in before if m is owner or not self._owns_something(m)]
        self._broken = bool(before) and before[-1] is not owner and self._owns_something(before[-1])
        self._after = [m for m in sentence.mentions if m.start >= end]

    def _in_closed_bracket(self, mention: Mention) -> bool:
        """Whether a bracket closes between a mention and the cue that opened before the mention."""
        after = self._text[mention.end : self._start]
        return after.count(")") + after.count("）") > after.count("(") + after.count("（")

    def _owns_something(self, mention: Mention) -> bool:
        """Whether a mention is a possessor ('her', 'Curie's'): what it has is the subject, not itself."""
        return mention.kind == "possessive" or self._text[mention.end : mention.end + 2] in {"'s", "’s"}

    def subject(self, accepts: Accepts) -> Side:
        """The mentions before the cue that it speaks of."""
        if self._sentence.han:
            return self._han_subject(accepts)
        if self._text[self._start : self._end] in PREPOSITIONS:
            return self._preposition_subject(accepts)
        return self._english_subject(accepts)

    def object(self, accepts: Accepts, *, start: int | None = None) -> Side:
        """The mentions after the cue (or after `start`) that it leads to."""
        return self._han_object(accepts) if self._sentence.han else self._english_object(accepts, start)

    def _preposition_subject(self, accepts: Accepts) -> Side:
        """A bare preposition speaks of what stands directly before it, or of 'X is a town in'."""
        nearest = self._before[-1] if self._before else None
        if nearest and accepts(nearest) and not self._text[nearest.end : self._start].strip():
            return Side((nearest,), 0.85)
        first = grammatical_subject(self._text, self._sentence)
        if first and accepts(first) and _IS_A.fullmatch(self._text, first.end, self._start):
            return Side((first,), 0.92)
        return NOTHING

    def _english_subject(self, accepts: Accepts) -> Side:
        if self._broken:
            return NOTHING
        if not self._before:
            return self._subject_after_lead(accepts)
        nearest = self._before[-1]
        gap = self._gap(nearest.end, self._start)
        first = grammatical_subject(self._text, self._sentence)
        closes = gap.lstrip().startswith(",") and not re.match(r"\s*,\s*(?:who|which)\b", gap)
        if _LINK.fullmatch(gap) and accepts(nearest) and not (closes and first and first is not nearest
                                                              and accepts(first) and gap.strip(", ") != ""):
            return Side(self._joined(self._before, accepts), 0.92)
        if first and first in self._before and first.end <= self._start and accepts(first):
            return Side(self._joined_forward(first, accepts), 0.85)
        for mention in self._before[: -_PATIENCE - 1 : -1]:
            if accepts(mention) and self._start - mention.end < _REACH:
                return Side((mention,), 0.65)
        return NOTHING

    def _subject_after_lead(self, accepts: Accepts) -> Side:
        """'Released in 1994, the film ...': the subject comes after the comma."""
        if self._start - self._sentence.start > _LEAD_IN // 4:
            return NOTHING
        for mention in self._after[:_PATIENCE]:
            lead = _AFTER_COMMA.search(self._text, self._end, mention.start)
            if lead and accepts(mention) and mention.start - self._end <= _REACH:
                return Side((mention,), 0.8)
        return NOTHING

    def _english_object(self, accepts: Accepts, start: int | None) -> Side:
        begin = self._end if start is None else start
        if _POSSESSED.match(self._text, self._start):
            return self._possessed(accepts)
        after = [m for m in self._after if m.start >= begin]
        patience = 1 if self._text[self._start : self._end] in PREPOSITIONS else _PATIENCE
        for i, mention in enumerate(after[:patience]):
            gap = self._gap(begin, mention.start)
            if patience == 1 and not _TIGHT.fullmatch(gap):
                return NOTHING
            words = [w for w in _WORD.findall(gap) if w not in PREPOSITIONS and w not in DETERMINERS]
            if mention.start - begin > _REACH or _STOP.search(gap) or any(map(_is_verb, words)):
                return NOTHING
            if len(words) > _MOST_WORDS:
                return NOTHING
            vague = mention.kind == "description" and bool(words)
            if accepts(mention) and not vague and not self._owns_something(mention):
                sure = 0.98 - 0.05 * len(words) - 0.08 * i
                return Side(self._joined_after(after[i:], accepts), sure)
        return NOTHING

    def _possessed(self, accepts: Accepts) -> Side:
        """'her husband Pierre Curie': what is named must follow the noun at once."""
        first = self._after[0] if self._after else None
        if first and accepts(first) and _NAMED.fullmatch(self._text, self._end, first.start):
            return Side((first,), 0.95)
        return NOTHING

    def _gap(self, start: int, end: int) -> str:
        """The words between, without brackets, inserted clauses and values."""
        pieces = []
        at = start
        for value in self._sentence.values:
            if start <= value.start < end:
                pieces.append(self._text[at : value.start])
                at = max(at, value.end)
        pieces.append(self._text[at:end])
        bare = _BRACKETS.sub(" ", " ".join(pieces))
        return _RELATIVE_CLAUSE.sub(" ", bare)

    def _joined(self, before: Sequence[Mention], accepts: Accepts) -> tuple[Mention, ...]:
        """The last mention and those joined to it before: 'X and Y founded'."""
        joined = [before[-1]]
        for left in reversed(before[:-1]):
            if not _REAL_AND.fullmatch(self._text[left.end : joined[0].start]) or not accepts(left):
                break
            joined.insert(0, left)
        lists = len(joined) > 1 and "," not in self._text[joined[0].end : joined[1].start]
        return tuple(joined) if lists or len(joined) > 2 else (joined[-1],)  # noqa: PLR2004 - 'A, B' is no list

    def _joined_forward(self, first: Mention, accepts: Accepts) -> tuple[Mention, ...]:
        return self._joined_after([m for m in self._before if m.start >= first.start], accepts)

    def _joined_after(self, mentions: Sequence[Mention], accepts: Accepts) -> tuple[Mention, ...]:
        """The first mention and those joined to it after: 'X, Y and Z'; 'Paris, France' is one place."""
        joined = [mentions[0]]
        commas = 0
        for mention in mentions[1:]:
            between = self._text[joined[-1].end : mention.start]
            if not _REAL_AND.fullmatch(between) or not accepts(mention):
                break
            commas += between.strip() == ","
            joined.append(mention)
        only_commas = commas and commas == len(joined) - 1
        return (joined[0],) if only_commas else tuple(joined)

    def _han_subject(self, accepts: Accepts) -> Side:
        if self._before:
            nearest = self._before[-1]
            placed = self._text[max(nearest.start - 1, 0)] in "在于从经"
            if not self._bare(nearest.end, self._start) and accepts(nearest) and not placed:
                return Side(self._joined(self._before, accepts), 0.92)
            if self._text.startswith("的", self._end):
                return NOTHING
            first = grammatical_subject(self._text, self._sentence)
            if first and first.end <= self._start and accepts(first):
                return Side(self._joined_forward(first, accepts), 0.85)
            for mention in self._before[: -_PATIENCE - 1 : -1]:
                if accepts(mention) and not _HAN_STOP.search(self._text, mention.end, self._start):
                    return Side((mention,), 0.7)
        topic = None if self._text.startswith("的", self._end) else self._topic()
        return Side((topic,), 0.65) if topic and accepts(topic) else NOTHING

    def _topic(self) -> Mention | None:
        """What the sentence speaks of where its subject is left out, as Chinese may."""
        at = self._sentence.start
        return Mention(at, at, self._sentence.topic, "pronoun") if self._sentence.topic else None

    def _han_object(self, accepts: Accepts) -> Side:
        for i, mention in enumerate(self._after[:_PATIENCE]):
            gap = self._gap(self._end, mention.start)
            rest = _HAN_FILL.sub("", gap)
            if _HAN_STOP.search(gap.rstrip("，, ")) or len(rest) > _HAN_REACH:
                return NOTHING
            owner = self._text.startswith("的", mention.end) and any(
                accepts(m) and not _HAN_STOP.search(self._text, mention.end, m.start) for m in self._after[i + 1 :])
            if accepts(mention) and not owner:
                return Side(self._han_run(self._after[i:], accepts), 0.95 - 0.03 * len(rest) - 0.05 * i)
        return NOTHING

    def _han_run(self, mentions: Sequence[Mention], accepts: Accepts) -> tuple[Mention, ...]:
        """Objects joined by 、 or 和, or standing together as '浙江宁波' does."""
        joined = [mentions[0]]
        for mention in mentions[1:]:
            if not _AND.fullmatch(self._text[joined[-1].end : mention.start]) or not accepts(mention):
                break
            joined.append(mention)
        return tuple(joined)

    def _bare(self, start: int, end: int) -> str:
        return _HAN_FILL.sub("", self._gap(start, end))

    def preposed(self, accepts: Accepts) -> tuple[Side, bool]:
        """A Chinese object before its verb ('与乙公司签署', '由甲创立').

        Returns:
            The object, and whether its marker makes it the one who acts.
        """
        for mention in self._before[: -_PATIENCE - 1 : -1]:
            if _HAN_STOP.search(self._text, mention.end, self._start):
                break
            mark = self._text[mention.start - 1] if mention.start > self._sentence.start else ""
            near = len(self._bare(mention.end, self._start)) <= _HAN_REACH // 2
            if mark in CHINESE_MARKERS and near and accepts(mention):
                return Side((mention,), 0.85), mark in CHINESE_AGENT_MARKERS
        return NOTHING, False

    def subject_before(self, mention: Mention, accepts: Accepts) -> Side:
        """The mention before another one, at the head of the clause; else the sentence's topic."""
        earlier = [m for m in self._before if m.end <= mention.start and m.name != mention.name and accepts(m)]
        near = [m for m in earlier if not _HAN_STOP.search(self._text, m.end, mention.start)]
        first = grammatical_subject(self._text, self._sentence)
        if near or first in earlier:
            return Side((near[-1] if near else earlier[0],), 0.9)
        topic = self._topic()
        return Side((topic,), 0.65) if topic and topic.name != mention.name and accepts(topic) else NOTHING


def grammatical_subject(text: str, sentence: Sentence) -> Mention | None:
    """The mention that a sentence begins with, past a lead-in such as 'After the war, '."""
    if not sentence.mentions:
        return None
    opening = _WORD.search(text, sentence.start, sentence.end)
    mentions = sentence.mentions
    leads = opening is not None and opening.group() in SUBORDINATORS and mentions[0].start > opening.start()
    if leads and not sentence.han:
        comma = text.find(",", sentence.start, sentence.end)
        return next((m for m in mentions if m.start > comma), None) if comma >= 0 else None
    first = mentions[0]
    return first if first.start - sentence.start <= _LEAD_IN else None


def _is_verb(word: str) -> bool:
    return word in VERB_FORMS or word in AUXILIARIES or (word.endswith("ed") and len(word) > 4)  # noqa: PLR2004
