"""Fusing what the graph says and the chunks' own scores into one ranking of chunks.

Names and near facts say which entities matter; vectors, words and communities say which chunks do (`chunk_scores`).
Both are restart weights of one walk over the entity-chunk graph (`SpreadingGraph`), whose stationary weights rank the
chunks: it follows every path from what is named. beta(q) of UniAI-GraphRAG eq. 8 and 9 weighs the two channels before
the walk, where the paper adds two finished scores. What rests on vectors is weighted by the trust in them (`trust_in`).

Each of the chunks' own scores is on a scale that is the same for all questions: 0 is what any passage has, 1 is a
passage that could not fit better. So a part counts by how well it tells passages apart for this question: where all
vectors are alike, or no passage has more than a common word of the question, that part hardly counts.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...graph_store.bounding.words import words
from ...graph_store.graph_index import GraphIndex
from ...graph_store.index.lexical import ONCE, LexicalIndex, NamedSpan
from ...models.embedding.embedder import Vectors, trust_in
from ...schemas.retrieval import EVERYTHING, Route, Switches

Rows = NDArray[np.intp]
Scores = NDArray[np.float32]
Weights = dict[int, float]  # weights by row of an entity

# All values here were chosen on benchmarks/questions, by benchmarks/fusion_sweep.py.
_LEXICAL_SHARE = 0.6  # how much words count where vectors, which count 1, can be trusted wholly
# How much the words of a chunk's whole document count beside its own, which rarely repeat what the document is about.
_DOCUMENT_SHARE = 0.25
_COMMUNITY_SHARE, _COMMUNITIES = 0.5, 20  # how much communities count, and how many of them, the nearest, do
# Facts and communities count by this power of their cosine: else the nearest one, near or not, raises many chunks.
SHARPNESS = 3
# What the chunks' own scores add to the walk's weights, whose best is 1: they order those that it hardly reaches.
_OWN_SHARE = 0.05
# How many chunks, the best, restart the walk, and by which power of their score: else many that fit a little outweigh.
_CHUNK_SEEDS, _CHUNK_SHARPNESS = 200, 6
_ANSWER_SEEDS, _ANSWER_SHARPNESS = 50, 2  # how many entities stand in for an answer, by which power of their weight
_WAITING_SHARPNESS = 8
"""A step that waits for an answer does not name what it is about. So its words only choose among the chunks that a walk
from the answer's seeds reaches: the reach is multiplied by the exponential of the chunk's score times this."""
_UNREACHED = 1e-6  # the reach of chunks that this walk does not reach: wrong seeds must not hide a chunk
_DENSITY_WEIGHT, _ABSTRACTION_WEIGHT = 8.0, 1.0
"""Eq. 9 gives no values. With these beta is 0.3 for a question without any name, 0.5 where one word in ten is of a name
and 0.9 where every third is: multi-hop questions of our own have 0.8 in the mean, thematic ones 0.6."""
_NAMED_SHARE, _NEAR_SHARE = 1 / 8, 3 / 2
"""Restart weights of what a question names and of the facts near to it; the chunks' own scores have 1. Names count
least: they are in words and vectors already, and twice as much loses a passage in a hundred (same sweep)."""
_FACTS, _FACT_SHARPNESS = 20, 8  # how many facts, the nearest, raise their ends, and by which power of their cosine


@dataclass(frozen=True, eq=False)
class Query:
    """The text of a question, compared with the knowledge base.

    `vector` has shape (d,), `names` are the known names in it, `trust` says how far vectors can be trusted for its
    script (0 to 1), and `triples` and `chunks` are its cosines with the rows of the index.
    """

    text: str
    vector: Vectors
    names: Sequence[NamedSpan]
    trust: float
    triples: Scores
    chunks: Scores


def compare(index: GraphIndex, text: str, vector: Vectors) -> Query:
    """Compare a text, whose unit vector has shape (d,), with the knowledge base."""
    return Query(text, vector, index.name_trie.find(text), trust_in(index.embedder.name, text),
                 index.cosines("triples", vector), index.cosines("chunks", vector))


def best_rows(scores: NDArray[np.float32], limit: int) -> Rows:
    """Return the rows of the `limit` highest scores, shape (n,), best first; of equal scores the first ones."""
    if limit <= 0:
        return np.zeros(0, np.intp)
    rows = np.arange(len(scores))
    if len(scores) > limit:
        # All scores that reach the limit-th highest are sorted, so that of equal scores the first ones are chosen.
        rows = np.flatnonzero(scores >= np.partition(scores, len(scores) - limit)[len(scores) - limit])
    return rows[np.argsort(-scores[rows], kind="stable")[:limit]]


def chunk_scores(index: GraphIndex, query: Query, beta: float, switches: Switches = EVERYTHING) -> Scores:
    """Score chunks by vector, by words and by their communities, shape (chunks,), not negative.

    Vectors weigh as much as they can be trusted (`trust_in`), so that a model that is blind to a script leaves the
    ranking to the words. Communities weigh by 1 - beta(q) of UniAI-GraphRAG.
    """
    trust = query.trust if switches.lexical else 1.0  # without words, there is nothing to leave the ranking to
    scores = np.zeros(len(index.chunks), np.float32)
    if "community" in switches.routes:
        # A chunk counts by the nearest community with a member in it (UniAI-GraphRAG eq. 7).
        nearest, cosines = np.zeros_like(scores), index.community_cosines(query.vector)
        for row in best_rows(cosines, _COMMUNITIES):
            nearness = min(1.0, max(0.0, float(cosines[row]))) * query.trust
            chunks = index.community_chunks[int(row)]
            nearest[chunks] = np.maximum(nearest[chunks], np.float32(nearness ** SHARPNESS))
        scores += np.float32(_COMMUNITY_SHARE * trust * (1 - beta)) * nearest
    if switches.lexical:
        scores += np.float32(_LEXICAL_SHARE) * lexical_scores(index, query)
    if switches.dense:
        # The mean counts one more passage, with cosine 0: else the only passage of a base would be its own mean.
        mean = np.float32(query.chunks.sum(dtype=np.float64) / (len(query.chunks) + 1))
        scores += np.float32(trust) * ((query.chunks - mean) / (1 - mean))
    np.maximum(scores, 0, out=scores)
    return scores


def lexical_scores(index: GraphIndex, query: Query) -> Scores:
    """Score chunks by the share of the question's words and names that they, and their documents, have: 0 to about 1.

    A known name is a term beside its words, so a passage with the very name is before one that shares a word of it.
    Terms count by BM25: the fewer passages have one, the more it tells.
    """
    text, (document_words, document_of_chunk) = query.text, index.documents
    # What the names in a question add to the chunks' BM25, shape (chunks,), and the sum of their idf.
    name_scores, name_idf = np.zeros(len(index.chunks), np.float32), 0.0
    for named in query.names:
        rows = [row for entity in named.entities if (row := index.entity_at(entity)) is not None]
        # The share of the name's idf that a chunk scores: for one mention, or all of it if its title has the name.
        frequency_factor = np.zeros(len(name_scores), np.float32)
        frequency_factor[index.mentioning.unite(rows)] = ONCE
        frequency_factor[index.titled.unite(rows)] = 1
        idf = index.lexical.idf(int(np.count_nonzero(frequency_factor)))
        name_scores += np.float32(idf) * frequency_factor
        name_idf += idf
    by_chunk = _share_of_full_match(index.lexical, text, index.lexical.scores(text) + name_scores, name_idf)
    by_document = _share_of_full_match(document_words, text, document_words.scores(text), 0.0)[document_of_chunk]
    return np.float32(1 - _DOCUMENT_SHARE) * by_chunk + np.float32(_DOCUMENT_SHARE) * by_document


def _share_of_full_match(lexical: LexicalIndex, question: str, scores: Scores, name_idf: float) -> Scores:
    """Divide scores by that of a text of mean length that has each term and name of a question once."""
    full_score = ONCE * (lexical.sum_idf(question) + name_idf)
    return scores / np.float32(full_score) if full_score else scores


def rank_chunks(index: GraphIndex, steps: Sequence[tuple[Query, Sequence[int]]],
                switches: Switches = EVERYTHING) -> Scores:
    """Return the weights of chunks for the steps of a question, shape (chunks,).

    Each step has the numbers of the steps whose answers it waits for: the entities to which their walks lead stand in
    for these. The question and its first steps have names in common, so n of them count as root n; a step that waits
    is found by meaning rather than by words, so it counts by the trust in vectors.
    """
    total, walks = np.zeros(len(index.chunks), np.float32), list[Scores]()
    first_weight = max(1, sum(not waits_for for _, waits_for in steps)) ** -0.5
    for query, waits_for in steps:
        answer_seeds = _answer_seeds(index, [(steps[number][0], walks[number]) for number in waits_for])
        entity_weights, chunk_weights = _walk_graph(index, query, answer_seeds, switches)
        walks.append(entity_weights)
        total += np.float32(query.trust if waits_for else first_weight) * chunk_weights
    return total


def _walk_graph(index: GraphIndex, query: Query, answer_seeds: Scores, switches: Switches) -> tuple[Scores, Scores]:
    """Return the weights of entities and chunks after a step's walk; its answer seeds are 0 if it waits for none."""
    graph_weight = beta(query) if switches.beta is None else switches.beta
    entities = entity_seeds(index, query, switches.routes, graph_weight)
    own = chunk_scores(index, query, graph_weight, switches)
    restart_weights = _to_one(own) ** _CHUNK_SHARPNESS
    if answer_seeds.any() and own.any():  # it restarts from the chunks that a walk from these seeds reaches
        reach = _to_one(_spread_weights(index, answer_seeds, switches)[1]) + np.float32(_UNREACHED)
        restart_weights = reach * np.exp(_WAITING_SHARPNESS * (own - own.max(initial=0)))
    chunks = np.sort(best_rows(restart_weights, _CHUNK_SEEDS))
    # The nodes of the graph are the entities, then the chunks.
    restart = np.zeros(len(index.entity_row) + len(index.chunks), np.float32)
    restart[list(entities)] = list(entities.values())
    restart[chunks + len(index.entity_row)] = _sum_to_one(restart_weights[chunks])
    reached_entities, reached_chunks = _spread_weights(index, restart, switches)
    return reached_entities, _to_one(reached_chunks) + np.float32(_OWN_SHARE) * own


def _answer_seeds(index: GraphIndex, answered_steps: Sequence[tuple[Query, Scores]]) -> Scores:
    """Return weights, for a walk, of the entities to which the walks of steps led, but that the steps do not name."""
    weights = np.zeros(len(index.entity_row) + len(index.chunks), np.float32)
    for query, entity_weights in answered_steps:
        named = [index.entity_row[entity] for name in query.names for entity in name.entities]
        best = best_rows(entity_weights, _ANSWER_SEEDS + len(named))  # enough, also if all named ones are among them
        best = best[~np.isin(best, named)][:_ANSWER_SEEDS]
        weights[best] += _sum_to_one(entity_weights[best] ** _ANSWER_SHARPNESS)
    return _sum_to_one(weights)


def entity_seeds(index: GraphIndex, query: Query, routes: Collection[Route], share: float) -> Weights:
    """Return the restart weights of the entities that a question names, and of the ends of the facts nearest to it.

    An entity counts less the more chunks mention it: a hub distinguishes chunks as little as a frequent word. The route
    "entity" switches names on, "triple" facts; `share` is beta(q), the weight of what the graph says.
    """
    seeds: defaultdict[int, float] = defaultdict(float)
    if "entity" in routes:
        named = {row for name in query.names for entity in name.entities
                 if (row := index.entity_at(entity)) is not None}
        _add_seeds(seeds, index, dict.fromkeys(named, 1.0), share * _NAMED_SHARE)
    if "triple" in routes:
        best_scores: Weights = {}  # of each entity, by its nearest fact
        for row in best_rows(query.triples, _FACTS).tolist():
            cosine = float(query.triples[row])
            for end in index.ends_of(row) if cosine > 0 else ():
                best_scores[end] = max(best_scores.get(end, 0.0), min(1.0, cosine) * query.trust)
        _add_seeds(seeds, index, best_scores, share * _NEAR_SHARE * query.trust)
    return dict(sorted(seeds.items()))


def _add_seeds(seeds: defaultdict[int, float], index: GraphIndex, scores: Mapping[int, float], share: float) -> None:
    """Add weights of entities by their scores, 1 for a name; they sum to `share` times a power of the best score."""
    # An entity in many chunks has as much weight as one in a single chunk, spread over them all.
    weights = {row: score ** _FACT_SHARPNESS / max(1, len(index.mentioning[row])) for row, score in scores.items()}
    scale = share * max(scores.values(), default=0.0) ** SHARPNESS / (sum(weights.values()) or 1)
    for row, weight in weights.items():
        seeds[row] += weight * scale


def beta(query: Query) -> float:
    """Return how far a question is about named things rather than themes, 0 to 1 (UniAI-GraphRAG eq. 9)."""
    # The words by which names are matched, not index terms: a CJK name has different ones.
    if not (all_words := words(query.text)):
        return 0.5  # nothing speaks for either
    words_beside_names = Counter(all_words) - Counter(word for name in query.names for word in name.name.split(" "))
    name_density = 1 - words_beside_names.total() / len(all_words)
    # The entropy of the other words, as a share of the most that a question of this length can have.
    abstraction = 0.0
    if len(words_beside_names) > 1:
        shares = [count / words_beside_names.total() for count in words_beside_names.values()]
        abstraction = -sum(p * math.log(p) for p in shares) / math.log(len(all_words))
    return 1 / (1 + math.exp(-(_DENSITY_WEIGHT * name_density - _ABSTRACTION_WEIGHT * abstraction)))


def _spread_weights(index: GraphIndex, restart: Scores, switches: Switches) -> tuple[Scores, Scores]:
    """Return the weights of entities and chunks after a walk from seeds; if it is off, of chunks that mention these."""
    entity_count = len(index.entity_row)
    if switches.spreading:
        weights = index.spreading.spread(restart)
        return weights[:entity_count], weights[entity_count:]
    entities, chunks = restart[:entity_count], restart[entity_count:].copy()
    for row in np.flatnonzero(entities).tolist():
        mentioning = index.mentioning[row]
        chunks[mentioning] += entities[row] / max(1, len(mentioning))
    return entities, chunks


def _to_one(scores: Scores) -> Scores:
    """Return scores scaled so that the best is 1; without a positive one they stay as they are."""
    best = scores.max(initial=0)
    return scores / best if best > 0 else scores


def _sum_to_one(weights: Scores) -> Scores:
    """Return weights scaled so that they sum to 1; if all are 0 they stay so."""
    total = float(weights.sum())
    return weights / np.float32(total) if total > 0 else weights
