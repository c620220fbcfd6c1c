"""How the schema elements that a sub-query names weigh what is near to it.

What fits none of them counts less and is never left out: a reasoner may name wrong ones.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..best import best_rows
from ..index import RetrievalIndex
from ..query import Query

UNFIT = 0.8
"""What is left of the nearness of what does not fit: enough to win where nothing that fits is half as near."""
# Of what is searched for, so many times as much is looked at: types are read one by one.
_CONSIDERED = 4
Nearness = NDArray[np.float32]


def entities_by_types(index: RetrievalIndex, query: Query, limit: int) -> Nearness:
    """The cosine to each entity, weighed by its type, shape (entities,)."""
    return _weighed(index, query, query.meaning.entities, limit, lambda row: (index.entity_row.at(row),))


def triples_by_types(index: RetrievalIndex, query: Query, limit: int) -> Nearness:
    """The cosine to each triple, weighed by the types of its ends, shape (triples,)."""
    return _weighed(index, query, query.meaning.triples, limit, lambda row: index.edges[row][::2])


def triples_by_relations(index: RetrievalIndex, query: Query) -> Nearness:
    """The cosine to each triple, weighed by its relation, shape (triples,)."""
    cosines, rows = query.meaning.triples, index.of_relations(query.sub_query.relations)
    if not len(rows):
        return cosines
    weighed: Nearness = cosines * np.float32(UNFIT)
    weighed[rows] = cosines[rows]
    return weighed


def fit(index: RetrievalIndex, query: Query, *entities: str) -> float:
    """1 where one of the entities has a type that the sub-query names, or it names none; else less."""
    wanted = query.sub_query.entity_types
    return 1.0 if not wanted or any(index.type(entity) in wanted for entity in entities) else UNFIT


def _weighed(index: RetrievalIndex, query: Query, cosines: Nearness, limit: int,
             ends: Callable[[int], tuple[str, ...]]) -> Nearness:
    if not query.sub_query.entity_types:
        return cosines
    rows = [int(row) for row in best_rows(cosines, _CONSIDERED * limit)]
    fitting = [row for row in rows if fit(index, query, *ends(row)) == 1.0]
    weighed: Nearness = cosines * np.float32(UNFIT)
    weighed[fitting] = cosines[fitting]
    return weighed
