"""The facts of English sentences, by patterns over the parser's tree; the patterns are data in `prose_facts.json`.

A pattern names the words that state a fact, and the roles (`clauses.py`) and kinds of its ends. With `"words":
"acquire buy"`, `"head": "subj organization"` and `"tail": "obj organization"`, the buyer and the bought are the ends
in every form of the verb. Roles with "|" are tried in order. `self` is the word's own phrase, `whole` that with all
that belongs to it. The kind `text` takes a phrase as it stands, `phrase` one of several words or a plural that is no
name, `goods` a plural and `stuff` a bare singular; `office` is a person or a body without a name, `place` and `body`
are what a recogniser calls a location or an organization, and `thing` is an idea or a substance. `"@person"` are all
nouns for persons, `"@deputy"` those after "vice" or "deputy", `"@post"` those of "works as a", `"@is"` and `"@an"`
those that say what something is. `where` demands a noun in a role (`"@thing"`: one that is no name), `unless` and
`without` exclude some, `finite` demands a verb with its own subject, and `planned` counts what "will" or "shall" be.
The examples are run as tests: (sentence, head, tail).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...schemas.graph_schema import GraphSchema
from ...text.lexicon import words
from ..parsing.parser import Parser
from .clauses import Roles, is_stated, roles
from .prose_sentence import LONGEST_SENTENCE, PatternEnd, ProseSentence, ShownSentence
from .recognition.name_kinds import kind_of_noun
from .recognition.spans import VALUES
from .stated_facts import Mention, Stated, labels_of

if TYPE_CHECKING:
    from spacy.tokens import Token

_FILE = Path(__file__).with_name("prose_facts.json")
_OF_THINGS = re.compile(r"\b(?:(?P<office>responsible|accountable|manages?|administers?)|costs?|priced|fees?|effect|"
                        r"effective|force|ends?|expires?|closes?|until)\b")
"""Words that say something of what has no name: "The caretaker is responsible for the gate"."""
_CAPITAL = re.compile(r"(?<=[\w,] )[A-Z][a-z]")
_EMPLOYING = words("work appoint hire join start begin employ promote")
"""Verbs after which "as a" tells a post, whatever it is called."""
_LONGEST_TEXT = 1000
"""The most characters of a text that is parsed as one."""
_FINITE = frozenset({"VBZ", "VBP", "VBD", "MD"})
_DEPUTY = words("vice deputy assistant associate")
"""Words that make a post that of a deputy."""
_Nouns = tuple[tuple[str, ...], frozenset[str]]
"""Roles, and nouns in one of them."""


@dataclass(frozen=True, slots=True)
class ProsePattern:
    """A pattern; see the module."""

    says: tuple[str, ...]
    words: frozenset[str]
    without: frozenset[str]
    head: PatternEnd
    tail: PatternEnd
    where: _Nouns | None
    unless: _Nouns | None
    planned: bool
    finite: bool
    examples: tuple[tuple[str, str, str], ...]

    def reads(self, token: "Token") -> bool:
        """Return True unless the word is excluded, or the pattern is of a noun and this is a verb of that spelling."""
        nominal = {"self", "whole", "of", "poss"} & {*self.head.roles, *self.tail.roles}
        subject = next((child for child in token.children if child.dep_ in {"nsubj", "nsubjpass"}), None)
        if self.finite and (subject is None or (subject.tag_ == "WDT" and token.head.dep_ in {"pobj", "appos"})):
            return False  # "a pump maker in Oslo, which was founded by Ada Blum"
        return token.lemma_.lower() not in self.without and (not nominal or token.pos_ in {"NOUN", "PROPN"})


def load_patterns() -> tuple[ProsePattern, ...]:
    """Return the patterns of English prose."""
    return tuple(map(_pattern, json.loads(_FILE.read_text("utf-8"))))


def _pattern(entry: Mapping[str, Any]) -> ProsePattern:
    return ProsePattern(
        says=tuple(entry["says"]), words=words(entry["words"]), without=words(entry.get("without", "")),
        head=PatternEnd(*_roles_and(entry["head"])), tail=PatternEnd(*_roles_and(entry["tail"])),
        where=_nouns(entry.get("where", "")), unless=_nouns(entry.get("unless", "")),
        planned=entry.get("planned", False), finite=entry.get("finite", False),
        examples=tuple((sentence, head, tail) for sentence, head, tail in entry["examples"]))


def _roles_and(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    tried, _, others = text.partition(" ")
    return tuple(tried.split("|")), tuple(others.split())


def _nouns(text: str) -> _Nouns | None:
    tried, listed = _roles_and(text)
    return (tried, frozenset(listed)) if text else None


class ProseFacts:
    """The patterns of a schema's relations and attributes."""

    def __init__(self, schema: GraphSchema, patterns: Sequence[ProsePattern]) -> None:
        """Index the patterns whose relation or attribute the schema has by their words; an open schema has all."""
        self._by_word: dict[str, list[tuple[str, ProsePattern]]] = {}
        label_of = labels_of(schema)
        for pattern in patterns:
            for word in pattern.words if label_of(pattern.says) else ():
                self._by_word.setdefault(word, []).append((label_of(pattern.says), pattern))

    def find(self, parser: Parser, text: str, sentences: Sequence[tuple[int, int]], mentions: Sequence[Mention],
             subject: Mention | None) -> Iterator[Stated]:
        """Find the facts of a text's sentences; see `FactForms.find`."""
        read = list[ShownSentence]()
        for start, end in sentences:
            inside = [mention for mention in mentions if start <= mention.start and mention.end <= end]
            told = _OF_THINGS.search(text, start, end)
            named = any(mention.kind not in VALUES for mention in inside) or (subject and inside) or (
                _CAPITAL.search(text, start + 1, end)) or (told and (inside or told["office"]))
            if named and end - start < _LONGEST_TEXT:
                read.append(ShownSentence(text, start, end, inside))
        read = [one for one in read if one.is_sentence]
        docs = parser.parse_sentences([one.text for one in read], most_words=LONGEST_SENTENCE)
        for doc, shown in zip(docs, read, strict=True):
            if doc is not None and (shown.is_role or any(token.tag_ in _FINITE for token in doc)):
                yield from self._of_sentence(ProseSentence(doc, shown.mentions, subject), shown.start, shown.end)

    def _of_sentence(self, sentence: "ProseSentence", start: int, end: int) -> Iterator[Stated]:
        for token in sentence.doc:
            keys = () if token.pos_ == "VERB" and sentence.covering(token) else dict.fromkeys(_keys(token))
            patterns = [found for key in keys for found in self._by_word.get(key, ())]
            by_role = roles(token) if patterns else {}
            for label, pattern in patterns:
                if pattern.reads(token) and is_stated(token, planned=pattern.planned) and (
                        _has(by_role, pattern.where, default=True) and not _has(by_role, pattern.unless)):
                    for head, tail in _ends(sentence, token, by_role, pattern):
                        time = "" if tail.kind == "date" else sentence.time(token, by_role)
                        yield Stated(head.name, label, tail.name, time, start, end, head.kind, tail.kind)


def _ends(sentence: "ProseSentence", token: "Token", by_role: Roles, pattern: ProsePattern) -> Iterator[
        tuple[Mention, Mention]]:
    heads = sentence.fill(token, by_role, pattern.head)
    tails = sentence.fill(token, by_role, pattern.tail)
    if pattern.head == pattern.tail:  # "A and B merged"
        yield from ((heads[0], other) for other in heads[1:])
        return
    yield from ((head, tail) for head in heads for tail in tails if head.name != tail.name)


def _keys(token: "Token") -> Iterator[str]:
    """Yield what patterns call a word: its lemma, with the particle of a verb, or the kind that a noun refers to."""
    if token.pos_ not in {"VERB", "AUX", "NOUN", "PROPN", "ADJ"}:
        return
    particle = next((f"_{one.lower_}" for one in token.children if one.dep_ == "prt" or one.lower_ == "away"), "")
    lemma = token.lemma_.lower()
    if token.i > 1 and token.nbor(-1).text == "-" and token.nbor(-2).lower_ in _DEPUTY:
        return  # the "chairman" of "vice-chairman"
    if any(child.lower_ in _DEPUTY for child in token.children):
        yield "@deputy"
        return
    yield lemma + particle
    if token.pos_ != "NOUN":
        return
    yield from (f"{child.lemma_.lower()}_{lemma}" for child in token.children if child.i + 1 == token.i)
    if token.dep_ == "pobj" and token.head.lower_ == "as" and token.head.head.lemma_ in _EMPLOYING:
        yield "@post"
    if kind := kind_of_noun(lemma):
        yield f"@{kind}"
    first, last = token.left_edge, token.right_edge
    if token.dep_ == "appos" and first.lower_ in {"a", "an"} and first.i and first.nbor(-1).text == "," and (
            last.i + 1 < len(token.doc) and last.nbor().is_punct):
        yield "@an"
    if token.dep_ == "attr" and token.head.lemma_ == "be" and token.head.dep_ != "advcl" and not any(
            child.dep_ == "expl" for child in token.head.children) and token.n_lefts + token.n_rights > 1:
        yield "@is"


def _has(by_role: Roles, nouns: _Nouns | None, *, default: bool = False) -> bool:
    return default if nouns is None else any(
        "*" in nouns[1] or token.lemma_.lower() in nouns[1] or ("@thing" in nouns[1] and token.tag_ in {"NN", "NNS"})
        for role in nouns[0] for token in by_role.get(role, ()))
