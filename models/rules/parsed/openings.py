"""Titles that sentences open with: words of all kinds, which neither quotation marks nor a parser tell for names."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from ..name_words import PRONOUNS
from ..reading.cues import CompiledSchema

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_LONGEST_OPENING = 14
_NAMING = frozenset({"PROPN", "NOUN", "ADJ", "NUM", "PART", "PUNCT", "CCONJ"})
_NO_NAME = frozenset({"", "DATE", "TIME", "CARDINAL", "ORDINAL"})
_PASSIVE = frozenset({"auxpass", "aux:pass"})


Opening = tuple[int, int, Literal["name", "quoted"]]


def openings(sentences: Sequence["Span"], compiled: CompiledSchema) -> Iterator[Opening]:
    """Where names that sentences open with stand, as tokens from one to another, and whether they are titles.

    'A Walk in the Rain (1999)' is one where a work is said to be so ('is a film'), and before what is said of works
    alone ('was filmed in Oslo').
    """
    for sentence in (part for s in sentences for part in (s, *_after_participle(s))):
        end = _end_of_opening(sentence)
        opening = sentence[: (end or sentence.start) - sentence.start]
        if end is not None and _ends_in_kind(opening, compiled):
            yield opening.start + (opening[0].lower_ == "the"), opening.end, "name"
            continue
        verb = _verb_after(sentence, end) if end is not None and _may_be_title(opening) else None
        if verb is None:
            continue
        if verb.lemma_ == "be" and verb.i + 2 < sentence.end and verb.nbor().pos_ == "DET":
            kind = _said_to_be(verb, compiled)
            if kind in compiled.types.titled:
                article = opening[0].lower_ == "the" and kind not in compiled.types.works
                yield opening.start + article, opening.end, "quoted"
        elif _as_said(verb) in compiled.of_works and (_has_joiner(opening) or _is_title(opening, verb)):
            yield opening.start, opening.end, "quoted"


def _after_participle(sentence: "Span") -> Iterator["Span"]:
    """What follows a participle's clause that a sentence opens with: 'Directed by Ada Blum, No Time for Tea was'."""
    comma = next((t.i for t in sentence if t.text == ","), sentence.end)
    if comma + 1 < sentence.end and any(t.tag_ == "VBN" for t in sentence[:2]):
        yield sentence.doc[comma + 1 : sentence.end]


def _ends_in_kind(opening: "Span", compiled: CompiledSchema) -> bool:
    """A name with the noun of its kind: 'the Denmark women's chess team', 'the 1990 Oslo chess season'."""
    words = opening[opening[0].lower_ == "the" :]
    return len(words) > 1 and capital(words[0]) and compiled.types.of_word(words[-1].lower_) in (
        compiled.types.titled - compiled.types.works) and all(t.pos_ in _NAMING for t in words)


def _said_to_be(verb: "Token", compiled: CompiledSchema) -> str | None:
    """The type of the noun after a copula and its article, or of its apposition: 'is a Looney Tunes cartoon'."""
    said = next((c for c in verb.children if c.dep_ == "attr"), verb.nbor(2))
    nouns = (said, *(c for c in said.children if c.dep_ == "appos"))
    return next(filter(None, (compiled.types.of_word(t.lemma_.lower()) for t in nouns)), None)


def _end_of_opening(sentence: "Span") -> int | None:
    """Where a bracket, a comma or a verb ends what the sentence opens with; None for a long way."""
    return next((t.i for t in sentence[1:_LONGEST_OPENING] if t.text in {"(", ","} or (
        t.pos_ in {"VERB", "AUX"} and t.text.islower())), None)


def _verb_after(sentence: "Span", ends: int) -> "Token | None":
    """The verb of what ends there, after brackets and what stands between two commas."""
    depth, aside = 0, False
    for token in sentence.doc[ends : sentence.end]:
        if token.text in {"(", ")"}:
            depth += 1 if token.text == "(" else -1
        elif token.text == "," and not depth:
            aside = not aside
        elif not (depth or aside) and token.pos_ in {"VERB", "AUX"} and token.text.islower():
            return token
    return None


def _as_said(verb: "Token") -> str:
    """A verb as the schema says it: 'won'; 'be filmed' of a passive."""
    return f"be {verb.head.lower_}" if verb.dep_ in _PASSIVE else verb.lower_


def _is_title(opening: "Span", verb: "Token") -> bool:
    """Whether words that all have capitals are a title, by what a recogniser of names takes them for."""
    labels = {t.ent_type_ for t in opening}
    told = labels != {"PERSON"} if verb.dep_ in _PASSIVE else labels <= _NO_NAME
    return told and all(map(capital, opening))


def _may_be_title(opening: "Span") -> bool:
    """Whether it is no adverbial ('In Oslo'), pronoun, or common noun with its article ('The film')."""
    first = opening[0]
    others = opening[1:] if len(opening) > 1 else opening
    common = first.pos_ in {"DET", "PRON"} and not capital(opening[-1])
    return capital(first) and first.pos_ != "ADP" and not common and not any(t.lower_ in PRONOUNS for t in others)


def _has_joiner(opening: "Span") -> bool:
    """Whether it has an article or words that join others, all others with capitals, and is no list of persons."""
    small = [t for t in opening if not (capital(t) or t.is_punct)]
    return len(opening) > 1 and capital(opening[-1]) and (bool(small) or opening[0].pos_ == "DET") and all(
        t.pos_ in {"ADP", "DET", "CCONJ", "PART"} for t in small) and not all(
        t.ent_type_ == "PERSON" or t.pos_ == "CCONJ" for t in opening)


def capital(token: "Token") -> bool:
    """Written as a part of a name may be: with a capital or a digit."""
    return token.text[0].isupper() or token.text[0].isdigit()
