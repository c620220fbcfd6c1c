"""A schema that learned from examples: what is learned is written into the schema, where people can read it.

Of every candidate span of the examples' sentences it is known whether an example names it as a head,
or as a relation's tail. Sparse logistic regression (L1: Tibshirani, 1996; scikit-learn's liblinear) keeps
the few features that tell these apart; their weights go into the elements' `learned`, tails that may
come again into the relations' cues as terms (`=tenor`). Examples are taken as incomplete: a span of a
sentence whose examples say nothing of a relation counts against it in part.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from ...ingest.examples import Example
from ...schemas.extraction import ExtractionRequest
from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import normalise
from ..embedding import Embedder
from .cues import SUFFIX, TERM_IS_TAIL, fold, is_han
from .extraction import RulesExtractor
from .furnishing import furnish
from .learned import BIAS, head_types

UNSAID = 0.1
"""What a span counts against a relation, or a type, that no example of its text names."""

INVERSE_REGULARISATION = 1.0
"""C of the regression."""

LEAST_EXAMPLES = 3
"""Examples of a relation, or of heads of a type, from which weights are learned; with fewer, cues stay alone."""

LEAST_SUPPORT = 2
"""Spans that have a feature, or names in capitals that are a relation's tail, before it counts; terms need one."""

_DIGITS = 3


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
    if not any(r.learned for r in started.relation_types):
        return started
    candidates = _candidates(started, ordered, embedder)
    tails = _fit(candidates, ordered, _tails(started, ordered))
    heads = _fit(candidates, ordered, _heads(started, ordered))
    return _taught(started, tails, heads, _terms(ordered))


def _ordered(examples: Sequence[Example]) -> list[Example]:
    """One example for each text, with all that is said of it, in the order of the texts."""
    said: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    for example in examples:
        said[example.text].update(example.triples)
    return [Example(text=text, triples=tuple(sorted(said[text]))) for text in sorted(said)]


def _key(name: str) -> str:
    return normalise(name).replace(" ", "")


def _started(schema: GraphSchema, examples: Iterable[Example]) -> GraphSchema:
    """The schema without earlier weights, the relations that there are examples of marked as to be learned."""
    counts = Counter(relation for example in examples for relation in {r for _, r, _ in example.triples})
    types = tuple(t.model_copy(update={"learned": {}}) for t in schema.entity_types)
    relations = tuple(r.model_copy(update={"learned": {BIAS: 0.0} if types and counts[r.name] >= LEAST_EXAMPLES else {}})
                      for r in schema.relation_types)
    return schema.model_copy(update={"entity_types": types, "relation_types": relations})


_Terms = dict[str, dict[str, Counter[int]]]
"""Folded tail -> relation -> how often each example names it."""


def _terms(examples: Sequence[Example]) -> dict[tuple[str, str], list[int]]:
    """(relation, folded tail as it stands in the text) -> the examples that name it."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, example in enumerate(examples):
        folded = fold(example.text)
        for _, relation, tail in example.triples:
            if fold(tail) in folded:
                found[(relation, fold(tail))].append(number)
    return found


def _candidates(schema: GraphSchema, examples: Sequence[Example], embedder: Embedder) -> list[_Candidate]:
    """The spans of all examples; of the known terms, each text is told those that other examples name."""
    extractor = RulesExtractor(embedder)
    terms: dict[str, dict[str, list[int]]] = defaultdict(dict)
    for (relation, tail), numbers in _terms(examples).items():
        terms[tail][relation] = numbers
    found = []
    for number, example in enumerate(examples):
        known = _Others(terms, number)
        for span, features in extractor.candidates(ExtractionRequest(text=example.text), schema, known):
            found.append(_Candidate(number, _key(span.name), features))
    return found
