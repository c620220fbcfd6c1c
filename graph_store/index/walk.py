"""Lay out what a random walk reads: the entity-chunk graph, and which entities the titles of documents name.

A document with an entity's name for its title is about it.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...schemas.documents import Chunk
from ..bounding.grounding import without_aside
from . import columns
from .name_trie import NameTrie

Pairs = NDArray[np.int32]


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


def find_titles(chunks: Sequence[Chunk], names: NameTrie, row_of: dict[str, int]) -> tuple[Pairs, Pairs]:
    """Find the entities that the titles of chunks' documents name.

    Args:
        chunks: chunks in the order of their rows.
        names: the names of all entities.
        row_of: the row of each entity.

    Returns:
        Pairs of an entity's row and a chunk's row, each of shape (n, 2): first for names anywhere in the title, then
        for names that are the whole title, without a note in brackets ("Solaris (1972 film)").
    """
    @cache
    def rows_in(title: str) -> list[tuple[int, bool]]:
        whole = len(without_aside(title))
        return [(row_of[entity], named.start == 0 and named.end >= whole)
                for named in names.find(title) for entity in named.entities]

    found = np.array([(entity, row, is_whole) for row, chunk in enumerate(chunks)
                      for entity, is_whole in rows_in(chunk.title)], np.int32).reshape(-1, 3)
    return found[:, :2], found[found[:, 2] == 1, :2]
