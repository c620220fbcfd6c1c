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
"""What is left of the nearness of what does not fit: enough to win where nothing that fits is half as near."""
# Of what is searched for, so many times as much is looked at: types are read one by one.
_CONSIDERED = 4


class Weighed:
    """What is near to a sub-query, weighed by the types that it names."""

    def __init__(self, nearness: Nearness, fitting: Rows | None = None) -> None:
        """Take how near everything is, and which of the nearest rows fit; None: no type is named."""
        self._nearness, self._fitting = nearness, fitting

    def best(self, limit: int, among: Rows | None = None) -> tuple[Rows, Cosines]:
        """The best rows with their cosines, weighed; see `Nearness.best`. Those that are not positive are no result."""
        if self._fitting is None:
            return self._nearness.best(limit, among)
        # Besides those that fit only the nearest can be among the best.
        rows, cosines = self._nearness.best(limit + len(self._fitting), among)
        weighed = np.where(np.isin(rows, self._fitting), cosines, cosines * np.float32(UNFIT))
        best = np.lexsort((rows, -weighed))[:limit]
        return rows[best], weighed[best]


def entities_by_types(index: RetrievalIndex, query: Query, limit: int) -> Weighed:
    """The entities by their cosine, weighed by their types; `limit`: how many are searched for."""
    return _weighed(index, query, query.meaning.entities, limit, lambda row: (index.entity_row.at(row),))


def triples_by_types(index: RetrievalIndex, query: Query, limit: int) -> Weighed:
    """The triples by their cosine, weighed by the types of their ends; `limit`: how many are searched for."""
    return _weighed(index, query, query.meaning.triples, limit, index.ends)


def fit(index: RetrievalIndex, query: Query, *entities: str) -> float:
    """1 where one of the entities has a type that the sub-query names, or it names none; else less."""
    wanted = query.sub_query.entity_types
    return 1.0 if not wanted or any(index.type(entity) in wanted for entity in entities) else UNFIT


def fitting_relations(index: RetrievalIndex, query: Query, rows: Rows) -> NDArray[np.float32]:
    """1 for each triple of a relation that the sub-query names, or for all where no triple has one; else less."""
    wanted = index.relation_rows(query.sub_query.relations)
    weights = np.ones(len(rows), np.float32)
    if wanted:
        weights[~np.isin(index.relations_of(rows), wanted)] = UNFIT
    return weights


def _weighed(index: RetrievalIndex, query: Query, nearness: Nearness, limit: int,
             ends: Callable[[int], tuple[str, ...]]) -> Weighed:
    if not query.sub_query.entity_types:
        return Weighed(nearness)
    rows, _ = nearness.best(_CONSIDERED * limit)
    return Weighed(nearness, np.array([row for row in rows.tolist() if fit(index, query, *ends(row)) == 1.0], np.intp))
