"""A question compared with everything, and the chunks' own scores for it: by vector, words, names and communities.

Each part is measured on a scale that is the same for all questions: 0 is what any passage has, 1 is a passage that
could not fit better. So a part counts by how well it tells passages apart for this question: where all vectors are
alike, or no passage has more than a common word of the question, that part hardly counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...graph_store.graph_index import GraphIndex
from ...graph_store.index.lexical import ONCE, LexicalIndex, NamedSpan
from ...models.embedding.embedder import Vectors, trust_in
from ...schemas.retrieval import EVERYTHING, Switches

Rows = NDArray[np.intp]
Scores = NDArray[np.float32]

_LEXICAL_SHARE = 0.6  # how much words count where vectors, which count 1, can be trusted wholly
# How much the words of a chunk's whole document count beside its own, which rarely repeat what the document is about.
_DOCUMENT_SHARE = 0.25
_COMMUNITY_SHARE, _COMMUNITIES = 0.5, 20  # how much communities count, and how many of them, the nearest, do
# Facts and communities count by this power of their cosine: else the nearest one, near or not, raises many chunks.
SHARPNESS = 3


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
