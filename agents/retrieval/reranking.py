"""Reordering the best passages by a cross-encoder.

A cross-encoder's scores have no scale that others share, and it sees neither the graph nor what other
passages say: a passage that a chain of facts leads to may look alien to the question. So ranks are
fused, as those of lexical search are (tools/ranking/chunk_scores.py): 1 / (60 + rank) in the ranking by everything
else plus 1 / (60 + rank) by the cross-encoder, with equal say, because no measurement speaks for
another. Its rank of a passage is the best over all sub-queries, so that each sub-query brings its own.
"""

from collections.abc import Sequence

import numpy as np

from ...models.reranking.reranker import Reranker

# Cormack, Clarke and Büttcher 2009.
_RANK_OFFSET = 60


def reranked(reranker: Reranker, questions: Sequence[str], texts: Sequence[str],
             ranking: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """The ranking with its first passages reordered.

    Args:
        reranker: the cross-encoder.
        questions: the sub-queries that stand alone, at least one.
        texts: of the first n passages of the ranking, which are reordered.
        ranking: (id, weight), best first.

    Returns:
        As many (id, weight), best first: weights stay with the ranks, so that the rest, whose order
        stays, never ranks above. Of passages that tie the one ranked first stays first.
    """
    count = len(texts)
    if not count:
        return list(ranking)
    ranks = np.arange(1, count + 1)
    best = np.min([_ranks(reranker.scores(question, texts)) for question in questions], axis=0)
    fused = 1 / (_RANK_OFFSET + ranks) + 1 / (_RANK_OFFSET + best)
    order = np.argsort(-np.round(fused, 12), kind="stable")
    weights = [weight for _, weight in ranking]
    ids = [ranking[int(row)][0] for row in order] + [chunk for chunk, _ in ranking[count:]]
    return list(zip(ids, weights, strict=True))


def _ranks(scores: np.ndarray) -> np.ndarray:
    """The rank of each score from 1, the highest first; equal scores share the best."""
    return np.searchsorted(np.sort(-scores), -scores, side="left") + 1
