"""Map entities and facts as documents state them to those of the graph, after merges and corrections."""

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
    """Reads the arrays of `stated`."""

    def __init__(self, arrays: Arrays) -> None:
        """Read the arrays of `stated`."""
        self._moved, self._entities = Ids(arrays, "moved"), arrays["moved.entities"]
        self._corrected, self._triples = Ids(arrays, "corrected"), arrays["corrected.triples"]

    def entity(self, entity: str) -> int | None:
        """Return the row of the entity that another is merged into, or None if it is not merged."""
        place = self._moved.get(entity)
        return None if place is None else int(self._entities[place])

    def is_joined(self, row: int) -> bool:
        """Return True if others are merged into a row's entity."""
        return bool((self._entities == row).any())

    def fact(self, fact: EdgeKey) -> int | None:
        """Return the row of the triple that replaces a fact, -1 if a person rejected it, or None if it is unchanged."""
        place = self._corrected.get(triple_id(*fact))
        return None if place is None else int(self._triples[place])


def stated(moved: Mapping[str, int], corrected: Mapping[EdgeKey, int]) -> dict[str, NDArray[Any]]:
    """Build the arrays of `Stated`.

    Args:
        moved: by the id of a merged entity, the row of the entity that it is merged into.
        corrected: by corrected fact, the row of the triple that replaces it, -1 for none.
    """
    facts = {triple_id(*fact): row for fact, row in corrected.items()}
    return {**columns.ids("moved", sorted(moved)),
            "moved.entities": np.array([moved[entity] for entity in sorted(moved)], np.int32),
            **columns.ids("corrected", sorted(facts)),
            "corrected.triples": np.array([facts[fact] for fact in sorted(facts)], np.int32)}
