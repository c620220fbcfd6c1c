"""What is seen of a candidate span: the words in it and around it, its shape, and what the rules take it for.

Features are readable strings, `kind=value` or a bare kind; the weights learned for them stand in the schema
(`schemas.graph_schema.RulesHints.learned`).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from ..name_words import COUNTRIES, GIVEN_NAMES
from .cues import fold
from .english import Token
from .entity_typing import head_noun_type
from .mentions import Sentence, Source
from .openings import is_verb
from .relations import Triple
from .spans import Span, capital

_COPULAS = frozenset({"is", "was", "are", "were"})
_COMPLEMENT_WORDS = 7
_LEAD_WORDS = 3
_MOST = 6
_LIST = frozenset({",", "&", '"', "“", "”", "'", "(", ")", "and", "or", "the", "a", "an", "、", "和"})


@dataclass(frozen=True, slots=True)
class Reading:
    """What the rules made of a sentence: the evidence besides the words themselves."""

    source: Source
    sentence: Sentence
    tokens: Sequence[Token]
    types: Mapping[str, str]
    unsure: Set[str]
    by_rule: tuple[Triple, ...]
    """What the schema's cues say."""


def span_features(reading: Reading, spans: Sequence[Span]) -> list[list[str]]:
    """The features of each span, without repeats.

    Args:
        reading: of the sentence.
        spans: all of the sentence's.
    """
    complement = tuple(_complement(reading))
    mentions = [s for s in spans if s.mention]
    by_rule = _by_rule(reading)
    return [list(dict.fromkeys((*_around(reading.tokens, span), *_inside(reading, span),
                                *by_rule.get(fold(span.name), ()), *(f"known={r}" for r in span.known),
                                *_as_mention(reading, span, mentions), *complement))) for span in spans]


def _by_rule(reading: Reading) -> dict[str, list[str]]:
    """Folded name -> what the schema's cues take it for."""
    found: dict[str, list[str]] = defaultdict(list)
    for triple in reading.by_rule:
        found[fold(triple.head)].append("head by rule")
        found[fold(triple.tail)].append(f"rule={triple.relation}")
    return found


def _around(tokens: Sequence[Token], span: Span) -> Iterator[str]:
    before = ["^", "^", "^", *(t.lower for t in tokens[max(0, span.first - 3) : span.first])][-3:]
    after = [*(t.lower for t in tokens[span.last : span.last + 2]), "$", "$"][:2]
    for size in (1, 2, 3):
        yield f"before={' '.join(before[-size:])}"
    yield f"after={after[0]}"
    yield f"after={after[0]} {after[1]}"
    lead = _lead(tokens, span.first)
    for size in range(1, len(lead) + 1):
        yield f"lead={' '.join(lead[-size:])}"
    verb = next((t.lower for t in reversed(tokens[: span.first])
                 if t.text.islower() and (is_verb(t.lower) or t.lower.endswith("ing"))), "^")
    yield f"verb={verb}"
    if _joined(tokens, span.first):
        yield "capital before"
    if span.last < len(tokens) and _joined(tokens, span.last) and capital(tokens[span.last]):
        yield "capital after"
    if tokens[span.last - 1].possessive:
        yield "owner"
    opens = span.first == 0 or (span.first == 1 and not tokens[0].text[0].isalnum())
    yield "place=opening" if opens else f"place={_band(span.first)}"


def _joined(tokens: Sequence[Token], at: int) -> bool:
    """Whether a capitalised word stands right before this place, with no possessive between."""
    if not 0 < at < len(tokens):
        return False
    left = tokens[at - 1]
    return capital(left) and tokens[at].start - left.end <= 1 and not left.possessive


def _lead(tokens: Sequence[Token], at: int) -> list[str]:
    """The words before a span; of one in a list, the words before the list."""
    at -= 1
    while at >= 0 and (capital(tokens[at]) or tokens[at].lower in _LIST):
        at -= 1
    words: list[str] = []
    while at >= 0 and len(words) < _LEAD_WORDS and tokens[at].text.islower():
        words.insert(0, tokens[at].lower)
        at -= 1
    return words


def _inside(reading: Reading, span: Span) -> Iterator[str]:
    tokens = reading.tokens[span.first : span.last]
    words = [token.lower for token in tokens]
    text = reading.source.text[span.start : span.end]
    yield f"first={words[0]}"
    yield f"last={words[-1]}"
    for word in words:
        yield f"word={word}"
    yield f"words={min(len(words), _MOST)}"
    yield f"shape={_shape(text, tokens)}"
    yield "first capital" if capital(tokens[0]) else "first small"
    yield "last capital" if capital(tokens[-1]) else "last small"
    yield f"times={min(3, reading.source.text.count(text, reading.sentence.start, reading.sentence.end))}"
    if words[-1] in COUNTRIES or " ".join(words) in COUNTRIES:
        yield "country"
    if words[0] in GIVEN_NAMES:
        yield "given name"
    if span.start and reading.source.text[span.start - 1] in "\"“《":
        yield "quoted"


def _shape(text: str, tokens: Sequence[Token]) -> str:
    if text.islower():
        return "small"
    if text.isdigit():
        return "digits"
    if text.isupper():
        return "capitals"
    return "title" if all(token.text[0].isupper() for token in tokens) else "mixed"


def _as_mention(reading: Reading, span: Span, mentions: Sequence[Span]) -> Iterator[str]:
    if span.mention is not None:
        kind = reading.types.get(span.mention.name, "")
        yield f"mention={span.mention.kind}"
        yield f"type={kind}"
        yield f"{'guess' if span.mention.name in reading.unsure else 'told'}={kind}"
    elif any(m.first <= span.first and span.last <= m.last for m in mentions):
        yield "inside a mention"
    elif any(span.overlaps(m) for m in mentions):
        yield "across mentions"
    else:
        yield "no mention"


def _complement(reading: Reading) -> Iterator[str]:
    """What the sentence says that something is."""
    tokens = reading.tokens
    for at, (token, following) in enumerate(pairwise(tokens)):
        if token.lower in _COPULAS and following.lower in {"a", "an", "the"}:
            phrase = reading.source.folded[following.end + 1 : reading.sentence.end]
            yield f"is a {head_noun_type(phrase, reading.source.compiled.types)}"
            for said in tokens[at + 2 : at + 2 + _COMPLEMENT_WORDS]:
                yield f"is={said.lower}"
            return


def _band(place: int) -> str:
    return next((f"<{limit}" for limit in (2, 4, 8) if place < limit), "far")
