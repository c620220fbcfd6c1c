"""Lay out the entity-chunk graph for random walks: a sparse matrix in rows (CSR)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import columns


def step_arrays(name: str, nodes: int, rows: NDArray[Any], ends: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Build the arrays for a step of a walk over undirected edges.

    Args:
        name: the prefix of the arrays' names.
        nodes: the number of nodes, n.
        rows: one end of each edge, shape (m,); repeated edges count repeatedly.
        ends: its other end, shape (m,).

    Returns:
        For each node its neighbours, as `columns.Lists`, and `shares`: the share of its weight that a node sends to
        each of them, shape (2 m,).
    """
    made = columns.inverted(name, np.concatenate([rows, ends]), np.concatenate([ends, rows]), nodes)
    degrees = np.diff(made[f"{name}.starts"])
    shares = np.repeat(1 / np.maximum(degrees, 1), degrees)
    return made | {f"{name}.shares": shares.astype(np.float32)}
