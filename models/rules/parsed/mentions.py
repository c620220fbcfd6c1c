"""Mentions in parsed text: named entities and proper nouns merged, titles, terms of the schema, values, pronouns."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ....schemas.graph_schema import ROOT_TYPE
from ....text.values import Value, find_values
from ..name_words import CALENDAR, GENERIC_ACRONYMS, PRONOUNS, ROLES
from ..reading.cues import TERM_IS_TAIL, CompiledSchema, fold
from .openings import openings

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

Kind = Literal["name", "quoted", "term", "value", "pronoun", "description"]

VALUE_LABELS = frozenset({"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"})
PEOPLES = "NORP"
_QUOTED = re.compile(r"[\"“«]([^\"“”«»\n]{2,80})[\"”»]")
_LONGEST_QUOTED = 9
_LONGEST_NAME = 200
_ROLE_IN_TITLE = frozenset({"mr", "mrs", "ms", "dr", "prof", "sir"})
PLACE_OR_BODY = frozenset({"GPE", "LOC", "ORG", "FAC"})
_COMMON = frozenset({"NOUN", "VERB", "AUX", "ADJ", "ADV", "PRON"})
_UNCASED = frozenset({"ja", "zh", "ko", "th", "he", "ar", "fa", "hi"})
"""Languages whose names have no capitals."""

_BRACKETS = frozenset("([")
_NO_START = frozenset({"DET", "CCONJ", "ADP", "PART", "SPACE"})
_NO_END = frozenset({"PART", "CCONJ", "DET", "SPACE", "ADP"})
_DEFINITE = frozenset({"the", "this", "that", "these", "those"})


@dataclass(slots=True, eq=False)
class Mention:
    """Tokens `start` to `end` of a parse that speak of an entity.

    `name` is the entity's, "" for an anaphor that is not resolved yet. `label` is spaCy's label of a name, the kind
    of a value, what a pronoun can stand for, or the lemma of a description's noun ("company" of "the company").
    """

    start: int
    end: int
    root: "Token"
    name: str
    kind: Kind = "name"
    label: str = ""

    @property
    def anaphor(self) -> bool:
        """Whether it stands for a name that it does not say."""
        return self.kind in {"pronoun", "description"}


class Reading:
    """A parsed chunk with its mentions."""

    def __init__(self, doc: "Doc", sentences: Sequence["Span"], title: str, compiled: CompiledSchema) -> None:
        """Find the mentions.

        Args:
            doc: the parse of the chunk's text.
            sentences: those of its sentences that are read.
            title: the document's.
            compiled: the schema in force.
        """
        self.doc = doc
        self.sentences = sentences
        self.text = doc.text
        self.of_things = compiled.of_things
        self.values = find_values(self.text)
        self.sentence_of = {i: sentence for sentence in sentences for i in range(sentence.start, sentence.end)}
        self.mentions = _mentions(self, title, compiled)
        self.at = {i: mention for mention in self.mentions for i in range(mention.start, mention.end)}
        self.terms: list[Mention] = []
        """What is said in words that are no mention; see `find_terms`."""

    def stated(self) -> Iterator["Span"]:
        """The sentences that are no questions."""
        return (s for s in self.sentences if not s.text.rstrip().endswith("?"))

    def names(self) -> Iterator[Mention]:
        """The mentions that say the name of what they stand for."""
        return (m for m in self.mentions if not m.anaphor)

    def tokens_of(self, value: Value) -> "Span | None":
        """The tokens of a value."""
        return self.doc.char_span(value.start, value.end, alignment_mode="expand")


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    end: int
    kind: Kind
    label: str = ""
    rank: int = 0


def _mentions(reading: Reading, title: str, compiled: CompiledSchema) -> list[Mention]:
    doc = reading.doc
    titles = (_Found(*place) for place in openings(reading.sentences, compiled))
    found = [f for f in (*_entities(doc), *_titled(reading, title, compiled), *_quoted(reading), *titles,
                         *_terms(reading, compiled), *_dated(reading, compiled)) if f.start in reading.sentence_of]
    names = [t for f in found if f.rank >= 0 and (t := _trimmed(doc, f, compiled)) is not None]
    trimmed = [*names, *(f for f in found if f.rank < 0 and not any(n.kind != "term" and _within(f, n) for n in names))]
    kept: list[_Found] = []
    taken: set[int] = set()
    for f in sorted(trimmed, key=lambda f: (f.rank >= 0, f.start - f.end, f.rank, f.start)):
        places = range(f.start, f.end)
        if taken.isdisjoint(places):
            kept.append(f)
            taken.update(places)
    anaphors = _anaphors(reading, taken, compiled)
    mentions = [Mention(f.start, f.end, root_of(doc[f.start : f.end]), _name(doc, f), f.kind, f.label) for f in kept]
    return sorted([*_widened(doc, mentions), *anaphors], key=lambda m: m.start)


def _within(term: _Found, name: _Found) -> bool:
    return name.start <= term.start and term.end <= name.end and term.end - term.start < name.end - name.start


def _name(doc: "Doc", found: _Found) -> str:
    return " ".join(doc[found.start : found.end].text.split())


def _entities(doc: "Doc") -> Iterator[_Found]:
    """Named entities; runs of proper nouns that none covers, or that only add to one."""
    entities = [part for e in doc.ents if e.label_ not in VALUE_LABELS for part in _parts(e)]
    runs = list(_runs(doc))
    owner = {i: n for n, run in enumerate(runs) for i in range(*run)}
    within: dict[int, list[int]] = {}
    for k, e in enumerate(entities):
        for n in {owner[i] for i in range(e.start, e.end) if i in owner}:
            within.setdefault(n, []).append(k)
    bounds = {k: [e.start, e.end] for k, e in enumerate(entities)}
    for n, (start, end) in enumerate(runs):
        inside = within.get(n, [])
        if not inside:
            yield _Found(start, end, "name", "", 2)
        elif len(inside) == 1 and entities[inside[0]].label_ != PEOPLES:
            bound = bounds[inside[0]]
            bound[0], bound[1] = min(bound[0], start), max(bound[1], end)
    for k, e in enumerate(entities):
        yield _Found(bounds[k][0], bounds[k][1], "name", e.label_, 1)


def _parts(entity: "Span") -> Iterator["Span"]:
    """The entity; where a bracket, verb or common noun stands between names, both: 'Heat stars Al Pacino'."""
    doc = entity.doc
    bracket = next((t.i for t in doc[entity.start + 1 : entity.end] if t.text in _BRACKETS), None)
    if bracket is not None:
        yield from (doc[entity.start : bracket], *([doc[bracket + 1 : entity.end]] if bracket + 1 < entity.end else []))
        return
    cut = next((t.i for t in doc[entity.start + 1 : entity.end - 1] if t.text.islower() and (
        (t.dep_ == "ROOT" and t.pos_ == "VERB") or (t.tag_ == "NN" and entity.label_ != "WORK_OF_ART" and (
            {t.nbor(-1).pos_, t.nbor().pos_} == {"PROPN"})))), None)
    if cut is None:
        yield entity
    else:
        yield from (doc[entity.start : cut], doc[cut + 1 : entity.end])


def _runs(doc: "Doc") -> Iterator[tuple[int, int]]:
    """Proper nouns that follow each other, and such as 'of' joins: 'Battle of the Nile'."""
    start = end = -1
    for token in doc:
        if token.pos_ == "PROPN" and token.ent_type_ not in VALUE_LABELS and token.text[:1].isalnum():
            joined = start >= 0 and not doc[end].is_sent_start and (end == token.i or _joined(doc, start, end, token.i))
            if start >= 0 and not (joined and not token.is_sent_start):
                yield start, end
                start = -1
            if start < 0:
                year = token.i - 1
                dated = token.i and doc[year].dep_ == "nummod" and doc[year].head.i - token.i in range(8)
                start = year if dated and doc[year].text.isdecimal() and len(doc[year].text) == 4 else token.i  # noqa: PLR2004
            end = token.i + 1
    if start >= 0:
        yield start, end


def _joined(doc: "Doc", start: int, end: int, at: int) -> bool:
    """Whether only 'of' or a hyphen stands between proper nouns that make one name."""
    between = [t.lower_ for t in doc[end:at]]
    if between in (["-"], ["–"], ["&"]):
        return not any(t.whitespace_ for t in doc[end - 1 : at]) or between == ["&"]
    head = doc[end - 1]
    return between in (["of"], ["of", "the"]) and fold(head.text) not in ROLES and doc[end].head.i in range(start, end)


def _titled(reading: Reading, title: str, compiled: CompiledSchema) -> Iterator[_Found]:
    """Where the document's title stands as it is written; in other case only as the term that is defined."""
    name = title_subject(title)
    if not name or fold(name) in compiled.types.words:
        return
    at = reading.text.find(name)
    while at >= 0:
        span = reading.doc.char_span(at, at + len(name))
        if span is not None and _can_be_name(span):
            label = root_of(span).ent_type_
            yield _Found(span.start, span.end, "name", label if label not in VALUE_LABELS else "", 0)
        at = reading.text.find(name, at + len(name))


def root_of(tokens: "Span") -> "Token":
    """The token of some neighbouring ones on which the others hang; spaCy's own `root` reads the whole text for it."""
    return next((t for t in tokens if not tokens.start <= t.head.i < tokens.end or t.head == t), tokens[0])


def title_subject(title: str) -> str:
    """The part of a title that can be a name: without a closing parenthesis; "" for a sentence."""
    head = title.strip()
    if head.endswith(")"):
        head = head[: head.rfind("(")].strip() if "(" in head else head
    return head if len(head.split()) <= 10 and len(head) > 1 else ""  # noqa: PLR2004 - words of the longest titles


def _can_be_name(span: "Span") -> bool:
    """Whether a title, where it stands in the text, is a name or a defined term, not a heading of common words."""
    root = root_of(span)
    defined = root.dep_ in {"nsubj", "nsubjpass"} and root.head.lemma_ == "be"
    if any(t.text.islower() and t.pos_ in _COMMON for t in span):
        return defined and not any(t.pos_ == "PRON" for t in span)
    if any(t.pos_ == "PROPN" or t.ent_type_ not in {"", *VALUE_LABELS} for t in span):
        return True
    words = [t for t in span if t.is_alpha]
    if len(words) > 1 and all(t.text[0].isupper() for t in words if not t.is_stop) and words[-1].text[0].isupper():
        return not any(t.pos_ in {"PRON", "VERB", "AUX"} for t in span)
    return defined and not any(t.pos_ == "PRON" for t in span)


def _quoted(reading: Reading) -> Iterator[_Found]:
    """Titles in quotation marks, without the marks."""
    for match in _QUOTED.finditer(reading.text):
        words = match.group(1)
        name = words.strip(" ,.")
        begin = match.start(1) + words.find(name)
        span = reading.doc.char_span(begin, begin + len(name)) if name else None
        if span is not None and name[0].isupper() and len(name.split()) <= _LONGEST_QUOTED and not _is_clause(span):
            yield _Found(span.start, span.end, "quoted", "", 0)


def _is_clause(span: "Span") -> bool:
    """Whether what is quoted is a sentence that somebody says."""
    return root_of(span).pos_ in {"VERB", "AUX"} and any(t.dep_ in {"nsubj", "nsubjpass"} for t in span) and not all(
        t.text[0].isupper() for t in span if t.is_alpha and not t.is_stop)


def _terms(reading: Reading, compiled: CompiledSchema) -> Iterator[_Found]:
    """Terms that the schema makes entities of: those it lists, and by their head noun, with its modifiers."""
    for hits in compiled.terms.find(fold(reading.text)):
        span = reading.doc.char_span(hits[0].start, hits[0].end)
        if span is not None:
            yield _Found(span.start, span.end, "term", f"{TERM_IS_TAIL}{hits[0].phrase}", -1)
    if not (compiled.types.term_words or compiled.types.term_endings):
        return
    for token in reading.doc:
        if token.pos_ in {"NOUN", "PROPN", "ADJ"} and compiled.types.of_term(token.lower_):
            start = token.i
            while start > token.left_edge.i and reading.doc[start - 1].dep_ in {"compound", "amod", "nmod"} and (
                    reading.doc[start - 1].pos_ in {"NOUN", "ADJ", "PROPN"}):
                start -= 1
            yield _Found(start, token.i + 1, "term", token.lower_, 3)


def _dated(reading: Reading, compiled: CompiledSchema) -> Iterator[_Found]:
    """Dates and numbers, where the schema has a type for them."""
    for value in reading.values:
        span = reading.tokens_of(value) if value.kind in compiled.types.roles else None
        if span is not None:
            yield _Found(span.start, span.end, "value", value.kind, 0)


def _trimmed(doc: "Doc", found: _Found, compiled: CompiledSchema) -> _Found | None:
    """A mention without articles, titles and marks at its ends; None where no name is left."""
    start, end = found.start, found.end
    if found.kind != "name":
        return found
    titled = doc[start].text == "The" and found.label == "WORK_OF_ART" and not doc[start].is_sent_start
    while found.rank and not titled and start < end and (doc[start].pos_ in _NO_START or not _wordlike(doc[start])):
        start += 1
    while found.rank and start < end and (doc[end - 1].pos_ in _NO_END or doc[end - 1].tag_ == "POS"
                                          or not _wordlike(doc[end - 1])):
        end -= 1
    if found.rank and end - start > 2 and doc[end - 1].like_num and doc[end - 2].lower_ in {"of", "in"}:  # noqa: PLR2004
        end -= 2
    start, end = _with_numbers(doc, start, end) if found.rank else (start, end)
    if found.label in {"PERSON", "PER", ""} and found.rank:
        while end - start > 1 and (fold(doc[start].text).rstrip(".") in _ROLE_IN_TITLE or (
                end - start > 2 and fold(doc[start].text).rstrip(".") in ROLES)):  # noqa: PLR2004 - a name of two
            start += 1
    if start >= end or doc[end - 1].idx + len(doc[end - 1]) - doc[start].idx > _LONGEST_NAME:
        return None
    return replace(found, start=start, end=end) if _names(doc[start:end], found, compiled) else None


def _with_numbers(doc: "Doc", start: int, end: int) -> tuple[int, int]:
    """The name with the number that belongs to it ('Alien 3'), and the article of a title ('A Separation')."""
    number = doc[end] if start < end < len(doc) else None
    if number is not None and number.like_num and number.dep_ == "nummod" and number.head.i in range(start, end):
        end += 1
    article = doc[start - 1] if start else None
    if article is not None and start < end and article.text in {"A", "An"} and article.head.i in range(start, end) and (
            article.head.dep_ in {"nsubj", "nsubjpass", "ROOT"} and article.head.pos_ == "PROPN"):
        start -= 1
    return start, end


def _wordlike(token: "Token") -> bool:
    return any(c.isalnum() for c in token.text)


def _names(span: "Span", found: _Found, compiled: CompiledSchema) -> bool:
    """Whether the words can name one thing, or a people where the schema has a type for any other thing."""
    if found.rank == 0:
        return True
    if span.doc.lang_ not in _UNCASED and not any(t.text[0].isupper() for t in span):
        return False
    words = [fold(t.text).rstrip(".") for t in span]
    if all(w in CALENDAR for w in words):
        return False
    if found.label == PEOPLES:
        return compiled.types.fallback != ROOT_TYPE
    if len(words) == 1:
        word = words[0]
        if word in GENERIC_ACRONYMS or word in ROLES or len(word) < 2:  # noqa: PLR2004 - an initial
            return False
        if found.label in {"", "LANGUAGE"}:
            return compiled.types.of_word(word) is None and span[0].pos_ == "PROPN"
    return True


def _widened(doc: "Doc", mentions: Iterable[Mention]) -> Iterator[Mention]:
    """'the Lyon plant' is one thing: a name before the noun that 'the' belongs to."""
    for m in mentions:
        head = m.root.head
        if (m.kind == "name" and m.label in PLACE_OR_BODY and m.root.dep_ == "compound" and head.i == m.end
                and head.tag_ == "NN" and m.start and doc[m.start - 1].lower_ == "the"
                and doc[m.start - 1].head == head and head.dep_ in {"pobj", "nsubj", "dobj", "nsubjpass"}
                and not any(c.dep_ in {"appos", "prep"} for c in head.children)):
            yield Mention(m.start, head.i + 1, head, doc[m.start : head.i + 1].text, "name", "")
        else:
            yield m


def _anaphors(reading: Reading, taken: set[int], compiled: CompiledSchema) -> Iterator[Mention]:
    """Third-person pronouns, and 'the company': a definite noun of the schema's without a name or complement."""
    for token in reading.doc:
        if token.i in taken or token.i not in reading.sentence_of:
            continue
        if token.pos_ == "PRON" and token.lower_ in PRONOUNS:
            yield Mention(token.i, token.i + 1, token, "", "pronoun", PRONOUNS[token.lower_])
        elif token.pos_ == "NOUN" and token.tag_ != "NNS" and (
                compiled.types.of_word(token.lemma_.lower()) not in {None, compiled.types.roles.get("person")}):
            inner = list(token.children)
            if any(c.lower_ in _DEFINITE for c in inner if c.dep_ == "det") and not any(
                    c.dep_ in {"prep", "poss", "relcl", "acl", "appos", "compound", "amod"} for c in inner):
                yield Mention(token.i, token.i + 1, token, "", "description", token.lemma_.lower())
