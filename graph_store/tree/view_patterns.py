"""Clusters along a relation pattern (UniAI-GraphRAG eq. 5).

Eq. 5 gathers for one root all that its chains of a given pattern reach. Read here for all roots at once:
every entity on a complete chain belongs to the cluster of that chain, and chains that share an entity share
the cluster, so that a cluster never severs a chain. No chain is listed: a step belongs to a complete chain
if one leads to it from the start and one leads from it to the end, which one sweep forward and one back
find in O(triples of the pattern's relations), whatever the number of chains. A chain does not turn back at
once the way it came (film > its director > the same film tells nothing); longer loops are allowed, as
excluding them means listing chains.
"""

from functools import reduce

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..graph.adjacency import adjacency
from ..graph.knowledge_graph import KnowledgeGraph
from .view_groups import View, partition
from .view_spec import PatternSpec


def by_pattern(graph: KnowledgeGraph, spec: PatternSpec) -> View:
    """Group the entities by the complete chains they are on, named by the end of most; the others are the rest."""
    ids = graph.entity_ids()
    steps = complete_steps([adjacency(graph, ids, s.forward) + adjacency(graph, ids, s.backward).T
                            for s in spec.steps])
    joined = reduce(lambda total, other: total + other, steps)
    _, labels = connected_components(joined, directed=False)
    on_chain = np.flatnonzero(joined.sum(axis=0) + joined.sum(axis=1))
    arriving = steps[-1].sum(axis=0)
    best: dict[int, int] = {}
    for row in sorted(on_chain.tolist(), key=lambda row: (-int(arriving[row]), graph.entity_text(ids[row]), row)):
        best.setdefault(int(labels[row]), row)
    return partition(spec.view, ids, {ids[row]: ids[best[int(labels[row])]] for row in on_chain},
                     lambda end: graph.entity(end).name, lambda end: (graph.entity_text(end), end),
                     f"without {spec.view.partition(':')[2]}")


def complete_steps(hops: list[sparse.csr_array]) -> list[sparse.csr_array]:
    """Of each hop the steps that are part of a chain through all hops.

    Args:
        hops: for each hop where it leads from where, shape (n, n), any counts.

    Returns:
        The same with 1 for each step of a complete chain.
    """
    reached = [_indicator(hops[0])]
    for hop in hops[1:]:
        reached.append(_onward(reached[-1], _indicator(hop)))
    complete = [reached[-1]]
    for hop in reached[-2::-1]:
        complete.append(_onward(complete[-1].T.tocsr(), hop.T.tocsr()).T.tocsr())
    return complete[::-1]


def _onward(before: sparse.csr_array, after: sparse.csr_array) -> sparse.csr_array:
    """The steps of `after` that follow one of `before` and do not go back the same way."""
    arriving = before.sum(axis=0)
    return _indicator(after.multiply(arriving[:, None]) - before.T.multiply(after))


def _indicator(counts: sparse.csr_array) -> sparse.csr_array:
    indicator = sparse.csr_array(counts, dtype=np.int64)
    indicator.eliminate_zeros()
    indicator.sort_indices()
    indicator.data[:] = 1
    return indicator
