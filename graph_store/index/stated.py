"""What becomes of entities and facts that documents state, where names are one or a person corrected a fact."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...schemas.naming import triple_id
from ..graph.knowledge_graph import EdgeKey
from . import columns
from .array_file import Arrays
from .columns import Ids


class Stated:
    """What `stated` noted."""

    def __init__(self, arrays: Arrays) -> None:
        """Read the arrays that `stated` made."""
        self._moved, self._entities = Ids(arrays, "moved"), arrays["moved.entities"]
        self._corrected, self._triples = Ids(arrays, "corrected"), arrays["corrected.triples"]

    def entity(self, entity: str) -> int | None:
        """The row of the entity that one is part of; None: it is its own."""
        place = self._moved.get(entity)
        return None if place is None else int(self._entities[place])

    def is_joined(self, row: int) -> bool:
        """Whether others are part of the entity of a row."""
        return bool((self._entities == row).any())

    def fact(self, fact: EdgeKey) -> int | None:
        """The row of the triple that holds where a person corrected a fact, -1 for none; None: nobody did."""
        place = self._corrected.get(triple_id(*fact))
        return None if place is None else int(self._triples[place])


def stated(moved: Mapping[str, int], corrected: Mapping[EdgeKey, int]) -> dict[str, NDArray[Any]]:
    """The arrays of `Stated`.

    Args:
        moved: the row of the entity that another one is part of, by the other's id.
        corrected: the row of the triple that holds instead of a fact, -1 for none.
    """
    facts = {triple_id(*fact): row for fact, row in corrected.items()}
    return {**columns.ids("moved", sorted(moved)),
            "moved.entities": np.array([moved[entity] for entity in sorted(moved)], np.int32),
            **columns.ids("corrected", sorted(facts)),
            "corrected.triples": np.array([facts[fact] for fact in sorted(facts)], np.int32)}
