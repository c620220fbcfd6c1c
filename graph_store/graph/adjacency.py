"""Which entities the triples of a graph join, as a sparse matrix."""

from collections.abc import Collection, Sequence

import numpy as np
from scipy import sparse

from .knowledge_graph import KnowledgeGraph


def adjacency(graph: KnowledgeGraph, ids: Sequence[str], relations: Collection[str] | None = None) -> sparse.csr_array:
    """The number of triples from each entity to each other one.

    Args:
        graph: the graph.
        ids: all its entities, in the order of the rows.
        relations: count these alone; None counts all.

    Returns:
        Shape (n, n), row = head, column = tail. A triple from an entity to itself joins nothing.
    """
    row = {entity: number for number, entity in enumerate(ids)}
    ends = np.array(sorted((row[head], row[tail]) for head, tail, relation in graph.network.edges(keys=True)
                           if head != tail and (relations is None or relation in relations)), np.intp).reshape(-1, 2)
    return sparse.coo_array((np.ones(len(ends), np.int64), (ends[:, 0], ends[:, 1])), shape=(len(ids),) * 2).tocsr()
