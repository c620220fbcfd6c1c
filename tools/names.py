"""Finding the names of known entities in a question, by a trie over words of any script."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..graph_store.bounding.grounding import word_places, words

_END = ""  # no word is empty, so this key never clashes with one


class Named(NamedTuple):
    """A name in a question: its folded words, the ids of the entities so called, and where it stands."""

    name: str
    entities: tuple[str, ...]
    start: int
    end: int


class NameTrie:
    """Names and aliases as paths of folded words; lookup is linear in the question's length."""

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        """Build it from (name, entity id) pairs; a name may belong to several entities."""
        self._root: dict[str, Any] = {}
        for name, entity in names:
            node = self._root
            for word in words(name):
                node = node.setdefault(word, {})
            if node is not self._root:
                node.setdefault(_END, set()).add(entity)

    def find(self, question: str) -> list[Named]:
        """The longest names at each place of a question, without overlaps, from left to right.

        Returns:
            The names; their entities are sorted.
        """
        places = word_places(question)
        said = [word for word, _, _ in places]
        found: list[Named] = []
        start = 0
        while start < len(said):
            end, entities = self._longest(said, start)
            if entities:
                found.append(Named(" ".join(said[start:end]), tuple(sorted(entities)),
                                   places[start][1], places[end - 1][2]))
            start = max(end, start + 1)
        return found

    def _longest(self, said: Sequence[str], start: int) -> tuple[int, set[str]]:
        node, best = self._root, (start, set[str]())
        for position in range(start, len(said)):
            node = node.get(said[position], {})
            if not node:
                break
            if _END in node:
                best = (position + 1, node[_END])
        return best
