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
_SAID_OF_UNNAMED = re.compile(
    r"\b(?:(?P<alone>responsible|accountable|manages?|administers?|(?:named|called) (?:after|for) (?:him|her|it))|"
    r"costs?|priced|fees?|effect|effective|force|ends?|expires?|closes?|until)\b")
"""Words that make a sentence without names worth parsing: "The caretaker is responsible for the gate".

Those of the group `alone` do so without a value, too."""
_CAPITAL = re.compile(r"(?<=[\w,] )[A-Z][a-z]")
_EMPLOYING_VERBS = words("work appoint hire join start begin employ promote")
"""Verbs after which "as a" introduces a post: "works as a"."""
_LONGEST_TEXT = 1000  # the most characters of a text that is parsed as one
_FINITE_TAGS = frozenset({"VBZ", "VBP", "VBD", "MD"})
_DEPUTY_WORDS = words("vice deputy assistant associate")  # words that make a post that of a deputy
_NOUN_ROLES = frozenset({"self", "whole", "of", "poss"})
_RoleNouns = tuple[tuple[str, ...], frozenset[str]]  # roles, and nouns in one of them


@dataclass(frozen=True, slots=True)
class ProsePattern:
    """A pattern; see the module."""

    says: tuple[str, ...]
    words: frozenset[str]
    without: frozenset[str]
    head: PatternEnd
    tail: PatternEnd
    where: _RoleNouns | None
    unless: _RoleNouns | None
    planned: bool
    finite: bool
    examples: tuple[tuple[str, str, str], ...]

    def applies_to(self, token: "Token") -> bool:
        """Return True unless a token that has one of the pattern's words is excluded by `without` or of another form.

        A pattern may demand a verb with a subject of its own. One with roles that only nouns have demands a noun.
        """
        if token.lemma_.lower() in self.without:
            return False
        subject = next((child for child in token.children if child.dep_ in {"nsubj", "nsubjpass"}), None)
        # "a pump maker in Oslo, which was founded by Ada Blum": "which" is not Oslo
        is_unclear = subject is None or (subject.tag_ == "WDT" and token.head.dep_ in {"pobj", "appos"})
        demands_noun = not _NOUN_ROLES.isdisjoint((*self.head.roles, *self.tail.roles))
        return not (self.finite and is_unclear) and (not demands_noun or token.pos_ in {"NOUN", "PROPN"})


def load_patterns() -> tuple[ProsePattern, ...]:
    """Return the patterns of English prose."""
    return tuple(map(_pattern, json.loads(_FILE.read_text("utf-8"))))


def _pattern(entry: Mapping[str, Any]) -> ProsePattern:
    """Return the pattern of an entry of `prose_facts.json`."""
    return ProsePattern(
        says=tuple(entry["says"]), words=words(entry["words"]), without=words(entry.get("without", "")),
        head=PatternEnd(*_split_roles(entry["head"])), tail=PatternEnd(*_split_roles(entry["tail"])),
        where=_role_nouns(entry.get("where", "")), unless=_role_nouns(entry.get("unless", "")),
        planned=entry.get("planned", False), finite=entry.get("finite", False),
        examples=tuple((sentence, head, tail) for sentence, head, tail in entry["examples"]))


def _split_roles(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the roles and the other words of "subj|by person organization"."""
    roles_, _, others = text.partition(" ")
    return tuple(roles_.split("|")), tuple(others.split())


def _role_nouns(text: str) -> _RoleNouns | None:
    """Return the roles and nouns of a condition, or None if there is no condition."""
    roles_, nouns = _split_roles(text)
    return (roles_, frozenset(nouns)) if text else None


class ProseFacts:
    """The patterns of a schema's relations and attributes."""

    def __init__(self, schema: GraphSchema, patterns: Sequence[ProsePattern]) -> None:
        """Index by their words those patterns whose relation or attribute is in the schema.

        An open schema uses all patterns.
        """
        self._by_word: dict[str, list[tuple[str, ProsePattern]]] = {}
        label_of = labels_of(schema)
        for pattern in patterns:
            for word in pattern.words if label_of(pattern.says) else ():
                self._by_word.setdefault(word, []).append((label_of(pattern.says), pattern))

    def find(self, parser: Parser, text: str, sentences: Sequence[tuple[int, int]], mentions: Sequence[Mention],
             subject: Mention | None) -> Iterator[Stated]:
        """Find the facts of a text's sentences; see `FactForms.find`.

        Only sentences that may state a fact are parsed, since parsing is slow: those with a name or another capitalised
        word, those with a value if the text's subject is known, and some without names (`_SAID_OF_UNNAMED`).
        """
        candidates = list[ShownSentence]()
        for start, end in sentences:
            inside = [mention for mention in mentions if start <= mention.start and mention.end <= end]
            has_name = any(mention.kind not in VALUES for mention in inside) or _CAPITAL.search(text, start + 1, end)
            unnamed = _SAID_OF_UNNAMED.search(text, start, end)
            may_state_fact = has_name or (subject and inside) or (unnamed and (inside or unnamed["alone"]))
            if may_state_fact and end - start < _LONGEST_TEXT:
                candidates.append(ShownSentence(text, start, end, inside))
        candidates = [one for one in candidates if one.is_sentence]
        docs = parser.parse_sentences([one.text for one in candidates], most_words=LONGEST_SENTENCE)
        for doc, shown in zip(docs, candidates, strict=True):
            if doc is not None and (shown.is_role or any(token.tag_ in _FINITE_TAGS for token in doc)):
                yield from self._of_sentence(ProseSentence(doc, shown.mentions, subject), shown.start, shown.end)

    def _of_sentence(self, sentence: "ProseSentence", start: int, end: int) -> Iterator[Stated]:
        """Yield the facts that a word of the sentence states by a pattern; a verb within a name states none."""
        for token in sentence.doc:
            is_in_name = token.pos_ == "VERB" and sentence.covering(token)
            keys = () if is_in_name else dict.fromkeys(_pattern_words(token))
            patterns = [found for key in keys for found in self._by_word.get(key, ())]
            by_role = roles(token) if patterns else {}
            for label, pattern in patterns:
                if not pattern.applies_to(token) or not is_stated(token, planned=pattern.planned):
                    continue
                if not _has_noun(by_role, pattern.where, default=True) or _has_noun(by_role, pattern.unless):
                    continue
                for head, tail in _head_tail_pairs(sentence, token, by_role, pattern):
                    time = "" if tail.kind == "date" else sentence.time(token, by_role)
                    yield Stated(head.name, label, tail.name, time, start, end, head.kind, tail.kind)


def _head_tail_pairs(sentence: "ProseSentence", token: "Token", by_role: Roles, pattern: ProsePattern) -> Iterator[
        tuple[Mention, Mention]]:
    """Yield the heads and tails of the facts that a token states by a pattern."""
    heads = sentence.fill(token, by_role, pattern.head)
    tails = sentence.fill(token, by_role, pattern.tail)
    if pattern.head == pattern.tail:  # "A and B merged"
        yield from ((heads[0], other) for other in heads[1:])
        return
    yield from ((head, tail) for head in heads for tail in tails if head.name != tail.name)


def _pattern_words(token: "Token") -> Iterator[str]:
    """Yield the words by which patterns refer to a token, such as "take_over" and "@person"."""
    if token.pos_ not in {"VERB", "AUX", "NOUN", "PROPN", "ADJ"}:
        return
    particle = next((f"_{one.lower_}" for one in token.children if one.dep_ == "prt" or one.lower_ == "away"), "")
    lemma = token.lemma_.lower()
    if token.i > 1 and token.nbor(-1).text == "-" and token.nbor(-2).lower_ in _DEPUTY_WORDS:
        return  # the "chairman" of "vice-chairman"
    if any(child.lower_ in _DEPUTY_WORDS for child in token.children):
        yield "@deputy"
        return
    yield lemma + particle
    if token.pos_ != "NOUN":
        return
    yield from (f"{child.lemma_.lower()}_{lemma}" for child in token.children if child.i + 1 == token.i)
    if token.dep_ == "pobj" and token.head.lower_ == "as" and token.head.head.lemma_ in _EMPLOYING_VERBS:
        yield "@post"
    if kind := kind_of_noun(lemma):
        yield f"@{kind}"
    first, last = token.left_edge, token.right_edge
    follows_comma = first.i and first.nbor(-1).text == ","
    precedes_mark = last.i + 1 < len(token.doc) and last.nbor().is_punct
    if token.dep_ == "appos" and first.lower_ in {"a", "an"} and follows_comma and precedes_mark:
        yield "@an"
    is_predicate = token.dep_ == "attr" and token.head.lemma_ == "be" and token.head.dep_ != "advcl"
    has_there = any(child.dep_ == "expl" for child in token.head.children)  # "there is"
    says_more = token.n_lefts + token.n_rights > 1  # than an article
    if is_predicate and not has_there and says_more:
        yield "@is"


def _has_noun(by_role: Roles, condition: _RoleNouns | None, *, default: bool = False) -> bool:
    """Return True if one of a condition's roles has one of its nouns, and `default` if there is no condition."""
    if condition is None:
        return default
    condition_roles, nouns = condition
    return any("*" in nouns or token.lemma_.lower() in nouns or ("@thing" in nouns and token.tag_ in {"NN", "NNS"})
               for role in condition_roles for token in by_role.get(role, ()))
