"""Reorder the best passages by a cross-encoder.

A cross-encoder's scores are on a scale of their own, and it sees neither the graph nor other passages: a passage that a
chain of facts leads to may look irrelevant to it. So ranks are fused: 1 / (60 + rank) in the ranking by everything else
plus 1 / (60 + rank) by the cross-encoder, with equal weight, because no measurement favours another.
"""

from collections.abc import Sequence

import numpy as np

from ...models.reranker import Reranker

# Cormack, Clarke and Büttcher 2009.
_RANK_OFFSET = 60


def reranked(reranker: Reranker, question: str, texts: Sequence[str],
             ranking: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Reorder the first passages of a ranking.

    Args:
        reranker: the cross-encoder.
        question: the question.
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
    scores = -np.asarray(reranker.scores(question, texts))
    reranks = np.searchsorted(np.sort(scores), scores) + 1  # the highest score first; equal scores share the best rank
    fused = 1 / (_RANK_OFFSET + ranks) + 1 / (_RANK_OFFSET + reranks)
    order = np.argsort(-np.round(fused, 12), kind="stable")  # rounded, so that equal sums are ties
    weights = [weight for _, weight in ranking]
    ids = [ranking[int(row)][0] for row in order] + [chunk for chunk, _ in ranking[count:]]
    return list(zip(ids, weights, strict=True))
