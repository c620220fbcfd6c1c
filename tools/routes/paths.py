"""The path route: traversal from what a question names along the triples nearest to it (eq. 10).

A decomposed question is a chain of sub-queries, and a path answers it step by step: its first hop is guided by
the first sub-query of the chain, its second by the second, so that the path of a later step starts where the
earlier one would have ended, before that is answered. Beyond the chain the last sub-query guides, up to five hops.

At each depth only the best `_BEAM` paths are extended, each along the best `_BRANCHES` triples of its end: the
work is bounded by MAX_HOPS * _BEAM * _BRANCHES, whatever the degree of a node. No path visits an
entity twice.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ...schemas.retrieval import Evidence
from ..best import best_rows
from ..index import RetrievalIndex
from ..query import Query
from .fitting import fit, triples_by_relations

MAX_HOPS = 5
# Wide enough for a few names with a few ways each; between 5 and 30 recall on benchmarks/questions does not change.
_BEAM = 10
_BRANCHES = 5
# Besides names: the triples nearest to the first sub-query, whose entities a question may only describe.
_NEAREST = 2


@dataclass(frozen=True)
class _Path:
    entities: tuple[str, ...]
    rows: tuple[int, ...]
    product: float
    """Of the start's score and the cosines of the triples."""

    @property
    def score(self) -> float:
        """The geometric mean: one poor hop breaks a path, and long paths compare with short ones."""
        return float(self.product ** (1 / (len(self.rows) + 1)))


def search(index: RetrievalIndex, query: Query, limit: int) -> list[Evidence]:
    """Paths of at most five hops, at least as many as the chain has steps.

    Returns:
        Evidence about the two ends of each path's last triple, best first; scored by the geometric
        mean of its cosines, weighed by the relations that the steps name and by the type of its end, times the
        trust in vectors.
    """
    steps = query.chain[-MAX_HOPS:]
    guides = [triples_by_relations(index, step) for step in steps]
    complete: list[_Path] = []
    beam = _best(_Path((node,), (), score) for node, score in _starts(index, steps[0]).items()
                 if len(index.incident(node)))
    for hop in range(MAX_HOPS):
        guide = guides[min(hop, len(steps) - 1)]
        beam = _best(longer for path in beam for longer in _extended(index, path, guide))
        if hop + 1 >= len(steps):
            complete.extend(beam)
    scored = [(path.score * fit(index, query, path.entities[-1]), path) for path in complete]
    scored.sort(key=lambda item: (-item[0], len(item[1].rows), item[1].rows, item[1].entities))
    return [_evidence(index, path, score * query.trust) for score, path in scored[:limit]]


def _starts(index: RetrievalIndex, first: Query) -> Mapping[str, float]:
    """Where paths start, with scores: named entities (1), and the ends of the nearest triples (their cosines)."""
    cosines = first.meaning.triples
    starts = {node: 1.0 for named in first.meaning.names for node in named.entities}
    for row in best_rows(cosines, _NEAREST):
        for node in index.ends(int(row)):
            if cosines[row] > 0:
                starts.setdefault(node, min(1.0, float(cosines[row])))
    return starts


def _best(paths: Iterable[_Path]) -> list[_Path]:
    """The best paths of one length."""
    return sorted(paths, key=lambda path: (-path.product, path.rows, path.entities))[:_BEAM]


def _extended(index: RetrievalIndex, path: _Path, guide: np.ndarray) -> Iterable[_Path]:
    rows = index.incident(path.entities[-1])
    cosines = guide[rows]
    for position in np.argsort(-cosines, kind="stable")[:_BRANCHES]:
        if cosines[position] <= 0:
            return
        next_node = _other_end(index.ends(int(rows[position])), path.entities[-1])
        if next_node not in path.entities:
            yield _Path((*path.entities, next_node), (*path.rows, int(rows[position])),
                        path.product * min(1.0, float(cosines[position])))


def _other_end(ends: tuple[str, str], here: str) -> str:
    return ends[1] if ends[0] == here else ends[0]


def _evidence(index: RetrievalIndex, path: _Path, score: float) -> Evidence:
    facts = [index.fact(row) for row in path.rows]
    chunks = dict.fromkeys(chunk for fact in facts for chunk in fact.chunk_ids)
    return Evidence(route="dfs", text="; ".join(fact.text for fact in facts), score=score,
                    chunk_ids=tuple(chunks), entity_ids=path.entities[-2:],
                    path=(index.name(path.entities[0]), *(fact.text for fact in facts)))
