"""The entity-chunk graph as the step of a random walk: each node's neighbours, so laid out that numpy alone can walk.

Nodes are numbered by how many neighbours they have, most first. So the first neighbours of all nodes stand in one
array, the second ones of those that have two in another, and so on (the jagged diagonals of Saad 1989): a step is a few
sums of whole arrays. What the few with many neighbours have beyond that stands behind, node by node.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import starts

_IN_CACHE = 10_000
"""Nodes whose walk fits a processor's cache, in whatever order they are stored."""
_DIAGONALS = 12
"""Of a node's neighbours so many stand in arrays with those of others: most nodes have fewer."""


def step_arrays(name: str, nodes: int, rows: NDArray[Any], columns: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The step of a walk over undirected edges.

    Args:
        name: what the arrays' names begin with.
        nodes: the number of nodes, n.
        rows: one end of each edge, shape (m,); repeated edges count as often.
        columns: its other end, shape (m,).

    Returns:
        `node`, shape (n,), the node of each row, and `row`, the row of each node; `edges`, how many ends of edges each
        row has; `diagonals`, and where each of them begins, `diagonals.starts`; `rest` and `rest.starts`, what rows
        have beyond the diagonals.
    """
    ends = np.concatenate([rows, columns]).astype(np.int32), np.concatenate([columns, rows]).astype(np.int32)
    edges = np.bincount(ends[0], minlength=nodes)
    node = _near_each_other(nodes, ends) if nodes > _IN_CACHE else np.arange(nodes)
    node = node[np.argsort(-edges[node], kind="stable")]
    row = np.empty(nodes, np.int32)
    row[node] = np.arange(nodes)
    edges = edges[node]
    owners, others = row[ends[0]], row[ends[1]]
    order = np.lexsort((others, owners))
    others, begins = others[order], starts(edges)
    having = [int(np.searchsorted(-edges, -number, side="left")) for number in range(_DIAGONALS)]
    diagonals = [others[begins[:having[number]] + number] for number in range(_DIAGONALS)]
    more = int(np.searchsorted(-edges, -_DIAGONALS, side="left"))
    rest = [others[begins[one] + _DIAGONALS:begins[one + 1]] for one in range(more)]
    return {f"{name}.node": node.astype(np.int32), f"{name}.row": row, f"{name}.edges": edges.astype(np.float32),
            f"{name}.diagonals": np.concatenate([np.zeros(0, np.int32), *diagonals]),
            f"{name}.diagonals.starts": starts(having),
            f"{name}.rest": np.concatenate([np.zeros(0, np.int32), *rest]),
            f"{name}.rest.starts": starts([len(one) for one in rest])}


def _near_each_other(nodes: int, ends: tuple[NDArray[np.int32], NDArray[np.int32]]) -> NDArray[np.int32]:
    """An order in which neighbours are stored next to each other (Cuthill and McKee 1969), as a cache likes it."""
    # Readers have no use for them, and they take a tenth of a second.
    from scipy.sparse import coo_array, csgraph  # noqa: PLC0415

    adjacency = coo_array((np.ones(len(ends[0]), np.float32), ends), shape=(nodes, nodes)).tocsr()
    return np.array(csgraph.reverse_cuthill_mckee(adjacency, symmetric_mode=True), np.int32)
