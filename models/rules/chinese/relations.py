"""Triples in Chinese: by the schema's cues, and by verbs and relational nouns that it does not have."""

import re
from collections.abc import Iterator, Mapping

from ..lexicon import words as word_set
from ..reading.cues import CompiledSchema, Hit, fold
from ..reading.facts import Triple
from ..reading.mentions import Mention
from .labels import GENERIC_VERBS, KIN, ROLE_ENDINGS
from .mentions import NOMINAL, ChineseSentence, is_named
from .syntax import AGENTS, COPULAS, NOTHING, OWNS, Accepts, Clause, Side

_ANAPHOR_FACTOR = 0.97
_LED_BY_VERB = frozenset("于在自至到向给为")
_AFTER_VERB = frozenset("了过着")
_EMPTY = word_set("进行 予以 开展 加以 实施 展开 作出 做出 达成")
_PLACED = frozenset("在于从")
_HELD = "{职务}"
"""A cue of a relation: a person named after a body and a role in it ('国务院总理李强')."""
_NEGATED = re.compile(r"[不未没无非]")


class RelationReader:
    """Reads triples out of the clauses of one chunk."""

    def __init__(self, compiled: CompiledSchema, types: Mapping[str, str]) -> None:
        """Take the schema and the types of the chunk's names."""
        self._compiled = compiled
        self._types = types
        self._person = compiled.types.roles.get("person", "")
        self._held = [r.name for r in compiled.schema.relation_types if _HELD in r.rules.all_cues()]

    def triples(self, sentence: ChineseSentence, clause: Clause, hits: list[list[Hit]]) -> list[Triple]:
        """The triples that the schema's cues give in a clause, in order."""
        found: list[Triple] = []
        free_from = -1
        for group in hits:
            hit = group[0]
            if hit.start < free_from or clause.cuts(hit.start, hit.end) or self._negated(clause, hit):
                continue
            for hit in group:
                triples = list(self._of_hit(sentence, clause, hit))
                if triples:
                    found.extend(triples)
                    free_from = hit.end
                    break
        found.extend(self._held_roles(sentence, clause))
        found.extend(self._kin(sentence, clause))
        return found

    def introduces(self, clause: Clause, mention: Mention) -> bool:
        """Whether a name at the head of a clause is there for what it is to the topic: '父亲谢承志'."""
        at = clause.first(mention.start)
        noun = clause.tokens[at - 1].text if at else ""
        return bool(noun) and (noun.endswith(KIN) or bool(self._owned_cues(noun)))

    def _owned_cues(self, noun: str) -> list[Hit]:
        """The cues '的父亲' of a noun '父亲'."""
        said = f"的{noun}"
        return [hit for hits in self._compiled.relations.find(said) for hit in hits if hit.phrase in {said, noun}]

    def _kin(self, sentence: ChineseSentence, clause: Clause) -> Iterator[Triple]:
        """'父亲谢承志': what a name is to the topic, or to the name before 的."""
        for at, token in enumerate(clause.tokens[1:], 1):
            noun = clause.tokens[at - 1]
            before = clause.tokens[at - 2] if at > 1 else None
            opens = before is None or before.tag in {"v", "d", "c"}
            if token.mention is None or noun.tag != "n" or not opens or clause.topic is None or clause.owns(at):
                continue
            cues = self._owned_cues(noun.text)
            if not cues and noun.text.endswith(KIN) and self._types.get(token.mention.name) == self._person:
                yield self._triple(sentence, clause.topic, noun.text, token.mention, 0.8)
            for relation, inverse in (element for hit in cues for element in hit.elements):
                known = self._compiled.relation_of[relation]
                head, tail = (token.mention, clause.topic) if inverse else (clause.topic, token.mention)
                if head.name != tail.name and self._accepts(known.domain)(head) and self._accepts(known.range)(tail):
                    yield self._triple(sentence, head, relation, tail, 0.85 if clause.same_sentence else 0.8, noun.text)
                    break

    @staticmethod
    def _negated(clause: Clause, hit: Hit) -> bool:
        at = clause.first(hit.start)
        return any(t.tag in {"d", "v"} and _NEGATED.match(t.text) for t in clause.tokens[max(0, at - 2) : at])

    def _of_hit(self, sentence: ChineseSentence, clause: Clause, hit: Hit) -> Iterator[Triple]:
        """The triples of the first relation that fits, and of those of the same ends."""
        said: tuple[tuple[str, ...], tuple[str, ...], bool] | None = None
        for relation, inverse in hit.elements:
            known = self._compiled.relation_of[relation]
            ends = (known.domain, known.range, inverse)
            if said is not None and said != ends:
                continue
            first, second = self._accepts(known.domain), self._accepts(known.range)
            ends_met = (second, first) if inverse else (first, second)
            left, right = self._sides(clause, hit, *ends_met, inverse=inverse)
            heads, tails = (right, left) if inverse else (left, right)
            for head in heads.mentions:
                for tail in tails.mentions:
                    if head.name != tail.name:
                        yield self._triple(sentence, head, relation, tail, heads.confidence * tails.confidence,
                                           hit.phrase)
                        said = ends

    @staticmethod
    def _triple(sentence: ChineseSentence, head: Mention, label: str, tail: Mention, confidence: float,
                cue: str = "") -> Triple:
        anaphors = sum(not is_named(m) for m in (head, tail))
        sure = max(0.3, min(0.95, confidence)) * _ANAPHOR_FACTOR**anaphors
        return Triple(head.name, label, tail.name, round(sure, 2), sentence, cue)

    def _accepts(self, allowed: tuple[str, ...]) -> Accepts:
        return lambda mention: self._compiled.accepts(self._types.get(mention.name, ""), allowed)

    def _sides(self, clause: Clause, hit: Hit, left: Accepts, right: Accepts, *, inverse: bool) -> tuple[Side, Side]:
        """What stands left and right of a cue, as its relation reads it."""
        first, last = clause.first(hit.start), clause.after_character(hit.end)
        if hit.phrase[0] in OWNS:
            return self._owned(clause, first, last, left, right)
        before, marker, at = clause.preposed(first, left)
        if marker in AGENTS:
            other = clause.object(last, right)
            return before, other if other.mentions else clause.subject(at, right)
        target = clause.object(last, right)
        if target.mentions:
            return clause.subject(first, left), target
        before, marker, at = clause.preposed(first, right)
        if before.mentions and marker not in AGENTS and not (inverse and marker in _PLACED):
            return clause.subject(at, left), before
        return NOTHING, NOTHING

    @staticmethod
    def _owned(clause: Clause, first: int, last: int, left: Accepts, right: Accepts) -> tuple[Side, Side]:
        """'B的儿子是A', 'A是B的儿子': the owner stands before 的, the other after the noun or before 是."""
        owner = clause.tokens[first - 1].mention if first else None
        if owner is None or not left(owner):
            return NOTHING, NOTHING
        target = clause.object(last, right)
        if not target.mentions and first > 1 and (clause.tokens[first - 2].text in COPULAS or first == 1):
            target = clause.subject(first - 2, right)
        return Side((owner,), 0.95), target

    def _held_roles(self, sentence: ChineseSentence, clause: Clause) -> Iterator[Triple]:
        """'国务院总理李强', '秦岚，正衡律师事务所律师': body, role, person, one directly after the other."""
        body, topic = clause.tokens[0].mention, clause.topic
        role = clause.tokens[1:]
        if body and topic and clause.before in "，," and clause.same_sentence and role and (
                role[-1].text.endswith(ROLE_ENDINGS) and all(t.tag in NOMINAL | {"b", "a"} for t in role)):
            yield from self._holds(sentence, topic, body)
        for at, token in enumerate(clause.tokens):
            person = token.mention
            if person is None or not is_named(person) or self._types.get(person.name) != self._person or not self._held:
                continue
            before = at - 1
            while before >= 0 and clause.tokens[before].tag in {"n", "vn", "b", "a"} and at - before <= 4:  # noqa: PLR2004
                before -= 1
            body = clause.tokens[before].mention if 0 <= before < at - 1 else None
            held = clause.tokens[at - 1].text
            touches = body is not None and clause.tokens[before].end == clause.tokens[before + 1].start
            if body and touches and held.endswith(ROLE_ENDINGS):
                yield from self._holds(sentence, person, body)

    def _holds(self, sentence: ChineseSentence, person: Mention, body: Mention) -> Iterator[Triple]:
        for relation in self._held:
            if person.name != body.name and self._compiled.fits(
                    self._types.get(person.name, ""), relation, self._types.get(body.name, "")):
                yield self._triple(sentence, person, relation, body, 0.92, _HELD)

    def proposed(self, sentence: ChineseSentence, clause: Clause, known: list[Triple]) -> Iterator[Triple]:
        """Mentions joined by a verb or a relational noun, where no triple joins them yet."""
        joined = {frozenset((t.head, t.tail)) for t in known}
        for at, token in enumerate(clause.tokens):
            found: Iterator[tuple[Side, str, Side]] = iter(())
            if (token.tag == "v" and token.text not in GENERIC_VERBS | COPULAS) or token.text in _EMPTY:
                found = self._by_verb(clause, at)
            elif token.tag == "vn" and clause.tokens[at - 1].text not in _EMPTY:
                found = self._by_doing(clause, at)
            elif token.text in COPULAS:
                found = self._by_noun(clause, at)
            for heads, label, tails in found:
                for head in heads.mentions:
                    for tail in tails.mentions:
                        if head.name != tail.name and frozenset((head.name, tail.name)) not in joined and (
                                not self._is_cue(label)):
                            yield self._triple(sentence, head, label, tail, heads.confidence * tails.confidence)

    def _by_verb(self, clause: Clause, at: int) -> Iterator[tuple[Side, str, Side]]:
        verb = clause.tokens[at].text
        if self._negated_at(clause, at):
            return
        last = at + 1
        while last < len(clause.tokens) and clause.tokens[last].text in _AFTER_VERB:
            last += 1
        if last < len(clause.tokens) and clause.tokens[last].text in _LED_BY_VERB:
            verb += clause.tokens[last].text
            last += 1
        target = self._direct(clause, last)
        before, marker, place = clause.preposed(at, self._entity)
        if marker in AGENTS:
            subject = target if target.mentions else clause.subject(place, self._entity)
            yield Side(before.mentions, 0.92), verb, subject
            return
        if target.mentions:
            yield clause.subject(at, self._entity), verb, target
        elif before.mentions and marker not in _PLACED:
            label = self._with_object(clause, last, verb)
            if label:
                yield clause.subject(place, self._entity), label, Side(before.mentions, 0.95)

    def _by_doing(self, clause: Clause, at: int) -> Iterator[tuple[Side, str, Side]]:
        """'完成了对乙公司的股权收购': a noun of doing, with its object before 的."""
        before, marker, place = clause.preposed(at, self._entity)
        if marker == "对" and at + 1 == len(clause.tokens) and any(
                t.text in OWNS for t in clause.tokens[place:at]):
            yield clause.subject(place, self._entity), clause.tokens[at].text, before

    @staticmethod
    def _with_object(clause: Clause, last: int, verb: str) -> str:
        """'转账', '签订合同', '收购' for '进行收购': the verb with the noun that it has for an object."""
        noun = clause.tokens[last] if last < len(clause.tokens) else None
        if noun is not None and noun.tag in {"n", "vn"}:
            following = clause.tokens[last + 1] if last + 1 < len(clause.tokens) else None
            if following is not None and (following.tag in NOMINAL or following.tag == "N" or following.text in OWNS):
                return ""
            return noun.text if verb in _EMPTY else verb + noun.text
        return "" if noun is not None or verb in _EMPTY else verb

    @staticmethod
    def _negated_at(clause: Clause, at: int) -> bool:
        return any(_NEGATED.match(t.text) for t in clause.tokens[max(0, at - 3) : at] if t.tag in {"d", "v"})

    def _direct(self, clause: Clause, at: int) -> Side:
        """The object that follows a verb at once, or after what is said of it ('会见了法国总统马克龙')."""
        end = len(clause.tokens)
        while at < end and (clause.tokens[at].tag in {"m", "q", "M"} or (
                clause.tokens[at].tag == "n" and at + 1 < end and clause.tokens[at + 1].tag in {"N", "n"})):
            at += 1
        while at + 2 < end and clause.owns(at) and clause.tokens[at + 1].tag == "n" and clause.tokens[at + 2].mention:
            at += 2
        if at >= end or clause.tokens[at].mention is None:
            return NOTHING
        run = clause.run(at, self._entity)
        last = clause.first(run[-1].end - 1) if run else at
        goes_on = last + 1 < end and clause.tokens[last + 1].tag not in {"w", "f", "c", "TIME", "T"}
        return NOTHING if not run or goes_on or clause.owns(last) else Side(run, 0.95)

    def _by_noun(self, clause: Clause, at: int) -> Iterator[tuple[Side, str, Side]]:
        """'A的B是C' and 'C是A的B': of A, C is the B."""
        tokens = clause.tokens
        target = self._direct(clause, at + 1)
        if target.mentions and at > 1 and tokens[at - 1].tag == "n":
            of = at - 2 - (tokens[at - 2].text in OWNS)
            owner = tokens[of].mention if of >= 0 else None
            if owner and self._entity(owner) and tokens[of + 1].text in OWNS:
                yield Side((owner,), 0.95), tokens[at - 1].text, target

    def _entity(self, mention: Mention) -> bool:
        return mention.name in self._types and mention.kind != "term"

    def _is_cue(self, words: str) -> bool:
        """Whether the schema has a relation of these words: it was tried, and the types did not fit."""
        return any(hit.phrase == words for hits in self._compiled.relations.find(fold(words)) for hit in hits)
