"""The path route: depth-first traversal from the entities already found, guided by the sub-query (eq. 10).

A path grows by the triples nearest to the question. At every node only the best `_BRANCHES` are
followed, so that a start leads to at most 2 + 4 + ... + 2 ** MAX_HOPS paths; all triples of a node are
compared with the question, once for a query and in one product; and no path comes back to an entity.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..graph_store.graph import EdgeKey
from ..schemas.retrieval import Evidence
from .index import RetrievalIndex, Rows
from .query import Query

MAX_HOPS = 5
_STARTS = 4
_BRANCHES = 2
_NONE: Rows = np.zeros(0, np.intp)


@dataclass(frozen=True)
class _Path:
    entities: tuple[str, ...]
    edges: tuple[EdgeKey, ...]
    cosines: tuple[float, ...]

    @property
    def score(self) -> float:
        """The mean cosine of its triples: what one poor hop costs, the others must make up for."""
        return sum(self.cosines) / len(self.cosines)


def search(index: RetrievalIndex, query: Query, limit: int, starts: Sequence[str]) -> list[Evidence]:
    """Paths of at most five hops.

    Args:
        index: the knowledge base in memory.
        query: the sub-query.
        limit: how many at most.
        starts: ids of the entities to set out from, best first.

    Returns:
        Evidence, best first: each path with the chunks of its triples, scored by the mean cosine of
        its triples times the trust in vectors.
    """
    walk = _Walk(index, query)
    paths = [path for start in list(dict.fromkeys(starts))[:_STARTS] if start in index.entity_row
             for path in walk.from_entity(start)]
    ranked = sorted(paths, key=lambda path: (-path.score, path.edges))
    return [_evidence(index, path, query.trust) for path in ranked[:limit]]


class _Walk:
    """The traversal for one query; neighbourhoods are scored once."""

    def __init__(self, index: RetrievalIndex, query: Query) -> None:
        self._index = index
        self._query = query
        self._scored: dict[str, list[tuple[float, EdgeKey]]] = {}

    def from_entity(self, start: str) -> Iterator[_Path]:
        yield from self._extend(_Path((start,), (), ()))

    def _extend(self, path: _Path) -> Iterator[_Path]:
        if len(path.edges) == MAX_HOPS:
            return
        here, followed = path.entities[-1], 0
        for cosine, edge in self._neighbours(here):
            there = edge[2] if edge[0] == here else edge[0]
            if there in path.entities:
                continue
            longer = _Path((*path.entities, there), (*path.edges, edge), (*path.cosines, cosine))
            yield longer
            yield from self._extend(longer)
            followed += 1
            if followed == _BRANCHES:
                return

    def _neighbours(self, one: str) -> list[tuple[float, EdgeKey]]:
        """An entity's triples with their cosines to the question, best first, equal ones by key."""
        if one not in self._scored:
            rows = self._index.incident_rows.get(one, _NONE)
            cosines = self._index.triple_vectors[rows] @ self._query.vector
            order = np.argsort(-cosines, kind="stable")
            self._scored[one] = [(cosine, self._index.edges[row]) for cosine, row in
                                 zip(cosines[order].tolist(), rows[order].tolist(), strict=True)]
        return self._scored[one]


def _evidence(index: RetrievalIndex, path: _Path, trust: float) -> Evidence:
    triples = [index.graph.triple(edge) for edge in path.edges]
    chunks = dict.fromkeys(chunk for edge in path.edges for chunk in index.graph.triple_support(edge))
    return Evidence(route="dfs", text="; ".join(triple.text() for triple in triples),
                    score=max(0.0, path.score) * trust, chunk_ids=tuple(chunks), entity_ids=path.entities[1:],
                    path=(index.graph.entity(path.entities[0]).name, *(triple.text() for triple in triples)))
