"""What stands for a name: short forms, pronouns, 'the company'."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..reading.cues import CompiledSchema, fold
from .grammar import Grammar
from .mentions import PEOPLES, Mention, Reading

_SUBJECTS = frozenset({"nsubj", "nsubjpass", "nsubj:pass"})
_SENTENCES_BACK = 3
_GENDERED = frozenset({"male", "female"})
_GENDERS = {
    **dict.fromkeys(("woman", "girl", "wife", "daughter", "mother", "sister", "actress", "queen"), "female"),
    **dict.fromkeys(("man", "boy", "husband", "son", "father", "brother", "actor", "king", "prince"), "male")}
"""Nouns said of a person -> which pronoun stands for them."""

_PLACES = frozenset({"GPE", "LOC", "FAC"})
_PERSONS = frozenset({"PERSON", "PER"})
_COMPANY = frozenset({"corporation", "corp", "inc", "ltd", "limited", "company", "co", "group", "holdings", "plc",
                      "gmbh", "ag", "llc", "sa"})
"""What a company's short name leaves out."""

_JOINED = frozenset({"of", "in"})


def unify_names(reading: Reading, title: Mention | None, *, of_person: bool) -> None:
    """Name short forms as the full name that the chunk or the title has: 'Blum' is 'Ada Blum'.

    A short form is the beginning or end of exactly one longer name; a person's full name with a further name
    between is the title's.

    Args:
        reading: whose mentions are named in place.
        title: what the document's title names.
        of_person: whether that is a person: all short forms of its name are his or hers.
    """
    names = {m.name: m for m in reading.names() if m.kind == "name"}
    if title:
        names.setdefault(title.name, title)
        if of_person:
            names[title.name] = replace(names[title.name], label="PERSON")
    full = {name: _full(name, names, title.name if title else "") for name in names}
    for mention in reading.names():
        if mention.kind == "name":
            mention.name = full[mention.name]


def _full(name: str, names: dict[str, Mention], title: str) -> str:
    words, label = fold(name).split(), names[name].label
    if name == title or not words:
        return name
    titled = fold(title).split()
    if title and names[title].label in _PERSONS and _shortens(words, titled):
        return title
    if label in _PLACES:
        return name
    person = label in _PERSONS
    longer = [other for other, mention in names.items() if _shortens(words, fold(other).split())
              and (mention.label == label or (person and not mention.label)
                   or _COMPANY.issuperset(fold(other).replace(".", "").split()[len(words) :]))]
    longest = [n for n in longer if not any(o != n and fold(o).startswith(fold(n)) for o in longer)]
    if len(longest) == 1:
        return longest[0]
    longer_form = 1 < len(titled) < len(words) and (titled[0], titled[-1]) == (words[0], words[-1])
    return title if person and longer_form else name


def _shortens(words: list[str], longer: list[str]) -> bool:
    """Whether words begin a longer name, or one alone ends it."""
    at_edge = longer[: len(words)] == words or (len(words) == 1 and longer[-1] == words[0])
    return len(longer) > len(words) and at_edge and _JOINED.isdisjoint(longer)


class AnaphorResolver:
    """Binds pronouns and definite nouns of a chunk to the names they stand for."""

    def __init__(self, reading: Reading, grammar: Grammar, compiled: CompiledSchema, types: Mapping[str, str],
                 subject: str) -> None:
        """Take the chunk and its names' types.

        Args:
            reading: whose mentions are resolved in place.
            grammar: of the same chunk.
            compiled: the schema.
            types: name -> type.
            subject: what the document is about; "" for nothing.
        """
        self._reading = reading
        self._types = types
        self._subject = subject
        self._compiled = compiled
        self._person = compiled.types.roles.get("person", "")
        self._gender: dict[str, str] = {}
        self._nouns: dict[str, set[str]] = defaultdict(set)
        for mention in reading.names():
            self._nouns[mention.name].update(fold(mention.name).split())
        for sentence in reading.sentences:
            for token in sentence:
                for mention in grammar.described(token) if token.pos_ == "NOUN" else ():
                    noun = token.lemma_.lower()
                    self._nouns[mention.name].add(noun)
                    if noun in _GENDERS:
                        self._gender[mention.name] = _GENDERS[noun]

    def resolve(self) -> None:
        """Bind each anaphor in the order of the text."""
        sentence_of = {i: n for n, s in enumerate(self._reading.sentences) for i in range(s.start, s.end)}
        by_sentence: list[list[Mention]] = [[] for _ in self._reading.sentences]
        for mention in self._reading.mentions:
            here = sentence_of[mention.start]
            if mention.anaphor:
                back = _SENTENCES_BACK if mention.label in _GENDERED else 1
                earlier = [m for n in range(here, max(-1, here - back - 1), -1)
                           for m in reversed(by_sentence[n]) if m.end <= mention.start and m.label != PEOPLES]
                mention.name = self._bind(mention, earlier)
                if mention.name and mention.label in _GENDERED:
                    self._gender[mention.name] = mention.label
            by_sentence[here].append(mention)

    def _bind(self, anaphor: Mention, earlier: Sequence[Mention]) -> str:
        """The nearest subject that fits, else what the document is about, else the nearest other mention."""
        owned = anaphor.root.head  # 'a father and his son': his is the father's
        if anaphor.root.dep_ == "poss" and owned.dep_ == "conj" and owned.head.i not in self._reading.at:
            return ""
        subjects = [m.name for m in earlier if m.root.dep_ in _SUBJECTS]
        others = [m.name for m in earlier if m.root.dep_ not in _SUBJECTS and not (
            m.label in _PLACES and m.root.dep_ == "pobj")]
        ordered = dict.fromkeys(name for name in (*subjects, self._subject, *others) if name in self._types)
        fitting = [name for name in ordered if self._fits(anaphor, name)]
        if anaphor.label in _GENDERED:
            fitting.sort(key=lambda name: name not in self._gender)
        if anaphor.kind == "description":
            said = [name for name in fitting if anaphor.label in self._nouns[name]]
            fitting = said or [name for name in fitting if name == self._subject or not self._subject]
        return next(iter(fitting), "")

    def _fits(self, anaphor: Mention, name: str) -> bool:
        kind = self._types[name]
        is_person = bool(self._person) and self._compiled.schema.is_a(kind, (self._person,))
        if anaphor.kind == "description":
            wanted = self._compiled.types.of_word(anaphor.label)
            return wanted is not None and self._compiled.schema.is_a(kind, (wanted,))
        if anaphor.label in _GENDERED:
            return (is_person or not self._person) and self._gender.get(name, anaphor.label) == anaphor.label
        return not is_person
