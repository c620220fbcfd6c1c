"""The parts of a sentence that may be names or terms, more than are, and what is seen of each: examples tell which are.

A candidate is a mention, a run of words with capitals and the words that may join them, what a clause opens with,
or a known term. What is seen of it are features, readable strings: its words, those around it, its path in the parse,
what the rules take it for. The weights learned for them stand in the schema (`RulesHints.learned`).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..reading.cues import fold
from .grammar import COPULAS
from .mentions import Mention, Reading, root_of
from .openings import capital

if TYPE_CHECKING:
    from spacy.tokens import Span as Tokens
    from spacy.tokens import Token

    from .predications import Predication

Known = Mapping[str, Sequence[str]]
"""A folded term -> the relations that it is known to be a tail of."""

_CLOSING = frozenset("!?.")
_JOINING = frozenset({"ADP", "DET", "CCONJ", "PART", "PRON"})
_JOINS = frozenset(["&", ":", ",", "'", "’", "-", "–", "!", "?", ".", "/"])
_LONGEST = 9
_LONGEST_OPENING = 14
_OPENS_WITHIN = 25
_MOST_JOINS = 3
_LONGEST_TERM = 6
_COMPLEMENT_WORDS = 7
_LEAD_WORDS = 3
_PATH = 3
_MOST = 6


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Tokens `start` to `end` of the chunk's parse; `name` is what they would name."""

    start: int
    end: int
    name: str
    mention: Mention | None
    """The mention that stands just there."""
    known: tuple[str, ...]
    """The relations of which these words are a known tail."""

    def overlaps(self, other: "Candidate") -> bool:
        """Whether the two share a token."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rules made of a chunk: the evidence besides the words themselves."""

    reading: Reading
    types: Mapping[str, str]
    unsure: Set[str]
    predications: Sequence["Predication"]
    """What is said of two names, with the relations that the schema's cues take it for."""


def find_candidates(reading: Reading, sentence: "Tokens", known: Known) -> list[Candidate]:
    """The candidates of a sentence, in the order of the text."""
    mentions = {(m.start, m.end): m for m in reading.names() if sentence.start <= m.start < sentence.end}
    terms = {(i, j): tuple(found) for i, j, found in _terms(sentence, known)}
    places = {*mentions, *_runs(sentence), *_openings(sentence), *terms}
    return [Candidate(*place, mentions[place].name if place in mentions else sentence.doc[slice(*place)].text,
                      mentions.get(place), terms.get(place, ())) for place in sorted(places)]


def _runs(sentence: "Tokens") -> Iterator[tuple[int, int]]:
    """Every run from one capitalised word to another over at most a few words that may join names."""
    doc = sentence.doc
    for first in range(sentence.start, sentence.end):
        joins = 0
        for at in range(first, min(sentence.end, first + _LONGEST)) if capital(doc[first]) else ():
            if capital(doc[at]):
                joins = 0
                yield first, at + 1
                if at + 2 < sentence.end and doc[at + 1].text in _CLOSING:
                    yield first, at + 2
                continue
            joins += 1
            if joins > _MOST_JOINS or not (doc[at].pos_ in _JOINING or doc[at].text in _JOINS):
                break


def _openings(sentence: "Tokens") -> Iterator[tuple[int, int]]:
    """What a clause opens with, up to a verb, a bracket, a comma or a possessive: titles hold words of all kinds."""
    doc = sentence.doc
    opening = next((t.i for t in sentence if t.text[0].isalnum()), sentence.end)
    commas = [i + 1 for i in range(opening, min(sentence.end - 1, opening + _OPENS_WITHIN)) if doc[i].text == ","]
    for begin in (opening, *commas):
        if begin >= sentence.end or not capital(doc[begin]):
            continue
        for at in range(begin, min(sentence.end - 1, begin + _LONGEST_OPENING)):
            following = doc[at + 1]
            if following.text in '(,"”' or following.tag_ == "POS" or (
                    following.text.islower() and following.pos_ in {"VERB", "AUX"}):
                yield begin, at + 1


def _terms(sentence: "Tokens", known: Known) -> Iterator[tuple[int, int, Sequence[str]]]:
    for first in range(sentence.start, sentence.end if known else sentence.start):
        for last in range(first + 1, min(sentence.end, first + _LONGEST_TERM) + 1):
            found = known.get(fold(sentence.doc[first:last].text))
            if found:
                yield first, last, found


def features(evidence: Evidence, sentence: "Tokens", candidates: Sequence[Candidate]) -> list[list[str]]:
    """The features of each candidate of a sentence, without repeats."""
    complement = tuple(_complement(sentence))
    mentions = [c for c in candidates if c.mention]
    by_rule = _by_rule(evidence, sentence)
    return [list(dict.fromkeys((*_around(sentence, c), *_path(root_of(sentence.doc[c.start : c.end])),
                                *_inside(sentence, c), *by_rule.get(fold(c.name), ()), *(f"known={r}" for r in c.known),
                                *_as_mention(evidence, c, mentions), *complement))) for c in candidates]


def _by_rule(evidence: Evidence, sentence: "Tokens") -> dict[str, list[str]]:
    """Folded name -> what the schema's cues take it for."""
    found: dict[str, list[str]] = defaultdict(list)
    for p in evidence.predications:
        if sentence.start <= p.token.i < sentence.end:
            for relation, turn in p.relations[:2]:
                head, tail = (p.tail, p.head) if turn else (p.head, p.tail)
                found[fold(head.name)].append("head by rule")
                found[fold(tail.name)].append(f"rule={relation}")
    return found


def _around(sentence: "Tokens", c: Candidate) -> Iterator[str]:
    doc = sentence.doc
    before = ["^", "^", "^", *(t.lower_ for t in doc[max(sentence.start, c.start - 3) : c.start])][-3:]
    after = [*(t.lower_ for t in doc[c.end : min(sentence.end, c.end + 2)]), "$", "$"][:2]
    for size in (1, 2, 3):
        yield f"before={' '.join(before[-size:])}"
    yield f"after={after[0]}"
    yield f"after={after[0]} {after[1]}"
    lead = _lead(sentence, c.start)
    for size in range(1, len(lead) + 1):
        yield f"lead={' '.join(lead[-size:])}"
    if c.start > sentence.start and capital(doc[c.start - 1]):
        yield "capital before"
    if c.end < sentence.end and capital(doc[c.end]):
        yield "capital after"
    if c.end < sentence.end and doc[c.end].tag_ == "POS":
        yield "owner"
    at = c.start - sentence.start
    opens = at == 0 or (at == 1 and not sentence[0].text[0].isalnum())
    yield "place=opening" if opens else f"place={next((f'<{n}' for n in (2, 4, 8) if at < n), 'far')}"


def _lead(sentence: "Tokens", at: int) -> list[str]:
    """The words before a candidate; of one in a list, the words before the list."""
    doc, at = sentence.doc, at - 1
    while at >= sentence.start and (capital(doc[at]) or doc[at].is_punct or doc[at].pos_ in {"CCONJ", "DET"}):
        at -= 1
    words: list[str] = []
    while at >= sentence.start and len(words) < _LEAD_WORDS and doc[at].text.islower():
        words.insert(0, doc[at].lower_)
        at -= 1
    return words


def _path(root: "Token") -> Iterator[str]:
    """How the parse leads up from the candidate: 'pobj>by>agent>direct'; 'and' leads to what it is joined to."""
    token = root
    while token.dep_ in {"conj", "appos", "compound"} and token.head != token:
        token = token.head
    steps: list[str] = []
    yield f"dep={root.dep_}"
    for _ in range(_PATH):
        steps.extend((token.dep_, token.head.lemma_.lower()))
        yield f"path={'>'.join(steps)}"
        if token.head == token:
            return
        token = token.head
    verb = next((t.lemma_.lower() for t in root.ancestors if t.pos_ == "VERB"), "^")
    yield f"verb={verb}"


def _inside(sentence: "Tokens", c: Candidate) -> Iterator[str]:
    tokens = sentence.doc[c.start : c.end]
    words = [t.lower_ for t in tokens]
    yield f"first={words[0]}"
    yield f"last={words[-1]}"
    for word in words:
        yield f"word={word}"
    yield f"words={min(len(words), _MOST)}"
    text = tokens.text
    titled = all(t.text[0].isupper() for t in tokens)
    yield f"shape={'small' if text.islower() else 'digits' if text.isdigit() else 'title' if titled else 'mixed'}"
    yield "first capital" if capital(tokens[0]) else "first small"
    yield "last capital" if capital(tokens[-1]) else "last small"
    yield f"times={min(3, sentence.text.count(text))}"
    for label in {t.ent_type_ for t in tokens}:
        yield f"entity={label}"
    yield f"part={root_of(tokens).pos_}"
    if c.start > sentence.start and sentence.doc[c.start - 1].text in {'"', "“", "``"}:
        yield "quoted"


def _as_mention(evidence: Evidence, c: Candidate, mentions: Sequence[Candidate]) -> Iterator[str]:
    if c.mention is not None:
        kind = evidence.types.get(c.name, "")
        yield f"mention={c.mention.kind}"
        yield f"type={kind}"
        yield f"{'guess' if c.name in evidence.unsure else 'told'}={kind}"
    elif any(m.start <= c.start and c.end <= m.end for m in mentions):
        yield "inside a mention"
    elif any(c.overlaps(m) for m in mentions):
        yield "across mentions"
    else:
        yield "no mention"


def _complement(sentence: "Tokens") -> Iterator[str]:
    """What the sentence says that something is."""
    for token in sentence:
        noun = next((c for c in token.children if c.dep_ == "attr"), None) if token.lemma_ in COPULAS else None
        if noun is not None:
            yield f"is a {noun.lemma_.lower()}"
            for said in [t for t in noun.subtree if t.i >= noun.left_edge.i][:_COMPLEMENT_WORDS]:
                yield f"is={said.lower_}"
            return
