"""Words that are a relation's tail though they name nothing by themselves: what something is said to be, or of."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....text.peoples import country_of
from ..lexicon import words
from ..name_words import NO_OCCUPATIONS
from ..reading.cues import MODIFIER, NATIONALITY, NOUN, TERM_IS_TAIL, CompiledSchema, fold
from .mentions import Mention, Reading

if TYPE_CHECKING:
    from spacy.tokens import Token

_AGENTS = ("er", "or", "man", "woman")
_BEFORE_A_NOUN = frozenset({"amod", "compound", "nmod", "conj"})
_OF_KINDS = words("romantic musical historical dramatic comic epic erotic gothic psychological biographical satirical "
                  "black dark electronic progressive alternative classical traditional experimental martial heavy")
"""Adjectives that are a part of what a kind of works or sports is called: 'romantic comedy'."""


def find_terms(reading: Reading, compiled: CompiledSchema) -> list[Mention]:
    """The terms of a chunk that are no mentions, each labelled with the mark of the schema's relations that want it."""
    return [*_within_names(reading, compiled), *(_said_to_be(reading, compiled) if compiled.says_what else ())]


def _within_names(reading: Reading, compiled: CompiledSchema) -> Iterator[Mention]:
    """Terms that the schema lists where a name holds them: 'the Rugby League World Cup'."""
    for hits in compiled.terms.find(fold(reading.text)):
        span = reading.doc.char_span(hits[0].start, hits[0].end)
        mention = reading.at.get(span.start) if span is not None else None
        if span is not None and mention is not None and mention.kind != "term":
            yield Mention(span.start, span.end, span[0], span.text, "term", f"{TERM_IS_TAIL}{hits[0].phrase}")


def _said_to_be(reading: Reading, compiled: CompiledSchema) -> Iterator[Mention]:
    """What something is said to be: a noun with the nouns before it, and those before it alone."""
    doc = reading.doc
    for token in doc:
        if token.pos_ == "NOUN" and token.i not in reading.at:
            yield from _countries(token)
        if token.pos_ == "NOUN" and token.dep_ in {"attr", "appos"} and token.i not in reading.at:
            start = token.i
            while start > token.left_edge.i and _modifies(doc[start - 1]):
                start -= 1
            if _of_persons(token.lemma_.lower(), compiled):
                yield Mention(start, token.i + 1, token, doc[start : token.i + 1].text, "term", NOUN)
            if start < token.i:
                yield Mention(start, token.i, token, doc[start : token.i].text, "term", MODIFIER)


def _countries(noun: "Token") -> Iterator[Mention]:
    """The countries of the peoples before a noun: Japan of 'a Japanese drama film'."""
    doc = noun.doc
    for token in doc[noun.left_edge.i : noun.i]:
        place = next((start for start in (token.i - 1, token.i) if start >= noun.left_edge.i
                      and country_of(doc[start : token.i + 1].text)), None)
        if place is not None and _describes(token, noun):
            yield Mention(place, token.i + 1, noun, country_of(doc[place : token.i + 1].text), "term", NATIONALITY)


def _describes(word: "Token", noun: "Token") -> bool:
    """Whether a word before a noun belongs to that noun, and not to an owner or another name."""
    while word != noun and word.dep_ in _BEFORE_A_NOUN:
        word = word.head
    return word == noun


def _of_persons(noun: str, compiled: CompiledSchema) -> bool:
    """Whether a noun says what a person does."""
    kind = compiled.types.of_word(noun)
    return noun not in NO_OCCUPATIONS and (noun.endswith(_AGENTS)
                                           or (kind is not None and kind == compiled.types.roles.get("person")))


def _modifies(token: "Token") -> bool:
    """A noun before another one, or a part of a word with a hyphen: 'long-distance'."""
    if token.text == "-":
        return True
    return token.text.islower() and (token.dep_ == "compound" or token.pos_ == "NOUN" or token.nbor().text == "-"
                                     or token.text in _OF_KINDS)
