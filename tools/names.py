"""Finding the names of known entities in a question, by a trie over words of any script."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..graph_store.bounding.grounding import word_places, words

_END = ""  # no word is empty, so this key never clashes with one


class Named(NamedTuple):
    """A name in a question: its folded words, the ids of the entities so called, and its position."""

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
        """The longest names at each position of a question, without overlaps, from left to right.

        Returns:
            The names; their entities are sorted.
        """
        spans = word_places(question)
        folded = [word for word, _, _ in spans]
        matches: list[Named] = []
        start = 0
        while start < len(folded):
            end, entities = self._longest(folded, start)
            if entities:
                matches.append(Named(" ".join(folded[start:end]), tuple(sorted(entities)),
                                   spans[start][1], spans[end - 1][2]))
            start = max(end, start + 1)
        return matches

    def _longest(self, folded: Sequence[str], start: int) -> tuple[int, set[str]]:
        node, best = self._root, (start, set[str]())
        for position in range(start, len(folded)):
            node = node.get(folded[position], {})
            if not node:
                break
            if _END in node:
                best = (position + 1, node[_END])
        return best
