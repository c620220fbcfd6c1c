"""Attribute values of entities: dates and quantities by the noun or verb they stand with, short texts, proposals."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ....schemas.graph_schema import AttributeType, GraphSchema
from ....text.values import Value
from ..name_words import AUXILIARIES, NO_OCCUPATIONS
from ..reading.cues import NATIONALITY, CompiledSchema, fold, readable
from ..reading.facts import Described
from ..reading.mentions import Sentence
from .grammar import COPULAS, Grammar, asserted, is_passive, is_verb, lemma
from .labels import attribute_label
from .mentions import PEOPLES, Mention, Reading, root_of

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

PROPOSED = 0.85
"""Confidence in a value whose attribute the schema lacks."""

_SURE = 0.9
_LIFE = re.compile(r"\s{0,3}[(（](?P<life>[^()（）]{4,120})[)）]")
_SPAN = re.compile(r"\s?[–—－\-~至]\s?")
_ENTRY = re.compile(r"[\s>*•|+–-]{0,20}+(?P<label>[^\W\d_][^:：|\n\d*]{1,40}+)[*\s]{0,4}+[:：|]")
_OCCUPATION = frozenset({"is a", "was a", "is an", "was an"})
_MOST_WORDS = 12
_CLAUSES = frozenset({"relcl", "acl", "punct", "cc", "appos"})
_WH = frozenset({"WP", "WDT", "WRB"})
_DATED = ("date", "year", "day", "time", "deadline")
_HAS = frozenset({"have", "operate", "own", "employ", "run", "report", "post", "earn", "generate", "reach", "with"})


AttributeKeys = Mapping[str, tuple[AttributeType, ...]]
"""A noun, adjective, or verb with its preposition, in their lemmas -> the attributes that are said so."""


def attribute_keys(schema: GraphSchema, lemmas: Callable[[str], frozenset[str]]) -> AttributeKeys:
    """The keys under which a schema's attributes are found; see `relation_keys`."""
    found: dict[str, list[AttributeType]] = defaultdict(list)
    for attribute in schema.attribute_types:
        for cue in (*attribute.rules.all_cues(), *map(readable, attribute.all_names())):
            said = [w for w in fold(cue).split() if w not in AUXILIARIES]
            said = said[:-1] if said[-1:] == ["of"] else said
            for first in {said[0], *lemmas(said[0])} if said else ():
                key = " ".join([first, *said[1:]])
                if attribute not in found[key]:
                    found[key].append(attribute)
    return {key: tuple(attributes) for key, attributes in found.items()}


class AttributeFinder:
    """Reads the attribute values out of the sentences of one chunk."""

    def __init__(self, reading: Reading, grammar: Grammar, compiled: CompiledSchema, keys: AttributeKeys,
                 types: dict[str, str], topic: str) -> None:
        """Take the chunk.

        Args:
            reading: with resolved mentions.
            grammar: of the same chunk.
            compiled: the schema.
            keys: its attributes', by `attribute_keys`.
            types: name -> type.
            topic: the name that a figure without an owner is said of; "" for none.
        """
        self._reading = reading
        self._values = reading.values
        self._grammar = grammar
        self._schema = compiled.schema
        self._types = types
        self._topic = topic
        self._by_cue = keys
        self._texts = [a for a in compiled.attribute_of.values() if a.kind == "text"]

    def find(self, span: "Span", sentence: Sentence) -> Iterator[Described]:
        """The attributes that a sentence gives, each value once for each attribute.

        Args:
            span: the sentence's tokens.
            sentence: its place in the text.
        """
        for token in span:
            mention = self._reading.at.get(token.i)
            if mention is not None and mention.start == token.i and not mention.anaphor:
                yield from self._life(mention, sentence)
            yield from self._said_of(token, sentence)
        for value in self._values[bisect_left(self._values, sentence.start, key=_start) :]:
            if value.start >= sentence.end:
                return
            if value.end <= sentence.end and not self._inside_name(value):
                yield from self._of_value(value, sentence)

    def _inside_name(self, value: Value) -> bool:
        span = self._reading.tokens_of(value)
        return span is None or any((m := self._reading.at.get(t.i)) and m.kind != "value" for t in span)

    def _owned(self, names: list[Mention], attribute: AttributeType) -> Mention | None:
        return next((m for m in names if m.name and self._schema.is_a(self._types.get(m.name, ""), attribute.owners)),
                    None)

    # --- dates of a life, descriptions ---------------------------------------------------------------

    def _life(self, name: Mention, sentence: Sentence) -> Iterator[Described]:
        """'(7 November 1867 – 4 July 1934)' after a name: born and died."""
        text = self._reading.text
        last = self._reading.doc[name.end - 1]
        match = _LIFE.match(text, last.idx + len(last), sentence.end)
        if not match:
            return
        begin, end = (bisect_left(self._values, at, key=_start) for at in match.span())
        dates = [v for v in self._values[begin:end] if v.kind == "date"]
        texts = [v.text for v in dates]
        if len(dates) == 1:
            texts = _SPAN.split(texts[0])
            if not all(len(t) >= 4 for t in texts):  # noqa: PLR2004 - '1867–1934'
                return
        elif len(dates) == 2 and not _SPAN.search(text, dates[0].end, dates[1].start):  # noqa: PLR2004
            return
        if len(texts) == 2:  # noqa: PLR2004 - born and died
            for word, value in zip(("bear", "die"), texts, strict=True):
                for attribute in self._by_cue.get(word, ()):
                    if attribute.kind == "date" and self._owned([name], attribute):
                        yield Described(name.name, attribute.name, value.strip(), _SURE, sentence)

    def _said_of(self, noun: "Token", sentence: Sentence) -> Iterator[Described]:
        """'is a Polish physicist': what a person is, and of which people; 'also known as ...'."""
        if noun.lower_ in {"known", "called", "nicknamed"}:
            yield from self._alias(noun, sentence)
        if noun.dep_ not in {"attr", "appos", "conj"} or noun.i in self._reading.at or not asserted(noun) or (
                noun.pos_ not in {"NOUN", "PROPN"}):
            return
        for mention in self._grammar.described(noun):
            for attribute in self._texts:
                cues = attribute.rules.all_cues()
                if self._owned([mention], attribute) is None:
                    continue
                people = next((c for c in noun.children if c.ent_type_ == PEOPLES and c.dep_ in {"amod", "compound"}),
                              None)
                if NATIONALITY in cues and people is not None:
                    yield Described(mention.name, attribute.name, _nationality(people), 0.85, sentence)
                said = self._occupation(noun)
                if set(cues) & _OCCUPATION and said:
                    yield Described(mention.name, attribute.name, said, 0.85, sentence)

    @staticmethod
    def _occupation(noun: "Token") -> str:
        """'Polish physicist', 'CEO of Acme': a noun with what belongs to it, without article and clauses."""
        doc, start, end = noun.doc, noun.i, noun.i + 1
        if noun.lemma_.lower() in NO_OCCUPATIONS:
            return ""
        while start > noun.left_edge.i and doc[start - 1].pos_ not in {"DET", "PUNCT", "PRON", "SPACE"}:
            start -= 1
        while end <= noun.right_edge.i and not (doc[end].dep_ in _CLAUSES or doc[end].pos_ in {"VERB", "AUX"}
                                                or doc[end].tag_ in _WH):
            end += 1
        while doc[end - 1].pos_ in {"ADP", "DET", "SPACE", "PART"}:
            end -= 1
        said = doc[start:end].text
        return said if end - start <= _MOST_WORDS and "\n" not in said else ""

    def _alias(self, verb: "Token", sentence: Sentence) -> Iterator[Described]:
        """'known as Dust', 'nicknamed "Dust"'."""
        cue = "known as" if verb.lower_ == "known" else verb.lower_
        attribute = next((a for a in self._texts if cue in a.rules.all_cues()), None)
        following = [t.i for t in verb.doc[verb.i + 1 : verb.i + 4] if t.lower_ != "as" and not t.is_punct]
        mention = self._reading.at.get(following[0]) if following else None
        if attribute is None or mention is None or mention.kind not in {"name", "quoted"} or not asserted(verb) or (
                cue == "known as" and verb.nbor().lower_ != "as"):
            return
        owners = self._grammar.subjects(verb) or self._grammar.meant(verb.head)
        owner = self._owned([m for m in owners if m.name != mention.name], attribute)
        if owner:
            said = verb.doc[mention.start : mention.end].text
            yield Described(owner.name, attribute.name, said, 0.8, sentence)

    # --- values ------------------------------------------------------------------------------------------

    def _of_value(self, value: Value, sentence: Sentence) -> Iterator[Described]:
        tokens = self._reading.tokens_of(value)
        joined = value.start and self._reading.text[value.start - 1] == "-"  # 'polonium-210'
        if tokens is None or tokens.end_char > value.end or joined or not asserted(root_of(tokens)):
            return
        entry = _ENTRY.match(self._reading.text, sentence.start, value.start)
        if entry and not self._reading.text[entry.end() : value.start].strip(" *\t"):
            yield from self._named(attribute_label(fold(entry["label"]).split()), value, [], sentence)
            return
        root = root_of(tokens)
        unit = root.head
        if root.dep_ == "nummod" and unit.i == tokens.end and unit.dep_ == "pobj" and unit.head.lower_ == "of":
            value, root = replace(value, text=f"{value.text.strip()} {unit.text}"), unit  # '20,000 watts'
        if value.kind == "date":
            yield from self._dated(value, root, sentence)
        for said, owners in self._nouns(root):
            found = list(self._named(said, value, owners, sentence))
            if found:
                yield from found
                return

    def _dated(self, value: Value, root: "Token", sentence: Sentence) -> Iterator[Described]:
        """A date with the verb that it stands with: 'founded in 1911'."""
        verb, preposition = root.head, ""
        while verb.pos_ in {"ADP", "NUM", "NOUN", "PROPN"} and verb.head != verb:
            if verb.pos_ == "ADP":
                preposition = preposition or verb.lower_
            elif not (verb.ent_type_ in {"DATE", "TIME"} or verb.dep_ == "appos"):
                return
            verb = verb.head
        if not (is_verb(verb) or verb.tag_ == "VBN") or not asserted(verb):
            return
        subjects = self._grammar.subjects(verb)
        objects = [m for t in self._grammar.objects(verb) for m in self._grammar.meant(t)]
        owners = subjects if is_passive(verb) or not objects else [*objects, *subjects]
        base = lemma(verb)
        nouns = [f"{base} {t.lower_}" for t in self._grammar.objects(verb)]
        for key in (*nouns, f"{base} {preposition}".strip(), base):
            for attribute in self._by_cue.get(key, ()):
                owner = self._owned(owners, attribute) if attribute.kind == "date" else None
                if owner:
                    yield Described(owner.name, attribute.name, value.text.strip(), _SURE, sentence)
                    return

    def _nouns(self, root: "Token") -> Iterator[tuple[str, list[Mention]]]:
        """The words that say what a figure is, each with those that have it."""
        head = root.head
        if root.dep_ in {"nummod", "quantmod"} and head.pos_ == "NOUN":  # '500 inhabitants'
            yield f"number of {_noun(head)}", self._holders(head)
            return
        if root.dep_ in {"npadvmod", "nummod", "obl"} and head.pos_ in {"ADJ", "ADV"}:  # '300 m tall'
            yield head.lower_, self._grammar.subjects(head.head) or self._grammar.meant(head.head)
            return
        if root.dep_ == "pobj":
            of, head = head.lower_, head.head
            if head.pos_ == "NOUN" and of in {"of", "at"}:  # 'a population of 500'
                yield _noun(head), self._holders(head)
                return
            if of not in {"at", "to"}:
                return
        named = next((t for p, t in self._grammar.complements(root) if p == "in" and t.pos_ == "NOUN"), None)
        if root.dep_ == "dobj" and named is not None:  # '$7 million in sales'
            yield _noun(named), self._grammar.subjects(head)
        elif is_verb(head) and not any(c.dep_ in {"prep", "advmod"} and c.i > root.i for c in root.children):
            yield from self._of_subject(root, head)

    def _of_subject(self, figure: "Token", verb: "Token") -> Iterator[tuple[str, list[Mention]]]:
        """'the population was 500', 'covers 500 km²'."""
        for child in verb.children:
            if child.dep_ in {"nsubj", "nsubjpass"} and child.pos_ == "NOUN" and child.i not in self._reading.at:
                yield _noun(child), [m for p, t in self._grammar.complements(child) if p == "of"
                                     for m in self._grammar.named(t)]
                return
        if figure.dep_ in {"dobj", "obj"} and lemma(verb) in self._by_cue:
            yield lemma(verb), self._grammar.subjects(verb)

    def _holders(self, noun: "Token") -> list[Mention]:
        """Those that have what a noun names: its owner, or the subject of 'has'."""
        owners = [m for p, t in self._grammar.complements(noun) if p == "of" for m in self._grammar.named(t)]
        head = noun.head
        if not owners and noun.dep_ == "dobj" and head.lemma_.lower() in _HAS:
            owners = self._grammar.subjects(head)
        if not owners and noun.dep_ == "pobj" and head.lower_ == "with":
            owners = self._grammar.meant(head.head) or self._grammar.subjects(head.head)
        if not owners and noun.dep_ in {"attr", "nsubj"} and head.lemma_.lower() in COPULAS:
            owners = self._grammar.subjects(head) if noun.dep_ == "attr" else []
        return owners

    def _named(self, said: str, value: Value, owners: list[Mention], sentence: Sentence) -> Iterator[Described]:
        """The value under the schema's attribute of that name, else under a label of its own."""
        counted = said.startswith("number of ")
        other = said.removeprefix("number of ") if counted else attribute_label(said.split())
        known = [a for key in (said, other) for a in self._by_cue.get(key, ())]
        for attribute in known:
            owner = self._owned(owners, attribute)
            if attribute.kind == value.kind and (owner or (not owners and self._topic and self._schema.is_a(
                    self._types.get(self._topic, ""), attribute.owners))):
                name = owner.name if owner else self._topic
                yield Described(name, attribute.name, value.text.strip(), _SURE, sentence)
                return
        label = said if counted and attribute_label(said.split()[2:]) else attribute_label(said.split())
        name = owners[0].name if owners else self._topic
        dated = value.kind != "date" or any(label.endswith(word) for word in _DATED)
        if name and label and not known and dated and not (counted and not owners) and name in self._types:
            yield Described(name, label, value.text.strip(), PROPOSED, sentence)


def _start(value: Value) -> int:
    return value.start


def _noun(noun: "Token") -> str:
    """A noun with the nouns and adjectives right before it."""
    start = noun.i
    while start > noun.left_edge.i and (noun.doc[start - 1].pos_ in {"NOUN", "ADJ"} or noun.doc[start - 1].text == "-"):
        start -= 1
    return fold(noun.doc[start : noun.i + 1].text)


def _nationality(people: "Token") -> str:
    """The words for a people that stand together: 'Saudi Arabian'."""
    start, end = people.i, people.i + 1
    while start and people.doc[start - 1].ent_type_ == PEOPLES:
        start -= 1
    while end < len(people.doc) and people.doc[end].ent_type_ == PEOPLES:
        end += 1
    return people.doc[start:end].text
