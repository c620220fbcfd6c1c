"""Scores of ranked passages by the facts in them: those of MultiHop-RAG, and UniAI-GraphRAG's evidence scores.

MultiHop-RAG (Tang and Yang 2024, section 4.1) names Hits@K, MAP@K and MRR@K of K retrieved chunks. This module follows
its script. A chunk is relevant if it contains a gold fact, ignoring white space. Hits@K is the share of questions with
a relevant chunk among the first K, not the share of facts. MRR@10 is one over the rank of the first relevant chunk, or
0 beyond the tenth. In MAP@10 a relevant chunk of rank r adds the number of facts that it is the first to contain,
divided by r; the sum is divided by the number of facts, at most 10. That is less than the usual average precision,
which counts all relevant chunks up to r. Null questions, which have no facts, are omitted.

UniAI-GraphRAG (section 4.2) defines recall as "coverage of key facts" and relevancy as "correlation between retrieved
content and the question", both over the first 8 chunks, and F1 as their harmonic mean. Recall is taken here as the
share of a question's facts in those chunks, and relevancy as the share of those chunks from a gold document. The paper
does not say how it measured relevancy, so its figures are not comparable with these.
"""

from collections.abc import Sequence

from ...schemas.documents import Frozen

_DEPTH = 10
EVIDENCE_DEPTH = 8
"""UniAI's top-k."""


class FactScores(Frozen):
    """Scores of one question from 0 to 1."""

    hits_4: float
    hits_10: float
    map_10: float
    mrr_10: float
    recall: float
    relevancy: float
    f1: float


def remove_spaces(text: str) -> str:
    """Return a text without white space, for comparing facts."""
    return "".join(text.split())


def facts_in(passages: Sequence[str], facts: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of the facts in each passage."""
    wanted = [remove_spaces(fact) for fact in facts]
    return tuple(tuple(number for number, fact in enumerate(wanted) if fact in text)
                 for text in map(remove_spaces, passages))


def fact_scores(found: Sequence[Sequence[int]], from_gold: Sequence[bool], facts: int) -> FactScores:
    """Return the scores of a ranking.

    Args:
        found: for each passage, best first, the numbers of the facts in it.
        from_gold: whether each passage comes from a gold document.
        facts: how many facts the question has, at least one.
    """
    relevant = [rank for rank, numbers in enumerate(found[:_DEPTH], 1) if numbers]
    seen: set[int] = set()
    precision = 0.0
    for rank, numbers in enumerate(found[:_DEPTH], 1):
        new = set(numbers) - seen
        seen |= new
        precision += len(new) / rank
    covered = {number for numbers in found[:EVIDENCE_DEPTH] for number in numbers}
    recall = len(covered) / facts
    shown = from_gold[:EVIDENCE_DEPTH]
    relevancy = sum(shown) / len(shown) if shown else 0.0
    return FactScores(
        hits_4=float(bool(relevant) and relevant[0] <= 4), hits_10=float(bool(relevant)),  # noqa: PLR2004
        map_10=precision / min(facts, _DEPTH), mrr_10=1 / relevant[0] if relevant else 0.0, recall=recall,
        relevancy=relevancy, f1=2 * recall * relevancy / (recall + relevancy) if recall + relevancy else 0.0)
