"""Fusing the routes' evidence and the chunks' own scores into one ranking of chunks.

Each route's evidence says which entities matter; dense and lexical search say which chunks do. Both
are restart weights of one walk over the entity-chunk graph (tools/spreading.py), whose stationary
weights rank the chunks. beta(q) of UniAI-GraphRAG eq. 8 and 9 divides the entities' share between the
graph routes and the community route before the walk, where the paper adds two finished scores.

Everything that rests on vectors is weighted by the trust in them (graph_store/reliability.py), so
that an embedding model that is blind to a script does not drag a sound lexical channel down.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..graph_store.grounding import words
from ..schemas.retrieval import Evidence, Route
from .index import RetrievalIndex
from .query import Query

Scores = NDArray[np.float32]

# The values below are round numbers, but they were chosen among a few tried on MuSiQue-train-100, and the
# fusion of lexical ranks on the Chinese reports: recall on these two sets is not held out, and a sweep on
# other data is due (ARCHITECTURE.md, known limits).
# Eq. 9 gives no values. With these a question without any name has beta of at least 0.27, one that is
# nothing but names 0.98: names are what the graph is about, so their density counts most.
_DENSITY_WEIGHT = 4.0
_ABSTRACTION_WEIGHT = 1.0
# Shares of the restart, each half of the one before: a path says most about what a question is
# after, then a triple, then a bare name, then a theme.
_SHARES: dict[Route, float] = {"dfs": 1.0, "triple": 1 / 2, "entity": 1 / 4, "community": 1 / 8}
# The chunks' own scores get half of what all routes together can get.
_CHUNK_SHARE = 0.5
# Only the best chunks restart the walk, and by the fourth power of their score: the flat tail of
# dense scores (0.2 to 0.4 for anything in the language) would else outweigh the head by number.
_CHUNK_SEEDS = 200
_SHARPNESS = 4
# The best few of a route's evidence carry it, as the five facts do in HippoRAG 2.
_EVIDENCE_SEEDS = 5


def beta(index: RetrievalIndex, question: str) -> float:
    """How far a question is about named things rather than themes (UniAI-GraphRAG eq. 9), 0 to 1.

    Args:
        index: whose entities count as names.
        question: the question.
    """
    # The words in which names are found, not `terms`: of a CJK name the two share nothing.
    said = words(question)
    if not said:
        return 0.5
    named = Counter(word for name, _ in index.names.find(question) for word in name.split(" "))
    plain = Counter(said) - named
    density = 1 - plain.total() / len(said)
    abstraction = 0.0
    if len(plain) > 1:
        shares = [count / plain.total() for count in plain.values()]
        abstraction = -sum(p * math.log(p) for p in shares) / math.log(len(said))
    return 1 / (1 + math.exp(-(_DENSITY_WEIGHT * density - _ABSTRACTION_WEIGHT * abstraction)))


def lexical_scores(index: RetrievalIndex, question: str) -> Scores:
    """Reciprocal rank fusion of two rankings of the chunks: by their BM25 and by their document's.

    A chunk rarely repeats what its document is about: the document's score tells reports on one
    company from those on another. Ranks are fused, because the two scores have no common scale.

    Returns:
        Shape (chunks,); 0 where neither shares a term with the question.
    """
    documents, number = index.documents
    return _reciprocal_rank(index.lexical.scores(question)) + _reciprocal_rank(documents.scores(question)[number])


def _reciprocal_rank(scores: Scores) -> Scores:
    """1 / (60 + rank), equal for equal scores, 0 for a score of 0; 60 as in Cormack et al. 2009."""
    rank = np.searchsorted(np.sort(-scores), -scores, side="left") + 1
    return np.where(scores > 0, 1 / (60 + rank), 0).astype(np.float32)


def chunk_scores(index: RetrievalIndex, query: Query) -> Scores:
    """Dense and lexical scores of each chunk, 0 to 1, shape (chunks,).

    The trust in vectors divides the weight: what they cannot be trusted with, words decide.
    """
    dense = _scaled(index.chunk_vectors @ query.vector)
    lexical = _scaled(lexical_scores(index, query.text))
    return query.trust * dense + (1 - query.trust) * lexical


def rank(index: RetrievalIndex, query: Query, evidence: Sequence[Evidence]) -> Scores:
    """The weight of each chunk for one sub-query, shape (chunks,).

    Args:
        index: the knowledge base in memory.
        query: the sub-query.
        evidence: what the routes found for it.
    """
    entities = len(index.entity_ids)
    restart = np.zeros(entities + len(index.chunks), np.float32)
    graph_weight = beta(index, query.text)
    for route, share in _SHARES.items():
        weight = share * (1 - graph_weight if route == "community" else graph_weight) / sum(_SHARES.values())
        # Names are found by their letters; everything else by vectors.
        trust = 1.0 if route == "entity" else query.trust
        for row, value in _entity_seeds(index, route, evidence).items():
            restart[row] += weight * trust * value
    restart[entities:] = _CHUNK_SHARE * _sharpened(chunk_scores(index, query))
    return index.spreading.spread(restart)[entities:]


def _entity_seeds(index: RetrievalIndex, route: Route, evidence: Iterable[Evidence]) -> dict[int, float]:
    """Restart weights of one route's entities, summing to 1, by row.

    An entity counts the less the more chunks mention it: a hub tells chunks apart as little as a
    frequent word. Of the entity route only what the question names counts; what is merely near to it
    the triples know better.
    """
    found = [e for e in evidence if e.route == route and (route != "entity" or e.score == 1.0)]
    weights: dict[int, float] = {}
    for item in sorted(found, key=lambda e: (-e.score, e.text))[:_EVIDENCE_SEEDS]:
        # An entity may be gone since it was found: a document was deleted in between.
        for row in (index.entity_row[one] for one in item.entity_ids if one in index.entity_row):
            weights[row] = max(weights.get(row, 0.0), item.score / max(1, len(index.support[row])))
    total = sum(weights.values())
    return {row: weight / total for row, weight in sorted(weights.items())} if total > 0 else {}


def _sharpened(scores: Scores) -> Scores:
    kept = np.zeros_like(scores)
    best = np.argsort(-scores, kind="stable")[:_CHUNK_SEEDS]
    kept[best] = scores[best] ** _SHARPNESS
    total = float(kept.sum())
    return kept / total if total > 0 else kept


def _scaled(scores: Scores) -> Scores:
    """Scores moved to 0..1; all zero where they do not differ."""
    if not len(scores):
        return scores
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)
