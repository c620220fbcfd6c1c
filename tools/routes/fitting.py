"""How the schema elements that a sub-query names weigh what is near to it.

What fits none of them counts less and is never left out: a reasoner may name wrong ones.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..best import Rows
from ..index import RetrievalIndex
from ..nearness import Cosines, Nearness
from ..query import Query

UNFIT = 0.8
"""The factor for what does not fit: enough to win if nothing that fits is nearly as near."""
# How many times as many rows as searched for are looked at: types are read one by one.
_CONSIDERED = 4


class Weighed:
    """The nearness to a sub-query, weighed by the types that it names."""

    def __init__(self, nearness: Nearness, fitting: Rows | None = None) -> None:
        """Take the nearness, and which of the nearest rows fit; None means that no type is named."""
        self._nearness, self._fitting = nearness, fitting

    def best(self, limit: int, among: Rows | None = None) -> tuple[Rows, Cosines]:
        """Return the best rows with their weighed cosines; see `Nearness.best`. Only positive ones are results."""
        if self._fitting is None:
            return self._nearness.best(limit, among)
        # Only rows that fit and the nearest others can be among the best.
        rows, cosines = self._nearness.best(limit + len(self._fitting), among)
        weighed = np.where(np.isin(rows, self._fitting), cosines, cosines * np.float32(UNFIT))
        best = np.lexsort((rows, -weighed))[:limit]
        return rows[best], weighed[best]


def entities_by_types(index: RetrievalIndex, query: Query, limit: int) -> Weighed:
    """Weigh entities' cosines by their types; `limit` is how many are searched for."""
    return _weigh(index, query, query.meaning.entities, limit, lambda row: (index.entity_row.at(row),))


def triples_by_types(index: RetrievalIndex, query: Query, limit: int) -> Weighed:
    """Weigh triples' cosines by the types of their ends; `limit` is how many are searched for."""
    return _weigh(index, query, query.meaning.triples, limit, index.ends)


def fit(index: RetrievalIndex, query: Query, *entities: str) -> float:
    """Return 1 if one of the entities has a type that the sub-query names, or it names none; else `UNFIT`."""
    wanted = query.sub_query.entity_types
    return 1.0 if not wanted or any(index.type(entity) in wanted for entity in entities) else UNFIT


def fitting_relations(index: RetrievalIndex, query: Query, rows: Rows) -> NDArray[np.float32]:
    """Return 1 for triples of relations that the sub-query names, else `UNFIT`; 1 for all if no triple has one."""
    wanted = index.relation_rows(query.sub_query.relations)
    weights = np.ones(len(rows), np.float32)
    if wanted:
        weights[~np.isin(index.relations_of(rows), wanted)] = UNFIT
    return weights


def _weigh(index: RetrievalIndex, query: Query, nearness: Nearness, limit: int,
           ends: Callable[[int], tuple[str, ...]]) -> Weighed:
    if not query.sub_query.entity_types:
        return Weighed(nearness)
    rows, _ = nearness.best(_CONSIDERED * limit)
    return Weighed(nearness, np.array([row for row in rows.tolist() if fit(index, query, *ends(row)) == 1.0], np.intp))
