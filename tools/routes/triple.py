"""The triple route: the triples nearest to the question (eq. 10), with a share for its relations."""

import numpy as np

from ...schemas.retrieval import Evidence
from ..index import RetrievalIndex
from ..query import Query
from .fitting import triples_by_types


def search(index: RetrievalIndex, query: Query, limit: int) -> list[Evidence]:
    """Find the nearest triples.

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
    weighed, wanted = triples_by_types(index, query, limit), index.of_relations(query.sub_query.relations)
    kept, reserved = weighed.best(limit // 2, wanted)
    best, cosines = weighed.best(limit)
    others = np.flatnonzero(~np.isin(best, kept))[:limit - len(kept)]
    rows, cosines = np.concatenate([kept, best[others]]), np.concatenate([reserved, cosines[others]])
    order = np.lexsort((rows, ~np.isin(rows, wanted), -cosines.round(3)))
    return [_evidence(index, query, int(rows[place]), float(cosines[place])) for place in order if cosines[place] > 0]


def _evidence(index: RetrievalIndex, query: Query, row: int, cosine: float) -> Evidence:
    fact = index.fact(row)
    return Evidence(route="triple", text=fact.text, score=min(1.0, cosine) * query.trust,
                    chunk_ids=fact.chunk_ids, entity_ids=fact.ends,
                    path=(f"near the question ({cosine:.2f})", fact.text))
