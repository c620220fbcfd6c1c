"""Lay out the entity-chunk graph for random walks with numpy alone.

Nodes are numbered by their number of neighbours, most first. The first neighbours of all nodes are in one array, the
second neighbours of the nodes that have two in another, and so on (the jagged diagonals of Saad 1989), so a step is a
few sums of whole arrays. The further neighbours of the few nodes with many follow node by node.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import starts

_IN_CACHE = 10_000
"""The number of nodes up to which a walk fits a processor's cache in any order of nodes."""
_DIAGONALS = 12
"""The number of neighbours per node that are stored in diagonals; most nodes have fewer."""


def step_arrays(name: str, nodes: int, rows: NDArray[Any], columns: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Build the arrays for a step of a walk over undirected edges.

    Args:
        name: the prefix of the arrays' names.
        nodes: the number of nodes, n.
        rows: one end of each edge, shape (m,); repeated edges count repeatedly.
        columns: its other end, shape (m,).

    Returns:
        `node`, shape (n,), the node of each row, and `row`, the row of each node; `edges`, the number of edge ends of
        each row; `diagonals`, and where each of them begins, `diagonals.starts`; `rest` and `rest.starts`, the
        neighbours beyond the diagonals.
    """
    ends = np.concatenate([rows, columns]).astype(np.int32), np.concatenate([columns, rows]).astype(np.int32)
    edges = np.bincount(ends[0], minlength=nodes)
    node = _order_by_neighbours(nodes, ends) if nodes > _IN_CACHE else np.arange(nodes)
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


def _order_by_neighbours(nodes: int, ends: tuple[NDArray[np.int32], NDArray[np.int32]]) -> NDArray[np.int32]:
    """Order nodes so neighbours are close together, for faster memory access (Cuthill and McKee 1969)."""
    # Slow to import, and not needed by readers.
    from scipy.sparse import coo_array, csgraph  # noqa: PLC0415

    adjacency = coo_array((np.ones(len(ends[0]), np.float32), ends), shape=(nodes, nodes)).tocsr()
    return np.array(csgraph.reverse_cuthill_mckee(adjacency, symmetric_mode=True), np.int32)
