"""Which state of the ledger something that is derived from it reflects."""

from typing import NamedTuple


class GraphState(NamedTuple):
    """The last change of facts, and the last resolution of entities, that a graph, vectors or a tree have."""

    position: int
    resolution: int
