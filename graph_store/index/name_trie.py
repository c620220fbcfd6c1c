"""Find the names of known entities in a question, with a trie over words of any script."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from ..bounding.grounding import word_places
from . import columns
from .array_file import Arrays
from .columns import Lists, Words


class NamedSpan(NamedTuple):
    """A name in a question: its folded words, the ids of the entities with that name, and its position."""

    name: str
    entities: tuple[str, ...]
    start: int
    end: int


def trie(name: str, names: Iterable[tuple[Sequence[str], int]]) -> dict[str, NDArray[Any]]:
    """Build the arrays of a `NameTrie` from (name's folded words, entity's row) pairs; entities may share names."""
    numbers: dict[str, int] = {}
    ends, rows = array("i"), array("i")
    for folded, row in names:
        for end in range(1, len(folded) + 1):
            number = numbers.setdefault(" ".join(folded[:end]), len(numbers))
        if folded:
            ends.append(number)
            rows.append(row)
    return columns.words(f"{name}.paths", numbers) | columns.inverted(
        f"{name}.entities", *columns.distinct_pairs(ends, rows), len(numbers))


class NameTrie:
    """Names and aliases as paths of folded words; lookup is linear in the question's length."""

    def __init__(self, arrays: Arrays, name: str, id_of: Callable[[int], str]) -> None:
        """Read the arrays of `trie`; `id_of` returns the id of an entity's row."""
        self._paths, self._entities = Words(arrays, f"{name}.paths"), Lists(arrays, f"{name}.entities")
        self._id_of = id_of

    def find(self, question: str) -> list[NamedSpan]:
        """Find the longest known names in a question, without overlaps, from left to right.

        Returns:
            The names, each with its entities sorted by id.
        """
        spans = word_places(question)
        folded = [word for word, _, _ in spans]
        matches: list[NamedSpan] = []
        start = 0
        while start < len(folded):
            end, entities = self._longest(folded, start)
            if entities:
                matches.append(NamedSpan(" ".join(folded[start:end]), entities, spans[start][1], spans[end - 1][2]))
            start = max(end, start + 1)
        return matches

    def rows_of(self, folded: Sequence[str]) -> NDArray[Any]:
        """Return the rows of the entities with a name of these folded words."""
        number = self._paths.get(" ".join(folded))
        return self._entities.values[:0] if number is None else self._entities[number]

    def _longest(self, folded: Sequence[str], start: int) -> tuple[int, tuple[str, ...]]:
        best: tuple[int, tuple[str, ...]] = (start, ())
        for end in range(start + 1, len(folded) + 1):
            number = self._paths.get(" ".join(folded[start:end]))
            if number is None:
                break
            rows = self._entities[number]
            if len(rows):
                best = (end, tuple(map(self._id_of, rows.tolist())))
        return best
