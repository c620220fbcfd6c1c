"""A question with its vector, the names in it, and its cosines; the best of many scores."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..graph_store.graph_index import GraphIndex
from ..graph_store.index.lexical import NamedSpan
from ..models.embedding.embedder import Vectors, trust_in

Cosines = NDArray[np.float32]
Rows = NDArray[np.intp]


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
    triples: Cosines
    chunks: Cosines


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
