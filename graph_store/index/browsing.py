"""The entities as a person browses them: ranked, by type, by community, by any of their names."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...schemas.naming import canonical_name, normalise
from . import columns
from .array_file import Arrays
from .columns import Ids, Lists, Rows, Texts, Words

_END = "\n"
"""Stands before, between and behind an entity's folded names, none of which has a line break."""
_FAR = 3
"""More than how close any name is."""


class Browsing:
    """What `browsing` noted of entities; nothing is read before it is asked for."""

    def __init__(self, arrays: Arrays) -> None:
        """Read the arrays that `browsing` made."""
        self.ranked: NDArray[np.int32] = arrays["entities.ranked"]
        """The rows of all entities: those of the most facts first, then by name and id."""
        self.ranks: NDArray[np.int32] = arrays["entities.ranks"]
        """The place of each row among the ranked ones."""
        self.types: Sequence[str] = Texts(arrays, "types")
        """All types of entities, sorted."""
        self.type_of: NDArray[np.int32] = arrays["entities.types"]
        """The number of each row's type."""
        self._finest, self._community = Ids(arrays, "finest"), arrays["entities.finest"]
        self._folded = Lists(arrays, "entities.folded")
        self._called, self._callers = Words(arrays, "called"), Lists(arrays, "called.entities")

    def community(self, row: int) -> str | None:
        """The id of the finest community that the entity of a row is in; None: it is in none."""
        number = int(self._community[row])
        return None if number < 0 else self._finest.at(number)

    def called(self, name: str) -> Rows:
        """The rows of the entities with a name that counts as the same as this one, best connected first."""
        number = self._called.get(canonical_name(name))
        return np.zeros(0, np.intp) if number is None else self._callers[number].astype(np.intp)

    def holding(self, text: str, kind: str = "") -> Rows:
        """The rows of the entities with a name that holds a text, whatever its case or width.

        Args:
            text: what is looked for.
            kind: the entities' type; empty: any.

        Returns:
            Those that are called so first, then those with a name that begins so; alike ones best connected first.
        """
        close = self._closeness(normalise(text).encode("utf-8", "surrogatepass"))
        if kind:
            close[~self.of_type(kind)] = _FAR
        rows = np.flatnonzero(close < _FAR)
        return rows[np.lexsort((self.ranks[rows], close[rows]))]

    def of_type(self, kind: str) -> NDArray[np.bool_]:
        """Of each row whether its entity is of a type."""
        of: NDArray[np.bool_] = self.type_of == (self.types.index(kind) if kind in self.types else -1)
        return of

    def _closeness(self, text: bytes) -> NDArray[np.int8]:
        """Of each row 0 where a name is the text, 1 where one begins so, 2 where one holds it, else `_FAR`."""
        letters, starts = self._folded.values, self._folded.starts
        if not text:  # all names begin so
            return np.ones(len(self.ranked), np.int8)
        # Letter by letter over all names at once: no name is made a text of its own.
        places = np.flatnonzero(letters[:max(len(letters) - len(text), 0)] == text[0])
        for offset, letter in enumerate(text[1:], 1):
            places = places[letters[places + offset] == letter]
        end = ord(_END)
        begins, ends = letters[places - 1] == end, letters[places + len(text)] == end
        close = np.full(len(self.ranked), _FAR, np.int8)
        np.minimum.at(close, np.searchsorted(starts, places, "right") - 1,
                      np.where(begins, np.where(ends, 0, 1), 2).astype(np.int8))
        return close


def browsing(about: Sequence[Sequence[str]], ends: NDArray[np.int32], community: Mapping[int, str],
             ) -> dict[str, NDArray[Any]]:
    """The arrays of `Browsing`.

    Args:
        about: of each entity, by row, its name, its type, and its other names; rows are in the order of the ids.
        ends: of each triple its head's row, its relation and its tail's row, shape (n, 3).
        community: the finest community of a row that is in one.
    """
    degrees = np.bincount(ends[:, [0, 2]].reshape(-1), minlength=len(about)).tolist()
    ranked = np.array(sorted(range(len(about)), key=lambda row: (-degrees[row], about[row][0], row)), np.int32)
    ranks = np.empty(len(about), np.int32)
    ranks[ranked] = np.arange(len(about), dtype=np.int32)
    types, finest = sorted({kind for _, kind, *_ in about}), sorted(set(community.values()))
    type_number = {kind: number for number, kind in enumerate(types)}
    number_of = {key: number for number, key in enumerate(finest)}
    called: dict[str, list[int]] = {}
    for row in ranked.tolist():
        name, _, *others = about[row]
        for canonical in dict.fromkeys(map(canonical_name, (name, *others))):
            called.setdefault(canonical, []).append(row)
    folded = (_END.join(("", *dict.fromkeys(map(normalise, (name, *others))), "")) for name, _, *others in about)
    return {"entities.ranked": ranked, "entities.ranks": ranks, **columns.texts("types", types),
            "entities.types": np.array([type_number[kind] for _, kind, *_ in about], np.int32),
            **columns.ids("finest", finest),
            "entities.finest": np.array([number_of[community[row]] if row in community else -1
                                         for row in range(len(about))], np.int32),
            **columns.texts("entities.folded", folded),
            **columns.words("called", list(called)), **columns.lists("called.entities", called.values())}
