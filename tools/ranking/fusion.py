"""Fusing what the graph says and the chunks' own scores into one ranking of chunks.

Names and near facts say which entities matter (tools/ranking/graph_seeds.py); vectors, words and communities say which
chunks do (tools/ranking/chunk_scores.py). Both are restart weights of one walk over the entity-chunk graph
(tools/spreading.py), whose stationary weights rank the chunks: it follows every path from what is named. beta(q) of
UniAI-GraphRAG eq. 8 and 9 weighs the two channels before the walk, where the paper adds two finished scores.

A sub-query that waits for the answer of another ("Who won the election in {answer 1}?") is not held up until
that is answered: the entities to which the other's walk leads stand in for the answer, and a chunk counts by what it
has to do with them times its own score.

Everything that rests on vectors is weighted by the trust in them (graph_store/vectors/reliability.py), so
that an embedding model that is blind to a script does not drag a sound lexical channel down.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...graph_store.bounding.words import words
from ...schemas.retrieval import EVERYTHING, Switches
from ..best import best_rows
from ..index import RetrievalIndex
from ..query import Query
from ..spreading import Seeds
from .chunk_scores import Scores, chunk_scores
from .graph_seeds import entity_seeds

# All values here, in chunk_scores.py and in graph_seeds.py were chosen on questions of our own
# (benchmarks/questions), where benchmarks/fusion_sweep.py varies each by itself.
# What the chunks' own scores add to the walk's weights, whose best is 1: the walk alone decides at the top, the chunks'
# own scores among the many that it hardly reaches.
_OWN_SHARE = 0.05
# Only the best chunks restart the walk, and by a power of their score: the many that fit a little would else outweigh
# the few that fit.
_CHUNK_SEEDS = 200
_CHUNK_SHARPNESS = 6
# The entities that stand in for an answer: the best, by the square of their weight.
_LEAD_SEEDS = 50
_LEAD_SHARPNESS = 2
# A sub-query that waits for an answer does not name what it is about. So its words only choose among the chunks that a
# walk from the answer's seeds reaches: the reach is multiplied by the exponential of the chunk's score times this.
_WAITING_SHARPNESS = 8
# The reach of chunks that this walk does not reach: wrong seeds must not hide a chunk.
_UNREACHED = 1e-6
# Eq. 9 gives no values. With these beta is 0.3 for a question without any name, 0.5 where one word in ten is of
# a name and 0.9 where every third is: multi-hop questions of our own have 0.8 in the mean, thematic ones 0.6.
_DENSITY_WEIGHT = 8.0
_ABSTRACTION_WEIGHT = 1.0


@dataclass(frozen=True, eq=False)
class Walk:
    """Where what speaks for a sub-query leads: weights of shapes (entities,) and (chunks,).

    Attributes:
        entities: the walk's weights of entities.
        chunks: the walk's weights of chunks.
        own: the chunks' own scores.
    """

    entities: Scores
    chunks: Scores
    own: Scores

    def scores(self) -> Scores:
        """Return the chunks' scores for the sub-query, about 1 for the best, shape (chunks,)."""
        return _to_one(self.chunks) + np.float32(_OWN_SHARE) * self.own


def walk(index: RetrievalIndex, query: Query, switches: Switches = EVERYTHING, before: Sequence[Walk] = ()) -> Walk:
    """Spread what speaks for entities and chunks over the entity-chunk graph.

    `before` are the walks of the queries that `query` follows, in their order. Where entities stand in for the answers
    of those queries, the seeds among the chunks are those that these entities reach, weighted by their own scores.
    """
    graph_weight = beta(query) if switches.beta is None else switches.beta
    entities = _seeds(entity_seeds(index, query, switches.routes, graph_weight))
    scores = chunk_scores(index, query, graph_weight, switches, _CHUNK_SEEDS)
    answers, chunks = answer_seeds(index, query, before), _best_seeds(_to_one(scores) ** _CHUNK_SHARPNESS)
    if len(answers.nodes) and scores.any():
        reach = _to_one(_spread(index, answers, switches)[1]) + np.float32(_UNREACHED)
        chunks = _best_seeds(reach * np.exp(_WAITING_SHARPNESS * (scores - scores.max(initial=0))))
    return Walk(*_spread(index, _beside(index, entities, chunks), switches), scores)


def beta(query: Query) -> float:
    """Return how far a question is about named things rather than themes, 0 to 1 (UniAI-GraphRAG eq. 9)."""
    # The words by which names are matched, not index terms: a CJK name has different ones.
    all_words = words(query.embedded.text)
    if not all_words:
        return 0.5
    named = Counter(word for name in query.embedded.names for word in name.name.split(" "))
    plain = Counter(all_words) - named
    density = 1 - plain.total() / len(all_words)
    abstraction = 0.0
    if len(plain) > 1:
        shares = [count / plain.total() for count in plain.values()]
        abstraction = -sum(p * math.log(p) for p in shares) / math.log(len(all_words))
    return 1 / (1 + math.exp(-(_DENSITY_WEIGHT * density - _ABSTRACTION_WEIGHT * abstraction)))


def _seeds(weights: Mapping[int, float]) -> Seeds:
    """Return seeds from weights by node."""
    rows = sorted(weights)
    return Seeds.of(np.array([weights[row] for row in rows], np.float32), np.array(rows, np.intp))


def _beside(index: RetrievalIndex, entities: Seeds, chunks: Seeds) -> Seeds:
    """Return the seeds at entities and chunks as seeds of the graph, whose nodes are the entities, then the chunks."""
    return Seeds(np.concatenate([entities.nodes, chunks.nodes + len(index.entity_row)]),
                 np.concatenate([entities.weights, chunks.weights]))


def _spread(index: RetrievalIndex, restart: Seeds, switches: Switches) -> tuple[Scores, Scores]:
    """Return the weights of entities and of chunks to which a walk from some seeds leads."""
    entity_count = len(index.entity_row)
    if switches.spreading:
        weights = index.spreading.around(restart).spread(restart)
        return weights[:entity_count], weights[entity_count:]
    weights = restart.dense(entity_count + len(index.chunks))
    entities, chunks = weights[:entity_count], weights[entity_count:]
    for row in np.flatnonzero(entities).tolist():
        mentioning = index.support[row]
        chunks[mentioning] += entities[row] / max(1, len(mentioning))
    return entities, chunks


def answer_seeds(index: RetrievalIndex, query: Query, before: Sequence[Walk]) -> Seeds:
    """Return seeds at the entities that stand in for the answers a query waits for; empty if it waits for none.

    The weights sum to 1. What an earlier query names itself is not its answer.
    """
    weights_by_row: defaultdict[int, float] = defaultdict(float)
    for earlier, walked in zip(query.follows, before, strict=True):
        named = [index.entity_row[entity] for name in earlier.embedded.names for entity in name.entities]
        best = best_rows(walked.entities, _LEAD_SEEDS + len(named))
        best = np.sort(best[~np.isin(best, named)][:_LEAD_SEEDS])
        for row, weight in zip(best.tolist(), _normalise(walked.entities[best] ** _LEAD_SHARPNESS), strict=True):
            weights_by_row[row] += float(weight)
    nodes, weights = _seeds(weights_by_row)
    return Seeds(nodes, _normalise(weights))


def _best_seeds(weights: Scores) -> Seeds:
    """Return seeds at the chunks with the highest weights, which are scaled to sum to 1."""
    best = np.sort(best_rows(weights, _CHUNK_SEEDS))
    return Seeds.of(_normalise(weights[best]), best)


def _to_one(scores: Scores) -> Scores:
    """Return scores scaled so that the best is 1."""
    best = scores.max(initial=0)
    return scores / best if best > 0 else scores


def _normalise(weights: Scores) -> Scores:
    total = float(weights.sum())
    return weights / np.float32(total) if total > 0 else weights
