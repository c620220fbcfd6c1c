"""The chunks' own scores for a question: by vector, by words, and by the communities they have a part in."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ...schemas.retrieval import EVERYTHING, Evidence, Switches
from ..best import Rows, floor
from ..index import RetrievalIndex
from ..nearness import Nearness
from ..query import Query

Scores = NDArray[np.float32]

# Against vectors, where those can be trusted wholly.
_LEXICAL_SHARE = 0.5
# Words count by this power of how much of the question the best chunk has of them: where a question shares but a number
# with passages in another language, these would else be drawn up as if they had all of it.
_COVERAGE_POWER = 0.5
_COMMUNITY_SHARE = 0.5
# Communities and their facts count by this power of their score, as the other routes do (fusion.py): where none is near
# to the question, the least far one would else draw hundreds of chunks up.
_COMMUNITY_SHARPNESS = 3
# Later ranks count nothing: the first counts 160 times as much as this one.
_RANKED = 10_000


def chunk_scores(index: RetrievalIndex, query: Query, evidence: Iterable[Evidence], beta: float,
                 switches: Switches = EVERYTHING, kept: int = 200) -> Scores:
    """Compute each chunk's score by vector, by words and by its communities, 0 to 1, shape (chunks,).

    Vectors weigh as much as they can be trusted (graph_store/vectors/reliability.py), so that a model that is
    blind to a script leaves the ranking to the words. beta(q) divides what is left: words count where
    things are named, communities where a question is about a theme and shares few words with its
    answers.

    Args:
        index: the knowledge base in memory.
        query: the sub-query.
        evidence: what the routes found for it.
        beta: beta(q).
        switches: what is left out.
        kept: so many of the best scores are exact; others may be off as far as chunks are compared nearly
            (tools/nearness.py), but stay below those.

    Returns:
        The scores; zeros where dense, lexical and communities are off.
    """
    trust = query.trust if switches.lexical else 1.0
    dense, parts = _Dense(query.meaning.chunks), list[tuple[float, Scores]]()
    if switches.dense:
        parts.append((trust, dense.nearly))
    if switches.lexical:
        # Where vectors say nothing the words have all, for every beta.
        share, found = beta if switches.dense and trust > 0 else 1.0, index.lexical.scores(query.text)
        share *= index.lexical.coverage(query.text, found) ** _COVERAGE_POWER
        parts.append((_LEXICAL_SHARE * share, _scale(lexical_scores(index, query.text, found))))
    communities = community_scores(index, evidence)
    if communities.any():
        parts.append((_COMMUNITY_SHARE * trust * (1 - beta), communities))
    total = sum(weight for weight, _ in parts)
    scores = np.zeros(len(index.chunks), np.float32)
    for weight, part in parts:
        scores += np.float32(weight / total if total else 0) * part
    if switches.dense and total and len(scores):
        below = floor(scores, min(kept, len(scores))) - np.float32(2 * dense.bound * trust / total)
        rows = np.flatnonzero(scores >= below)
        scores[rows] += np.float32(trust / total) * (dense.at(rows) - dense.nearly[rows])
    return scores


class _Dense:
    """The chunks' cosines, moved to 0..1; all 0 where they do not differ."""

    def __init__(self, nearness: Nearness) -> None:
        self._nearness, nearly = nearness, nearness.nearly
        _, highest = nearness.best(1)
        lowest = nearness.at(np.flatnonzero(nearly <= nearly.min(initial=np.inf) + np.float32(2 * nearness.bound)))
        self._low, self._range = lowest.min(initial=np.inf), (highest.max(initial=-np.inf) - lowest.min(initial=np.inf))
        self.nearly: Scores = self._scale(nearly)
        self.bound = nearness.bound / self._range if self._range > 0 else 0.0

    def at(self, rows: Rows) -> Scores:
        """Those of some chunks, exactly."""
        return self._scale(self._nearness.at(rows))

    def _scale(self, cosines: Scores) -> Scores:
        return (cosines - self._low) / self._range if self._range > 0 else np.zeros_like(cosines)


def community_scores(index: RetrievalIndex, evidence: Iterable[Evidence]) -> Scores:
    """Score chunks by the best community evidence for each (UniAI-GraphRAG eq. 8), raised to a power, shape (chunks,).

    A community speaks for the chunks that mention a member, a fact that was reached through one, and a group of a
    view, for those that state it. 0 for other chunks.
    """
    scores = np.zeros(len(index.chunks), np.float32)
    for item in evidence:
        if item.route == "community":
            rows = (index.community_chunks.get(item.community_id, []) if item.community_id else
                    [index.chunk_row[chunk] for chunk in item.chunk_ids if chunk in index.chunk_row])
            scores[rows] = np.maximum(scores[rows], item.score ** _COMMUNITY_SHARPNESS)
    return scores


def lexical_scores(index: RetrievalIndex, question: str, found: Scores | None = None) -> Scores:
    """Reciprocal rank fusion of two rankings of the chunks: by their BM25 and by their document's.

    A chunk rarely repeats what its document is about: the document's score distinguishes reports on one
    company from those on another. Ranks are fused, because the two scores have no common scale.

    Args:
        index: the knowledge base in memory.
        question: the question.
        found: the chunks' BM25 scores for it, if they are known.

    Returns:
        Shape (chunks,); 0 where neither shares a term with the question.
    """
    found = index.lexical.scores(question) if found is None else found
    ranks, (documents, number) = _reciprocal_rank(found), index.documents
    if len(documents) == len(ranks):  # each document has one chunk, and their rankings are one
        return ranks + ranks
    return ranks + _reciprocal_rank(documents.scores(question)[number])


def _reciprocal_rank(scores: Scores) -> Scores:
    """1 / (60 + rank), equal for equal scores, 0 for a score of 0 or a late rank; 60 as in Cormack et al. 2009."""
    least = floor(scores, _RANKED) if len(scores) > _RANKED else 0
    found = np.flatnonzero((scores > 0) & (scores >= least))
    found = found[np.argsort(-scores[found])]
    places = np.arange(len(found))
    first = np.maximum.accumulate(np.where(np.diff(scores[found], prepend=np.inf) != 0, places, 0))
    ranks = np.zeros_like(scores)
    ranks[found] = np.where(first < _RANKED, 1 / (61 + first), 0)
    return ranks


def _scale(scores: Scores) -> Scores:
    """Scores moved to 0..1; all zero where they do not differ."""
    if not len(scores):
        return scores
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)
