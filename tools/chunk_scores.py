"""The chunks' own scores for a question: by vector and by words."""

import numpy as np
from numpy.typing import NDArray

from ..schemas.retrieval import EVERYTHING, Switches
from .index import RetrievalIndex
from .query import Query

Scores = NDArray[np.float32]

# Words weigh half of what vectors do where those can be trusted wholly.
_LEXICAL_SHARE = 0.5


def chunk_scores(index: RetrievalIndex, query: Query, switches: Switches = EVERYTHING) -> Scores:
    """Dense and lexical scores of each chunk, 0 to 1, shape (chunks,); zeros with both switched off.

    Vectors weigh as much as they can be trusted (graph_store/reliability.py), so that a model that is
    blind to a script leaves the ranking to the words.
    """
    dense = query.trust if switches.dense and switches.lexical else float(switches.dense)
    lexical = _LEXICAL_SHARE if switches.lexical else 0.0
    scores = np.zeros(len(index.chunks), np.float32)
    if dense:
        scores += dense * _scaled(index.chunk_vectors @ query.vector)
    if lexical:
        scores += lexical * _scaled(lexical_scores(index, query.text))
    return scores / max(dense + lexical, 1e-9)


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


def _scaled(scores: Scores) -> Scores:
    """Scores moved to 0..1; all zero where they do not differ."""
    if not len(scores):
        return scores
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)
