"""Look up entities for browsing, by rank, type, community or name, and as documents state them, before merges."""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...schemas.naming import canonical_name, normalise, triple_id
from ..graph.knowledge_graph import EdgeKey
from . import columns
from .array_file import Arrays
from .columns import Ids, Lists, Rows, Texts, Words

_END = "\n"
"""Separates and encloses an entity's folded names, which contain no line breaks."""
_FAR = 3
"""The closeness of an entity without a matching name."""


class Browsing:
    """Reads the arrays of `browsing`; each is read only when needed."""

    def __init__(self, arrays: Arrays) -> None:
        """Read the arrays of `browsing`."""
        self.ranked: NDArray[np.int32] = arrays["entities.ranked"]
        """The rows of all entities: those that the most documents mention first, then by facts, name and id."""
        self.ranks: NDArray[np.int32] = arrays["entities.ranks"]
        """The rank of each row."""
        self.documents: NDArray[np.int32] = arrays["entities.documents"]
        """The number of documents that mention each row's entity."""
        self.types: Sequence[str] = Texts(arrays, "types")
        """All entity types, sorted."""
        self.type_of: NDArray[np.int32] = arrays["entities.types"]
        """The position of each row's type in `types`."""
        self._finest, self._community = Ids(arrays, "finest"), arrays["entities.finest"]
        self._folded = Lists(arrays, "entities.folded")
        self._called, self._callers = Words(arrays, "called"), Lists(arrays, "called.entities")

    def community(self, row: int) -> str | None:
        """Return the id of the finest community of a row's entity, or None if it is in none."""
        number = int(self._community[row])
        return None if number < 0 else self._finest.at(number)

    def called(self, name: str) -> Rows:
        """Return the rows of the entities with this name, compared in canonical form, by rank."""
        number = self._called.get(canonical_name(name))
        return np.zeros(0, np.intp) if number is None else self._callers[number].astype(np.intp)

    def holding(self, text: str, kind: str = "") -> Rows:
        """Return the rows of the entities, of a type or of any, with a name that contains a text in any case and width.

        Rows with an equal name come first, then those with a name that begins with the text; by rank in each group.
        """
        close = self._closeness(normalise(text).encode("utf-8", "surrogatepass"))
        if kind:
            close[~self.of_type(kind)] = _FAR
        rows = np.flatnonzero(close < _FAR)
        return rows[np.lexsort((self.ranks[rows], close[rows]))]

    def of_type(self, kind: str) -> NDArray[np.bool_]:
        """Return for each row whether its entity has a type, shape (n,)."""
        of: NDArray[np.bool_] = self.type_of == (self.types.index(kind) if kind in self.types else -1)
        return of

    def _closeness(self, text: bytes) -> NDArray[np.int8]:
        """Return per row 0 if a name equals the text, 1 if one begins with it, 2 if one contains it, else `_FAR`."""
        letters, starts = self._folded.values, self._folded.starts
        if not text:  # every name begins with it
            return np.ones(len(self.ranked), np.int8)
        # Compare one byte position at a time over all names, which avoids decoding every name.
        places = np.flatnonzero(letters[:max(len(letters) - len(text), 0)] == text[0])
        for offset, letter in enumerate(text[1:], 1):
            places = places[letters[places + offset] == letter]
        end = ord(_END)
        begins, ends = letters[places - 1] == end, letters[places + len(text)] == end
        close = np.full(len(self.ranked), _FAR, np.int8)
        np.minimum.at(close, np.searchsorted(starts, places, "right") - 1,
                      np.where(begins, np.where(ends, 0, 1), 2).astype(np.int8))
        return close


def browsing(about: Sequence[Sequence[str]], ends: NDArray[np.int32], documents: NDArray[np.int32],
             community: Mapping[int, str]) -> dict[str, NDArray[Any]]:
    """Build the arrays of `Browsing`.

    Args:
        about: for each entity, by row, its name, its type, and its other names; rows are in the order of the ids.
        ends: for each triple its head's row, its relation and its tail's row, shape (n, 3).
        documents: the number of documents that mention each entity.
        community: the finest community by row, for rows in a community.
    """
    degrees = np.bincount(ends[:, [0, 2]].reshape(-1), minlength=len(about)).tolist()
    supported = documents.tolist()
    ranked = np.array(sorted(range(len(about)), key=lambda row: (-supported[row], -degrees[row], about[row][0], row)),
                      np.int32)
    ranks = np.empty(len(about), np.int32)
    ranks[ranked] = np.arange(len(about), dtype=np.int32)
    types, finest = sorted({kind for _, kind, *_ in about}), sorted(set(community.values()))
    type_number = {kind: number for number, kind in enumerate(types)}
    number_of = {key: number for number, key in enumerate(finest)}
    called: dict[str, int] = {}
    numbers, callers = array("i"), array("i")
    for row in ranked.tolist():
        name, _, *others = about[row]
        for canonical in dict.fromkeys(map(canonical_name, (name, *others))):
            numbers.append(called.setdefault(canonical, len(called)))
            callers.append(row)
    folded = (_END.join(("", *dict.fromkeys(map(normalise, (name, *others))), "")) for name, _, *others in about)
    return {"entities.ranked": ranked, "entities.ranks": ranks, "entities.documents": documents,
            **columns.texts("types", types),
            "entities.types": np.array([type_number[kind] for _, kind, *_ in about], np.int32),
            **columns.ids("finest", finest),
            "entities.finest": np.array([number_of[community[row]] if row in community else -1
                                         for row in range(len(about))], np.int32),
            **columns.texts("entities.folded", folded),
            **columns.words("called", called),
            "called.entities.values": np.array(callers, np.int32)[np.argsort(numbers, kind="stable")],
            "called.entities.starts": columns.starts(np.bincount(numbers, minlength=len(called)))}


class StatedFacts:
    """Maps entities and facts as documents state them to those of the graph, after merges and corrections."""

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
    """Build the arrays of `StatedFacts`.

    Args:
        moved: by the id of a merged entity, the row of the entity that it is merged into.
        corrected: by corrected fact, the row of the triple that replaces it, -1 for none.
    """
    facts = {triple_id(*fact): row for fact, row in corrected.items()}
    return {**columns.ids("moved", sorted(moved)),
            "moved.entities": np.array([moved[entity] for entity in sorted(moved)], np.int32),
            **columns.ids("corrected", sorted(facts)),
            "corrected.triples": np.array([facts[fact] for fact in sorted(facts)], np.int32)}
