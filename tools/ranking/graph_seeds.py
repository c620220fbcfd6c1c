"""What the graph adds to the ranking: entities that restart the walk, and scores of communities' chunks."""

from collections import defaultdict
from collections.abc import Collection, Mapping

import numpy as np

from ...graph_store.graph_index import GraphIndex
from ...schemas.retrieval import Route
from ..query import Query, best_rows

Weights = dict[int, float]
"""Weights by row of an entity."""

# Restart weights; the chunks' own scores have 1. What a question names counts least: names are in words and vectors
# already, and twice as much loses a passage in a hundred (benchmarks/fusion_sweep.py).
_NAMED_SHARE, _NEAR_SHARE = 1 / 8, 3 / 2
_FACTS, _COMMUNITIES = 20, 20
# Facts and communities count by a power of their cosine: where none is near to the question, the graph does not hold
# what is asked, and without the power the nearest one would raise hundreds of chunks.
_FACT_SHARPNESS, _SHARPNESS = 8, 3


def entity_seeds(index: GraphIndex, query: Query, routes: Collection[Route], share: float) -> Weights:
    """Return the restart weights of the entities that a question names, and of the ends of the facts nearest to it.

    An entity counts less the more chunks mention it: a hub distinguishes chunks as little as a frequent word. The route
    "entity" switches names on, "triple" facts; `share` is beta(q), the weight of what the graph says.
    """
    seeds: defaultdict[int, float] = defaultdict(float)
    if "entity" in routes:
        named = {row for name in query.names for entity in name.entities
                 if (row := index.entity_at(entity)) is not None}
        _add(seeds, index, dict.fromkeys(named, 1.0), share * _NAMED_SHARE)
    if "triple" in routes:
        best_scores: Weights = {}  # of each entity, by its nearest fact
        for row in best_rows(query.triples, _FACTS).tolist():
            cosine = float(query.triples[row])
            for end in index.ends_of(row) if cosine > 0 else ():
                best_scores[end] = max(best_scores.get(end, 0.0), min(1.0, cosine) * query.trust)
        _add(seeds, index, best_scores, share * _NEAR_SHARE * query.trust)
    return dict(sorted(seeds.items()))


def _add(seeds: defaultdict[int, float], index: GraphIndex, scores: Mapping[int, float], share: float) -> None:
    """Add weights of entities by their scores; the weights sum to `share` times a power of the best score."""
    weights = {row: score ** _FACT_SHARPNESS / max(1, len(index.mentioning[row])) for row, score in scores.items()}
    scale = share * max(scores.values(), default=0.0) ** _SHARPNESS / (sum(weights.values()) or 1)
    for row, weight in weights.items():
        seeds[row] += weight * scale


def community_scores(index: GraphIndex, query: Query) -> np.ndarray:
    """Score chunks by the nearest community with a member in them (UniAI-GraphRAG eq. 7), shape (chunks,)."""
    scores, cosines = np.zeros(len(index.chunks), np.float32), index.community_cosines(query.vector)
    for row in best_rows(cosines, _COMMUNITIES):
        chunks = index.community_chunks[int(row)]
        score = np.float32((min(1.0, max(0.0, float(cosines[row]))) * query.trust) ** _SHARPNESS)
        scores[chunks] = np.maximum(scores[chunks], score)
    return scores
