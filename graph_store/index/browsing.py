"""Look up entities by the names in a question, with a trie over words of any script, and for browsing."""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...schemas.naming import canonical_name, normalise
from ...text.lexicon import ENGLISH_STOP
from ..bounding.words import word_places, words
from ..graph.knowledge_graph import KnowledgeGraph
from . import columns
from .array_file import Arrays
from .columns import Ids, Lists, Rows, Words

_END = "\n"
"""Separates and encloses an entity's folded names, which contain no line breaks."""
_NO_MATCH = 3
"""The rank of an entity without a matching name; see `Browsing._rank_matches`."""


class NamedSpan(NamedTuple):
    """A name in a question: its folded words, the ids of the entities with that name, and its start and end."""

    name: str
    entities: tuple[str, ...]
    start: int
    end: int


def trie(name: str, names: Iterable[tuple[Sequence[str], int]]) -> dict[str, NDArray[Any]]:
    """Build the arrays of a `NameTrie`.

    Each beginning of a name, up to the whole name, gets a number. Entities are noted at the numbers of whole names.

    Args:
        name: the prefix of the arrays' names.
        names: pairs of a name's folded words and the row of an entity with that name; entities may share names.
    """
    path_numbers: dict[str, int] = {}
    whole_names, rows = array("i"), array("i")
    for folded, row in names:
        for end in range(1, len(folded) + 1):
            number = path_numbers.setdefault(" ".join(folded[:end]), len(path_numbers))
        if folded:
            whole_names.append(number)
            rows.append(row)
    return columns.words(f"{name}.paths", path_numbers) | columns.inverted(
        f"{name}.entities", *columns.distinct_pairs(whole_names, rows), len(path_numbers))


class NameTrie:
    """Names and aliases as paths of folded words; lookup is linear in the question's length."""

    def __init__(self, arrays: Arrays, name: str, id_of: Callable[[int], str]) -> None:
        """Read the arrays of `trie`; `id_of` returns the id of an entity's row."""
        self._paths, self._entities = Words(arrays, f"{name}.paths"), Lists(arrays, f"{name}.entities")
        self._id_of = id_of

    def find(self, question: str) -> list[NamedSpan]:
        """Find the longest known names in a question, without overlaps, from left to right.

        A function word in small letters is no name: "in" does not mean IN, Indiana.

        Returns:
            The names, each with its entities sorted by id.
        """
        spans = word_places(question)
        folded = [word for word, _, _ in spans]
        matches: list[NamedSpan] = []
        start = 0
        while start < len(folded):
            end, entities = self._longest(folded, start)
            is_function_word = end - start == 1 and folded[start] in ENGLISH_STOP
            if entities and not (is_function_word and question[spans[start][1]:spans[start][2]].islower()):
                matches.append(NamedSpan(" ".join(folded[start:end]), entities, spans[start][1], spans[end - 1][2]))
            start = max(end, start + 1)
        return matches

    def rows_of(self, folded: Sequence[str]) -> NDArray[Any]:
        """Return the rows of the entities with a name of these folded words."""
        number = self._paths.get(" ".join(folded))
        return self._entities.values[:0] if number is None else self._entities[number]

    def _longest(self, folded: Sequence[str], start: int) -> tuple[int, tuple[str, ...]]:
        """Return the end of the longest name that begins at a word, and the entities with that name."""
        best: tuple[int, tuple[str, ...]] = (start, ())
        for end in range(start + 1, len(folded) + 1):
            number = self._paths.get(" ".join(folded[start:end]))
            if number is None:
                break
            rows = self._entities[number]
            if len(rows):
                best = (end, tuple(map(self._id_of, rows.tolist())))
        return best


class Browsing:
    """Reads the arrays of `browsing`; each is read only when needed."""

    def __init__(self, arrays: Arrays, graph: KnowledgeGraph, names: NameTrie) -> None:
        """Read the arrays of `browsing`; `graph` and `names` are those of the same index."""
        self._graph, self._names = graph, names
        self.ranked: NDArray[np.int32] = arrays["entities.ranked"]
        """The rows of all entities by rank: by the number of documents that mention them, then of facts, then name."""
        self.ranks: NDArray[np.int32] = arrays["entities.ranks"]
        """The rank of each row."""
        self.documents: NDArray[np.int32] = arrays["entities.documents"]
        """The number of documents that mention each row's entity."""
        kinds, self.type_of = np.unique(graph.columns.types, return_inverse=True)
        """The position of each row's type in `types`."""
        self.types: list[str] = [graph.columns.texts[kind] for kind in kinds.tolist()]
        """All entity types, sorted."""
        self._finest, self._community = Ids(arrays, "finest"), arrays["entities.finest"]
        self._folded = Lists(arrays, "entities.folded")

    def community(self, row: int) -> str | None:
        """Return the id of the finest community of a row's entity, or None if it is in none."""
        number = int(self._community[row])
        return None if number < 0 else self._finest.at(number)

    def called(self, name: str) -> Rows:
        """Return the rows of the entities with this name, compared in canonical form, by rank."""
        key = canonical_name(name)
        # A name without any word, such as "++", is not in the trie.
        candidates = self._names.rows_of(words(name)) if words(name) else self.holding(name)
        same_name = [row for row in candidates.tolist() if key in map(canonical_name, self._graph.names_of(row))]
        rows = np.array(same_name, np.intp)
        return rows[np.argsort(self.ranks[rows])]

    def holding(self, text: str, kind: str = "") -> Rows:
        """Return the rows of the entities with a name that contains a text, ignoring case and full-width letters.

        Entities with a name that equals the text come first, then those with a name that begins with it, then the
        others; each of these groups is sorted by rank.

        Args:
            text: the text to look for.
            kind: the type of the entities to return; empty for any.
        """
        matches = self._rank_matches(normalise(text).encode("utf-8", "surrogatepass"))
        if kind:
            matches[~self.of_type(kind)] = _NO_MATCH
        rows = np.flatnonzero(matches < _NO_MATCH)
        return rows[np.lexsort((self.ranks[rows], matches[rows]))]

    def of_type(self, kind: str) -> NDArray[np.bool_]:
        """Return for each row whether its entity is of a type, shape (n,)."""
        number = self.types.index(kind) if kind in self.types else -1
        is_of_type: NDArray[np.bool_] = self.type_of == number
        return is_of_type

    def _rank_matches(self, text: bytes) -> NDArray[np.int8]:
        """Return for each row how well its entity's names match a text, shape (n,)."""
        letters, starts = self._folded.values, self._folded.starts
        if not text:  # every name begins with it
            return np.ones(len(self.ranked), np.int8)
        # Compare one byte position at a time over all names, which avoids decoding every name.
        places = np.flatnonzero(letters[:max(len(letters) - len(text), 0)] == text[0])  # `_END` follows every name
        for offset, letter in enumerate(text[1:], 1):
            places = places[letters[places + offset] == letter]
        end = ord(_END)
        begins_name, ends_name = letters[places - 1] == end, letters[places + len(text)] == end
        ranks = np.where(begins_name, np.where(ends_name, 0, 1), 2).astype(np.int8)
        matches = np.full(len(self.ranked), _NO_MATCH, np.int8)
        np.minimum.at(matches, np.searchsorted(starts, places, "right") - 1, ranks)
        return matches


def browsing(about: Sequence[Sequence[str]], ends: NDArray[np.int32], documents: NDArray[np.int32],
             community: Mapping[int, str]) -> dict[str, NDArray[Any]]:
    """Build the arrays of `Browsing`.

    Args:
        about: for each entity its name, its type, and its other names; in the order of the rows.
        ends: for each triple its head's row, its relation and its tail's row, shape (triples, 3).
        documents: the number of documents that mention each entity.
        community: the id of the finest community of a row's entity, by row, for those that are in a community.
    """
    degrees = np.bincount(ends[:, [0, 2]].reshape(-1), minlength=len(about)).tolist()
    counts = documents.tolist()
    ranked = np.array(sorted(range(len(about)), key=lambda row: (-counts[row], -degrees[row], about[row][0], row)),
                      np.int32)
    ranks = np.empty(len(about), np.int32)
    ranks[ranked] = np.arange(len(about), dtype=np.int32)
    finest = sorted(set(community.values()))
    number_of = {key: number for number, key in enumerate(finest)}
    community_numbers = [number_of[community[row]] if row in community else -1 for row in range(len(about))]
    folded = (_END.join(("", *dict.fromkeys(map(normalise, (name, *others))), "")) for name, _, *others in about)
    return {"entities.ranked": ranked, "entities.ranks": ranks, "entities.documents": documents,
            **columns.ids("finest", finest), "entities.finest": np.array(community_numbers, np.int32),
            **columns.texts("entities.folded", folded)}
