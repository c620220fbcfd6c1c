"""The entity-chunk graph as the step of a random walk: a sparse matrix, its nodes in an order that a cache likes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_IN_CACHE = 10_000
"""Nodes whose walk fits a processor's cache, in whatever order they are stored."""


def step_arrays(name: str, nodes: int, rows: NDArray[Any], columns: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The step of a walk over undirected edges, as compressed rows.

    Args:
        name: what the arrays' names begin with.
        nodes: the number of nodes, n.
        rows: one end of each edge, shape (m,); repeated edges count as often.
        columns: its other end, shape (m,).

    Returns:
        `node`, shape (n,), the node of each row of the matrix; `data`, `indices` and `indptr`, the matrix.
    """
    # Short numbers for the nodes: a step takes as long as the matrix takes to be read.
    ends = np.concatenate([rows, columns]).astype(np.int32), np.concatenate([columns, rows]).astype(np.int32)
    adjacency = sparse.coo_array((np.ones(len(ends[0]), np.float32), ends), shape=(nodes, nodes)).tocsr()
    strength = np.asarray(adjacency.sum(axis=1)).ravel()
    inverse = np.divide(1.0, strength, out=np.zeros_like(strength), where=strength > 0)
    step = (adjacency @ sparse.diags_array(inverse)).astype(np.float32).tocsr()
    node = _near_each_other(adjacency) if nodes > _IN_CACHE else np.arange(nodes, dtype=np.int32)
    ordered = step[node][:, node].tocsr()
    return {f"{name}.node": node.astype(np.int32), f"{name}.data": ordered.data,
            f"{name}.indices": ordered.indices.astype(np.int32), f"{name}.indptr": ordered.indptr.astype(np.int32)}


def _near_each_other(adjacency: sparse.csr_array) -> NDArray[np.int32]:
    """An order in which neighbours are stored next to each other (Cuthill and McKee 1969), as a cache likes it."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee  # noqa: PLC0415  (linear algebra comes with it)

    return np.array(reverse_cuthill_mckee(adjacency, symmetric_mode=True), np.int32)
