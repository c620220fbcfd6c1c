"""Which type the names of a Chinese text have, and which of them its short forms and pronouns mean."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ..name_words import CHINESE_SURNAMES
from ..reading.cues import CompiledSchema
from ..reading.mentions import Mention, Source
from .mentions import ChineseSentence, is_named

_COPULA = re.compile(r"(?:[（(][^（）()]{0,80}[)）])?[，,]?[则也就都曾乃即均]?(?:是|为)(?P<noun>[^，。；,;]{2,50})")
_BEFORE = 5
_NEAR = 8
_TELLING = 3
_WEIGHTS = {"copula": 10.0, "person": 9.0, "name": 6.0, "descriptor": 6.0, "hint": 5.0, "quoted": 5.0,
            "relation": 2.0}
_SURE = 3.0
"""Weight of evidence from which a type counts as told."""
_LOOK_BACK = 4
_SHORTEST_SHORT = 3
_LONGEST_PERSON = 4

Votes = defaultdict[str, float]
"""Type -> weight of the evidence for it."""


def type_names(source: Source, sentences: Sequence[ChineseSentence],
               subject: Mention | None) -> tuple[dict[str, str], set[str]]:
    """The type of every name, and the names whose type is a guess.

    Args:
        source: the chunk.
        sentences: with their mentions, names in full.
        subject: what the document is about.
    """
    compiled, cues = source.compiled, source.compiled.types
    known = [t.name for t in compiled.schema.entity_types]
    votes: dict[str, Votes] = defaultdict(lambda: defaultdict(float))
    if subject:
        _vote(votes[subject.name], source, replace(subject, end=0))
    for sentence in sentences:
        for mention in filter(is_named, sentence.mentions):
            _vote(votes[mention.name], source, mention)
        _vote_by_relations(votes, sentence, compiled)
    guess = cues.fallback if cues.fallback in known or not known else known[0]
    types = {name: max(own, key=lambda kind: (own[kind], -known.index(kind))) if own else guess
             for name, counted in votes.items() for own in ({k: v for k, v in counted.items() if k in known},)}
    return types, {name for name in types if max(votes[name].values(), default=0.0) < _SURE}


def _vote(votes: Votes, source: Source, mention: Mention) -> None:
    """Count what a mention's form and surroundings tell of its type."""
    cues = source.compiled.types
    if mention.kind == "value":
        votes[cues.roles[mention.hint]] += _WEIGHTS["copula"]
        return
    hinted = cues.roles.get(mention.hint)
    if hinted:
        votes[hinted] += _WEIGHTS["person" if mention.hint == "person" else "hint"]
    named = cues.of_han_name(mention.name)
    if named and not (named == cues.roles.get("person") and mention.kind != "term"):
        votes[named] += _WEIGHTS["copula" if mention.kind == "term" else "name"]
    if mention.kind == "quoted" and "work" in cues.roles:
        votes[cues.roles["work"]] += _WEIGHTS["quoted"]
    if mention.end:
        said = _COPULA.match(source.text, mention.end, mention.end + 140)
        noun = cues.of_han_name(said["noun"]) if said else None
        if noun:
            votes[noun] += _WEIGHTS["name"]
        before = source.text[max(0, mention.start - _BEFORE) : mention.start].strip("“”\"《》")
        heads = (cues.han_heads.get(before[-n:]) for n in range(len(before), 1, -1))
        described = next((kind for kind in heads if kind), None)
        if described and not hinted:
            votes[described] += _WEIGHTS["descriptor"]


def _vote_by_relations(votes: Mapping[str, Votes], sentence: ChineseSentence, compiled: CompiledSchema) -> None:
    """What stands next to '出生于' is a person and a place: the relation's only domain and range."""
    for hits in sentence.hits:
        hit = hits[0]
        name, inverse = hit.elements[0]
        relation = compiled.relation_of[name]
        left, right = (relation.range, relation.domain) if inverse else (relation.domain, relation.range)
        before = next((m for m in reversed(sentence.mentions) if m.end <= hit.start), None)
        after = next((m for m in sentence.mentions if m.start >= hit.end), None)
        for mention, gap, allowed in ((before, hit.start - before.end if before else 0, left),
                                      (after, after.start - hit.end if after else 0, right)):
            if mention and mention.name and gap < _NEAR and len(allowed) <= _TELLING:
                votes[mention.name][allowed[0]] += _WEIGHTS["relation"] / len(allowed)


def unify_names(sentences: Sequence[ChineseSentence], subject: str, aliases: Mapping[str, str]) -> None:
    """Give every mention by a short form the full name of the same chunk or title: '飞鹿公司'. In place.

    A short form is told in brackets, or is an organisation whose characters a single longer one has, in order: none
    that the document is about, or that a sentence names beside the longer one (北京医科大学并入北京大学).
    """
    bodies = dict.fromkeys([m.name for s in sentences for m in s.mentions if is_named(m) and m.hint == "organisation"])
    if subject:
        bodies.setdefault(subject)
    full = dict(aliases)
    together = [{mention.name for mention in sentence.mentions} for sentence in sentences]
    for short in bodies:
        longer = [name for name in bodies if len(name) > len(short) + 1 and _abbreviates(short, name)
                  and short != subject and not any({short, name} <= names for names in together)]
        if len(short) >= _SHORTEST_SHORT and len(longer) == 1:
            full.setdefault(short, longer[0])
    for sentence in sentences:
        sentence.mentions = [replace(m, name=full.get(m.name, m.name)) for m in sentence.mentions]


def _abbreviates(short: str, name: str) -> bool:
    """Whether a name ends as the short form does, and has its characters in order."""
    rest = iter(name)
    return name[-2:] == short[-2:] and all(character in rest for character in short)


def find_subject(source: Source, title: Sequence[Mention], sentences: Sequence[ChineseSentence]) -> Mention | None:
    """The entity that the document is about: the name that its title, or its first line, begins with."""
    whole = source.title.strip()
    if title and title[0].start == 0:
        return title[0]
    if whole[:1] in CHINESE_SURNAMES and 1 < len(whole) <= _LONGEST_PERSON:
        return Mention(0, len(whole), whole, hint="person")
    if whole and whole in source.text and source.compiled.types.of_han_name(whole):
        return Mention(0, len(whole), whole)
    first = sentences[0]
    line = source.text[: first.end + 1]
    is_line = first.start == 0 and line.endswith("\n") and line[-2] not in "。！？"
    opening = first.mentions[0] if is_line and first.mentions else None
    return opening if opening and opening.start == 0 and is_named(opening) else None


class AnaphorResolver:
    """Resolves the pronouns and descriptions of one chunk, sentence by sentence."""

    def __init__(self, source: Source, types: Mapping[str, str], subject: str, roles: Mapping[str, str]) -> None:
        """Start with what the document is about, and with the nouns that mean a single name ('原告')."""
        compiled = source.compiled
        self._text = source.text
        self._roles = roles
        self._kind_of = compiled.types.of_han_name
        self._types = types
        self._subject = subject
        self._person = compiled.types.roles.get("person", "")
        self._before: list[list[str]] = []
        """The names of the sentences before, each in order, those that open a clause first."""

    def resolve(self, sentences: Sequence[ChineseSentence]) -> None:
        """Name every anaphor, and drop those that stay unclear. In place."""
        for sentence in sentences:
            resolved: list[Mention] = []
            for mention in sentence.mentions:
                name = mention.name or self._antecedent(mention, self._by_rank(sentence, resolved))
                if name:
                    resolved.append(replace(mention, name=name))
            sentence.mentions = resolved
            self._before.append(self._by_rank(sentence, resolved))

    def _by_rank(self, sentence: ChineseSentence, mentions: Sequence[Mention]) -> list[str]:
        """The names in order, those that open the sentence or a clause first, then the document's subject."""
        opening = [m.name for m in mentions if m.start == sentence.start or self._text[m.start - 1] in "，,；;：:。 \n"]
        return [*opening, *([self._subject] if self._subject else []), *(m.name for m in mentions)]

    def _antecedent(self, anaphor: Mention, here: Sequence[str]) -> str:
        """The nearest name that fits: of this sentence, of those before from their subject on, then the document's."""
        earlier = [name for names in self._before[: -_LOOK_BACK - 1 : -1] for name in names]
        if anaphor.kind == "description":
            return self._described(anaphor, [*reversed(here), *earlier])
        candidates = [*here, *earlier, self._subject]
        if anaphor.hint == "person":
            return next((n for n in candidates if n and self._is_person(n)), "")
        if anaphor.hint == "thing":
            return next((n for n in candidates if n and not self._is_person(n)), "")
        return next(iter(n for n in candidates if n), "")

    def _described(self, anaphor: Mention, nearest: Iterable[str]) -> str:
        """'该公司', '本院', '公司': a name that ends so; of itself a document speaks as 本院 or bare 公司."""
        noun = anaphor.hint
        if noun in self._roles:
            return self._roles[noun]
        demonstrative = anaphor.end - anaphor.start > len(noun)
        order = [*nearest, self._subject] if demonstrative else [self._subject, *nearest]
        ending = next((n for n in order if n and n.endswith(noun) and n != noun), "")
        if ending or not noun:
            return ending
        kind = self._kind_of(noun)
        return next((n for n in order if n and kind and self._types.get(n) == kind), "") if demonstrative or (
            kind and self._types.get(self._subject) == kind) else ""

    def _is_person(self, name: str) -> bool:
        return self._types.get(name) == self._person != ""
