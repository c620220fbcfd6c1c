"""Find names in a question, with a trie over words of any script."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...text.lexicon import ENGLISH_STOP
from ..bounding.words import word_places
from ..graph.graph_columns import sort_distinct
from . import columns
from .columns import Words, read_lists
from .index_file import Arrays


class NamedSpan(NamedTuple):
    """A name in a question: its folded words, the ids of the entities with that name, and its start and end."""

    name: str
    entities: tuple[str, ...]
    start: int
    end: int


def build_trie(name: str, names: Iterable[tuple[Sequence[str], int]]) -> dict[str, NDArray[Any]]:
    """Build the arrays of a `NameTrie` from pairs of a name's folded words and an entity's row."""
    path_numbers: dict[str, int] = {}
    whole_names, rows = array("i"), array("i")
    for folded, row in names:
        for end in range(1, len(folded) + 1):
            number = path_numbers.setdefault(" ".join(folded[:end]), len(path_numbers))
        if folded:
            whole_names.append(number)
            rows.append(row)
    # The distinct pairs of two numbers of 32 bits, sorted.
    pairs = sort_distinct(np.array(whole_names, np.int64) << 32 | np.array(rows, np.int64))
    return columns.build_words(f"{name}.paths", path_numbers) | columns.build_inverted(
        f"{name}.entities", pairs >> 32, pairs & 0xFFFFFFFF, len(path_numbers))


class NameTrie:
    """Names and aliases as paths of folded words; lookup is linear in the question's length."""

    def __init__(self, arrays: Arrays, name: str, id_of: Callable[[int], str]) -> None:
        """Read the arrays of `build_trie`; `id_of` returns the id of an entity's row."""
        self._paths = Words(arrays, f"{name}.paths")
        self._entities = read_lists(arrays, f"{name}.entities")
        self._id_of = id_of

    def find(self, question: str) -> list[NamedSpan]:
        """Find the longest known names in a question, without overlaps, from left to right.

        A function word in small letters is no name: "in" is not IN, Indiana.
        """
        spans = word_places(question)
        folded = [word for word, _, _ in spans]
        matches: list[NamedSpan] = []
        start = 0
        while start < len(folded):
            end, entities = start, tuple[str, ...]()
            for longer in range(start + 1, len(folded) + 1):
                number = self._paths.get(" ".join(folded[start:longer]))
                if number is None:
                    break
                if len(rows := self._entities[number]):
                    end, entities = longer, tuple(map(self._id_of, rows.tolist()))
            is_function_word = end - start == 1 and folded[start] in ENGLISH_STOP
            if entities and not (is_function_word and question[spans[start][1]:spans[start][2]].islower()):
                matches.append(NamedSpan(" ".join(folded[start:end]), entities, spans[start][1], spans[end - 1][2]))
            start = max(end, start + 1)
        return matches

    def rows_of(self, folded: Sequence[str]) -> NDArray[Any]:
        """Return the rows of the entities with a name of these folded words."""
        number = self._paths.get(" ".join(folded))
        return self._entities.values[:0] if number is None else self._entities[number]
