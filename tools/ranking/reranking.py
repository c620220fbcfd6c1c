"""Reorder the best passages by a cross-encoder.

A cross-encoder's scores are on a scale of their own, and it sees neither the graph nor other passages: a passage that a
chain of facts leads to may look irrelevant to it. So ranks are fused: 1 / (60 + rank) in the ranking by everything else
plus 1 / (60 + rank) by the cross-encoder, with equal weight, because no measurement favours another. The
cross-encoder's rank of a passage is its best over all sub-queries, so each sub-query keeps its own passages.
"""

from collections.abc import Sequence

import numpy as np

from ...models.reranking.reranker import Reranker

# Cormack, Clarke and Büttcher 2009.
_RANK_OFFSET = 60


def reranked(reranker: Reranker, questions: Sequence[str], texts: Sequence[str],
             ranking: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Reorder the first passages of a ranking.

    Args:
        reranker: the cross-encoder.
        questions: the sub-queries that refer to no other, at least one.
        texts: the texts of the ranking's first n passages, which are reordered.
        ranking: (id, weight), best first.

    Returns:
        As many (id, weight), best first. Weights belong to ranks, so the remaining passages never rank above. Ties
        keep their order.
    """
    count = len(texts)
    if not count:
        return list(ranking)
    ranks = np.arange(1, count + 1)
    best = np.min([_ranks(reranker.scores(question, texts)) for question in questions], axis=0)
    fused = 1 / (_RANK_OFFSET + ranks) + 1 / (_RANK_OFFSET + best)
    order = np.argsort(-np.round(fused, 12), kind="stable")  # rounded, so that equal sums are ties
    weights = [weight for _, weight in ranking]
    ids = [ranking[int(row)][0] for row in order] + [chunk for chunk, _ in ranking[count:]]
    return list(zip(ids, weights, strict=True))


def _ranks(scores: np.ndarray) -> np.ndarray:
    """Return each score's rank from 1, the highest first; equal scores share the best rank."""
    return np.searchsorted(np.sort(-scores), -scores, side="left") + 1
