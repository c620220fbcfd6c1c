"""Triples: by the schema's cues between mentions."""

import re
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from functools import partial

from ..name_words import AUXILIARIES, PREPOSITIONS, VERB_FORMS
from .arguments import NOTHING, Accepts, Clause, Side
from .cues import CompiledSchema, Hit
from .mentions import ANAPHORS, Mention, Sentence, Source

_PASSIVE_BEFORE = re.compile(
    r"\b(?:was|were|is|are|been|being|be)\s+(?:\w+ly\s+|first\s+|also\s+|later\s+)?$")
_BY = re.compile(r"(?:\s+(?!by\b)[^\s,;()]+){0,7}?\s+by\b")
_PARTICIPLE = re.compile(r"(?:ed|en|wn|[nt]|un|ung|de|ld|ught)$")
_ASTRAY = re.compile(r"\s+(?:in|on|for|as|from|to|with|by|into|under)\b")
_LONGEST_NESTING = 4
_CHAIN = re.compile(r",\s+|\s*,?\s*(?P<list>\band\b|\bor\b|&)\s*(?:the\s+)?")
_ANAPHOR_FACTOR = 0.94
_PUNCTUATION = frozenset(",，(（")


@dataclass(frozen=True, slots=True)
class Triple:
    """A triple with the sentence it was read in."""

    head: str
    relation: str
    tail: str
    confidence: float
    sentence: Sentence
    cue: str = ""
    """The words of the cue that it was read by, folded."""


class RelationFinder:
    """Reads triples out of the sentences of one chunk."""

    def __init__(self, source: Source, types: dict[str, str], unsure: Set[str] = frozenset()) -> None:
        """Take the chunk, the types of its names, and the names whose type is a guess."""
        self._unsure = unsure
        self._source = source
        self._compiled: CompiledSchema = source.compiled
        self._types = types

    def triples(self, sentence: Sentence) -> list[Triple]:
        """The triples that the schema's cues give, in order."""
        found: list[Triple] = []
        free_from = -1
        last: list[Triple] = []
        for hits in sentence.hits:
            inside = hits[0].start < free_from
            if self._inside_name(sentence, hits[0]) or (inside and not self._says_more(hits[0], last)):
                continue
            for hit in hits:
                triples = list(self._of_hit(sentence, hit))
                if triples:
                    found.extend(triples)
                    free_from = max(free_from, hit.end)
                    last = triples
                    break
        return found

    def _says_more(self, hit: Hit, last: list[Triple]) -> bool:
        """Whether a cue inside the last one says another relation of the same ends ('written and directed by')."""
        said = {t.relation for t in last}
        ends = {(r.domain, r.range) for r in map(self._compiled.relation_of.__getitem__, said)}
        return any(name not in said and (r.domain, r.range) in ends for name, _ in hit.elements
                   for r in (self._compiled.relation_of[name],))

    @staticmethod
    def _inside_name(sentence: Sentence, hit: Hit) -> bool:
        return any(m.start <= hit.start and hit.end <= m.end for m in sentence.mentions if m.kind not in ANAPHORS)

    def _of_hit(self, sentence: Sentence, hit: Hit) -> Iterator[Triple]:
        """The triples of the first relation that fits, and of those of the same ends, which types cannot tell apart."""
        if hit.phrase in _PUNCTUATION:
            yield from self._of_mark(sentence, hit)
            return
        said: tuple[tuple[str, ...], tuple[str, ...], bool] | None = None
        for relation, inverse in hit.elements:
            known = self._compiled.relation_of[relation]
            ends = (known.domain, known.range, inverse)
            if said is not None and said != ends:
                continue
            left, right, flip = self._sides(sentence, hit, relation, inverse=inverse)
            heads, tails = (right, left) if flip else (left, right)
            made = [self._triple(sentence, head, relation, tail, heads.confidence * tails.confidence, hit.phrase)
                    for head in heads.mentions for tail in tails.mentions if head.name != tail.name]
            if made:
                yield from made
                said = ends

    def _triple(self, sentence: Sentence, head: Mention, relation: str, tail: Mention, confidence: float,
                cue: str) -> Triple:
        anaphors = sum(m.kind in ANAPHORS for m in (head, tail))
        sure = max(0.3, min(0.95, confidence)) * _ANAPHOR_FACTOR**anaphors
        return Triple(head.name, relation, tail.name, round(sure, 2), sentence, cue)

    def _accepts(self, relation: str, *, head: bool, guesses: bool = False) -> Accepts:
        allowed = self._ends(relation, head=head)
        accepts = self._compiled.accepts
        return lambda mention: accepts(self._types.get(mention.name, ""), allowed,
                                       unsure=guesses and mention.name in self._unsure)

    def _sides(self, sentence: Sentence, hit: Hit, relation: str, *, inverse: bool) -> tuple[Side, Side, bool]:
        """What stands left and right of the cue, and whether it reads tail to head."""
        clause = Clause(self._source, sentence, hit.start, hit.end)
        if sentence.han:
            return self._han_sides(clause, hit, relation, inverse=inverse)
        voice = self._voice(sentence, hit)
        if voice is None:
            return NOTHING, NOTHING, False
        flip = inverse != (voice > 0)
        subject = self._surest(clause.subject, relation, head=not flip)
        if not subject.mentions:
            return NOTHING, NOTHING, False
        if not voice and not flip and self._is_verb(hit) and self._goes_astray(hit, relation):
            return NOTHING, NOTHING, False
        target = self._surest(partial(clause.object, start=voice or None), relation, head=flip)
        return subject, target, flip

    def _surest(self, find: Callable[[Accepts], Side], relation: str, *, head: bool) -> Side:
        """What stands there among the names whose types are told; else among those whose types are guesses."""
        told = find(self._accepts(relation, head=head))
        if told.mentions or self._compiled.bare.isdisjoint(self._ends(relation, head=head)):
            return told
        return find(self._accepts(relation, head=head, guesses=True))

    def _ends(self, relation: str, *, head: bool) -> tuple[str, ...]:
        known = self._compiled.relation_of[relation]
        return known.domain if head else known.range

    @staticmethod
    def _is_verb(hit: Hit) -> bool:
        last = hit.phrase.rsplit(" ", 1)[-1]
        plain = last in VERB_FORMS or _PARTICIPLE.search(last) is not None
        return plain and last not in PREPOSITIONS and hit.phrase.split(" ", 1)[0] not in AUXILIARIES

    def _goes_astray(self, hit: Hit, relation: str) -> bool:
        """'signed in Maastricht': a preposition leads to no object, unless the relation ends in a place."""
        place = self._compiled.types.roles.get("place")
        allowed = self._compiled.relation_of[relation].range
        return place not in allowed and _ASTRAY.match(self._source.folded, hit.end) is not None

    def _voice(self, sentence: Sentence, hit: Hit) -> int | None:
        """0 for a cue to be read as it is, the place after 'by' for a passive, None for one without."""
        if not self._is_verb(hit):
            return 0
        by = _BY.match(self._source.folded, hit.end, sentence.end)
        passive = _PASSIVE_BEFORE.search(self._source.folded, max(sentence.start, hit.start - 30), hit.start)
        direct = by is not None and by.group().strip() == "by"
        if not passive and not direct:
            return 0
        return by.end() if by else None

    def _han_sides(self, clause: Clause, hit: Hit, relation: str, *, inverse: bool) -> tuple[Side, Side, bool]:
        left_accepts = self._accepts(relation, head=not inverse)
        right_accepts = self._accepts(relation, head=inverse)
        preposed, agent = clause.preposed(left_accepts)
        if preposed.mentions and agent:
            other = clause.object(right_accepts)
            if not other.mentions:
                other = clause.subject_before(preposed.mentions[0], right_accepts)
            return preposed, other, inverse
        target = clause.object(right_accepts)
        if target.mentions:
            return clause.subject(left_accepts), target, inverse
        if hit.phrase.startswith("的"):
            owner = clause.subject(left_accepts)
            other = clause.subject_before(owner.mentions[0], right_accepts) if owner.mentions else NOTHING
            return owner, other, inverse
        preposed, _ = clause.preposed(right_accepts)
        if not preposed.mentions:
            return NOTHING, NOTHING, inverse
        return clause.subject_before(preposed.mentions[0], left_accepts), preposed, inverse

    def _of_mark(self, sentence: Sentence, hit: Hit) -> Iterator[Triple]:
        """A cue that is a mark alone must be all that stands between: 'Warsaw, Poland'."""
        left = next((m for m in sentence.mentions if m.end == hit.start), None)
        right = next((m for m in sentence.mentions if m.start >= hit.end), None)
        if left is None or right is None or self._source.text[hit.end : right.start].strip():
            return
        if left.kind in ANAPHORS or right.kind in ANAPHORS or self._is_list(sentence, right):
            return
        for relation, inverse in hit.elements:
            head, tail = (right, left) if inverse else (left, right)
            fits = self._accepts(relation, head=True)(head) and self._accepts(relation, head=False)(tail)
            if fits and head.name != tail.name:
                yield Triple(head.name, relation, tail.name, 0.8, sentence, hit.phrase)
                return

    def _is_list(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether the commas around a mention list rather than nest: they lead to 'and', or are many."""
        links = 0
        at = sentence.mentions.index(mention)
        for left, right in zip(sentence.mentions[at - 1 :: -1], sentence.mentions[at::-1], strict=False):
            if _CHAIN.fullmatch(self._source.folded, left.end, right.start) is None:
                break
            links += 1
        for left, right in zip(sentence.mentions[at:], sentence.mentions[at + 1 :], strict=False):
            chain = _CHAIN.fullmatch(self._source.folded, left.end, right.start)
            if chain is None:
                break
            if chain["list"]:
                return True
            links += 1
        return links >= _LONGEST_NESTING
