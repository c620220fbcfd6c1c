"""Scores of ranked passages by the facts in them: MultiHop-RAG's, and UniAI-GraphRAG's of its evidence.

MultiHop-RAG (Tang and Yang 2024, section 4.1) names Hits@K, MAP@K and MRR@K of K retrieved chunks; its script reads
them so, and so do we. A chunk is relevant that holds a gold fact, white space apart. Hits@K is the share of questions
with a relevant chunk among the first K, not the share of facts. MRR@10 is one over the rank of the first relevant
chunk, 0 beyond the tenth. In MAP@10 a relevant chunk of rank r adds the number of facts that it is the first to hold,
divided by r; the sum is divided by the number of facts, at most 10. That is less than the usual average precision,
which counts all relevant chunks up to r. Null questions, which have no facts, are left out.

UniAI-GraphRAG (section 4.2) defines recall as "coverage of key facts" and relevancy as "correlation between retrieved
content and the question", both over the first 8 chunks, and F1 as their harmonic mean. Recall is read as the share of a
question's facts that stand in those chunks. Relevancy needs no model where it is read as the share of those chunks that
come from a gold document; the paper does not say what measured it, so that its figures are not comparable with ours.
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


def stripped(text: str) -> str:
    """A text without white space, as facts are compared."""
    return "".join(text.split())


def facts_in(passages: Sequence[str], facts: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """The numbers of the facts that stand in each passage."""
    wanted = [stripped(fact) for fact in facts]
    return tuple(tuple(number for number, fact in enumerate(wanted) if fact in text)
                 for text in map(stripped, passages))


def fact_scores(found: Sequence[Sequence[int]], from_gold: Sequence[bool], facts: int) -> FactScores:
    """The scores of a ranking.

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
