"""The triple route: the triples nearest to the question (eq. 10), those of its relations first."""

from ..schemas.retrieval import Evidence
from .index import RetrievalIndex
from .query import Query


def search(index: RetrievalIndex, query: Query, limit: int) -> list[Evidence]:
    """The nearest triples.

    Args:
        index: the knowledge base in memory.
        query: the sub-query; among equally near triples its relations go first.
        limit: how many at most.

    Returns:
        Evidence, best first, scored by cosine times the trust in vectors.
    """
    wanted = set(query.sub_query.relations)
    found = [(one, cosine) for one, cosine in index.store.vectors.nearest("triples", query.vector[None, :], limit)[0]
             if one in index.edge_of and cosine > 0]
    found.sort(key=lambda item: (-round(item[1], 3), index.edge_of[item[0]][1] not in wanted, item[0]))
    evidence = []
    for one, cosine in found:
        edge = index.edge_of[one]
        text = index.graph.triple(edge).text()
        evidence.append(Evidence(
            route="triple", text=text, score=cosine * query.trust, chunk_ids=tuple(index.graph.triple_support(edge)),
            entity_ids=(edge[0], edge[2]), path=(f"near the question ({cosine:.2f})", text)))
    return evidence
