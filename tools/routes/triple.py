"""The triple route: the triples nearest to the question (eq. 10), with a share for its relations."""

import numpy as np

from ...schemas.retrieval import Evidence
from ..best import best_rows
from ..index import RetrievalIndex
from ..query import Query
from .fitting import triples_by_types


def search(index: RetrievalIndex, query: Query, limit: int) -> list[Evidence]:
    """The nearest triples.

    Args:
        index: the knowledge base in memory.
        query: the sub-query. Where it names relations of the schema, half of the results are reserved for
            them: a soft filter, because a decomposition may name a wrong relation. Where it names types, triples with
            an end of one go first.
        limit: how many at most.

    Returns:
        Evidence, best first, scored by cosine, weighed by types, times the trust in vectors; among equally near triples
        those of the named relations go first.
    """
    cosines, wanted = triples_by_types(index, query, limit), index.of_relations(query.sub_query.relations)
    kept = wanted[best_rows(cosines[wanted], limit // 2)]
    others = np.delete(np.arange(len(cosines)), kept)
    rows = np.union1d(kept, others[best_rows(cosines[others], limit - len(kept))])
    named = np.isin(rows, wanted)
    order = np.lexsort((rows, ~named, -cosines[rows].round(3)))
    return [_evidence(index, query, int(row), float(cosines[row])) for row in rows[order] if cosines[row] > 0]


def _evidence(index: RetrievalIndex, query: Query, row: int, cosine: float) -> Evidence:
    fact = index.fact(row)
    return Evidence(route="triple", text=fact.text, score=min(1.0, cosine) * query.trust,
                    chunk_ids=fact.chunk_ids, entity_ids=fact.ends,
                    path=(f"near the question ({cosine:.2f})", fact.text))
