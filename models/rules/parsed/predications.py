"""What a chunk says between two mentions, and which relations of the schema say so.

A predication is known by keys: the lemma of its verb with its preposition ("bear in"), the same with the object
between ("take part in"), "by" for the agent of a passive ("found by"), a noun with its preposition ("capital of").
The cues of the schema's relations are brought to the same form.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ....schemas.graph_schema import GraphSchema
from ....text.peoples import country_of
from ..name_words import AUXILIARIES, PREPOSITIONS
from ..reading.cues import INVERSE, TERM_IS_TAIL, fold, readable
from .grammar import COPULAS, Grammar, asserted, is_passive, is_verb, lemma
from .mentions import PEOPLES, PLACE_OR_BODY, Mention, Reading, root_of

if TYPE_CHECKING:
    from spacy.tokens import Token

Keys = Mapping[str, tuple[tuple[str, bool], ...]]
"""Key -> relations that are said so, each with whether it reads from the second mention to the first."""

_SKIPPED = AUXILIARIES | frozenset({"the", "a", "an", "his", "her", "its", "their"})
_PASSIVES = frozenset({"was", "were", "is", "are", "been"})
_BY = " by"
_OF = " of"
_NO_END = frozenset({PEOPLES, "LANGUAGE"})
"""Labels of mentions that nothing is said of: peoples and languages."""

_BEFORE_A_ROLE = PLACE_OR_BODY | {""}
_LONGEST_ROLE = 4
_LONGEST_CHAIN = 3
_WHERE = frozenset({"in", "at", "near", "on", "from"})
_SAYS_LITTLE = frozenset({
    "say", "tell", "have", "be", "do", "go", "get", "come", "see", "know", "make", "take", "use", "call", "include",
    "think", "ask", "seem", "appear", "describe", "mention", "note", "report", "claim", "consider", "refer", "show",
    "let", "believe", "expect", "feature", "contain", "name", "give", "put", "keep", "allow", "help", "follow",
    "find", "begin", "start", "continue", "stand", "add", "remain", "mean", "need", "look", "try"})
"""Verbs that by themselves say too little of how two things are related."""

_ASIDE = frozenset({"including", "without", "like", "unlike", "except", "despite", "as", "than", "among"})
"""Prepositions that do not lead to what is done to somebody or where."""

_SAYS_LITTLE_OF = frozenset({
    "one", "part", "kind", "type", "form", "name", "number", "some", "rest", "member", "most", "many", "side", "end",
    "series", "set", "group", "majority", "result", "time", "day", "year", "city", "town", "example", "version"})


@dataclass(frozen=True, slots=True)
class Predication:
    """Something said of two mentions."""

    head: Mention
    keys: tuple[str, ...]
    """Most telling first; the first is its label where the schema has no relation for it."""
    tail: Mention
    token: "Token"
    relations: tuple[tuple[str, bool], ...] = ()
    """Relations of the schema under these keys, the most telling first."""
    telling: bool = False
    """Whether the first key has a relation: words enough to say what the two are."""


def relation_keys(schema: GraphSchema, lemmas: Callable[[str], frozenset[str]]) -> Keys:
    """The keys under which a schema's relations are found.

    Args:
        schema: with cues; see `reading.cues` for their marks.
        lemmas: a word -> its forms as verb and as noun.
    """
    found: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for relation in schema.relation_types:
        names = [readable(name) for name in relation.all_names()]
        for cue in (*relation.rules.all_cues(), *names):
            if cue.startswith((TERM_IS_TAIL, "{")):
                found[fold(cue)].append((relation.name, False))
                continue
            inverse = cue.startswith(INVERSE)
            for key, turned in _keys(fold(cue.removeprefix(INVERSE)), lemmas):
                entry = (relation.name, inverse != turned)
                if entry not in found[key]:
                    found[key].append(entry)
    return {key: tuple(entries) for key, entries in found.items()}


def _keys(cue: str, lemmas: Callable[[str], frozenset[str]]) -> Iterator[tuple[str, bool]]:
    """The keys of a cue, each with whether it turns the direction."""
    owner = cue.startswith("'s ")
    passive = not _PASSIVES.isdisjoint(cue.split())
    words = [w for w in cue.removeprefix("'s ").split() if w not in _SKIPPED]
    if not words:
        return
    middle = [w if w in PREPOSITIONS else min(lemmas(w)) for w in words[1:]]
    for first in {words[0], *lemmas(words[0])} if words[0] not in PREPOSITIONS else {words[0]}:
        key = " ".join([first, *middle])
        if owner:
            yield f"{' '.join([first, *words[1:]])}{_OF}", True
        else:
            yield f"be {key}" if passive and len(words) == 1 else key, False
            if key.endswith(_BY):
                yield key.removesuffix(_BY), True
            elif len(words) == 1 and not passive:
                yield f"{key}{_BY}", True


class PredicationFinder:
    """Finds what a chunk says between its mentions."""

    def __init__(self, reading: Reading, grammar: Grammar, keys: Keys) -> None:
        """Take the chunk and the schema's keys."""
        self._reading = reading
        self._grammar = grammar
        self._keys = keys

    def find(self) -> list[Predication]:
        """All predications, in the order of the text, whose mentions have names that differ."""
        found: list[Predication] = []
        for sentence in self._reading.stated():
            for token in sentence:
                if is_verb(token):
                    found.extend(self._of_verb(token))
                elif token.pos_ in {"NOUN", "PROPN"} and token.i not in self._reading.at:
                    found.extend(self._of_noun(token))
        found.extend(self._of_places())
        found.extend(self._of_terms())
        return [p for p in found if p.head.name and p.tail.name and p.head.name != p.tail.name and asserted(p.token)
                and _NO_END.isdisjoint({p.head.label, p.tail.label})]

    def _said(self, head: Mention, keys: tuple[str, ...], tail: Mention, token: "Token", bare: str = "",
              *, sure: bool = True) -> Predication:
        """A predication with the relations of its keys; `bare` is a verb whose cue may stand without preposition."""
        relations = [entry for key in keys for entry in self._keys.get(key, ())]
        relations.extend(e for e in self._keys.get(bare, ()) if not e[1] and e not in relations)
        telling = sure and bool(keys[0] in self._keys or self._keys.get(bare))
        return Predication(head, keys, tail, token, tuple(dict.fromkeys(relations)), telling)

    def _of_verb(self, verb: "Token") -> Iterator[Predication]:
        subjects = self._grammar.subjects(verb)
        if not subjects:
            return
        base, passive = lemma(verb), is_passive(verb)
        objects = self._grammar.objects(verb)
        for token in objects:
            for tail in self._grammar.meant(token):
                keys = (f"be {base}", base) if passive else (base,)
                yield from (self._said(s, keys, tail, verb) for s in subjects)
        nouns = [t for t in objects if t.pos_ == "NOUN" and t.i not in self._reading.at]
        parts = [("as", t) for o in objects for preposition, t in self._grammar.complements(o) if preposition == "as"]
        for preposition, token in (*self._grammar.complements(verb), *parts):
            yield from self._of_oblique(verb, subjects, nouns, (preposition, token), passive=passive)
        for noun in nouns:
            for preposition, token in self._grammar.complements(noun):
                keys = (f"{base} {noun.lemma_.lower()} {preposition}", f"{noun.lemma_.lower()} {preposition}")
                tails = self._grammar.named(token) if token.dep_ != "poss" else []
                yield from (self._said(s, keys, tail, verb) for tail in tails for s in subjects)
        for child in verb.children:
            if child.dep_ == "acomp":
                for preposition, token in self._grammar.complements(child):
                    key = f"{child.lemma_.lower()} {preposition}"
                    yield from (self._said(s, (key,), t, verb) for t in self._grammar.named(token) for s in subjects)

    def _of_oblique(self, verb: "Token", subjects: list[Mention], nouns: list["Token"],
                    complement: tuple[str, "Token"], *, passive: bool) -> Iterator[Predication]:
        preposition, token = complement
        base = lemma(verb)
        key = f"{base} {preposition}" if base not in COPULAS else preposition
        alone = [preposition] if " " in preposition else []  # 'directed by Ada, based on a novel'
        keys = (*(f"{base} {n.lemma_.lower()} {preposition}" for n in nouns), key, *alone)
        if preposition == "by" and not passive:
            return
        bare = base if preposition in _WHERE and not nouns and not self._grammar.objects(verb) else ""
        bare = f"be {base}" if bare and f"be {base}" in self._keys else bare
        for tail in self._grammar.named(token):
            yield from (self._said(s, keys, tail, verb, bare) for s in subjects)

    def _of_noun(self, noun: "Token") -> Iterator[Predication]:
        heads = self._grammar.described(noun)
        if not heads:
            return
        word = noun.lemma_.lower()
        modifier = next((f"{c.lower_} " for c in noun.children if c.dep_ == "compound" and c.pos_ == "NOUN"), "")
        complements = list(self._grammar.complements(noun))
        complements.extend(("of", c) for c in noun.children if c.dep_ == "compound" and (
            m := self._reading.at.get(c.i)) and m.label in _BEFORE_A_ROLE and not country_of(m.name))
        if noun.dep_ in {"compound", "nmod"}:
            complements.extend(("of", c) for c in noun.head.children if c.dep_ == "poss")
        for preposition, token in complements:
            keys = (f"{modifier}{word} {preposition}", f"{word} {preposition}", preposition)
            before = token.dep_ == "compound"
            for tail in self._grammar.named(token):
                if before and not tail.label:  # a name of any kind: no proposal
                    keys = keys[::-1]
                yield from (self._said(h, keys, tail, noun, sure=not before) for h in heads)
                if before:  # 'plays for Premier League club Leeds': who plays, too
                    yield from (self._said(s, (f"{word} in",), tail, noun, sure=False)
                                for s in self._grammar.subjects(_verb_of(noun)) if s not in heads)

    def role(self, role: str, name: Mention, among: Sequence[Mention], subject: str) -> Iterator[Predication]:
        """'Plant manager, Lyon: Paul Weiss': what a name is, of a name beside the role, else of the subject.

        Args:
            role: the words of the role.
            name: who has it.
            among: the mentions beside the role.
            subject: what the document is about; "" for nothing.
        """
        words = [w for w in fold(role).split() if w.isalpha()]
        of = [*among, *(m for m in self._reading.names() if m.name == subject)][:1]
        if words and len(words) <= _LONGEST_ROLE and of and of[0].name != name.name:
            keys = tuple(f"{' '.join(words[i:])}{_OF}" for i in range(len(words)))
            yield self._said(name, keys, of[0], name.root)

    def _of_places(self) -> Iterator[Predication]:
        """'Graz, Austria': two names with a comma alone between them, and no list."""
        mentions = [m for m in self._reading.mentions if m.kind == "name"]
        doc = self._reading.doc
        relations = self._keys.get(",", ())
        for before, after in pairwise(mentions):
            if relations and after.start == before.end + 1 and doc[before.end].text == "," and not self._listed(after):
                yield Predication(before, (",",), after, before.root, relations)

    def _of_terms(self) -> Iterator[Predication]:
        """A term that is a relation's tail wherever it stands, or as what something is said to be."""
        for term in (*self._reading.mentions, *self._reading.terms):
            relations = self._keys.get(term.label, ()) if term.kind == "term" else ()
            if relations:
                verb = root_of(self._reading.sentence_of[term.start])
                anywhere = term.label[0] == TERM_IS_TAIL
                subjects = self._grammar.subjects(verb)[:1] if anywhere else self._grammar.described(term.root)
                yield from (Predication(s, (TERM_IS_TAIL,), term, term.root, relations) for s in subjects)

    def _listed(self, last: Mention) -> bool:
        """Whether names with commas between them are a list: 'and' ends it, or there are many."""
        doc, at = self._reading.doc, last.end
        for _ in range(_LONGEST_CHAIN):
            if at + 1 < len(doc) and doc[at].text == "," and doc[at + 1].i in self._reading.at:
                at = self._reading.at[at + 1].end
        at += at + 1 < len(doc) and doc[at].text == ","
        return at < len(doc) and (doc[at].lower_ in {"and", "or", "&", "etc", "etc."} or at in self._reading.at)


def _verb_of(noun: "Token") -> "Token":
    """The verb of the clause that a noun stands in."""
    return next((t for t in noun.ancestors if is_verb(t)), noun)


def label_of(predication: Predication) -> str:
    """The label under which a predication is proposed: lemma and preposition in snake case; "" where it says little.

    The agent of a passive is its subject: see `turned`.
    """
    key = predication.keys[0].removesuffix(_BY) if turned(predication) else predication.keys[0]
    words = key.removeprefix("be ").split()
    if not words or words[-1] in _ASIDE or "according" in words or words[0] in PREPOSITIONS:
        return ""
    noun = not is_verb(predication.token)
    if not all(w.isalpha() for w in words) or (not noun and words == [key] and predication.token.lemma_ in COPULAS):
        return ""
    if noun and (words[-1] != "of" or words[-2] in _SAYS_LITTLE_OF):
        return ""
    if len(words) == 1 and words[0] in _SAYS_LITTLE:
        return ""
    return "_".join(words)


def turned(predication: Predication) -> bool:
    """Whether a label says the predication from its tail to its head: 'defeated by' is 'defeat' turned."""
    return is_verb(predication.token) and predication.keys[0].endswith(_BY)
