"""A schema that learned its cues from examples: what is learned is written into the schema, where people can read it.

Three kinds of cue are proposed: the words that lead to a tail ('starring'), the tails' own words
(`=tenor`), and that types suffice (`~`). Each is judged by what it says of the examples themselves,
and stays only if that is right often enough. Examples are taken as incomplete: what they do not say of
a text counts against a cue in part; wholly only where they name another tail or another relation.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ...ingest.examples import Example
from ...schemas.extraction import ExtractionRequest
from ...schemas.graph_schema import ANY, GraphSchema, RelationType
from ...schemas.naming import normalise
from ..embedding import Embedder
from .cues import INVERSE, SUFFIX, TERM_IS_TAIL, TYPES_SUFFICE, fold
from .extraction import RulesExtractor
from .furnishing import furnish
from .name_words import AUXILIARIES, DETERMINERS, PREPOSITIONS
from .relations import Triple

LEAST_PRECISION = 0.3
UNSAID = 0.1
"""How much a triple counts against its cue that the examples neither say nor contradict."""

LEAST_SUPPORT = 2
"""Examples that a cue of names must be right in; terms in small letters need one."""

LEAST_SHARE = 0.3
"""Of the tails that some words lead to, the share that must be this relation's."""

LEAST_SHARE_BARE = 0.6
"""The same for words that are prepositions alone, which lead to much that no example names."""

LEAST_SUPPORT_OF_ENDING = 4
"""Examples whose tails must end in the same word before it is a cue: endings reach far."""

_MOST_WORDS = 4
_REACH = 160
_NO_START = DETERMINERS | AUXILIARIES | {"and", "or", "but"}
_TOKEN = re.compile(r"[^\W\d_][\w'’-]*|['’]s\b|\S")
_LIST = re.compile(r"[\s,&\"“”‘’'()]|\band\b|\bor\b|\bthe\b|\ba\b|\ban\b")


@dataclass(slots=True)
class _Tally:
    """How often a cue was right, contradicted, and neither."""

    right: int = 0
    wrong: int = 0
    unsaid: int = 0

    def precision(self, *, proposed: bool) -> float:
        """The share that was right, with one more case against a proposed cue, or for one that stood before."""
        said = self.right + self.wrong + UNSAID * self.unsaid + 1
        return (self.right + (not proposed)) / said


def learn_schema(schema: GraphSchema, examples: Sequence[Example], embedder: Embedder) -> GraphSchema:
    """Learn cues for a schema's relations from examples.

    Args:
        schema: a bounded schema, with or without cues; those it has stay unless the examples contradict them.
        examples: texts with triples of its relations.
        embedder: as the rules reasoner uses it.

    Returns:
        The same elements with the learned cues. Pure; independent of the examples' order.
    """
    ordered = sorted({e.text: e for e in examples}.values(), key=lambda e: e.text)
    furnished = furnish(schema)
    proposed = _with_cues(furnished, _Proposals(ordered).cues())
    judged = _judge(proposed, ordered, embedder)
    return _pruned(proposed, furnished, judged)


def _key(name: str) -> str:
    return normalise(name).replace(" ", "")


class _Proposals:
    """Counts over the examples from which cues are proposed."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._leads: dict[str, Counter[str]] = defaultdict(Counter)
        self._terms: dict[str, Counter[str]] = defaultdict(Counter)
        self._endings: dict[str, Counter[str]] = defaultdict(Counter)
        self._relations: set[str] = set()
        for example in examples:
            folded = fold(example.text)
            for _, relation, tail in example.triples:
                self._relations.add(relation)
                self._count(folded, relation, fold(tail), example.text)

    def _count(self, folded: str, relation: str, tail: str, text: str) -> None:
        at = folded.find(tail)
        if at < 0:
            return
        written = text[at : at + len(tail)]
        self._terms[relation][("" if written.islower() else " ") + tail] += 1
        last = tail.rsplit(" ", 1)[-1]
        if last != tail and written[0].isupper() and last.isalpha():
            self._endings[relation][last] += 1
        for lead in set(_leads(folded, text, at)):
            self._leads[relation][lead] += 1

    def cues(self) -> dict[str, list[str]]:
        """Relation -> cues worth judging."""
        found: dict[str, list[str]] = {}
        for relation in sorted(self._relations):
            leads = self._telling(relation)
            terms = [TERM_IS_TAIL + term.strip() for term, n in self._terms[relation].items()
                     if n >= LEAST_SUPPORT or not term.startswith(" ")]
            endings = [TERM_IS_TAIL + SUFFIX + word for word, n in self._endings[relation].items()
                       if n >= LEAST_SUPPORT_OF_ENDING]
            found[relation] = [*leads, *sorted(endings), *sorted(terms), TYPES_SUFFICE]
        return found


    def _telling(self, relation: str) -> list[str]:
        """The shortest leads that more often lead to this relation's tails than to others'."""
        counts = self._leads[relation]
        kept: list[str] = []
        for lead in sorted(counts, key=lambda words: (words.count(" "), words)):
            share = counts[lead] / sum(other[lead] for other in self._leads.values())
            least = LEAST_SHARE_BARE if PREPOSITIONS.issuperset(lead.split()) else LEAST_SHARE
            covered = any(lead.endswith(f" {shorter}") for shorter in kept)
            if counts[lead] >= LEAST_SUPPORT and share >= least and not covered:
                kept.append(lead)
        return kept


def _leads(folded: str, text: str, at: int) -> Iterator[str]:
    """The words before a tail, one to four of them; of one in a list, the words before the list."""
    tokens = list(_TOKEN.finditer(folded, max(0, at - _REACH), at))
    while tokens and (_LIST.fullmatch(tokens[-1].group()) or text[tokens[-1].start()].isupper()):
        tokens.pop()
    words: list[str] = []
    for token in reversed(tokens[-_MOST_WORDS:]):
        written = text[token.start() : token.end()]
        if not written.islower() or (words and folded[token.end()] != " "):
            return
        words.insert(0, token.group())
        if words[0] not in _NO_START and not words[0].startswith(("'", "’")):
            yield " ".join(words)


def _with_cues(schema: GraphSchema, cues: dict[str, list[str]]) -> GraphSchema:
    relations = tuple(_add(r, cues.get(r.name, ())) for r in schema.relation_types)
    return schema.model_copy(update={"relation_types": relations})


def _add(relation: RelationType, cues: Iterable[str]) -> RelationType:
    untyped = ANY in relation.domain or ANY in relation.range
    fresh = [cue for cue in cues if not (cue == TYPES_SUFFICE and untyped)]
    english = tuple(dict.fromkeys((*relation.cues.get("en", ()), *fresh)))
    return relation.model_copy(update={"cues": {**relation.cues, "en": english}})


def _judge(schema: GraphSchema, examples: Sequence[Example], embedder: Embedder) -> dict[tuple[str, str], _Tally]:
    """(relation, cue) -> what came of it when the examples were read with all proposed cues.

    A cue is judged by the tail that it leads to: which head that goes with is decided by grammar.
    """
    extractor = RulesExtractor(embedder)
    tallies: dict[tuple[str, str], _Tally] = defaultdict(_Tally)
    for example in examples:
        said = {(r, _key(t)) for _, r, t in example.triples}
        relations = {r for r, _ in said}
        triples, _ = extractor.read(ExtractionRequest(text=example.text), schema)
        for (relation, cue), tails in _by_cue(triples).items():
            tally = tallies[(relation, cue)]
            right = sum((relation, _key(tail)) in said for tail in tails)
            tally.right += right
            if relation not in relations:
                tally.unsaid += len(tails)
            elif cue == TYPES_SUFFICE or not right:
                tally.wrong += len(tails) - right
    return tallies


def _by_cue(triples: Iterable[Triple]) -> dict[tuple[str, str], set[str]]:
    """(relation, cue) -> the tails read by it in one text; of a list, examples often name one."""
    tails: dict[tuple[str, str], set[str]] = defaultdict(set)
    for triple in triples:
        tails[(triple.relation, triple.cue)].add(triple.tail)
    return tails


def _pruned(schema: GraphSchema, before: GraphSchema, tallies: dict[tuple[str, str], _Tally]) -> GraphSchema:
    known = {r.name: set(r.all_cues()) for r in before.relation_types}
    relations = []
    for relation in schema.relation_types:
        kept = {language: tuple(cue for cue in cues if _holds(tallies.get(_tallied(relation.name, cue)),
                                                              proposed=cue not in known[relation.name]))
                for language, cues in relation.cues.items()}
        relations.append(relation.model_copy(update={"cues": kept}))
    return schema.model_copy(update={"relation_types": tuple(relations)})


def _tallied(relation: str, cue: str) -> tuple[str, str]:
    return relation, fold(cue.removeprefix(INVERSE))


def _holds(tally: _Tally | None, *, proposed: bool) -> bool:
    """Whether a cue stays: one that is proposed must prove itself, one that stood before must not be refuted."""
    if tally is None:
        return not proposed
    return tally.precision(proposed=proposed) >= LEAST_PRECISION
