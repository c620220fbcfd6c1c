"""Triples by weights learned from examples: which spans of a sentence are a relation's tails, which its subject.

Two linear models read the same features (`span_features`): one for each entity type tells the span that
a sentence speaks of, one for each relation its tails. Weights are data of the schema; where a relation
has none, its cues are read as ever.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ....schemas.graph_schema import ANY, EntityType, GraphSchema, RelationType
from .arguments import grammatical_subject
from .cues import SUFFIX, TERM_IS_TAIL, CompiledSchema, fold
from .mentions import ANAPHORS, merge
from .relations import Triple
from .span_features import Reading, span_features
from .spans import Span, find_spans

BIAS = "bias"
"""The feature that every span has."""

LEAST_TAIL = 0.2
"""Probability from which a span is a tail. With .1, .2, .3 on five folds of Text2KGBench's train sentences (movie,
music, sport): F1 .38 .41 .56, .35 .39 .54, .33 .36 .53; share of the triples that an example names (of what
is true many are not) .12 .11 .38, .19 .17 .51, .24 .22 .56."""

LEAST_HEAD = 0.1
"""Probability from which a span is what a sentence speaks of: on the same folds .1 costs no F1 against 0 and raises
the share that an example names by .02 to .05; .2 costs .01."""

LEAST_OF_BEST = 0.5
"""Of the best tail's probability, what others of the relation need in the same sentence; .15 to .5 are alike."""


class Weights:
    """Linear models that are all asked at once: feature -> (model, weight)."""

    def __init__(self, elements: Iterable[EntityType | RelationType]) -> None:
        """Turn the elements' weights around; those without any are left out."""
        self._by_feature: dict[str, list[tuple[str, float]]] = defaultdict(list)
        self.names = tuple(element.name for element in elements if element.rules.learned)
        for element in elements:
            for feature, weight in element.rules.learned.items():
                self._by_feature[feature].append((element.name, weight))

    def probabilities(self, features: Iterable[str]) -> dict[str, float]:
        """Each model's probability for a span with these features."""
        sums = dict.fromkeys(self.names, 0.0)
        for feature in (BIAS, *features):
            for name, weight in self._by_feature.get(feature, ()):
                sums[name] += weight
        return {name: 1 / (1 + math.exp(-total)) for name, total in sums.items()}


def known_terms(schema: GraphSchema) -> dict[str, tuple[str, ...]]:
    """The terms that are tails of relations with learned weights: there they are evidence, no proof."""
    known: dict[str, list[str]] = defaultdict(list)
    for relation in schema.relation_types:
        for cue in relation.rules.all_cues() if relation.rules.learned else ():
            if cue.startswith(TERM_IS_TAIL) and not cue.startswith(TERM_IS_TAIL + SUFFIX):
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
        self._heads = Weights(schema.entity_types)
        self._tails = Weights(schema.relation_types)
        self._known = known_terms(schema)
        self._head_types = {r.name: head_types(schema, r) for r in schema.relation_types if r.rules.learned}

    def decides(self, relation: str) -> bool:
        """Whether a relation has learned weights, so that cues are only evidence for it."""
        return relation in self._head_types

    def triples(self, reading: Reading, types: dict[str, str]) -> list[Triple]:
        """The triples of a sentence, surest first for each relation.

        Args:
            reading: of the sentence, whose mentions make way for longer names that stand in a triple.
            types: name -> type; names in triples get a type that the relation admits.
        """
        if not self._head_types:
            return []
        spans = find_spans(reading.source, reading.sentence, reading.tokens, self._known)
        features = span_features(reading, spans)
        heads = [self._heads.probabilities(f) for f in features]
        tails = [self._tails.probabilities(f) for f in features]
        found: list[tuple[Span | None, Span, Triple]] = []
        for relation in self._head_types:
            found.extend(self._of_relation(reading, relation, spans, heads, [p[relation] for p in tails]))
        self._settle([triple for _, _, triple in found], types)
        kept = [entry for entry in found if self._compiled.fits(types[entry[2].head], entry[2].relation,
                                                                types[entry[2].tail])]
        _mention(reading, [span for head, tail, _ in kept for span in (head, tail) if span])
        return [triple for _, _, triple in kept]

    def _of_relation(self, reading: Reading, relation: str, spans: Sequence[Span],
                     heads: Sequence[Mapping[str, float]], tails: Sequence[float],
                     ) -> Iterator[tuple[Span | None, Span, Triple]]:
        ranked = sorted(range(len(spans)), key=lambda i: (-tails[i], i))
        taken: list[Span] = []
        for i in ranked:
            tail, sure = spans[i], tails[i]
            if sure < max(LEAST_TAIL, LEAST_OF_BEST * tails[ranked[0]]):
                return
            if any(tail.overlaps(other) for other in taken):
                continue
            head = self._head(reading, relation, spans, heads, tail)
            if head is not None:
                taken.append(tail)
                yield head[1], tail, Triple(head[0], relation, tail.name, round(sure, 2), reading.sentence, BIAS)

    def _head(self, reading: Reading, relation: str, spans: Sequence[Span], heads: Sequence[Mapping[str, float]],
              tail: Span) -> tuple[str, Span | None] | None:
        """The name that a tail's relation is said of: what the subject stands for, else the likeliest span."""
        first = grammatical_subject(reading.source.folded, reading.sentence)
        domain = self._compiled.relation_of[relation].domain
        if first and first.kind in ANAPHORS and first.name and first.name != tail.name and self._compiled.accepts(
                reading.types.get(first.name, ""), domain, unsure=first.name in reading.unsure):
            return first.name, None
        name = fold(tail.name)
        likely = [(max((p.get(t, 0.0) for t in self._head_types[relation]), default=0.0), -i)
                  for i, p in enumerate(heads) if not spans[i].overlaps(tail) and fold(spans[i].name) != name]
        best = max(likely, default=(0.0, 0))
        return (spans[-best[1]].name, spans[-best[1]]) if best[0] >= LEAST_HEAD else None

    def _settle(self, triples: Iterable[Triple], types: dict[str, str]) -> None:
        """Give each name the type that the surest of its triples ask for."""
        asked: dict[str, dict[tuple[str, ...], float]] = defaultdict(lambda: defaultdict(float))
        for triple in triples:
            known = self._compiled.relation_of[triple.relation]
            asked[triple.head][known.domain] += triple.confidence
            asked[triple.tail][known.range] += triple.confidence
        for name, votes in asked.items():
            allowed = max(votes, key=lambda a: (votes[a], a))
            if not self._compiled.schema.is_a(types.get(name, ""), allowed):
                types[name] = allowed[0]
            types.setdefault(name, self._compiled.types.fallback)


def _mention(reading: Reading, spans: Iterable[Span]) -> None:
    """Put the names in triples among the sentence's mentions, where they stand in place of parts of them."""
    fresh = [span.as_mention() for span in dict.fromkeys(spans) if span.mention is None]
    anaphors = [m for m in reading.sentence.mentions if m.kind in ANAPHORS]
    others = [m for m in reading.sentence.mentions if m.kind not in ANAPHORS]
    if fresh:
        reading.sentence.mentions = sorted([*merge(fresh, others), *anaphors], key=lambda m: m.start)

