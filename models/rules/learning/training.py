"""A schema that learned from examples: what is learned is written into the schema, where people can read it.

Of every candidate span of the examples' sentences it is known whether an example names it as a head,
or as a relation's tail. Sparse logistic regression (L1: Tibshirani, 1996; scikit-learn's liblinear) keeps
the few features that tell these apart; their weights go into the elements' `rules`, tails that may
come again into the relations' cues as terms (`=tenor`). Examples are taken as incomplete: a span of a
sentence whose examples say nothing of a relation counts against it in part.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from ....ingest.examples import Example
from ....schemas.extraction import ExtractionRequest
from ....schemas.graph_schema import EntityType, GraphSchema, RelationType, RulesHints
from ....schemas.naming import normalise
from ...embedding.embedder import Embedder
from ..parsed.candidates import Known
from ..parsed.learned import BIAS, head_types
from ..reading.cues import TERM_IS_TAIL, fold, is_han
from ..reading.extraction import RulesExtractor
from ..reading.furnishing import furnish

_Element = TypeVar("_Element", EntityType, RelationType)

UNSAID = 0.1
"""What a span counts against a relation, or a type, that no example of its text names. More
finds more of the triples that an example names, and more that it does not."""

INVERSE_REGULARISATION = 1.0
"""C of the regression."""

LEAST_EXAMPLES = 3
"""Examples of a relation, or of heads of a type, from which weights are learned; with fewer, cues stay alone."""

LEAST_SUPPORT = 2
"""Spans that have a feature, or names in capitals that are a relation's tail, before it counts; terms need one."""

_DIGITS = 3
_ROUNDS = 1000


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A span of an example, with the features seen of it."""

    example: int
    key: str
    features: list[str]


def learn_schema(schema: GraphSchema, examples: Sequence[Example], embedder: Embedder) -> GraphSchema:
    """Learn weights and terms for a schema's relations from examples.

    Args:
        schema: a bounded schema, with or without cues; weights that it has are learned anew.
        examples: texts with triples of its relations.
        embedder: as the rules reasoner uses it.

    Returns:
        The same elements with what was learned. Pure; independent of the examples' order.
    """
    ordered = _ordered(examples)
    started = _started(furnish(schema), ordered)
    terms = _Terms(ordered)
    candidates = _candidates(started, ordered, terms, embedder)
    tails, heads = (_fit(candidates, names(started, ordered)) for names in (_tails, _heads))
    return _taught(started, tails, heads, terms)


def _ordered(examples: Sequence[Example]) -> list[Example]:
    """One example for each text, with all that is said of it, in the order of the texts."""
    triples_of: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    for example in examples:
        triples_of[example.text].update(example.triples)
    return [Example(text=text, triples=tuple(sorted(triples_of[text]))) for text in sorted(triples_of)]


def _key(name: str) -> str:
    return normalise(name).replace(" ", "")


def _started(schema: GraphSchema, examples: Iterable[Example]) -> GraphSchema:
    """The schema without earlier weights, the relations that there are examples of marked as to be learned."""
    counts = Counter(relation for example in examples for relation in {r for _, r, _ in example.triples})
    types = tuple(_with_weights(t, {}) for t in schema.entity_types)
    enough = {name for name, count in counts.items() if types and count >= LEAST_EXAMPLES}
    relations = tuple(_with_weights(r, {BIAS: 0.0} if r.name in enough else {})
                      for r in schema.relation_types)
    return schema.model_copy(update={"entity_types": types, "relation_types": relations})


def _with_weights(element: _Element, weights: dict[str, float]) -> _Element:
    return element.model_copy(update={"rules": element.rules.model_copy(update={"learned": weights})})


class _Terms:
    """The tails of the examples, each known from other texts than the one that is read."""

    def __init__(self, examples: Iterable[Example]) -> None:
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)
        self._small: set[str] = set()
        for example in examples:
            for relation, tail in _written_tails(example):
                self._counts[fold(tail)][relation] += 1
                if tail.islower():
                    self._small.add(fold(tail))
        self._all = {term: weights for term, counts in self._counts.items() if (weights := self._telling(term, counts))}

    def _telling(self, term: str, counts: Counter[str]) -> tuple[str, ...]:
        least = 1 if term in self._small else LEAST_SUPPORT
        return tuple(sorted(relation for relation, count in counts.items() if count >= least))

    def known(self, without: Example) -> Known:
        """Term -> the relations whose tail it is by the examples other than this."""
        own: dict[str, Counter[str]] = defaultdict(Counter)
        for relation, tail in _written_tails(without):
            own[fold(tail)][relation] += 1
        return self._all | {term: self._telling(term, self._counts[term] - counts) for term, counts in own.items()}

    def cues(self, relation: str, *, proof: bool) -> list[str]:
        """A relation's terms as cues, sorted; those that are to be proof need support in small letters too."""
        return [TERM_IS_TAIL + term for term in sorted(self._all) if relation in self._all[term]
                and (not proof or self._counts[term][relation] >= LEAST_SUPPORT)]


def _written_tails(example: Example) -> set[tuple[str, str]]:
    """(relation, tail) as the text writes it, for the tails that stand in the text."""
    folded = fold(example.text)
    places = ((relation, folded.find(fold(tail)), len(tail)) for _, relation, tail in example.triples)
    return {(relation, example.text[at : at + size]) for relation, at, size in places if at >= 0}


def _candidates(schema: GraphSchema, examples: Sequence[Example], terms: _Terms,
                embedder: Embedder) -> list[_Candidate]:
    """The spans of all examples."""
    extractor = RulesExtractor(embedder)
    return [_Candidate(number, _key(name), seen)
            for number, example in enumerate(examples)
            for name, seen in extractor.candidates(ExtractionRequest(text=example.text), schema,
                                                       terms.known(example))]


_Named = list[frozenset[tuple[str, str]]]
"""For each example what it names: (relation, key of a tail) or (type, key of a head)."""


def _tails(schema: GraphSchema, examples: Iterable[Example]) -> _Named:
    learned = {r.name for r in schema.relation_types if r.rules.learned}
    return [frozenset((r, _key(tail)) for _, r, tail in e.triples if r in learned) for e in examples]


def _heads(schema: GraphSchema, examples: Iterable[Example]) -> _Named:
    types = {r.name: head_types(schema, r) for r in schema.relation_types if r.rules.learned}
    return [frozenset((t, _key(head)) for head, r, _ in e.triples for t in types.get(r, ())) for e in examples]


def _fit(candidates: Sequence[_Candidate], named: _Named) -> dict[str, dict[str, float]]:
    """Element -> feature -> weight, by telling the spans that are named from all others."""
    support = Counter(feature for candidate in candidates for feature in candidate.features)
    features = sorted(feature for feature, count in support.items() if count >= LEAST_SUPPORT)
    seen = _matrix(candidates, {feature: column for column, feature in enumerate(features)})
    spoken = [{element for element, _ in names} for names in named]
    weights = {}
    for element in sorted({element for names in spoken for element in names}):
        right = np.array([(element, c.key) in named[c.example] for c in candidates])
        if right.sum() >= LEAST_EXAMPLES:
            counts = np.array([1.0 if element in spoken[c.example] else UNSAID for c in candidates])
            weights[element] = _weights(seen, right, counts, features)
    return weights


def _matrix(candidates: Sequence[_Candidate], columns: Mapping[str, int]) -> sparse.csr_matrix:
    rows = [sorted(columns[f] for f in candidate.features if f in columns) for candidate in candidates]
    ends = np.cumsum([0, *map(len, rows)])
    places = np.fromiter((column for row in rows for column in row), dtype=np.int32, count=int(ends[-1]))
    return sparse.csr_matrix((np.ones(len(places)), places, ends), shape=(len(rows), len(columns)))


def _weights(seen: sparse.csr_matrix, right: NDArray[np.bool_], counts: NDArray[np.float64],
             features: Sequence[str]) -> dict[str, float]:
    """The weights that are not 0, the greatest first."""
    model = LogisticRegression(C=INVERSE_REGULARISATION, l1_ratio=1, solver="liblinear", max_iter=_ROUNDS,
                               random_state=0)
    model.fit(seen, right, sample_weight=counts)
    weights = {BIAS: float(model.intercept_[0]), **dict(zip(features, model.coef_[0].tolist(), strict=True))}
    kept = {feature: round(weight, _DIGITS) for feature, weight in weights.items() if round(weight, _DIGITS)}
    return dict(sorted(kept.items(), key=lambda item: (-abs(item[1]), item[0])))


def _taught(schema: GraphSchema, tails: Mapping[str, dict[str, float]], heads: Mapping[str, dict[str, float]],
            terms: _Terms) -> GraphSchema:
    types = tuple(_with_weights(t, heads.get(t.name, {})) for t in schema.entity_types)
    relations = tuple(_taught_relation(r, tails.get(r.name, {}), terms) for r in schema.relation_types)
    return schema.model_copy(update={"entity_types": types, "relation_types": relations})


def _taught_relation(relation: RelationType, weights: dict[str, float], terms: _Terms) -> RelationType:
    cues = dict(relation.rules.cues)
    for term in terms.cues(relation.name, proof=not weights):
        language = "zh" if is_han(term[-1]) else "en"
        cues[language] = tuple(dict.fromkeys((*cues.get(language, ()), term)))
    return relation.model_copy(update={"rules": RulesHints(cues=cues, learned=weights)})
