"""The path route: traversal from what a question names along the triples nearest to it (eq. 10).

A decomposed question is a chain of sub-queries, and a path answers it step by step: its first hop is guided by
the first sub-query of the chain, its second by the second. So the path of a later step starts where the
earlier one would end, before that is answered. Beyond the chain the last sub-query guides, up to five hops.

At each depth only the best `_BEAM` paths are extended, each along the best `_BRANCHES` triples of its end: the
work is bounded by MAX_HOPS * _BEAM * _BRANCHES for any degree of a node. No path visits an
entity twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...schemas.retrieval import Evidence
from ..best import Rows, floor
from ..index import RetrievalIndex
from ..query import Query
from .fitting import fit, fitting_relations

MAX_HOPS = 5
# Wide enough for a few names with a few ways each; between 5 and 30 recall on benchmarks/questions does not change.
_BEAM = 10
_BRANCHES = 5
# Besides names: the triples nearest to the first sub-query, whose entities a question may only describe.
_NEAREST = 2
# If an entity has more triples, approximate cosines choose among them first.
_EXACTLY = 64


class _Path(NamedTuple):
    product: float
    """The product of the start's score and the triples' cosines."""
    rows: tuple[int, ...]
    entities: tuple[int, ...]
    """The entities' rows, whose order is that of entity ids."""

    @property
    def score(self) -> float:
        """The geometric mean: one poor hop breaks a path, and long paths compare with short ones."""
        return float(self.product ** (1 / (len(self.rows) + 1)))


class _Branch(NamedTuple):
    row: int
    """The triple's row."""
    nearness: float
    end: int
    """The entity that it leads to."""


class _Guide:
    """The best triples from each entity for a step: by cosine, weighed by the relations that the step names."""

    def __init__(self, index: RetrievalIndex, step: Query) -> None:
        self._index, self._step = index, step
        self._branches: dict[int, list[_Branch]] = {}

    def branches(self, entities: Sequence[int]) -> Mapping[int, Sequence[_Branch]]:
        """Return each entity's best triples of positive nearness, best first."""
        new = [one for one in dict.fromkeys(entities) if one not in self._branches]
        if new:
            self._branches.update((one, []) for one in new)
            rows = [self._could_be_best(self._index.incident_at(one)) for one in new]
            every, owner = np.concatenate(rows), np.repeat(new, [len(its) for its in rows])
            near = self._step.meaning.triples.at(every) * fitting_relations(self._index, self._step, every)
            heads, _, tails = self._index.triples[every].T
            ends = np.where(heads == owner, tails, heads)
            best = np.lexsort((-near, owner))
            best = best[near[best] > 0]
            for one, *branch in zip(*(of[best].tolist() for of in (owner, every, near, ends)), strict=True):
                if len(self._branches[one]) < _BRANCHES:
                    self._branches[one].append(_Branch(*branch))
        return self._branches

    def _could_be_best(self, rows: Rows) -> Rows:
        """Return the triples that exact cosines could put first."""
        if len(rows) <= _EXACTLY:
            return rows
        nearness = self._step.meaning.triples
        nearly = nearness.nearly[rows] * fitting_relations(self._index, self._step, rows)
        return rows[nearly >= floor(nearly, _BRANCHES) - np.float32(2 * nearness.bound)]


def search(index: RetrievalIndex, query: Query, limit: int) -> list[Evidence]:
    """Find paths of at most five hops, and at least as many as the chain has steps.

    Returns:
        Evidence about the two ends of each path's last triple, best first; scored by the geometric
        mean of its cosines, weighed by the relations that the steps name and by the type of its end, times the
        trust in vectors.
    """
    steps = query.chain[-MAX_HOPS:]
    guides = [_Guide(index, step) for step in steps]
    complete: list[_Path] = []
    beam = _best(_Path(score, (), (row,)) for row, score in _starts(index, steps[0]).items()
                 if len(index.incident_at(row)))
    for hop in range(MAX_HOPS):
        beam = _best(_extend(beam, guides[min(hop, len(steps) - 1)]))
        if hop + 1 >= len(steps):
            complete.extend(beam)
    scored = [(path.score * fit(index, query, index.entity_row.at(path.entities[-1])), path) for path in complete]
    scored.sort(key=lambda item: (-item[0], len(item[1].rows), item[1].rows, item[1].entities))
    return [_evidence(index, path, score * query.trust) for score, path in scored[:limit]]


def _starts(index: RetrievalIndex, first: Query) -> Mapping[int, float]:
    """Return the entities where paths start, with scores: named ones (1), ends of the nearest triples (cosines)."""
    named = (index.entity_at(node) for named in first.meaning.names for node in named.entities)
    starts = {row: 1.0 for row in named if row is not None}
    for row, cosine in zip(*first.meaning.triples.best(_NEAREST), strict=True):
        for node in index.ends_at(int(row)):
            if cosine > 0:
                starts.setdefault(node, min(1.0, float(cosine)))
    return starts


def _best(paths: Iterable[_Path]) -> list[_Path]:
    """Return the best paths of one length."""
    return sorted(paths, key=lambda path: (-path[0], path))[:_BEAM]


def _extend(beam: Sequence[_Path], guide: _Guide) -> Iterator[_Path]:
    branches = guide.branches([path.entities[-1] for path in beam])
    for product, rows, entities in beam:
        for row, nearness, end in branches[entities[-1]]:
            if end not in entities:
                yield _Path(product * min(1.0, nearness), (*rows, row), (*entities, end))


def _evidence(index: RetrievalIndex, path: _Path, score: float) -> Evidence:
    facts = [index.fact(row) for row in path.rows]
    chunks = dict.fromkeys(chunk for fact in facts for chunk in fact.chunk_ids)
    first, *ends = (index.entity_row.at(row) for row in (path.entities[0], *path.entities[-2:]))
    return Evidence(route="dfs", text="; ".join(fact.text for fact in facts), score=score,
                    chunk_ids=tuple(chunks), entity_ids=tuple(ends),
                    path=(index.name(first), *(fact.text for fact in facts)))
