"""The parts of a sentence that may be names or terms, more than are: which of them are, examples tell.

Mentions are found by rules that hold for all texts and miss titles with small words, names next to each
other, terms. Here every run of capitalised words is a candidate, with the words that may join them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..lexicon import words as word_set
from ..name_words import DETERMINERS, PARTICLES, PREPOSITIONS
from .cues import is_han
from .english import Token, tokenise
from .mentions import ANAPHORS, Mention, Sentence, Source
from .openings import is_verb

Known = Mapping[str, Sequence[str]]
"""A folded term -> the relations that it is known to be a tail of."""

_JOINS = PREPOSITIONS | PARTICLES | DETERMINERS | word_set("and or & : , ' ’ - – ! ? . / no my")
_CLOSING = frozenset("!?.")
_LONGEST = 9
_LONGEST_OPENING = 14
_OPENS_WITHIN = 25
_MOST_JOINS = 3
_LONGEST_TERM = 6
_LONGEST_HAN_TERM = 12


@dataclass(frozen=True, slots=True)
class Span:
    """The tokens `first` to `last` (exclusive) of a sentence; `name` is what they would name."""

    first: int
    last: int
    start: int
    end: int
    name: str
    mention: Mention | None
    """The mention that stands just there."""

    known: tuple[str, ...]
    """The relations of which these words are a known tail."""

    def overlaps(self, other: "Span") -> bool:
        """Whether the two share a token."""
        return self.first < other.last and other.first < self.last

    def as_mention(self) -> Mention:
        """The span as a mention of its own."""
        return Mention(self.start, self.end, self.name, "name")


def tokens_of(source: Source, sentence: Sentence) -> list[Token]:
    """A sentence's words and marks; characters where the script has no spaces."""
    tokens: list[Token] = []
    for token in tokenise(source.text, sentence.start, sentence.end):
        if any(map(is_han, token.text)):
            tokens.extend(Token(i, i + 1, source.text[i], source.folded[i]) for i in range(token.start, token.end))
        else:
            tokens.append(token)
    return tokens


def find_spans(source: Source, sentence: Sentence, tokens: Sequence[Token], known: Known) -> list[Span]:
    """The candidates of a sentence, in the order of the text.

    Args:
        source: the chunk.
        sentence: its mentions are candidates wherever they begin and end with a token.
        tokens: of the sentence.
        known: terms that are candidates wherever they stand.
    """
    mentions = {(m.start, m.end): m for m in sentence.mentions if m.kind not in ANAPHORS and m.name}
    starts = {token.start: i for i, token in enumerate(tokens)}
    ends = {token.end: i + 1 for i, token in enumerate(tokens)}
    terms = {(i, j): found for i, j, found in _terms(source, tokens, known)}
    places = {(starts[a], ends[b]) for a, b in mentions if a in starts and b in ends}
    places.update(_runs(tokens), _openings(tokens), terms)
    return [_span(source, tokens, place, mentions, terms) for place in sorted(places)]


def _span(source: Source, tokens: Sequence[Token], place: tuple[int, int],
          mentions: Mapping[tuple[int, int], Mention], terms: Mapping[tuple[int, int], tuple[str, ...]]) -> Span:
    start, end = tokens[place[0]].start, tokens[place[1] - 1].end
    mention = mentions.get((start, end))
    return Span(*place, start, end, mention.name if mention else source.text[start:end], mention, terms.get(place, ()))


def capital(token: Token) -> bool:
    """Written as a part of a name may be: with a capital or a digit."""
    return token.capital or token.text[0].isdigit()


def _runs(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Every run from one capitalised word to another over at most a few words that may join names."""
    for first, token in enumerate(tokens):
        joins = 0
        for at in range(first, min(len(tokens), first + _LONGEST)) if capital(token) else ():
            if capital(tokens[at]):
                joins = 0
                yield first, at + 1
                if at + 2 < len(tokens) and tokens[at + 1].text in _CLOSING:
                    yield first, at + 2
                continue
            joins += 1
            if joins > _MOST_JOINS or tokens[at].lower not in _JOINS:
                break


def _openings(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """What a clause opens with, up to a verb, a bracket, a comma or a possessive: titles hold words of all kinds."""
    for begin in _clause_starts(tokens):
        for at in range(begin, min(len(tokens) - 1, begin + _LONGEST_OPENING)):
            following = tokens[at + 1]
            ends = following.text in '(,"”' or (following.text.islower() and is_verb(following.lower))
            if ends or tokens[at].possessive:
                yield begin, at + 1


def _clause_starts(tokens: Sequence[Token]) -> Iterator[int]:
    opening = next((i for i, token in enumerate(tokens) if token.text[0].isalnum()), len(tokens))
    after_commas = (i + 1 for i in range(opening, min(len(tokens), opening + _OPENS_WITHIN)) if tokens[i].text == ",")
    for begin in (opening, *after_commas):
        for start in (begin, begin + 1):
            if start < len(tokens) and capital(tokens[start]) and (
                    start == begin or tokens[begin].lower in DETERMINERS):
                yield start


def _terms(source: Source, tokens: Sequence[Token], known: Known) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    for first, token in enumerate(tokens if known else ()):
        reach = _LONGEST_HAN_TERM if is_han(token.text) else _LONGEST_TERM
        for last in range(first + 1, min(len(tokens), first + reach) + 1):
            found = known.get(source.folded[token.start : tokens[last - 1].end])
            if found:
                yield first, last, tuple(found)
