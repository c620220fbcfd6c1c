"""The triple route: the triples nearest to the question (eq. 10), with a place kept for its relations."""

import numpy as np

from ..schemas.retrieval import Evidence
from .index import RetrievalIndex, Rows
from .query import Query


def search(index: RetrievalIndex, query: Query, limit: int) -> list[Evidence]:
    """The nearest triples.

    Args:
        index: the knowledge base in memory.
        query: the sub-query. Where it names relations of the schema, half of the places are theirs: a
            filter that shuts nothing out, because a decomposition may name the wrong one.
        limit: how many at most.

    Returns:
        Evidence, best first, scored by cosine times the trust in vectors; among equally near triples
        those of the named relations go first.
    """
    cosines, wanted = query.meaning.triples, _of_relations(index, query)
    kept = _best(cosines, wanted, limit // 2) if len(wanted) else wanted
    rows = np.union1d(kept, _best(cosines, np.arange(len(cosines)), limit - len(kept)))
    named = np.isin(rows, wanted)
    order = np.lexsort((rows, ~named, -cosines[rows].round(3)))
    return [_evidence(index, query, int(row)) for row in rows[order] if cosines[row] > 0]


def _of_relations(index: RetrievalIndex, query: Query) -> Rows:
    """The rows of the triples whose relation the sub-query names."""
    found = [index.relation_rows[one] for one in query.sub_query.relations if one in index.relation_rows]
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.intp)


def _best(cosines: np.ndarray, rows: Rows, limit: int) -> Rows:
    """The `limit` of some rows with the highest cosines; among equal ones those that come first."""
    if len(rows) > limit:
        lowest = np.partition(cosines[rows], len(rows) - limit)[len(rows) - limit] if limit else np.inf
        rows = rows[cosines[rows] >= lowest]
    return rows[np.argsort(-cosines[rows], kind="stable")[:limit]]


def _evidence(index: RetrievalIndex, query: Query, row: int) -> Evidence:
    edge, cosine = index.edges[row], float(query.meaning.triples[row])
    text = index.graph.triple(edge).text()
    return Evidence(route="triple", text=text, score=min(1.0, cosine) * query.trust,
                    chunk_ids=tuple(index.graph.triple_support(edge)), entity_ids=(edge[0], edge[2]),
                    path=(f"near the question ({cosine:.2f})", text))
