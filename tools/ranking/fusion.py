"""Fusing the routes' evidence and the chunks' own scores into one ranking of chunks.

The entity, triple and path routes, and the facts that the community route reaches down the tree, say which entities
matter; vectors, words and communities say which chunks do (tools/ranking/chunk_scores.py). Both are restart weights of
one walk over the entity-chunk graph (tools/spreading.py), whose stationary weights rank the chunks. beta(q) of
UniAI-GraphRAG eq. 8 and 9 weighs the two channels before the walk, where the paper adds two finished scores.

A sub-query that waits for the answer of another ("Who won the election in {answer 1}?") is not held up until
that is answered: the entities to which the other's walk leads stand in for the answer.
They restart this walk too, and a chunk counts by its own score times what it has to do with them.

Everything that rests on vectors is weighted by the trust in them (graph_store/vectors/reliability.py), so
that an embedding model that is blind to a script does not drag a sound lexical channel down.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...schemas.retrieval import EVERYTHING, Evidence, Route, Switches
from ..best import best_rows
from ..index import RetrievalIndex
from ..query import Query
from ..spreading import Seeds, Walkable
from .beta import beta
from .chunk_scores import Scores, chunk_scores

# Restart weights; the chunks' own scores have 1. All values here, in chunk_scores.py and in beta.py were chosen on
# questions of our own (benchmarks/questions), where benchmarks/fusion_sweep.py varies each by itself: none that it
# tries finds more of the far passages than chance would. What a question names counts least: names are in words and
# vectors already, and twice as much loses a passage in a hundred.
_SHARES: dict[Route, float] = {"dfs": 3 / 2, "triple": 3 / 2, "community": 1 / 4, "entity": 1 / 8}
# A route counts by this power of its best score: where no fact is near to the question the graph does not hold what is
# asked, and the nearest ones lead elsewhere. Where all counted alike, a graph of few facts (1.4 a passage, read without
# a model) led to 87 % of the passages that our own questions need at 5, and now to 91; one of many (8) to 94 as before.
_ROUTE_SHARPNESS = 3
# A document is about the entity whose name is its title: such chunks restart the walk themselves where it is named.
_TITLE_SHARE = 1 / 4
_LEAD_SHARE = 0.5
# Only the best chunks restart the walk, and by a power of their score: the flat tail of dense scores
# (0.2 to 0.4 for anything in the language) would else outweigh the head by number.
_CHUNK_SEEDS = 200
_CHUNK_SHARPNESS = 6
_EVIDENCE_SHARPNESS = 8
# The entities that stand in for an answer: the best, by the square of their weight.
_LEAD_SEEDS = 50
_LEAD_SHARPNESS = 2
# A chunk's score is multiplied by this power of its weight in a walk from the lead: linearly, the entities
# that chance puts first would decide alone.
_LEAD_POWER = 0.75
# Of what no lead reaches this much is left: a wrong lead must not hide a chunk.
_UNREACHED = 1e-6


@dataclass(frozen=True, eq=False)
class Walk:
    """Where the evidence for a sub-query leads: weights of shapes (entities,) and (chunks,)."""

    entities: Scores
    chunks: Scores


def walk(index: RetrievalIndex, query: Query, evidence: Sequence[Evidence], switches: Switches = EVERYTHING,
         before: Sequence[Walk] = ()) -> Walk:
    """Spread the evidence for a sub-query over the entity-chunk graph."""
    weights: defaultdict[int, np.float32] = defaultdict(np.float32)
    graph_weight = beta(query) if switches.beta is None else switches.beta
    for route, share in _SHARES.items():
        # Names are matched by their letters; everything else by vectors.
        weight = share * graph_weight * (1.0 if route == "entity" else query.trust)
        for row, value in _entity_seeds(index, route, evidence).items():
            weights[row] += np.float32(weight * value)
    own = _sharpen(chunk_scores(index, query, evidence, graph_weight, switches, _CHUNK_SEEDS),
                     _CHUNK_SEEDS, _CHUNK_SHARPNESS)
    lead = _lead(index, query, before)
    for row, value in zip(lead.nodes.tolist(), lead.weights, strict=True):
        weights[row] += np.float32(_LEAD_SHARE) * value
    entities = _seeds(weights)
    restart = _beside(index, entities, own)
    # How far the lead reaches the chunks is seen only where both are walked.
    part = index.spreading.around(restart) if switches.spreading else None
    if len(lead.nodes):
        own = _scale_by_reach(own, _spread(index, part, lead).chunks)
    return _spread(index, part, _beside(index, entities, _add(own, _titled(index, query, evidence), len(index.chunks))))


def _seeds(weights: Mapping[int, np.float32]) -> Seeds:
    rows = sorted(weights)
    return Seeds.of(np.array([weights[row] for row in rows], np.float32), np.array(rows, np.intp))


def _titled(index: RetrievalIndex, query: Query, evidence: Iterable[Evidence]) -> Seeds:
    """Return the chunks of documents whose title names what the question names, as the entity route found it."""
    named = {entity for name in query.meaning.names for entity in name.entities}
    found = {entity for item in evidence if item.route == "entity" for entity in item.entity_ids} & named
    weights = np.zeros(len(index.chunks), np.float32)
    for row in (row for entity in found if (row := index.entity_at(entity)) is not None):
        chunks = index.titled[row]
        weights[chunks] = np.maximum(weights[chunks], 1 / max(1, len(chunks)))
    return Seeds.of(np.float32(_TITLE_SHARE) * _shared_out(weights))


def _add(first: Seeds, second: Seeds, size: int) -> Seeds:
    return Seeds.of(first.dense(size) + second.dense(size)) if len(second.nodes) else first


def _beside(index: RetrievalIndex, entities: Seeds, chunks: Seeds) -> Seeds:
    """Return the nodes of entities and of chunks, which are numbered behind them."""
    return Seeds(np.concatenate([entities.nodes, chunks.nodes + len(index.entity_row)]),
                 np.concatenate([entities.weights, chunks.weights]))


def _spread(index: RetrievalIndex, part: Walkable | None, restart: Seeds) -> Walk:
    entities = len(index.entity_row)
    if part is None:
        weights = restart.dense(entities + len(index.chunks))
        return Walk(weights[:entities], _handed_on(index, weights))
    weights = part.spread(restart)
    return Walk(weights[:entities], weights[entities:])


def _handed_on(index: RetrievalIndex, restart: Scores) -> Scores:
    """Return the chunks' own weights with each entity's, divided among the chunks that mention it: no walk."""
    entities = len(index.entity_row)
    weights = restart[entities:].copy()
    for row in np.flatnonzero(restart[:entities]).tolist():
        chunks = index.support[row]
        weights[chunks] += restart[row] / max(1, len(chunks))
    return weights


def _lead(index: RetrievalIndex, query: Query, before: Sequence[Walk]) -> Seeds:
    """Return the entities that stand in for the answers a query waits for, weights summing to 1, or none.

    What the earlier query named itself is not its answer.
    """
    lead: defaultdict[int, np.float32] = defaultdict(np.float32)
    for earlier, walked in zip(query.follows, before, strict=True):
        named = [index.entity_row[node] for name in earlier.meaning.names for node in name.entities]
        best = best_rows(walked.entities, _LEAD_SEEDS + len(named))
        best = np.sort(best[~np.isin(best, named)][:_LEAD_SEEDS])
        for row, weight in zip(best.tolist(), _shared_out(walked.entities[best] ** _LEAD_SHARPNESS), strict=True):
            lead[row] += weight
    nodes, weights = _seeds(lead)
    return Seeds(nodes, _shared_out(weights))


def _scale_by_reach(own: Seeds, reach: Scores) -> Seeds:
    """Chunks' weights by how far the lead reaches them, summing to 1."""
    best = float(reach.max(initial=0.0))
    if best <= 0:
        return own
    return Seeds.of(_shared_out(own.weights * (reach[own.nodes] / best + _UNREACHED) ** _LEAD_POWER), own.nodes)


def _entity_seeds(index: RetrievalIndex, route: Route, evidence: Iterable[Evidence]) -> dict[int, float]:
    """Restart weights of one route's entities by row, summing to a power of the best score: 1 where that is certain.

    An entity counts less the more chunks mention it: a hub distinguishes chunks as little as a
    frequent word. Communities themselves are no seeds, their facts are.
    """
    reached = (e for e in evidence if e.route == route and not e.community_id)
    best: dict[str, float] = {}
    for item in reached:
        for entity in item.entity_ids:
            best[entity] = max(best.get(entity, 0.0), item.score)
    rows = {entity: index.entity_at(entity) for entity in best}
    # An entity may have gone since: a document was deleted in between.
    weights = {row: best[entity]**_EVIDENCE_SHARPNESS / max(1, len(index.support[row]))
               for entity, row in rows.items() if row is not None}
    scale = max(best.values(), default=0.0) ** _ROUTE_SHARPNESS / (sum(weights.values()) or 1)
    return {row: weight * scale for row, weight in sorted(weights.items())}


def _sharpen(scores: Scores, kept: int, power: float) -> Seeds:
    """Return a power of the best scores, summing to 1, or none."""
    best = np.sort(best_rows(scores, kept))
    return Seeds.of(_shared_out(scores[best] ** power), best)


def _shared_out(weights: Scores) -> Scores:
    total = float(weights.sum())
    return weights / np.float32(total) if total > 0 else weights
