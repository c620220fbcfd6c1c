"""Triples by weights learned from examples: which parts of a sentence are a relation's tails, which its subject.

Two linear models read the same features (`spans`): one for each entity type tells the candidate that a sentence
speaks of, one for each relation its tails. Weights are data of the schema; where a relation has none, its cues are
read as ever.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from ....schemas.graph_schema import ANY, EntityType, GraphSchema, RelationType
from ..reading.cues import TERM_IS_TAIL, CompiledSchema, fold
from ..reading.facts import Triple
from ..reading.mentions import Sentence
from .candidates import Candidate, Evidence, features, find_candidates
from .mentions import Mention

if TYPE_CHECKING:
    from spacy.tokens import Span as Tokens

BIAS = "bias"
"""The feature that every candidate has."""

LEAST_TAIL = 0.2
"""Probability from which a candidate is a tail: chosen on folds of Text2KGBench's train sentences, where .1 finds more
of what an example names and more that it does not, .3 less of both."""

LEAST_HEAD = 0.1
"""Probability from which a candidate is what a sentence speaks of, chosen on the same folds."""

LEAST_OF_BEST = 0.5
"""Of the best tail's probability, what others of the relation need in the same sentence."""


class Weights:
    """Linear models that are all asked at once: feature -> (model, weight)."""

    def __init__(self, elements: Iterable[EntityType | RelationType]) -> None:
        """Turn the elements' weights around; those without any are left out."""
        learned = [element for element in elements if element.rules.learned]
        self.names = tuple(element.name for element in learned)
        self._by_feature: dict[str, list[tuple[str, float]]] = defaultdict(list)
        for element in learned:
            for feature, weight in element.rules.learned.items():
                self._by_feature[feature].append((element.name, weight))

    def probabilities(self, seen: Iterable[str]) -> dict[str, float]:
        """Each model's probability for a candidate with these features."""
        sums = dict.fromkeys(self.names, 0.0)
        for feature in (BIAS, *seen):
            for name, weight in self._by_feature.get(feature, ()):
                sums[name] += weight
        return {name: 1 / (1 + math.exp(-total)) for name, total in sums.items()}


def known_terms(schema: GraphSchema) -> dict[str, tuple[str, ...]]:
    """The terms that are tails of relations with learned weights: there they are evidence, no proof."""
    known: dict[str, list[str]] = defaultdict(list)
    for relation in schema.relation_types:
        for cue in relation.rules.all_cues() if relation.rules.learned else ():
            if cue.startswith(TERM_IS_TAIL):
                known[fold(cue.removeprefix(TERM_IS_TAIL))].append(relation.name)
    return {term: tuple(dict.fromkeys(names)) for term, names in known.items()}


def head_types(schema: GraphSchema, relation: RelationType) -> tuple[str, ...]:
    """The types whose subjects may be a relation's head: its domain, or every type where it has none."""
    return tuple(t.name for t in schema.entity_types) if ANY in relation.domain else relation.domain


class LearnedReader:
    """Reads by the learned weights of one schema. Only reads itself: several threads may share it."""

    def __init__(self, compiled: CompiledSchema) -> None:
        """Index the schema's weights and terms."""
        schema = compiled.schema
        self._compiled = compiled
        self._tails = Weights(schema.relation_types)
        self._heads = Weights(schema.entity_types)
        self._known = known_terms(schema)
        self._head_types = {name: head_types(schema, compiled.relation_of[name]) for name in self._tails.names}

    def decides(self, relation: str) -> bool:
        """Whether a relation is read by weights instead of cues."""
        return relation in self._head_types

    def triples(self, evidence: Evidence, tokens: "Tokens", sentence: Sentence, types: dict[str, str],
                told: Set[tuple[str, str]]) -> list[Triple]:
        """The triples of a sentence.

        Args:
            evidence: of the chunk.
            tokens: the sentence's.
            sentence: its place in the text.
            types: name -> type; names in triples get a type that the relation admits. In place.
            told: the heads and tails that a cue relates already.
        """
        if not self._head_types:
            return []
        candidates = find_candidates(evidence.reading, tokens, self._known)
        seen = features(evidence, tokens, candidates)
        heads = [self._heads.probabilities(f) for f in seen]
        tails = [self._tails.probabilities(f) for f in seen]
        subject = _anaphor_subject(evidence, tokens)
        found = [Triple(head, relation, tail.name, sure, sentence) for relation in self._head_types
                 for head, tail, sure in self._of_relation(relation, candidates, heads, [p[relation] for p in tails],
                                                           subject)
                 if (head, tail.name) not in told]
        self._settle(found, types)
        return [t for t in found if self._compiled.fits(types[t.head], t.relation, types[t.tail])]

    def _of_relation(self, relation: str, candidates: Sequence[Candidate], heads: Sequence[Mapping[str, float]],
                     tails: Sequence[float], subject: Mention | None) -> Iterator[tuple[str, Candidate, float]]:
        ranked = sorted(range(len(candidates)), key=lambda i: (-tails[i], i))
        taken: list[Candidate] = []
        for i in ranked:
            tail, sure = candidates[i], tails[i]
            if sure < max(LEAST_TAIL, LEAST_OF_BEST * tails[ranked[0]]):
                return
            if not any(tail.overlaps(other) for other in taken):
                head = self._head(relation, candidates, heads, tail, subject)
                if head:
                    taken.append(tail)
                    yield head, tail, round(sure, 2)

    def _head(self, relation: str, candidates: Sequence[Candidate], heads: Sequence[Mapping[str, float]],
              tail: Candidate, subject: Mention | None) -> str:
        """The name that a tail's relation is said of: what the subject stands for, else the likeliest candidate."""
        if subject is not None and subject.name != tail.name:
            return subject.name
        name = fold(tail.name)
        likely = [(max((p.get(t, 0.0) for t in self._head_types[relation]), default=0.0), -i)
                  for i, p in enumerate(heads) if not candidates[i].overlaps(tail) and fold(candidates[i].name) != name]
        sure, place = max(likely, default=(0.0, 0))
        return candidates[-place].name if sure >= LEAST_HEAD else ""

    def _settle(self, triples: Iterable[Triple], types: dict[str, str]) -> None:
        """Give each name the type that the surest of its triples ask for."""
        asked: dict[str, dict[tuple[str, ...], float]] = defaultdict(lambda: defaultdict(float))
        for triple in triples:
            known = self._compiled.relation_of[triple.relation]
            asked[triple.head][known.domain] += triple.confidence
            asked[triple.tail][known.range] += triple.confidence
        for name, votes in asked.items():
            allowed = max(votes, key=lambda a: (votes[a], a))
            types.setdefault(name, self._compiled.types.fallback)
            if ANY not in allowed and not self._compiled.schema.is_a(types[name], allowed):
                types[name] = allowed[0]


def _anaphor_subject(evidence: Evidence, tokens: "Tokens") -> Mention | None:
    """What a pronoun or description that is the sentence's subject stands for."""
    for token in tokens:
        mention = evidence.reading.at.get(token.i)
        if mention is not None and token.dep_ in {"nsubj", "nsubjpass"} and token.head.dep_ == "ROOT":
            return mention if mention.anaphor and mention.name else None
    return None
